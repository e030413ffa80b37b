"""The service as a whole: its doors, its page and its limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files

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
from .worker import GRACE, Worker

#: Types of the files of the page. Those that Python guesses depend on the machine.
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

    nlp: Pipeline, which nothing else may use from now on.
    parser: Its final parser.
    limits: Bounds of a request.
    project: Project of ArboratorGrew that the pipeline is listed with.
    hosts: Names that requests may give the service, beside IP addresses; "*" for any.
    """
    worker = Worker(nlp, parser, limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        worker.close()

    app = FastAPI(title="spacy-g2g", version=__version__, docs_url=None, redoc_url=None, lifespan=lifespan)
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


def run(app: FastAPI, host: str, port: int) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    uvicorn.run(
        app, host=host, port=port, timeout_graceful_shutdown=GRACE, server_header=False, access_log=False
    )
