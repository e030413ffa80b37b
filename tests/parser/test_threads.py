"""One pipeline in several threads gives what it gives in one."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, Event, Thread
from typing import Any

import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_g2g.amr.data.docs import get_amrs
from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.models.network_shim import find_shims
from spacy_g2g.sentences.finder import BOUNDARIES

from ..amr.util import amr_examples, amr_nlp, amr_parser_of
from ..util import TINY_MODEL, add_tiny, forks, gold_doc, make_nlp, overfit, randomize, read_treebank, tree_of
from .test_g2g_encoder import OURS, components, shared_nlp

SENTENCES = read_treebank()
#: Numbers of the sentences of each Doc.
TEXTS = [(0, 3, 7), (9,), (5, 8, 2, 4), (1, 6), (3, 3, 3), (0, 1, 2, 4, 5, 6, 7, 8)]
TINY_BOUNDARIES = {**BOUNDARIES, "width": 16, "dropout": 0.0}


def with_refiner() -> Language:
    """A parser and a refiner behind a shared encoder that finds sentences."""
    nlp = shared_nlp(boundaries=TINY_BOUNDARIES)
    nlp.add_pipe("g2g_parser", config={"model": components(OURS)["g2g_parser"]})
    model = {"@architectures": "spacy_g2g.RNGTr.v1", "tok2vec": OURS, **TINY_MODEL}
    nlp.add_pipe("rng_refiner", config={"model": model})
    return nlp


def with_own_refiner() -> Language:
    """A parser that finds sentences, and a refiner with an encoder of its own."""
    nlp = make_nlp()
    add_tiny(nlp, "rng_refiner")
    return nlp


#: Pipelines that find sentences; a parser alone has its own network of boundaries.
MAKE: dict[str, Callable[[], Language]] = {
    "parser": make_nlp,
    "encoder and refiner": with_refiner,
    "parser and refiner": with_own_refiner,
    "transitions": partial(make_nlp, row="StateTr+G2GTr+C"),
}


def gold_docs(nlp: Language) -> list[Doc]:
    return [gold_doc(nlp.vocab, [SENTENCES[i] for i in numbers]) for numbers in TEXTS]


def docs_of(nlp: Language) -> list[Doc]:
    """Docs without boundaries, with line breaks in some."""
    words = [[word[0] for i in numbers for word in SENTENCES[i]] for numbers in TEXTS]
    words[1] = ["\n", *words[1], "\n\n", *words[3]]
    return [Doc(nlp.vocab, words=of_doc) for of_doc in words]


def train(nlp: Language) -> Language:
    examples = [Example(unparsed_copy(doc, []), doc) for doc in gold_docs(nlp)]
    nlp.initialize(lambda: examples)
    overfit(nlp, examples, steps=4)
    for _, component in nlp.pipeline:
        for shim in find_shims(component.model):  # type: ignore[attr-defined]
            if hasattr(shim, "predict"):
                noise(shim.network)
    return nlp


def noise(network: torch.nn.Module) -> None:
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.05)
    network.train()  # layers drop what they keep of the old weights


@pytest.fixture(scope="module", params=MAKE)
def nlp(request: pytest.FixtureRequest) -> Language:
    return train(MAKE[request.param]())


@pytest.fixture
def switching() -> Iterator[None]:
    """Let threads take turns all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@pytest.fixture
def no_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a network is put into training mode."""
    train_module = torch.nn.Module.train

    def train_never(self: torch.nn.Module, mode: bool = True) -> Any:
        assert not mode, f"{type(self).__name__} is put into training mode"
        return train_module(self, mode)

    monkeypatch.setattr(torch.nn.Module, "train", train_never)


def answers(nlp: Language, **settings: Any) -> list[Any]:
    docs = nlp.pipe(docs_of(nlp), **settings)
    return [([token.is_sent_start for token in doc], tree_of(doc)) for doc in docs]


def in_threads(n: int, ask: Callable[[], list[Any]]) -> list[list[Any]]:
    """Return what each of n threads finds that begin together."""
    barrier = Barrier(n)

    def run(_: int) -> list[Any]:
        barrier.wait()
        return ask()

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(run, range(n)))


@pytest.mark.usefixtures("switching", "no_training")
@pytest.mark.parametrize("n", [1, 2, 4, 8])
def test_threads_find_the_same_trees(nlp: Language, n: int):
    # What is kept after the first prediction is made by all of them at once.
    fresh = spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    expected = answers(nlp)
    assert any(sum(map(bool, starts)) > 1 for starts, _ in expected)
    for found in in_threads(n, lambda: answers(fresh, batch_size=4)):
        assert found == expected


@pytest.mark.usefixtures("no_training")
def test_no_network_is_in_training_mode_after_a_prediction(nlp: Language):
    answers(nlp)
    modules = [
        module
        for _, component in nlp.pipeline
        for model in (component.model, getattr(component, "boundaries", None))  # type: ignore[attr-defined]
        if model is not None
        for shim in find_shims(model)
        if shim.spec is not None
        for module in shim.network.modules()
    ]
    assert modules
    assert not any(module.training for module in modules)


@pytest.mark.usefixtures("switching", "no_training")
def test_threads_find_the_same_amrs():
    nlp = amr_nlp()
    nlp.initialize(lambda: amr_examples(nlp))
    randomize(amr_parser_of(nlp).model, 3)

    def ask() -> list[Any]:
        docs = [unparsed_copy(example.predicted, ["SENT_START"]) for example in amr_examples(nlp)]
        return [get_amrs(doc) for doc in nlp.pipe(docs)]

    expected = ask()
    assert all(expected)
    for n in (2, 4):
        assert in_threads(n, ask) == [expected] * n


@forks
def test_processes_find_the_same_trees_while_a_thread_runs(nlp: Language):
    expected = answers(nlp)
    stop, found = Event(), []

    def run() -> None:
        while not stop.is_set():
            found.append(answers(nlp))

    thread = Thread(target=run)
    thread.start()
    try:
        assert answers(nlp, n_process=2, batch_size=2) == expected
    finally:
        stop.set()
        thread.join()
    assert found
    assert all(of_run == expected for of_run in found)
