"""Which words of a treebank are punctuation, by the conventions of those who score without it.

All look at the gold annotation, so that every system is scored on the same words.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import Errors
from ..formats.conllu import ConlluWord

#: Part-of-speech tags of the Penn Treebank.
PTB_TAGS = frozenset(["``", "''", ":", ",", "."])
CTB_TAGS = frozenset(["PU"])


@dataclass(frozen=True)
class PunctuationRule:
    """What is punctuation, in words and as a function of a gold word."""

    text: str
    matches: Callable[[ConlluWord], bool]


def _has_punctuation_only(word: ConlluWord) -> bool:
    return all(unicodedata.category(char).startswith("P") for char in word.form)


PUNCTUATION_RULES = {
    "ptb": PunctuationRule(
        "the tags `` '' : , . in XPOS (or UPOS, where XPOS has none)", lambda word: _tag(word) in PTB_TAGS
    ),
    "ctb": PunctuationRule(
        "the tag PU in XPOS (or UPOS, where XPOS has none)", lambda word: _tag(word) in CTB_TAGS
    ),
    "ud": PunctuationRule("PUNCT in UPOS", lambda word: word.upos == "PUNCT"),
    "conllx": PunctuationRule("forms that are Unicode punctuation from end to end", _has_punctuation_only),
}


def punctuation_rule(name: str) -> PunctuationRule:
    """The rule of this name. RAISES (ValueError): for an unknown name."""
    if name not in PUNCTUATION_RULES:
        raise ValueError(Errors.E390.format(name=name, expected=", ".join(PUNCTUATION_RULES)))
    return PUNCTUATION_RULES[name]


def _tag(word: ConlluWord) -> str:
    return word.upos if word.xpos == "_" else word.xpos
