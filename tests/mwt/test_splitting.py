"""Tokens that are split in one pass: as spaCy's retokenizer splits them, but for its faults."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Span, SpanGroup, Token

from spacy_g2g.mwt.splitting import split_tokens

VOCAB = spacy.blank("xx").vocab
TEXTS = ["dirlo", "della", "a", "\n", "nonna", "évde"]
ENTITIES = ["", "O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


@st.composite
def annotated_docs(draw: Any) -> tuple[Doc, dict[int, tuple[str, ...]]]:
    """A Doc with random annotations, and the pieces of some of its tokens."""
    n = draw(st.integers(1, 8))

    def column(values: Sequence[Any]) -> list[Any]:
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    found: dict[str, Any] = {"words": column(TEXTS), "spaces": column([True, False])}
    if draw(st.booleans()):
        heads = [draw(st.integers(0, i)) for i in range(n)]
        found |= {"heads": [n - 1 - i for i in heads[::-1]], "deps": column(["root", "obj", ""])}
    elif draw(st.booleans()):
        found["sent_starts"] = column([True, False, None])
    if draw(st.booleans()):
        found |= {"tags": column(["N", "V"]), "pos": column(["NOUN", "VERB"]), "ents": column(ENTITIES)}
        found |= {"morphs": column(["Case=Nom", ""]), "lemmas": draw(st.just(found["words"]))}
    doc = Doc(VOCAB, **found)
    if draw(st.booleans()):
        doc.tensor = np.arange(3 * n, dtype="f").reshape(n, 3)
    longer = draw(st.sets(st.sampled_from([i for i in range(n) if len(doc[i]) > 2] or [-1])))
    cuts = {i: draw(st.integers(1, len(doc[i]) - 2)) for i in longer if i >= 0}
    texts = {i: (doc[i].text[:at], doc[i].text[at : at + 1], doc[i].text[at + 1 :]) for i, at in cuts.items()}
    return doc, texts


def add_spans(doc: Doc, edges: list[tuple[int, int]]) -> None:
    places = [sorted(min(edge, len(doc)) for edge in pair) for pair in edges]
    spans = [Span(doc, start, end, label="A", kb_id="k", span_id="i") for start, end in places]
    doc.spans["other"] = SpanGroup(doc, name="its name", attrs={"a": 1}, spans=spans)


def split_by_spacy(doc: Doc, pieces: dict[int, tuple[str, ...]]) -> None:
    """Split with spaCy's retokenizer, which leaves annotations of the next token and wrong edges."""
    before = [(t.tag_, t.pos_, str(t.morph), t.dep_, t.ent_iob, t.lemma_) for t in doc]
    entities = [(t.ent_type_, t.ent_kb_id_, t.ent_id_) for t in doc]
    starts, has_starts = [t.is_sent_start for t in doc], any(t.is_sent_start is not None for t in doc[1:])
    sources = [i for i in range(len(doc)) for _ in pieces.get(i, "-")]
    spans = [(s.start_char, s.end_char) for s in doc.spans["other"]]
    heads = (np.arange(len(doc)) + doc.to_array("HEAD").astype(np.int64)).tolist()
    with doc.retokenize() as retokenizer:
        for i, texts in pieces.items():
            head: Any = doc[heads[i]] if heads[i] != i else (doc[i], 0)
            retokenizer.split(doc[i], list(texts), [head, *[(doc[i], 0)] * (len(texts) - 1)])
    table = []
    for place, (token, source) in enumerate(zip(doc, sources, strict=True)):
        is_inner = place > 0 and sources[place - 1] == source
        tag, pos, morph, dep, iob, lemma = before[source]
        token.lemma_ = token.text if source in pieces and lemma else lemma
        values = ["", "", "", ""] if is_inner else [tag, pos, morph, dep]
        start: Any = (-1 if has_starts else 0) if is_inner else {True: 1, False: -1, None: 0}[starts[source]]
        hashes = [VOCAB.strings.add(value) for value in values]
        own = [VOCAB.strings.add(value) for value in entities[source]]
        table.append([start, *hashes, 1 if is_inner and iob == 3 else iob, *own])
    names = ["SENT_START", "TAG", "POS", "MORPH", "DEP", "ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID"]
    array: Any = np.array(table, dtype=object) % 2**64
    doc.from_array(names, array.astype(np.uint64))
    doc.tensor = doc.tensor[: len(doc)]
    found = [(doc.char_span(a, b, "A", "k", span_id="i")) for a, b in spans if a < b]
    doc.spans["other"] = SpanGroup(doc, name="its name", attrs={"a": 1}, spans=found)


