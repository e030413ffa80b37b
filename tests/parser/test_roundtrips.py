"""Every parser and refiner, kept by whatever way, gives what it gave before."""

from collections.abc import Callable, Sequence
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

ALL_WAYS = (*PIPELINE_WAYS, *COMPONENT_WAYS)


def row_docs(vocab: Vocab) -> list[Doc]:
    """Some of the ten sentences, and others."""
    others = [plain_doc(vocab, text) for text in ("the man saw no cat today", "x")]
    return [*treebank_docs(vocab)[3:7], *others]


def with_shared_encoder(upstream: str, folder: Path) -> Language:
    nlp = shared_nlp(upstream, folder)
    nlp.initialize(lambda: treebank_examples(nlp))
    randomize(parser_of(nlp).model)
    return nlp


#: Transition-based parsers, which differ in their networks alone.
ROWS = [*PAPER_ROWS, "Stack-a", "Stack-c", "Stack-d"]
#: Pipelines, made with an empty folder; Docs for them; and the ways in which they are kept.
THINGS: dict[str, tuple[Callable[[Path], Language], MakeDocs, Sequence[Keep]]] = {
    "SynTr": (lambda _: initialized_nlp(tag_attr="POS", store_probabilities=True), treebank_docs, ALL_WAYS),
    "RNGTr": (lambda _: storing_refiner(), mixed_docs, ALL_WAYS),
    "Stack-bh": (lambda _: initialized_nlp(row="Stack-bh"), row_docs, ALL_WAYS),
    **{row: (lambda _, row=row: initialized_nlp(row=row), row_docs, [through_disk]) for row in ROWS},
}
for upstream in ("g2g_encoder", "tok2vec", "transformer"):
    THINGS[upstream] = partial(with_shared_encoder, upstream), treebank_docs, PIPELINE_WAYS
#: Those that `make check` tests.
QUICK = ("SynTr", "RNGTr", "SentTr+G2GTr", "StateTr+G2GTr", "g2g_encoder")


@pytest.fixture(scope="module")
def thing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    make, make_docs, _ = THINGS[request.param]
    return Kept(make(tmp_path_factory.mktemp("thing")), make_docs)


CASES = []
for name, (_, _, ways) in THINGS.items():
    marks = () if name in QUICK else pytest.mark.slow
    CASES += [pytest.param(name, keep, marks=marks, id=f"{keep.__name__}-{name}") for keep in ways]


@pytest.mark.parametrize(("thing", "keep"), CASES, indirect=["thing"])
def test_a_kept_parser_gives_the_same(thing: Kept, keep: Keep, tmp_path: Path):
    thing.check(keep, tmp_path)
