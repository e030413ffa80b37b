"""Rules for the words that a node of an AMR may stand for, in tiers from the surest to the boldest."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .actions import AmrSentence
from .lemmas import lemma_candidates, stem
from .lexicon import MULTIPLIERS, NEGATIVE_PREFIXES, NUMBERS, PRONOUNS, TRIGGERS

# Tiers in order. Nodes of the tiers before "closed class" are placed first.
TIERS = ("exact", "number", "pronoun", "lemma", "multiword", "closed class", "prefix")
# Most words from the first part of a concept of several words to its last part.
MULTIWORD_SPAN = 4
MIN_PREFIX, MIN_PREFIX_SHARE = 4, 0.6

_NUMBER = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]+)*")
_ORDINAL = re.compile(r"([0-9]+)(?:st|nd|rd|th|s)$")


@dataclass(frozen=True)
class Word:
    """The properties of a word that rules read.

    form: The word.
    lower: The word in lower case.
    lemmas: Words from which it may be inflected or derived.
    number: The number that it names, or None.
    """

    form: str
    lower: str
    lemmas: frozenset[str]
    number: str | None


def make_words(sentence: AmrSentence) -> list[Word]:
    """Return the words of a sentence, for `candidates`."""
    words = [
        Word(form, form.lower(), _lemmas(form.lower()) | {lemma.lower()}, _number(form.lower()))
        for form, lemma in zip(sentence.forms, sentence.lemmas, strict=True)
    ]
    return [_multiplied(words, position) for position in range(len(words))]


def candidates(label: str, is_constant: bool, words: list[Word]) -> tuple[str, list[int]]:
    """Return the first tier that has words for a label, and these words; ("", []) if no tier has any."""
    text = stem(label)
    is_string = label.startswith('"')
    tiers = {
        "exact": lambda: _exact(text, is_string, words),
        "number": lambda: _numbers(text, words),
        "pronoun": lambda: _among(PRONOUNS.get(label), words),
        "lemma": lambda: [i for i, word in enumerate(words) if text.lower() in word.lemmas],
        "multiword": lambda: _multiword(text.lower(), words),
        "closed class": lambda: _closed_class(label, words),
        "prefix": lambda: [] if is_constant and not is_string else _prefix(text.lower(), words),
    }
    for tier in TIERS:
        if found := tiers[tier]():
            return tier, found
    return "", []


def _exact(text: str, is_string: bool, words: list[Word]) -> list[int]:
    same = [i for i, word in enumerate(words) if word.form == text] if is_string else []
    return same or [i for i, word in enumerate(words) if word.lower == text.lower()]


def _numbers(text: str, words: list[Word]) -> list[int]:
    if not _NUMBER.fullmatch(text):
        return []
    return [i for i, word in enumerate(words) if word.number == text.replace(",", "")]


def _among(forms: frozenset[str] | None, words: list[Word]) -> list[int]:
    return [i for i, word in enumerate(words) if word.lower in forms] if forms else []


def _multiword(text: str, words: list[Word]) -> list[int]:
    parts = [part for part in re.split(r"[-_ ]", text) if part]
    if len(parts) < 2:
        return []
    first = [i for i, word in enumerate(words) if parts[0] in word.lemmas]
    last = [i for i, word in enumerate(words) if parts[-1] in word.lemmas]
    near = [i for i in first if any(0 < j - i <= MULTIWORD_SPAN for j in last)]
    return near or first


def _closed_class(label: str, words: list[Word]) -> list[int]:
    found = _among(TRIGGERS.get(label), words)
    if found or label != "-":
        return found
    return [i for i, word in enumerate(words) if word.lower.startswith(NEGATIVE_PREFIXES)]


def _prefix(text: str, words: list[Word]) -> list[int]:
    """Return the words that share the longest prefix with a text, if it is long enough."""
    lengths = [_shared(text, word.lower) for word in words]
    longest = max(lengths, default=0)
    if longest < MIN_PREFIX or longest < MIN_PREFIX_SHARE * len(text):
        return []
    return [i for i, length in enumerate(lengths) if length == longest]


def _shared(a: str, b: str) -> int:
    """Return the length of the prefix that two texts share."""
    for i, (left, right) in enumerate(zip(a, b, strict=False)):
        if left != right:
            return i
    return min(len(a), len(b))


@lru_cache(maxsize=100_000)
def _lemmas(lower: str) -> frozenset[str]:
    return frozenset(lemma_candidates(lower))


def _number(lower: str) -> str | None:
    plain = lower.replace(",", "")
    if _NUMBER.fullmatch(plain):
        return plain
    if match := _ORDINAL.match(plain):
        return match[1]
    if "-" in lower:
        parts = [NUMBERS.get(part) for part in lower.split("-")]
        if len(parts) == 2 and parts[0] and parts[1] and len(parts[0]) == 2 and len(parts[1]) == 1:
            return str(int(parts[0]) + int(parts[1]))
    return NUMBERS.get(lower)


def _multiplied(words: list[Word], position: int) -> Word:
    """Return the word at a position; "million" after a number has the product as its number."""
    word = words[position]
    before = words[position - 1].number if position else None
    if word.lower not in MULTIPLIERS or before is None:
        return word
    product = float(before) * MULTIPLIERS[word.lower]
    number = str(int(product)) if product == int(product) else str(product)
    return Word(word.form, word.lower, word.lemmas, number)
