"""``serve``: answer HTTP requests with a pipeline."""

from typing import Annotated

import spacy
import typer
from spacy.cli._util import setup_gpu

from ..errors import Errors
from ..parser.final_parser import final_parser
from ..terminal.common import needs_extra, user_errors
from ..terminal.messages import msg
from ..terminal.options import GpuId, Pipeline, Silent, refuse_nan

#: Packages of the extra ``serve``.
EXTRA = ("anyio", "cassis", "fastapi", "starlette", "uvicorn")


def serve(
    pipeline: Pipeline,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on. Other machines reach any but 127.0.0.1")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", "-p", min=1, max=65535, help="Port to listen on")] = 8000,
    max_words: Annotated[
        int, typer.Option("--max-words", min=1, help="Maximum words of a text, or of a document's sentence")
    ] = 500,
    max_k: Annotated[int, typer.Option("--max-k", min=1, help="Maximum trees of a sentence")] = 50,
    max_bytes: Annotated[
        int, typer.Option("--max-bytes", min=1, help="Maximum size of a request")
    ] = 10_000_000,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, help="Seconds that a request may take")
    ] = 60.0,
    project: Annotated[
        str, typer.Option("--project", help="Project of ArboratorGrew that lists the pipeline")
    ] = "spacy-g2g",
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help='Host name of the service, or "*"; may be repeated'),
    ] = None,
    gpu_id: GpuId = -1,
    silent: Silent = False,
) -> None:
    """Parse by HTTP: plain JSON, INCEpTION, ArboratorGrew, and a page to annotate on.

    There is no password and no encryption: anyone who reaches the address can parse.
    """
    refuse_nan(timeout=timeout)
    with user_errors(), needs_extra(EXTRA, Errors.E1201):
        from .app import make_app, run
        from .limits import Limits

        setup_gpu(gpu_id, silent=silent)
        nlp = spacy.load(pipeline)
        limits = Limits(max_bytes=max_bytes, max_words=max_words, max_k=max_k, timeout=timeout)
        app = make_app(nlp, final_parser(nlp), limits, project, ["localhost", host, *(allow_host or [])])
        if not silent:
            msg.good(f"{pipeline}: http://{host}:{port}/")
        run(app, host, port)
