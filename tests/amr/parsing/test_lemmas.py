import pytest

from spacy_g2g.amr.parsing.lemmas import Lemmatizer, lemma_candidates, stem

from .samples import SAMPLES, graph_of

LEMMAS = (
    "boys boy|Boxes box|stories story|knives knife|children child|running run|making make|called call|"
    "fell fall|stopped stop|hurried hurry|agreed agree|needed need|settled settle|dying die|glass glass|"
    "this this|nothing nothing|during during|his he|me i|was be|n't not|king king|saw see"
)


@pytest.mark.parametrize(("form", "lemma"), [entry.split() for entry in LEMMAS.split("|")])
def test_forms_have_lemmas_by_rule(form: str, lemma: str):
    assert Lemmatizer().lemma(form) == lemma


def test_a_known_candidate_is_the_lemma():
    assert Lemmatizer().lemma("tasted") == "tast"
    assert Lemmatizer({"taste": 1}).lemma("tasted") == "taste"
    assert Lemmatizer({"explore": 1}).lemma("explorers") == "explore"


def test_known_words_are_the_concepts_of_graphs():
    assert Lemmatizer.learn([graph_of(SAMPLES["Do not feed six lions !"])]).known == {
        "feed": 1,
        "lion": 1,
        "you": 1,
    }


def test_of_an_irregular_form_that_is_a_lemma_too_the_more_frequent_one_counts():
    assert Lemmatizer().lemma("rose") == "rise"
    assert Lemmatizer({"rise": 1, "rose": 2}).lemma("rose") == "rose"
    assert Lemmatizer({"rise": 1, "rose": 1}).lemma("rose") == "rise"


def test_given_lemmas_go_before_rules_where_there_are_some():
    assert Lemmatizer().sentence(["boys", "ran"], ["BOY", ""]).lemmas == ("BOY", "run")


@pytest.mark.parametrize(
    ("form", "candidate"),
    [("drawings", "draw"), ("happiness", "happy"), ("decision", "decide"), ("lying", "lie")],
)
def test_what_a_word_is_derived_from_is_a_candidate(form: str, candidate: str):
    assert candidate in lemma_candidates(form)


@pytest.mark.parametrize("form", ["", " ", ":", "İ", "s", "ing", "ed", "'s"])
def test_odd_words_have_a_lemma_or_none(form: str):
    assert isinstance(Lemmatizer().lemma(form), str)


def test_a_stem_has_no_sense_and_no_quotes():
    assert [stem(label) for label in ("want-01", '"Paris"', "boy", "have-rel-role-91")] == [
        "want",
        "Paris",
        "boy",
        "have-rel-role",
    ]
