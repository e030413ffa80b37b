"""``english_lemmatizer``: rules of English spelling, with words in place of those of WordNet."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.lookups import Lookups
from spacy.tokens import Doc

from ..roundtrips import PIPELINE_WAYS, Keep

WORDS = {
    "noun": ["cookie", "cooky", "economics", "man", "march", "ox", "glass"],
    "verb": ["hop", "hope", "hate", "proceed", "need", "sing", "singe", "change", "stop", "close", "fill"],
    "adj": ["sad", "late", "eager", "open"],
}
EXCEPTIONS = {"noun": {"oxen": ["ox"]}, "verb": {"sang": ["sing"]}, "adj": {}}


@pytest.fixture
def nlp() -> Language:
    lookups = Lookups()
    lookups.add_table("lemma_rules", {"adj": [], "noun": [], "verb": []})
    lookups.add_table("lemma_index", WORDS)
    lookups.add_table("lemma_exc", EXCEPTIONS)
    made = spacy.blank("en")
    made.add_pipe("english_lemmatizer").initialize(lookups=lookups)  # type: ignore[attr-defined]
    return made


def lemma(nlp: Language, word: str, pos: str, morph: str = "") -> str:
    (token,) = nlp(Doc(nlp.vocab, words=[word], pos=[pos], morphs=[morph]))
    return str(token.lemma_)


KNOWN = "hoping hope hopping hop hopes hope hated hate proceed proceed need need singing sing changing change"
KNOWN += " stopped stop sang sing closes close filled fill"
UNKNOWN = "vlogged vlog upvoted upvote texted text streamed stream handling handle reskinned reskin"
UNKNOWN += " cyberbullied cyberbully re-looked re-look described describe prefetches prefetch miffed miff"


@pytest.mark.parametrize("words", [KNOWN, UNKNOWN])
def test_lemmas_of_verbs(nlp: Language, words: str):
    forms, lemmas = words.split()[::2], words.split()[1::2]
    assert [lemma(nlp, form, "VERB") for form in forms] == lemmas
    assert [lemma(nlp, form.title(), "VERB") for form in forms] == lemmas


def test_lemmas_of_nouns_and_adjectives(nlp: Language):
    nouns = {"cookies": "cookie", "marches": "march", "oxen": "ox", "men": "man", "economics": "economics"}
    nouns |= {"selfies": "selfie", "sub-parties": "sub-party", "vlogs": "vlog", "hackathons": "hackathon"}
    assert {form: lemma(nlp, form, "NOUN") for form in nouns} == nouns
    adjectives = {"saddest": "sad", "later": "late", "eager": "eager", "techiest": "techy"}
    assert {form: lemma(nlp, form, "ADJ") for form in adjectives} == adjectives


def test_features_do_not_keep_the_ending_of_a_known_word(nlp: Language):
    assert lemma(nlp, "closing", "VERB", "VerbForm=Inf") == "close"
    assert lemma(nlp, "Saddest", "ADJ", "Degree=Pos") == "sad"
    assert lemma(nlp, "oxen", "NOUN", "Number=Sing") == "ox"
    assert lemma(nlp, "glass", "NOUN", "Number=Sing") == "glass"
    assert lemma(nlp, "chess", "NOUN", "Number=Sing") == "chess"


def lemmas_of_nouns(nlp: Language, text: str) -> list[str]:
    """Lemmas of the words in capitals, which are nouns."""
    words = text.split()
    doc = Doc(nlp.vocab, words=words, pos=["NOUN" if word.isupper() else "X" for word in words])
    return [token.lemma_ for token in nlp(doc) if token.is_upper]


def test_the_end_of_an_acronym_is_no_ending(nlp: Language):
    assert lemmas_of_nouns(nlp, "the EPS and the BIOS of my OXEN and their GLASS") == [
        "eps",
        "bios",
        "ox",
        "glass",
    ]
    assert "cookie" in lemmas_of_nouns(nlp, "STOP ALL COOKIES NOW PLEASE")
    assert lemmas_of_nouns(nlp, "such COOKIES are good") == ["cookie"]
    assert lemmas_of_nouns(nlp, "EPS") == ["ep"]
    assert lemmas_of_nouns(nlp, "the EPS") == ["eps"]


@pytest.mark.parametrize(
    ("text", "pos", "expected"),
    [
        ("gonna", ["VERB", "PART"], ["go", "to"]),
        ("gonna", ["AUX", "PART"], ["go", "to"]),
        ("you're", ["PRON", "AUX"], ["you", "be"]),
        ("can't", ["AUX", "PART"], ["can", "not"]),
    ],
)
def test_parts_of_contractions_have_the_lemmas_of_what_they_stand_for(
    nlp: Language, text: str, pos: list[str], expected: list[str]
):
    lemmatizer: Any = nlp.get_pipe("english_lemmatizer")
    exceptions = {"verb": {"are": ["be"], "going": ["go"]}, "noun": {}, "adj": {}}
    for name, known in exceptions.items():
        lemmatizer.lookups.get_table("lemma_exc")[name].update(known)
    doc = nlp.make_doc(text)
    for token, tag in zip(doc, pos, strict=True):
        token.pos_ = tag
    assert [token.lemma_ for token in lemmatizer(doc)] == expected


def test_names_keep_their_letters(nlp: Language):
    assert [lemma(nlp, name, "PROPN") for name in ("Williams", "Hastings", "Reading")] == [
        "Williams",
        "Hastings",
        "Reading",
    ]


@pytest.mark.parametrize("keep", PIPELINE_WAYS)
def test_the_rules_are_kept(keep: Keep, nlp: Language, tmp_path: Path):
    kept = keep(nlp, tmp_path / "nlp")
    assert [lemma(kept, form, "VERB") for form in ("hoping", "Vlogged", "needs")] == ["hope", "vlog", "need"]
    assert lemma(kept, "closing", "VERB", "VerbForm=Inf") == "close"
