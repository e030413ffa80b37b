"""Splits of multiword tokens."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.data.multiword import cut
from spacy_g2g.mwt import splits
from spacy_g2g.mwt.splits import N_KNOWN_KINDS, STEM, Split, SplitTable, find_split

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
    # A letter that grows in lower case stays in place.
    table = SplitTable.learn([("evdeki", ("evde", "ki"))])
    assert words_of(table, "İzmirdeki") == [("İzmirdeki",), ("İzmirde", "ki")]


def test_words_of_a_token_with_fewer_characters_are_no_candidate():
    table = SplitTable.learn([("à", ("a", "a"))])
    assert (table.known, words_of(table, "à")) == ({"à": [("a", "a")]}, [("à",)])


@pytest.mark.parametrize(("learned", "read"), [("'", "\u2019"), ("\u2019", "'")])
def test_what_is_learned_about_one_apostrophe_holds_for_the_other(learned: str, read: str):
    table = SplitTable.learn([(f"wouldn{learned}t", ("would", f"n{learned}t"))])
    for mark in (learned, read):
        assert words_of(table, f"Couldn{mark}t")[1:] == [("Could", f"n{mark}t")]


def test_few_forms_are_kept(table: SplitTable, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(splits, "MAX_FORMS", 2)
    forms = ["farlo", "della", "dal", "farlo", "lo"]
    assert [words_of(table, form) for form in forms] == [
        words_of(SplitTable.learn(ITALIAN), f) for f in forms
    ]
    assert set(table._candidates) <= {"farlo", "lo"}


def test_a_table_survives_json(table: SplitTable):
    loaded = SplitTable.from_json(json.loads(json.dumps(table.to_json())))
    assert loaded.n_kinds == table.n_kinds == N_KNOWN_KINDS + len(table.splits)
    for form in ("della", "farlo", "dal", "vendergli"):
        assert loaded.candidates(form) == table.candidates(form)


def test_what_is_one_word_is_not_learned_and_what_is_longer_than_an_ending_by_heart():
    table = SplitTable.learn([("casa", ("casa",))])
    assert (table.splits, table.known, words_of(table, "casa")) == ([], {}, [("casa",)])
    token, words = "b" * 95 + "stem" + "e" * 95, ("stem", "z")
    table = SplitTable.learn([(token, words)])
    assert (table.splits, table.known) == ([], {token: [words]})


def parts_of(table: SplitTable, texts: str, norms: str = "") -> dict[int, tuple[int, tuple[str, ...]]]:
    """Pieces of a text in which "_" is a white space between tokens."""
    tokens = texts.replace("_", " _").split()
    words = [token.strip("_") for token in tokens]
    spaces = [token.startswith("_") for token in tokens[1:]] + [False]
    return table.find_parts(texts=words, norms=norms.split() or words, spaces=spaces)


def test_tokens_with_the_words_of_a_split_are_pieces(table: SplitTable):
    assert parts_of(table, "vuol _dir lo _Del la", "vuol dir lo Di la") == {
        1: (3, ("dir", "lo")),
        3: (5, ("Di", "la")),
    }
    table = SplitTable.learn([("parlarglielo", ("parlar", "glie", "lo"))])
    assert parts_of(table, "vender glie lo") == {0: (3, ("vender", "glie", "lo"))}
    # The norm of a piece may be another form.
    table = SplitTable.learn([("wouldn't", ("would", "n't"))])
    assert parts_of(table, "It _ca n't", "it can not") == {1: (3, ("ca", "n't"))}


def test_other_tokens_are_no_pieces(table: SplitTable):
    for texts in ("dir _lo", "dir", "1998 lo", "dir la", ", lo", "lo , dir"):
        assert parts_of(table, texts) == {}
    assert parts_of(table, "") == {}


def test_a_long_split_of_a_damaged_treebank_does_not_slow_other_forms_down():
    damaged = "b" * 95 + "stem" + "e" * 95
    splits = [Split("", "lo", ("\0", "lo")), Split("b" * 95, "e" * 95, ("x\0y", "z"))]
    table = SplitTable(splits, {}, {})
    assert words_of(table, damaged)[-1] == ("xstemy", "z")
    start = time.process_time()
    for number in range(2000):
        table.candidates(f"{number}" + "a" * 190)
    assert time.process_time() - start < 1
