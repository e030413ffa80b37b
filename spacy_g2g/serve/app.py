"""The service as a whole: its doors, its page and its limits."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import socket
import sys
from collections.abc import Collection
from contextlib import suppress
from functools import partial
from importlib.resources import files
from typing import Any

import uvicorn
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response
from spacy.language import Language

from .. import __version__
from ..pipeline.g2g_parser import G2GParser
from .arborator import arborator_router
from .inception import inception_router
from .limits import Gate, Limits, answer_errors
from .plain_json import json_router
from .worker import Worker

#: Types of the files of the page. Those that Python guesses depend on the machine.
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
#: How often the event loop looks, when the service ends, for what has arrived before.
ROUNDS = 20
#: The page runs its own scripts, and loads nothing from elsewhere.
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


def make_app(
    nlp: Language,
    parser: G2GParser,
    limits: Limits,
    project: str = "",
    hosts: Collection[str] = ("localhost",),
) -> FastAPI:
    """Make the service, and start the thread that runs the pipeline.

    nlp: Pipeline, which nothing else may use from now on.
    parser: Its final parser.
    limits: Bounds of a request.
    project: Project of ArboratorGrew that the pipeline is listed with.
    hosts: Names that requests may give the service, beside IP addresses; "*" for any.
    """
    worker = Worker(nlp, parser, limits)
    app = FastAPI(title="spacy-g2g", version=__version__, docs_url=None, redoc_url=None)
    app.state.worker = worker
    answer_errors(app)
    app.add_middleware(Gate, limits=limits, hosts=hosts)
    app.include_router(json_router(worker))
    app.include_router(inception_router(worker), prefix="/inception")
    app.include_router(arborator_router(worker, project), prefix="/parser/models")
    app.include_router(page_router())
    return app


def page_router() -> APIRouter:
    """Return the routes of the page's files."""
    router = APIRouter(include_in_schema=False)
    for file_ in files(__package__).joinpath("page").iterdir():
        type_ = TYPES[file_.name.rpartition(".")[2]]
        answer = partial(_show, file_.read_bytes(), f"{type_}; charset=utf-8")
        router.add_route("/" if file_.name == "index.html" else f"/{file_.name}", answer)
    return router


async def _show(content: bytes, type_: str, _: Request) -> Response:
    return Response(content, media_type=type_, headers=PAGE_HEADERS)


class Server(uvicorn.Server):
    """A server that answers what it has accepted, and what has reached its socket, before it ends.

    app: What it serves.
    settings: Of ``uvicorn.Config``.
    """

    def __init__(self, app: FastAPI, **settings: Any) -> None:
        super().__init__(uvicorn.Config(app, **settings))
        self.app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Read what has arrived, refuse what comes later, and wait for the answers."""
        self.app.state.ends = True
        # A connection that waits to be accepted, or to be read, is reset if the socket is closed.
        for _ in range(ROUNDS):
            await asyncio.sleep(0.01)
        await super().shutdown(sockets)


def run(app: FastAPI, host: str, port: int) -> None:
    """Serve until SIGTERM, SIGHUP or Ctrl-C, and answer then what was accepted. Ctrl-C twice drops it.

    A thread that still computes what nobody waits for is in PyTorch, where it can't be ended, and the
    interpreter aborts if it ends under it. So the process then ends without the interpreter.
    """
    worker = app.state.worker
    server = Server(
        app,
        host=host,
        port=port,
        lifespan="off",
        # Each request has its answer by then.
        timeout_graceful_shutdown=math.ceil(worker.limits.timeout) + 1,
        server_header=False,
        access_log=False,
    )
    hangup = getattr(signal, "SIGHUP", None)  # Windows has none, and `nohup` ignores it.
    if hangup and signal.getsignal(hangup) is signal.SIG_DFL:
        signal.signal(hangup, lambda *_: signal.raise_signal(signal.SIGTERM))
    status, is_over = 0, False
    try:
        server.run()
    except SystemExit as error:
        status = int(error.code or 0)
    except KeyboardInterrupt:
        pass
    with suppress(SystemExit, KeyboardInterrupt):  # A further signal changes nothing.
        is_over = worker.close()
    if not is_over:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)
