"""The whole service: its routes, its page and its limits."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Collection
from contextlib import suppress
from functools import partial
from importlib.resources import files
from typing import Any, cast

import uvicorn
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response
from spacy.language import Language

from .. import __version__
from ..parser.g2g_parser import G2GParser
from .arborator import arborator_router
from .inception import inception_router
from .limits import Limits, RequestLimiter, answer_errors
from .plain_json import json_router
from .worker import Worker

#: Types of the files of the page. Python's guesses depend on the machine.
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
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

    nlp: Pipeline. Only the service may use it from now on.
    parser: Its final parser.
    project: Project of ArboratorGrew that lists the pipeline.
    hosts: Names of the service, beside IP addresses; "*" for any.
    """
    worker = Worker(nlp, parser, limits)
    app = FastAPI(title="spacy-g2g", version=__version__, docs_url=None, redoc_url=None)
    app.state.worker = worker
    answer_errors(app)
    app.add_middleware(RequestLimiter, limits=limits, hosts=hosts)
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
    """A server that ends after it has answered every request that reached its socket."""

    async def shutdown(self, sockets: Any = None) -> None:
        """Read requests that have arrived, refuse later ones, and wait for the answers."""
        cast(FastAPI, self.config.app).state.ends = True
        # Closing a socket resets connections that wait there. Each round of the event loop reads some.
        for _ in range(20):
            await asyncio.sleep(0.01)
        closing = asyncio.create_task(super().shutdown(sockets))
        while not closing.done() and not self.force_exit:
            await asyncio.sleep(0.1)
        # From Python 3.12.1 on, it waits for the connections even after a second Ctrl-C.
        if self.force_exit:
            closing.cancel()
        with suppress(asyncio.CancelledError):
            await closing


def run(app: FastAPI, host: str, port: int) -> None:
    """Serve until SIGTERM, SIGHUP or Ctrl-C, then answer accepted requests. A second Ctrl-C drops them.

    The interpreter aborts if it ends while a thread is in PyTorch. So if a thread is still computing, the
    process exits without the interpreter's cleanup.
    """
    worker, code, is_over = app.state.worker, 0, False
    grace = int(worker.limits.timeout) + 2  # By then, each request has its answer.
    settings: dict[str, Any] = {"lifespan": "off", "server_header": False, "access_log": False}
    server = Server(uvicorn.Config(app, host, port, timeout_graceful_shutdown=grace, **settings))
    hangup = getattr(signal, "SIGHUP", None)  # Windows lacks it, and `nohup` ignores it.
    if hangup and signal.getsignal(hangup) is signal.SIG_DFL:
        signal.signal(hangup, lambda *_: signal.raise_signal(signal.SIGTERM))
    try:
        server.run()
    except (SystemExit, KeyboardInterrupt) as end:
        code = getattr(end, "code", 0)
    with suppress(SystemExit, KeyboardInterrupt):  # A further signal changes nothing.
        is_over = worker.close()
    if is_over:
        sys.exit(code)
    sys.stdout.flush()
    os._exit(code)
