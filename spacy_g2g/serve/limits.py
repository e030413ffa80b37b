"""Bounds of one request, and its errors as short answers in JSON."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import Errors

#: How many requests are read and answered at the same time.
MAX_REQUESTS = 32
#: How large k times the words of a text may be, if k is above 1.
MAX_WORDS_OF_TREES = 2000
#: How many constraints a request may have.
MAX_CONSTRAINTS = 1000
#: Words of a sentence with constraints. To name those that can't hold together takes time with the cube of
#: the words for each of them, and much more time where the parser is transition-based.
MAX_CONSTRAINED_WORDS, MAX_CONSTRAINED_WORDS_OF_TRANSITIONS = 200, 50


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one request may ask for.

    max_bytes: Size of its body.
    max_words: Words of a text, or of a sentence in CoNLL-U or XMI.
    max_k: Number of trees of each sentence.
    timeout: Seconds from its first byte to its answer.
    """

    max_bytes: int = 10_000_000
    max_words: int = 500
    max_k: int = 50
    timeout: float = 60.0


class RefusedError(ValueError):
    """A request that is over a limit or not understood.

    status: Status of the answer, 4xx.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def shown(value: object) -> str:
    """Return a value of a request as a message shows it, however long or deep it is."""
    return reprlib.repr(value)[:80]


def failure(status: int, text: str) -> Response:
    """Return an answer that says what is wrong, in a form that all clients of the service read."""
    content = json.dumps({"status": "failure", "error": text}, ensure_ascii=True)
    return Response(content, status, media_type="application/json")


def answer_errors(app: FastAPI) -> None:
    """Have an app answer with errors in words, and never with the place in the code."""

    async def refused(_: Request, error: Exception) -> Response:
        return failure(getattr(error, "status", 422), str(error))

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        is_json = "json" in request.headers.get("content-type", "")
        if first["type"] == "json_invalid" or not is_json:
            return failure(422, Errors.E1222.format(error=first.get("ctx", {}).get("error", first["msg"])))
        where = ".".join(str(part)[:40] for part in first["loc"])
        text = Errors.E1202.format(where=where, found=shown(first.get("input")), problem=first["msg"])
        return failure(422, text)

    async def http(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 400:  # FastAPI could not read the body as JSON.
            return failure(422, Errors.E1222.format(error=error.detail))
        return failure(error.status_code, error.detail)

    async def unexpected(_: Request, __: Exception) -> Response:
        return failure(500, Errors.E1203)

    app.add_exception_handler(ValueError, refused)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(Exception, unexpected)


class Gate:
    """Lets a request through whose body has arrived whole, and ends it when its time is over.

    app: What answers the request.
    limits: Bounds of a request.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self.limits = limits
        self.n_open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if self.n_open >= MAX_REQUESTS:
            await failure(429, Errors.E1204.format(n=self.n_open))(scope, receive, send)
            return
        self.n_open += 1
        has_answer = False

        async def noted(message: Message) -> None:
            nonlocal has_answer
            has_answer = True
            await send(message)

        try:
            with anyio.move_on_after(self.limits.timeout) as time:
                await self._answer(scope, receive, noted)
        finally:
            self.n_open -= 1
        if time.cancelled_caught and not has_answer:
            error = failure(408, Errors.E1205.format(seconds=self.limits.timeout))
            await error(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await self._read(receive)
        if body is None:
            error = failure(413, Errors.E1206.format(limit=self.limits.max_bytes))
            await error(scope, receive, send)
            return
        await self.app(scope, _replay(body, receive), send)

    async def _read(self, receive: Receive) -> bytes | None:
        """Return the body of a request, or None if it is too large."""
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self.limits.max_bytes:
                return None
            if not message.get("more_body", False):
                return bytes(body)


def _replay(body: bytes, receive: Receive) -> Callable[[], Awaitable[Any]]:
    """Return a channel that gives a body at once, and then what follows it."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Any:
        return waiting.pop() if waiting else await receive()

    return replay
