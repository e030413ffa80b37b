"""Sentences laid out in lines keep their words, sentences and trees."""

from random import Random

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example

from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.sentences.augmenters import make_running_text
from spacy_g2g.sentences.rewriting import Segment, rewrite, segments_of
from spacy_g2g.sentences.typesetting import MARKS, Style, _typeset_part, choose_style, typeset

from ..util import gold_doc, read_treebank

NLP = spacy.blank("en")
#: Words that the tokenizer leaves whole wherever they stand.
PLAIN = read_treebank()
MARK_TEXTS = {text for marks in MARKS for text in marks} | {">"}
Row = list[tuple[str, str, int, str]]


def segments(*sentences: str) -> list[list[Segment]]:
    """Sentences of words with a space behind each."""
    made, n = [], 0
    for sentence in sentences:
        words = sentence.split()
        made.append([Segment(n + i, word, " ") for i, word in enumerate(words)])
        n += len(words)
    return made


def text_of(found: list[Segment]) -> str:
    return "".join(segment.text + segment.gap for segment in found)


def style(**settings: object) -> Style:
    plain = {"paragraph": 1, "sentence_gap": " ", "paragraph_gap": "\n", "width": 0, "marks": ()}
    return Style(**{**plain, "is_quoted": False, **settings})  # type: ignore[arg-type]


def with_spaces(doc: Doc) -> Doc:
    """The Doc with a space behind each word but before punctuation, and with lemmas and tags."""
    spaces = [not after.is_punct for after in doc[1:]] + [True]
    return Doc(
        doc.vocab,
        words=[token.text for token in doc],
        spaces=spaces,
        tags=[token.tag_ for token in doc],
        pos=[token.pos_ for token in doc],
        lemmas=[token.lower_ for token in doc],
        heads=[token.head.i for token in doc],
        deps=[token.dep_ for token in doc],
        sent_starts=[bool(token.is_sent_start) for token in doc],
    )


def laid_out(rows: list[Row], seed: int, **settings: float) -> tuple[Doc, Example]:
    """A gold Doc, and its Example laid out in lines."""
    gold = with_spaces(gold_doc(NLP.vocab, rows))
    augment = make_running_text(drop_punct=0.0, line_share=1.0, seed=seed, **settings)
    (found,) = augment(NLP, Example(unparsed_copy(gold, []), gold))
    return gold, found


SENTENCES = ["one two three", "four", "five six"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "one two three\nfour\nfive six\n"),
        ({"paragraph_gap": "\r\n\r\n"}, "one two three\r\n\r\nfour\r\n\r\nfive six\r\n\r\n"),
        ({"width": 9}, "one two\nthree\nfour\nfive six\n"),
        ({"width": 2}, "one\ntwo\nthree\nfour\nfive\nsix\n"),
        ({"marks": ("-",)}, "- one two three\n- four\n- five six\n"),
        ({"marks": ("1", ".")}, "1. one two three\n1. four\n1. five six\n"),
        ({"is_quoted": True}, "> one two three\n> four\n> five six\n"),
        ({"is_quoted": True, "width": 9}, "> one two\n> three\n> four\n> five six\n"),
        ({"paragraph": 1e9}, "one two three four five six\n"),
        ({"paragraph": 1e9, "sentence_gap": "\n"}, "one two three\nfour\nfive six\n"),
        ({"paragraph": 1e9, "width": 14}, "one two three\nfour five six\n"),
    ],
    ids=str,
)
def test_styles(settings: dict[str, object], expected: str):
    assert text_of(_typeset_part(segments(*SENTENCES), style(**settings), Random(0))) == expected


def test_a_sentence_without_a_space_behind_it_keeps_the_next_one():
    sentences = segments("one", "two")
    sentences[0][-1] = sentences[0][-1]._replace(gap="")
    for settings, expected in (({"paragraph": 1e9}, "onetwo\n"), ({}, "one\ntwo\n")):
        assert text_of(_typeset_part(sentences, style(**settings), Random(0))) == expected


def test_styles_differ():
    chance = Random(0)
    styles = [choose_style(chance) for _ in range(300)]
    assert {bool(s.width) for s in styles} == {s.is_quoted for s in styles} == {True, False}
    assert {s.marks for s in styles} == {(), *MARKS}
    assert not any(s.marks and s.is_quoted for s in styles)


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6), st.integers(0, 999))
def test_words_and_their_order_stay(sentences: list[str], seed: int):
    made = segments(*sentences)
    found = typeset(made, Random(seed))
    words = [(segment.source, segment.text) for segment in found if segment.source >= 0]
    assert words == [(segment.source, segment.text) for sentence in made for segment in sentence]
    assert {segment.text for segment in found if segment.source < 0} <= MARK_TEXTS
    assert found[-1].gap == ""
    # White space stays between words that had some.
    assert all(segment.gap for segment in found[:-1] if segment.source >= 0)