def content(doc: Doc) -> dict[str, Any]:
    tokens = [
        (t.text, t.whitespace_, t.idx, t.tag_, t.pos_, str(t.morph), t.lemma_, t.norm_, t.dep_, head)
        for t, head in zip(doc, doc.to_array("HEAD").tolist(), strict=True)
    ]
    kinds = [(t.ent_iob_, t.ent_type_, t.is_sent_start) for t in doc]
    spans = [(s.text, s.start, s.end, s.label_, s.kb_id_, s.id_) for s in doc.spans["other"] if len(s)]
    group = doc.spans["other"]
    return {
        "tokens": tokens,
        "kinds": kinds,
        "spans": (spans, group.name, group.attrs),
        "tensor": doc.tensor.tolist(),
        "text": doc.text,
    }


@given(annotated_docs(), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=3))
def test_tokens_are_split_as_spacy_splits_them(
    drawn: tuple[Doc, dict[int, tuple[str, ...]]], edges: list[tuple[int, int]]
) -> None:
    doc, pieces = drawn
    if not pieces:
        return
    expected = doc.copy()
    add_spans(doc, edges)
    add_spans(expected, edges)
    split_by_spacy(expected, pieces)
    empty = [span.start_char for span in doc.spans["other"] if not len(span)]
    split_tokens(doc, pieces)
    assert content(doc) == content(expected)
    heads = (np.arange(len(doc)) + doc.to_array("HEAD").astype(np.int64)).tolist()
    for token in doc if doc.has_annotation("DEP") else ():
        assert [child.i for child in token.children] == [
            i for i, head in enumerate(heads) if head == token.i != i
        ]
    assert [span.start_char for span in doc.spans["other"] if not len(span)] == empty


@pytest.fixture
def annotated() -> Doc:
    """A Doc with all that is kept beside tokens."""
    for of_what in (Doc, Token, Span):
        of_what.set_extension("test_value", default=None, force=True)
    doc = Doc(VOCAB, words=["vuol", "dirlo", "x"], spaces=[True, True, False], user_data={"own": [1]})
    doc.cats, doc.sentiment, doc.has_unknown_spaces = {"A": 0.5}, 0.25, True
    doc.user_hooks["vector"] = doc.user_token_hooks["vector"] = lambda _: np.ones(2)
    doc.user_span_hooks["sent"] = lambda span: span
    doc.noun_chunks_iterator = lambda doc: [(0, 1, 0)]
    doc._.test_value, doc[1]._.test_value, doc[1:3]._.test_value = "doc", "token", "span"
    doc.spans["empty"] = [Span(doc, 1, 1, "A"), Span(doc, 3, 3, "B"), Span(doc, 0, 0, "C")]
    return doc


def test_everything_else_in_a_doc_stays(annotated: Doc) -> None:
    doc = annotated
    hooks, data = {**doc.user_hooks}, doc.user_data
    split_tokens(doc, {1: ("dir", "lo")})
    assert [token.text for token in doc] == ["vuol", "dir", "lo", "x"]
    assert (doc.cats, doc.sentiment, doc.has_unknown_spaces) == ({"A": 0.5}, 0.25, True)
    assert doc.user_hooks == hooks
    assert set(doc.user_token_hooks) | set(doc.user_span_hooks) == {"vector", "sent"}
    assert [chunk.text for chunk in doc.noun_chunks] == ["vuol"]
    assert doc.user_data is data
    assert (doc._.test_value, doc[1]._.test_value, doc[1:4]._.test_value) == ("doc", "token", "span")
    assert doc[2]._.test_value is None
    assert [(s.start, s.end, s.label_) for s in doc.spans["empty"]] == [(1, 1, "A"), (4, 4, "B"), (0, 0, "C")]
    del doc.spans["empty"]  # spaCy copies no empty spans
    assert [token.text for token in doc.copy()] == [token.text for token in doc]


def test_a_token_that_a_caller_holds_can_still_be_read(annotated: Doc) -> None:
    token = annotated[2]
    for _ in range(50):
        split_tokens(annotated, {len(annotated) - 1: ("x",)})
    assert token.text == "x"


def test_many_tokens_are_split_in_linear_time() -> None:
    doc = Doc(VOCAB, words=["dirlo"] * 20_000)
    start = time.process_time()
    split_tokens(doc, dict.fromkeys(range(20_000), ("dir", "lo")))
    assert time.process_time() - start < 2
    assert [token.text for token in doc[-2:]] == ["dir", "lo"]
