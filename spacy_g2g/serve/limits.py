"""Limits of requests, and short answers in JSON for errors."""

from __future__ import annotations

import asyncio
import json
import reprlib
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import anyio
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import Errors

#: Maximum number of requests to answer at the same time.
MAX_REQUESTS = 32
#: Maximum size of all requests together, and of all waiting samples, as a multiple of ``max_bytes``.
MAX_BODIES = 4
#: Maximum number of characters of a text or sentence, for each word that it may have.
CHARACTERS_PER_WORD = 100
#: Maximum number of characters of a sentence in CoNLL-U, for each word that it may have.
CHARACTERS_PER_ROW = 2000
#: Maximum sum of the squared lengths of stretches without white space, for each word that a text may have.
SQUARES_PER_WORD = 8000
#: Maximum number of values of a body: a fixed number, plus a number for each word that a text may have.
VALUES, VALUES_PER_WORD = 10_000, 10
#: Maximum product of the trees and the words of a text, if there are several trees.
MAX_WORDS_OF_TREES = 2000
#: Maximum number of constraints in a request.
MAX_CONSTRAINTS = 1000
#: Maximum number of words of a sentence with constraints or several trees. The slowest step, which names
#: constraints that no tree meets together, takes time in the cube of the words.
MAX_CONSTRAINED_WORDS = 200


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one request.

    max_bytes: Maximum size of its body.
    max_words: Maximum number of words of a text, or of a sentence in CoNLL-U or XMI.
    max_k: Maximum number of trees of each sentence.
    timeout: Seconds from its first byte to its answer.
    """

    max_bytes: int = 10_000_000
    max_words: int = 500
    max_k: int = 50
    timeout: float = 60.0

    def check_words(self, n: int, *, n_characters: int) -> None:
        """Raise RefusedError for a text or sentence of too many words, or of words that are too long."""
        n = max(n, n_characters // CHARACTERS_PER_WORD)
        check_at_most("Words of a text or sentence", n, limit=self.max_words, option="--max-words")

    def check_rows(self, text: str) -> None:
        """Raise RefusedError for CoNLL-U with a sentence that is too long."""
        longest = max(map(len, text.replace("\r", "").split("\n\n")))
        self.check_words(longest // CHARACTERS_PER_ROW, n_characters=0)

    def check_body(self, body: bytes) -> None:
        """Raise RefusedError for JSON with too many values, which would take much memory and time."""
        if b"\0" in body:  # It is in UTF-16 or UTF-32.
            raise RefusedError(422, Errors.E1222.format(error="it has a null character"))
        # An escaped quotation mark does not end a string. Commas and brackets in strings do not count.
        plain = body.replace(b"\\\\", b"").replace(b'\\"', b"")
        limit = VALUES + VALUES_PER_WORD * self.max_words
        n = plain.count(b'"') // 4  # A key and a value have four quotation marks at most.
        if n <= limit:
            outside = b"".join(plain.split(b'"')[::2])
            n = sum(map(outside.count, (b",", b"[", b"{")))
        check_at_most("Values of the body", n, limit=limit, option="--max-words")


class RefusedError(ValueError):
    """A request is refused. The HTTP status of the answer is 4xx or 503."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def check_at_most(what: str, n: int, *, limit: int, option: str = "") -> None:
    """Raise RefusedError if n is above a limit. The option of the command sets the limit."""
    if n > limit:
        remedy = f", or a higher {option}" if option else ""
        raise RefusedError(413, Errors.E1206.format(what=what, n=n, limit=limit, remedy=remedy))


def check_constrained(n: int) -> None:
    """Raise RefusedError if a sentence of n words is too long for constraints and several trees."""
    what = "Words of a sentence with constraints, or with k above 1"
    check_at_most(what, n, limit=MAX_CONSTRAINED_WORDS)


def busy(reason: str) -> RefusedError:
    """Return the error of a busy service."""
    return RefusedError(429, Errors.E1204.format(found=reason))


def shorten(value: object) -> str:
    """Return a value of a request, which may be long or deep, for a message."""
    return reprlib.repr(value)[:80]


def failure(status: int, text: str) -> Response:
    """Return an error in the form that all clients of the service read."""
    content = json.dumps({"status": "failure", "error": text}, ensure_ascii=True)
    return Response(content, status, media_type="application/json")