@given(
    st.lists(st.sampled_from([*SENTENCES, "extraordinarily " * 5]), min_size=1, max_size=6),
    st.integers(5, 30),
    st.integers(0, 99),
)
def test_lines_are_as_long_as_they_may_be(sentences: list[str], width: int, seed: int):
    chance = Random(seed)
    for settings in ({}, {"paragraph": 3}, {"marks": ("1", ".")}):
        found = text_of(_typeset_part(segments(*sentences), style(width=width, **settings), chance))
        for line in found.splitlines():
            assert len(line.rstrip()) <= width or len(line.removeprefix("1. ").split()) == 1, line


@given(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=5), st.integers(0, 999))
def test_trees_stay_and_white_space_is_as_the_tokenizer_makes_it(rows: list[Row], seed: int):
    gold, found = laid_out(rows, seed, shuffle_share=1.0)
    doc = found.reference
    assert [(t.text, t.whitespace_) for t in found.predicted] == [(t.text, t.whitespace_) for t in doc]
    assert not found.predicted.has_annotation("DEP")
    made = NLP.make_doc(doc.text)
    assert [t.text for t in made if t.is_space] == [t.text for t in doc if t.is_space]
    assert [(t.text, t.whitespace_) for t in made] == [(t.text, t.whitespace_) for t in doc]
    # Each word knows where it was by its sentence and its place there.
    marks = [token for token in doc if not token.is_space and not token.lemma_]
    words = [token for token in doc if token.lemma_]
    assert {token.text for token in marks} <= MARK_TEXTS
    number = {token.i: i for i, token in enumerate(words)}
    sentences, before = [], []
    for sentence in doc.sents:
        own = [token for token in sentence if token.i in number]
        assert own, sentence
        first = number[own[0].i]
        sentences.append([describe(token, number[token.head.i] - first) for token in own])
    for sentence in gold.sents:
        before.append([describe(token, token.head.i - sentence.start) for token in sentence])
    assert sorted(sentences) == sorted(before)


def describe(token: object, head: int) -> tuple[object, ...]:
    return (*(getattr(token, name) for name in ("text", "tag_", "pos_", "lemma_", "dep_")), head)


@given(st.lists(st.sampled_from(PLAIN), min_size=1, max_size=5), st.integers(0, 999))
def test_marks_before_a_sentence_hang_on_its_root(rows: list[Row], seed: int):
    doc = laid_out(rows, seed)[1].reference
    labels = {token.dep_ for token in doc}
    for sentence in doc.sents:
        in_front = True
        for token in sentence:
            in_front &= not token.lemma_
            if token.is_space or not token.lemma_:
                assert (token.tag, token.pos, token.lemma, str(token.morph)) == (0, 0, 0, "")
            if token.is_space or (not token.lemma_ and not (in_front and "punct" in labels)):
                assert (token.head, token.dep_) == (token, "")
            elif in_front:
                assert (token.head, token.dep_) == (sentence.root, "punct")
        assert not sentence[0].is_space or sentence.start == 0


def test_a_mark_is_given_the_label_that_the_doc_has():
    for text, dep in (("Go/VERB/0/root !/PUNCT/1/punct", "punct"), ("Go/VERB/0/root", "")):
        gold = with_spaces(gold_doc(NLP.vocab, read_treebank(text)))
        found = [Segment(-1, "-", " "), *segments_of(gold, gold.to_array("LENGTH") > 0)]
        doc = rewrite(gold, found)
        assert (doc[0].dep_, doc[0].head.i) == (dep, 1 if dep else 0)
        assert [token.i for token in doc if token.is_sent_start] == [0]


def test_docs_of_unknown_spaces_and_lower_case():
    doc = Doc(NLP.vocab, words=["Tea", "MILK"])
    lower = rewrite(doc, segments_of(doc, doc.to_array("LENGTH") > 0), lower=True)
    assert ([t.text for t in lower], lower.has_unknown_spaces) == (["tea", "milk"], doc.has_unknown_spaces)


def test_each_epoch_has_another_layout_and_boundaries_that_are_all_known_stay_known():
    gold = with_spaces(gold_doc(NLP.vocab, PLAIN))
    example = Example(unparsed_copy(gold, ["SENT_START"]), gold)
    augment = make_running_text(drop_punct=0.0, line_share=1.0)
    texts = []
    for _ in range(20):
        (found,) = augment(NLP, example)
        texts.append(found.reference.text)
        assert any(token.is_space for token in found.predicted)
        starts = found.predicted.to_array("SENT_START").astype(np.int64).tolist()
        assert {*starts} == {-1, 1}
        assert [start == 1 for start in starts] == [bool(token.is_sent_start) for token in found.reference]
    assert len({*texts}) == 20
