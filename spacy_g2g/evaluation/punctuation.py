"""Rules that tell which words of a treebank are punctuation.

All rules read the gold annotation, so that every system is scored on the same words.
"""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import Errors
from ..formats.conllu import ConlluWord

#: Punctuation tags of the Penn Treebank and the Chinese Treebank.
PTB_TAGS = frozenset(["``", "''", ":", ",", "."])
CTB_TAGS = frozenset(["PU"])


@dataclass(frozen=True)
class PunctuationRule:
    """Definition of punctuation.

    text: Description of the rule.
    matches: Function that returns whether a gold word is punctuation.
    """

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


def _tag(word: ConlluWord) -> str:
    return word.upos if word.xpos == "_" else word.xpos
