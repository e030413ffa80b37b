"""Every parser and refiner, kept by whatever way, gives what it gave before."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..roundtrips import COMPONENT_WAYS, PIPELINE_WAYS, Keep, Kept, MakeDocs, through_disk
from ..util import (
    PAPER_ROWS,
    initialized_nlp,
    mostly_slow,
    parser_of,
    plain_doc,
    randomize,
    treebank_docs,
    treebank_examples,
)
from .refiners import mixed_docs, storing_refiner
from .test_shared_encoder import shared_nlp

# Rows without SWAP can't learn from two of the ten sentences.
pytestmark = pytest.mark.filterwarnings("ignore:.*G2G-W804")


def row_docs(vocab: Vocab) -> list[Doc]:
    """Some of the ten sentences, and others."""
    return [
        *treebank_docs(vocab)[3:7],
        plain_doc(vocab, "the man saw no cat today"),
        plain_doc(vocab, "x"),
    ]


def with_shared_encoder(upstream: str, folder: Path) -> Language:
    nlp = shared_nlp(upstream, folder)
    nlp.initialize(lambda: treebank_examples(nlp))
    randomize(parser_of(nlp).model)
    return nlp


#: Pipelines of one component.
ALONE: dict[str, tuple[Callable[[], Language], MakeDocs]] = {
    "SynTr": (partial(initialized_nlp, tag_attr="POS", store_probabilities=True), treebank_docs),
    "RNGTr": (storing_refiner, mixed_docs),
    "Stack-bh": (partial(initialized_nlp, row="Stack-bh"), row_docs),
}
#: Transition-based parsers, which differ in their networks alone; and those of them that `make check` tests.
ROWS = [*PAPER_ROWS, "Stack-a", "Stack-c", "Stack-d"]
QUICK_ROWS = ("SentTr+G2GTr", "StateTr+G2GTr")


@pytest.fixture(scope="module", params=mostly_slow(ALONE, ["SynTr", "RNGTr"]))
def alone(request: pytest.FixtureRequest) -> Kept:
    make, make_docs = ALONE[request.param]
    return Kept(make(), make_docs)


@pytest.fixture(
    scope="module",
    params=mostly_slow(ROWS, QUICK_ROWS),
)
def row(request: pytest.FixtureRequest) -> Kept:
    return Kept(initialized_nlp(row=request.param), row_docs)


@pytest.fixture(scope="module", params=mostly_slow(["g2g_encoder", "tok2vec", "transformer"], "g2g_encoder"))
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(with_shared_encoder(request.param, tmp_path_factory.mktemp("shared")), treebank_docs)


@pytest.mark.parametrize("keep", [*PIPELINE_WAYS, *COMPONENT_WAYS])
def test_a_kept_parser_gives_the_same(alone: Kept, keep: Keep, tmp_path: Path):
    alone.check(keep, tmp_path)


def test_a_row_of_the_papers_gives_the_same_after_loading(row: Kept, tmp_path: Path):
    row.check(through_disk, tmp_path)


@pytest.mark.parametrize("keep", PIPELINE_WAYS)
def test_a_kept_parser_with_its_shared_encoder_gives_the_same(shared: Kept, keep: Keep, tmp_path: Path):
    shared.check(keep, tmp_path)
