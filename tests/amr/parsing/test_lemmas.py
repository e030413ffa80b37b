import sys

import pytest

from spacy_g2g.amr.parsing.actions import AmrSentence
from spacy_g2g.amr.parsing.lemmas import find_lemma, stem

#: Of the library, some; of our own, pronouns.
LEMMAS = "boys boy|Boxes box|children child|running run|was be|n't not|saw see|his he|me i|themselves they"


@pytest.mark.parametrize(("form", "lemma"), [entry.split() for entry in LEMMAS.split("|")])
def test_words_have_lemmas_in_lower_case(form: str, lemma: str):
    assert find_lemma(form) == lemma


def test_given_lemmas_go_before_those_of_the_library_where_there_are_some():
    assert AmrSentence.of(["boys", "ran"], ["BOY", ""]).lemmas == ("BOY", "run")


@pytest.mark.parametrize("form", ["", " ", ":", "İ", "s", "ing", "ed", "'s", "\x00", "🙂"])
def test_odd_words_have_a_lemma(form: str):
    assert find_lemma(form) == form.lower()


def test_a_stem_has_no_sense_and_no_quotes():
    assert [stem(label) for label in ("want-01", '"Paris"', "boy", "have-rel-role-91")] == [
        "want",
        "Paris",
        "boy",
        "have-rel-role",
    ]


def test_without_simplemma_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "simplemma", None)
    with pytest.raises(ImportError, match=r"G2G-E1010.*simplemma.*spacy-g2g\[amr\]"):
        find_lemma("unheardofs")
