import socket
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
import torch
from hypothesis import settings
from spacy.language import Language

from .util import graph_examples, make_nlp, overfit, treebank_examples

# Tests compute little, and threads would only wait for each other.
torch.set_num_threads(1)

# No deadlines: how long an example takes depends on what else the machine does.
settings.register_profile("spacy_g2g", deadline=None)
settings.load_profile("spacy_g2g")


@pytest.fixture(scope="session")
def trained_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved pipeline with a tiny parser that has learned the ten sentences of ``tests.util`` by heart."""
    folder = tmp_path_factory.mktemp("trained")
    nlp = make_nlp()
    nlp.initialize(lambda: treebank_examples(nlp))
    overfit(nlp, treebank_examples(nlp))
    nlp.to_disk(folder)
    return folder


@pytest.fixture(scope="session")
def trained_refiner_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved pipeline with a tiny refiner that has learned the ten sentences from empty and other graphs."""
    folder = tmp_path_factory.mktemp("trained_refiner")
    nlp = make_nlp(factory="rng_refiner", iterations=2)
    examples = [*treebank_examples(nlp), *graph_examples(nlp, "gold"), *graph_examples(nlp, "wrong")]
    nlp.initialize(lambda: examples)
    overfit(nlp, examples)
    nlp.to_disk(folder)
    return folder


@pytest.fixture
def trained(trained_folder: Path) -> Language:
    """The trained pipeline, loaded for this test alone."""
    return spacy.load(trained_folder)


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it to make whatever asks for the network from then on fail."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("the network is not to be used")

    def block() -> None:
        monkeypatch.setattr(socket, "socket", refuse)
        monkeypatch.setattr(socket, "create_connection", refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)

    return block
