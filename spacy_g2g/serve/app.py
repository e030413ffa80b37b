"""The service as a whole: its doors, its page and its limits."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from importlib.resources import files

import uvicorn
from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from spacy.language import Language

from .. import __version__
from ..pipeline.g2g_parser import G2GParser
from .arborator import arborator_router
from .inception import inception_router
from .limits import Gate, Limits, answer_errors
from .plain_json import json_router
from .worker import GRACE, Worker


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
    page = files(__package__).joinpath("page.html").read_text(encoding="utf8")
    headers = {"Content-Security-Policy": _policy(page), "X-Content-Type-Options": "nosniff"}

    @app.get("/", include_in_schema=False)
    async def show_page() -> HTMLResponse:
        return HTMLResponse(page, headers=headers)

    return app


def _policy(page: str) -> str:
    """Return a policy that lets a page run its own script, and load nothing from elsewhere."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    sources = " ".join(f"'sha256-{found}'" for found in hashes)
    return (
        f"default-src 'none'; script-src {sources}; style-src 'unsafe-inline'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def run(app: FastAPI, host: str, port: int) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    uvicorn.run(
        app, host=host, port=port, timeout_graceful_shutdown=GRACE, server_header=False, access_log=False
    )
