"""A sentence of more words than memory allows to parse whole is parsed in parts, and still gets one tree."""

import warnings
from dataclasses import fields, replace

import numpy as np
import pytest
from spacy.language import Language
from spacy.tokens import Doc

from spacy_g2g.models.types import Arcs, ArcScores, Parse, Sentence
from spacy_g2g.parser.rng_refiner import GRAPHS
from spacy_g2g.pipeline import long_sentences
from spacy_g2g.pipeline.long_sentences import MAX_WORDS, cut_long, join_parts

from ..parser.refiners import random_refiner
from ..parser.test_bad_input import assert_tree
from ..util import initialized_nlp, parser_of, plain_doc

WORDS = ["she", "saw", "a", "cat", "with", "a", "hat", "and", "dogs", "barked", "at", "it", "all", "day", "."]
LABELS = ("root", "nsubj", "dep", "parataxis")


@pytest.fixture
def nlp(factory: str) -> Language:
    return initialized_nlp(factory=factory) if factory == "g2g_parser" else random_refiner(iterations=3)


@pytest.fixture
def five_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_sentences, "MAX_WORDS", 5)


def parse_of(heads: list[int], labels: list[int], passes: int = 0) -> Parse:
    arrays = np.array(heads), np.array(labels)
    probs = np.full(len(heads), 0.5)
    parse = Parse(Arcs(*arrays), probs, probs)
    return replace(parse, earlier=(parse,) * (passes - 1)) if passes else parse


def quietly(nlp: Language, doc: Doc) -> Doc:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return nlp(doc)


def test_a_model_never_gets_more_words_at_once(nlp: Language, monkeypatch: pytest.MonkeyPatch):
    lengths = []

    def watched(model, sentences):
        lengths.extend(len(sentence.words) for sentence in sentences)
        return [parse_of([0, *range(1, len(s.words))], [0] + [1] * (len(s.words) - 1)) for s in sentences]

    monkeypatch.setattr(type(parser_of(nlp).model), "predict", watched)
    doc = quietly(nlp, plain_doc(nlp.vocab, ["!"] * (2 * MAX_WORDS + 1)))
    assert lengths == [1333, 1334, 1334]
    assert_tree(doc)


@pytest.mark.usefixtures("five_words")
def test_parts_are_parsed_as_sentences_and_joined_at_their_roots(factory: str):
    nlp = initialized_nlp(factory=factory)
    doc = quietly(nlp, plain_doc(nlp.vocab, WORDS))
    parts = quietly(nlp, plain_doc(nlp.vocab, WORDS[:5], WORDS[5:10], WORDS[10:]))
    roots = [token.i for token in parts if token.head.i == token.i]
    assert len(roots) == 3
    assert [token.head.i for token in doc] == [
        roots[0] if token.i in roots else token.head.i for token in parts
    ]
    assert [token.i for token in doc if token.dep_ != parts[token.i].dep_] == roots[1:]
    assert_tree(doc)


@pytest.mark.usefixtures("five_words")
def test_passes_of_parts_are_joined():
    nlp = random_refiner(iterations=3, store_graphs=True)
    doc = quietly(nlp, plain_doc(nlp.vocab, WORDS))
    assert all(len(graph["heads"]) == len(WORDS) for graph in doc._.get(GRAPHS))
    assert doc._.get(GRAPHS)[-1]["heads"] == [token.head.i for token in doc]
    assert_tree(doc)


@pytest.mark.usefixtures("five_words")
def test_other_sentences_and_batches_change_nothing(nlp: Language):
    docs = [plain_doc(nlp.vocab, WORDS[:n], WORDS) for n in (1, 5, 6, 11)]
    alone = [[token.head.i for token in quietly(nlp, doc.copy())] for doc in docs]
    with pytest.warns(UserWarning, match=r"W806.*parsed in parts"):
        together = [[token.head.i for token in doc] for doc in nlp.pipe(docs)]
    assert together == alone


@pytest.mark.usefixtures("five_words")
def test_a_part_gets_its_words_tags_vectors_and_arcs():
    heads = np.array([2, 0, 7, 3, 3, 2, -1])
    graph = Arcs(heads, np.arange(7) - (heads < 0))
    vectors = np.arange(14.0).reshape(7, 2)
    first, second = cut_long(Sentence(WORDS[:7], tags=list("abcdefg"), graph=graph, vectors=vectors))
    assert (first.words, second.words) == (WORDS[:3], WORDS[3:7])
    assert (first.tags, second.tags) == (["a", "b", "c"], ["d", "e", "f", "g"])
    assert first.graph is not None
    assert second.graph is not None
    assert first.graph.heads.tolist() == [2, 0, -1]
    assert first.graph.labels.tolist() == [0, 1, -1]
    assert second.graph.heads.tolist() == [-1, -1, -1, -1]
    assert second.vectors.tolist() == vectors[3:].tolist()


@pytest.mark.parametrize(
    ("labels", "expected"), [(LABELS, 3), (LABELS[:3], 2), (LABELS[:2], 1), (("dep", "nsubj"), 1)]
)
def test_further_roots_depend_on_the_first_root(labels: tuple[str, ...], expected: int):
    joined = join_parts([parse_of([2, 0], [1, 0]), parse_of([0, 1], [0, 1]), parse_of([0], [0])], labels)
    assert joined.tree.heads.tolist() == [2, 0, 2, 3, 2]
    assert joined.tree.labels.tolist() == [1, 0, expected, 1, expected]
    assert joined.head_probs.tolist() == joined.label_probs.tolist() == [0.5, 0.5, 0.0, 0.5, 0.0]


def test_a_joined_parse_has_defaults_where_joining_is_not_defined():
    scores = ArcScores(np.zeros((1, 2), np.float32), np.zeros((1, 1, 2), np.float32))
    part = replace(parse_of([0], [0]), scores=scores)
    joined = join_parts([part, part], LABELS)
    assert joined.coverage == "chunked"
    for field in fields(Parse):
        if field.name not in ("tree", "head_probs", "label_probs", "coverage", "earlier"):
            assert getattr(part, field.name) is not field.default
            assert getattr(joined, field.name) is field.default
    assert join_parts([part], LABELS) is part


def test_a_part_that_is_finished_keeps_its_tree_in_later_passes():
    joined = join_parts([parse_of([0], [0], passes=1), parse_of([0, 1], [0, 1], passes=3)], LABELS)
    assert [graph.tree.heads.tolist() for graph in joined.iterations] == [[0, 1, 2]] * 3
