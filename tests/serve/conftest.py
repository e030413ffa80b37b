"""The service over a tiny pipeline, and real requests to it without a socket."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import spacy
from spacy.language import Language
from thinc.api import fix_random_seed

from spacy_g2g.parser.final_parser import final_parser

from ..util import add_tiny, parser_of, randomize, treebank_examples

httpx = pytest.importorskip("httpx", reason="the tests send requests by httpx")
pytest.importorskip("fastapi", reason="the extra 'serve' is not installed")
pytest.importorskip("cassis", reason="the extra 'serve' is not installed")

Client = Any


def make_pipeline(**settings: Any) -> Language:
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    add_tiny(nlp, **settings)
    nlp.initialize(lambda: treebank_examples(nlp))
    randomize(parser_of(nlp).model, 1, scale=0.25)
    return nlp


def talk(app: Any, conversation: Callable[[Client], Awaitable[Any]]) -> Any:
    """What a conversation with the service returns, in an event loop of its own."""

    async def run() -> Any:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await conversation(client)

    return asyncio.run(run())


def post(app: Any, path: str, *bodies: Any) -> list[Any]:
    """The answers to requests that arrive at once; bytes are sent as they are."""

    async def send(client: Client) -> list[Any]:
        headers = {"Content-Type": "application/json"}
        as_they_are = [isinstance(body, bytes) for body in bodies]
        return await asyncio.gather(
            *(
                client.post(path, content=body, headers=headers) if is_raw else client.post(path, json=body)
                for body, is_raw in zip(bodies, as_they_are, strict=True)
            )
        )

    return talk(app, send)


@pytest.fixture(scope="package")
def nlp() -> Language:
    """The pipeline that the service has a copy of."""
    return make_pipeline()


def make_service(nlp: Language, **limits: Any) -> Any:
    """The service over a pipeline, which nothing else may use from now on."""
    from spacy_g2g.serve.app import make_app
    from spacy_g2g.serve.limits import Limits

    return make_app(nlp, final_parser(nlp), Limits(**limits), "treebank")


@contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of a service, by a socket."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="package")
def app() -> Any:
    return make_service(make_pipeline(), max_words=60, max_k=9, max_bytes=200_000)
