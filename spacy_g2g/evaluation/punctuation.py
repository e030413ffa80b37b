"""Rules for punctuation, which may be left out of scores.

All rules read the gold annotation, so that every system is scored on the same words.
"""

import unicodedata
import warnings
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arrays import BoolArray
from ..errors import Errors, Warnings
from ..formats.conllu import ConlluSentence
from ..formats.rows import ConlluWord

#: Punctuation tags of the Penn Treebank and the Chinese Treebank.
PTB_TAGS = frozenset(["``", "''", ":", ",", "."])
CTB_TAGS = frozenset(["PU"])


class PunctuationRule(NamedTuple):
    """Description of a rule, and a function that returns whether a gold word is punctuation."""

    text: str
    matches: Callable[[ConlluWord], bool]


PUNCTUATION_RULES = {
    "ptb": PunctuationRule(
        "the tags `` '' : , . in XPOS (or in UPOS if XPOS is empty)", lambda word: _tag(word) in PTB_TAGS
    ),
    "ctb": PunctuationRule(
        "the tag PU in XPOS (or in UPOS if XPOS is empty)", lambda word: _tag(word) in CTB_TAGS
    ),
    "ud": PunctuationRule("PUNCT in UPOS", lambda word: word.upos == "PUNCT"),
    "conllx": PunctuationRule(
        "forms that consist of Unicode punctuation",
        lambda word: all(unicodedata.category(char).startswith("P") for char in word.form),
    ),
}


def punctuation_rule(name: str) -> PunctuationRule:
    """Return the rule with this name. Raises ValueError if the name is unknown."""
    if name not in PUNCTUATION_RULES:
        raise ValueError(Errors.E615.format(name=name, expected=", ".join(PUNCTUATION_RULES)))
    return PUNCTUATION_RULES[name]


def scored_words(sentences: Iterable[ConlluSentence], exclude_punct: str = "") -> BoolArray:
    """Return whether each gold word is scored, bool [words].

    exclude_punct: Name of the rule for words that are not scored, "" to score all.
    Raises ValueError if the rule is unknown.
    """
    words = [*chain.from_iterable(sentence.words for sentence in sentences)]
    if not exclude_punct:
        return np.ones(len(words), dtype=np.bool_)
    is_punctuation = punctuation_rule(exclude_punct).matches
    return np.array([not is_punctuation(word) for word in words], dtype=np.bool_)


def warn_of_no_punctuation(sentences: Iterable[ConlluSentence], source: Path, exclude_punct: str) -> None:
    """Warn if no gold word of a file is punctuation by a rule."""
    is_scored = scored_words(sentences, exclude_punct)
    if is_scored.all():
        rule = punctuation_rule(exclude_punct)
        text = Warnings.W901.format(n=len(is_scored), path=source, name=exclude_punct, rule=rule.text)
        warnings.warn(text, stacklevel=3)


def describe_scoring(*, subtypes: bool, exclude_punct: str) -> str:
    """Describe which labels are equal and whether punctuation counts."""
    labels = "labels with their subtypes" if subtypes else "universal part of labels"
    if not exclude_punct:
        return f"{labels}, punctuation counts"
    return f"{labels}, punctuation does not count ({punctuation_rule(exclude_punct).text})"


def _tag(word: ConlluWord) -> str:
    return word.upos if word.xpos == "_" else word.xpos
