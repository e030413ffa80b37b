"""``ud_enhancer``: enhanced graphs of Docs that have trees."""

import pickle

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_g2g.data.docs import doc_to_sentences


def enhancer_nlp(code: str = "en", **settings: str) -> Language:
    nlp = spacy.blank(code)
    nlp.add_pipe("ud_enhancer", config=settings)
    return nlp


def parsed_doc(nlp: Language) -> Doc:
    return Doc(
        nlp.vocab,
        words=["\n", "She", "wants", "to", "sleep", "\n\n", "in", "Rome", "."],
        pos=["SPACE", "PRON", "VERB", "PART", "VERB", "SPACE", "ADP", "PROPN", "PUNCT"],
        lemmas=["\n", "she", "want", "to", "sleep", "\n\n", "in", "Rome", "."],
        heads=[2, 2, 2, 4, 2, 4, 7, 4, 2],
        deps=["dep", "nsubj", "ROOT", "mark", "xcomp", "dep", "case", "obl", "punct"],
    )


EXPECTED = [
    [],
    [(2, "nsubj"), (4, "nsubj:xsubj")],
    [(2, "root")],
    [(4, "mark")],
    [(2, "xcomp")],
    [],
    [(7, "case")],
    [(4, "obl:in")],
    [(2, "punct")],
]


def test_tokens_have_the_arcs_of_the_enhanced_graph() -> None:
    nlp = enhancer_nlp()
    (doc,) = nlp.pipe([parsed_doc(nlp)])
    assert doc._.g2g_enhanced == EXPECTED
    assert doc[1]._.g2g_enhanced == EXPECTED[1]
    assert [word.deps for word in doc_to_sentences(doc)[0].words] == [
        *("2:nsubj|4:nsubj:xsubj", "0:root", "4:mark", "2:xcomp", "6:case", "4:obl:in", "2:punct"),
    ]


def test_lower_forms_stand_in_for_lemmas_that_are_missing() -> None:
    nlp = enhancer_nlp()
    doc = parsed_doc(nlp)
    for token in doc:
        token.lemma_ = ""
    assert nlp(doc)._.g2g_enhanced == EXPECTED


@pytest.mark.parametrize(
    ("lang", "setting", "label"), [("sv", "", "nsubj"), ("xx", "sv", "nsubj"), ("xx", "", "nsubj:xsubj")]
)
def test_conventions_are_those_of_the_pipeline_or_of_the_setting(lang: str, setting: str, label: str) -> None:
    nlp = enhancer_nlp(lang, lang=setting)
    assert nlp(parsed_doc(nlp))[1]._.g2g_enhanced == [(2, "nsubj"), (4, label)]


def test_a_doc_without_a_tree_is_an_error_but_not_one_without_words() -> None:
    nlp = enhancer_nlp()
    with pytest.raises(ValueError, match="G2G-E824"):
        nlp("she wants")
    assert nlp("")._.g2g_enhanced == []
    assert nlp(" \n ")._.g2g_enhanced == [[]]


def test_each_word_of_a_doc_with_missing_heads_hangs_on_root() -> None:
    nlp = enhancer_nlp()
    doc = Doc(nlp.vocab, words=["a", "b", "c"], heads=[0, 0, 2], deps=["root", "obj", ""])
    assert nlp(doc)._.g2g_enhanced == [[(0, "root")], [(0, "obj")], [(2, "root")]]


def test_the_component_survives_disk_and_pickle(tmp_path) -> None:
    nlp = enhancer_nlp("xx", lang="sv")
    nlp.to_disk(tmp_path)
    for again in (spacy.load(tmp_path), pickle.loads(pickle.dumps(nlp))):
        assert again(parsed_doc(again))._.g2g_enhanced == nlp(parsed_doc(nlp))._.g2g_enhanced