def answer_errors(app: FastAPI) -> None:
    """Let an app answer with the text of an error, and never with its place in the code."""

    async def answer(request: Request, error: Exception) -> Response:
        return failure(*_explain(error, "json" in request.headers.get("content-type", "")))

    for kind in (ValueError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)


def _explain(error: Exception, is_json: bool) -> tuple[int, str]:
    """Return the status and the text of the answer to a request."""
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        if first["type"] == "json_invalid" or not is_json:
            return 422, Errors.E1222.format(error=first.get("ctx", {}).get("error", first["msg"]))
        where = ".".join(str(part)[:40] for part in first["loc"])
        return 422, Errors.E1202.format(where=where, found=shorten(first.get("input")), problem=first["msg"])
    if isinstance(error, HTTPException):
        if error.status_code == 400:  # FastAPI could not read the body as JSON.
            return 422, Errors.E1222.format(error=error.detail)
        return error.status_code, error.detail
    if isinstance(error, ValueError):
        return error.status if isinstance(error, RefusedError) else 422, str(error)
    return 500, Errors.E1203


class RequestLimiter:
    """Reads the whole body of a request first, and enforces limits of size and time.

    hosts: Names of the service, beside IP addresses; "*" for any.
    """

    def __init__(self, app: ASGIApp, limits: Limits, hosts: Collection[str]) -> None:
        self.app = app
        self.limits = limits
        self.hosts = {host.lower() for host in hosts}
        self.n_open = 0
        #: Bytes of the bodies of all requests.
        self.n_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_answer = False
        body = bytearray()

        async def send_answer(message: Message) -> None:
            nonlocal has_answer
            has_answer = True
            await send(message)

        try:
            with anyio.move_on_after(self.limits.timeout) as time:
                await self._read(Headers(scope=scope).get("host", ""), body, receive)
                await self._answer(scope, bytes(body), receive, send_answer)
            if time.cancelled_caught and not has_answer:
                if getattr(scope["app"].state, "ends", False):
                    raise asyncio.CancelledError
                raise RefusedError(408, Errors.E1205.format(seconds=self.limits.timeout))
        except (RefusedError, asyncio.CancelledError) as error:
            # Only the end of the service cancels a request.
            refused = error if isinstance(error, RefusedError) else RefusedError(503, Errors.E1275)
            if not has_answer:
                await failure(refused.status, str(refused))(scope, receive, send)
        finally:
            self.n_bytes -= len(body)

    async def _read(self, host: str, body: bytearray, receive: Receive) -> None:
        """Read the body of a request. Raises RefusedError for another host, and for too many bytes."""
        # A foreign page can resolve its own name to this machine, but its requests then have that name.
        if host and not _is_allowed(host, self.hosts):
            hosts = ", ".join(sorted(self.hosts))
            raise RefusedError(421, Errors.E1224.format(host=shorten(host), hosts=hosts))
        is_whole = False
        while not is_whole:
            message = await receive()
            chunk = message.get("body", b"")
            body += chunk
            self.n_bytes += len(chunk)
            limit = self.limits.max_bytes
            check_at_most("Bytes of the request", len(body), limit=limit, option="--max-bytes")
            if self.n_bytes > MAX_BODIES * limit:
                raise busy(f"its requests have {self.n_bytes} bytes together")
            is_whole = not message.get("more_body", False)

    async def _answer(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Answer a request, unless its client goes away."""
        if self.n_open >= MAX_REQUESTS:
            raise busy(f"it answers {self.n_open} requests")
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Any:
            return messages.pop() if messages else await anyio.sleep_forever()

        async def wait_for_end() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        self.n_open += 1
        try:
            await asyncio.to_thread(self.limits.check_body, body)
            async with anyio.create_task_group() as group:
                group.start_soon(wait_for_end)
                await self.app(scope, replay, send)
                group.cancel_scope.cancel()
        finally:
            self.n_open -= 1


def _is_allowed(host: str, hosts: Collection[str]) -> bool:
    """Return whether the header Host has an IP address, or one of the names."""
    with suppress(ValueError):
        name = urlsplit(f"//{host}").hostname or ""
        return "*" in hosts or name in hosts or bool(ip_address(name))
    return False
