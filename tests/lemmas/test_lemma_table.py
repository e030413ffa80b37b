"""``lemma_table``: words of the treebank have its lemmas."""

from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..roundtrips import PIPELINE_WAYS, Keep

#: Words of the treebank, with part of speech and lemma.
GOLD = [
    ("The", "DET", "the"),
    ("saw", "NOUN", "saw"),
    ("saw", "VERB", "see"),
    ("saw", "VERB", "see"),
    ("saw", "VERB", "saw"),
    ("London", "PROPN", "London"),
    ("Luckily", "ADV", "luckily"),
    ("n't", "PART", "not"),
    ("odd", "ADJ", ""),
]


def examples(nlp: Language, gold: list[tuple[str, str, str]]) -> list[Example]:
    words, tags, lemmas = map(list, zip(*gold, strict=True))
    doc = Doc(nlp.vocab, words=words, pos=tags, lemmas=lemmas)
    return [Example(Doc(nlp.vocab, words=words), doc)]


def test_the_dotted_and_the_dotless_i_of_turkish():
    nlp = spacy.blank("tr")
    nlp.add_pipe("lemma_table")
    gold = [("iyi", "ADJ", "iyi"), ("\u0131l\u0131k", "ADJ", "\u0131l\u0131"), ("Evler", "NOUN", "ev")]
    nlp.initialize(lambda: examples(nlp, gold))
    assert lemma(nlp, "\u0130yi", "ADJ", "?") == "iyi"
    assert lemma(nlp, "IL\u0130K", "ADJ", "?") == "?"
    assert lemma(nlp, "ILIK", "ADJ", "?") == "\u0131l\u0131"
    assert lemma(nlp, "\u0130\u015fler", "NOUN", "\u0130\u015f") == "i\u015f"


def table_nlp() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("lemma_table")
    nlp.initialize(lambda: examples(nlp, GOLD))
    return nlp


def lemma(nlp: Language, word: str, pos: str, given: str) -> str:
    (token,) = nlp(Doc(nlp.vocab, words=[word], pos=[pos], lemmas=[given]))
    return str(token.lemma_)


@pytest.mark.parametrize(
    ("word", "pos", "given", "expected"),
    [
        ("the", "DET", "th", "the"),
        ("THE", "DET", "THE", "the"),
        ("saw", "NOUN", "sa", "saw"),
        ("saw", "VERB", "sa", "see"),  # the most frequent one
        ("Saw", "VERB", "saw", "saw"),  # one of the treebank's
        ("LONDON", "PROPN", "LONDON", "London"),
        ("n\N{RIGHT SINGLE QUOTATION MARK}t", "PART", "n't", "not"),
        ("Sadly", "ADV", "Sadly", "sadly"),
        ("Williams", "PROPN", "Williams", "Williams"),
        ("Odd", "ADJ", "Odd", "Odd"),  # nothing is known of adjectives
        ("\n", "SPACE", "\n", "\n"),
        ("boat", "NOUN", "", ""),
    ],
)
def test_words_of_the_treebank_have_its_lemmas(word: str, pos: str, given: str, expected: str):
    assert lemma(table_nlp(), word, pos, given) == expected


@pytest.mark.parametrize("word", ["\N{GRINNING FACE}", "\u043c\u0438\u0440", "\u4f60\u597d"])
def test_a_word_of_other_characters_than_the_treebanks_is_its_own_lemma(word: str):
    nlp = table_nlp()
    assert lemma(nlp, word, "NOUN", f"{word}s") == word
    nlp.get_pipe("lemma_table").lookups.remove_table("characters")  # type: ignore[attr-defined]
    assert lemma(nlp, word, "NOUN", f"{word}s") == f"{word}s"  # as in earlier versions


def test_further_examples_come_first():
    nlp = table_nlp()
    nlp.get_pipe("lemma_table").learn(examples(nlp, [("saw", "VERB", "saw"), ("boats", "NOUN", "boat")]))  # type: ignore[attr-defined]
    assert lemma(nlp, "saw", "VERB", "sa") == "saw"
    assert lemma(nlp, "saw", "VERB", "see") == "see"
    assert lemma(nlp, "Boats", "NOUN", "Boats") == "boat"


@pytest.mark.parametrize("keep", PIPELINE_WAYS)
def test_the_table_is_kept(keep: Keep, tmp_path: Path):
    kept = keep(table_nlp(), tmp_path / "nlp")
    assert [lemma(kept, "SAW", "VERB", given) for given in ("sa", "saw")] == ["see", "saw"]
    assert lemma(kept, "Sadly", "ADV", "Sadly") == "sadly"
