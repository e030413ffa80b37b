"""Splits of multiword tokens."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.symbols import NORM, ORTH

from spacy_g2g.data.splits import N_KNOWN_KINDS, STEM, SplitTable, find_split
from spacy_g2g.data.words import cut

ITALIAN = [
    ("della", ("di", "la")),
    ("Dirlo", ("Dir", "lo")),
    ("dirgli", ("dir", "gli")),
    ("dal", ("da", "il")),
    ("dal", ("da", "il")),
    ("dal", ("dal",)),
    ("casa", ("casa",)),
]


@pytest.fixture(scope="module")
def table() -> SplitTable:
    return SplitTable.learn(ITALIAN)


def words_of(table: SplitTable, form: str) -> list[tuple[str, ...]]:
    return [candidate.words for candidate in table.candidates(form)]


@pytest.mark.parametrize(
    ("form", "words", "split"),
    [
        ("dirlo", ("dir", "lo"), ("", "lo", (STEM, "lo"))),
        ("Evdeki", ("Evde", "ki"), ("", "ki", (STEM, "ki"))),
        ("tutsağiz", ("tutsak", "iz"), ("", "ğiz", (STEM + "k", "iz"))),
        ("bbit", ("b", "h", "bit"), ("b", "", ("b", "h", STEM))),
        ("du", ("de", "le"), ("du", "", ("de", "le"))),
    ],
)
def test_a_split_keeps_the_longest_shared_part(form: str, words: tuple[str, ...], split: tuple[object, ...]):
    assert find_split(form, words) == split


@given(
    st.text("abcAB'", min_size=1, max_size=8), st.lists(st.text("abcAB", min_size=1, max_size=6), min_size=2)
)
def test_a_split_gives_the_words_that_it_was_made_of(form: str, words: list[str]):
    found = find_split(form, words).apply(form)
    if cut(form, tuple(words)) is None:
        assert found is None
    else:
        assert found is not None
        assert [word.lower() for word in found] == [word.lower() for word in words]


def test_splits_fit_other_tokens_and_take_over_their_case(table: SplitTable):
    assert words_of(table, "farlo") == [("farlo",), ("far", "lo")]
    assert words_of(table, "FARLO") == [("FARLO",), ("FAR", "LO")]
    assert words_of(table, "Della") == [("Della",), ("Di", "la")]
    assert words_of(table, "DAL") == [("DAL",), ("DA", "IL")]
    assert words_of(table, "lo") == [("lo",)]
    assert words_of(table, "") == [("",)]


def test_letters_that_grow_in_lower_case_stay_in_place():
    table = SplitTable.learn([("evdeki", ("evde", "ki"))])
    assert words_of(table, "İzmirdeki") == [("İzmirdeki",), ("İzmirde", "ki")]


def test_a_table_survives_json(table: SplitTable):
    loaded = SplitTable.from_json(json.loads(json.dumps(table.to_json())))
    assert loaded.n_kinds == table.n_kinds == N_KNOWN_KINDS + len(table.splits)
    for form in ("della", "farlo", "dal", "vendergli"):
        assert loaded.candidates(form) == table.candidates(form)


def test_a_table_of_no_multiword_tokens_splits_nothing():
    table = SplitTable.learn([("casa", ("casa",))])
    assert (table.splits, table.known, words_of(table, "casa")) == ([], {}, [("casa",)])


def test_special_cases_of_the_tokenizer_are_found(table: SplitTable):
    rules = {
        "Della": [{ORTH: "Del", NORM: "Di"}, {ORTH: "la", NORM: "la"}],
        "dirla": [{ORTH: "dir"}, {ORTH: "la"}],
        "dirlo": [{ORTH: "dir"}, {ORTH: "lo"}],
        "casa": [{ORTH: "casa"}],
    }
    assert table.special_cases(rules) == [(["Del", "la"], ("Di", "la")), (["dir", "lo"], ("dir", "lo"))]


def test_the_norm_of_a_special_case_may_be_another_form():
    rules = {
        "can't": [{ORTH: "ca", NORM: "can"}, {ORTH: "n't", NORM: "not"}],
        "a.m": [{ORTH: "a."}, {ORTH: "m"}],
    }
    table = SplitTable.learn([("wouldn't", ("would", "n't"))])
    assert table.special_cases(rules) == [(["ca", "n't"], ("ca", "n't"))]
