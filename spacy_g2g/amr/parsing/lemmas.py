"""Lemmas of English words by rules, for pipelines without a lemmatizer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from .actions import AmrSentence
from .graph import AmrGraph
from .lexicon import IRREGULAR

# Ending, and what may stand in its place; for the first ending that fits, in this order.
_ENDINGS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("iness", ("y",)),
    ("fulness", ("ful",)),
    ("ness", ("",)),
    ("'s", ("",)),
    ("s'", ("s", "")),
    ("sses", ("ss",)),
    ("ches", ("ch", "che")),
    ("shes", ("sh",)),
    ("xes", ("x",)),
    ("zes", ("ze", "z")),
    ("oes", ("o", "oe")),
    ("ies", ("y", "ie")),
    ("ves", ("ve", "f", "fe")),
    ("ss", ("ss",)),
    ("us", ("us",)),
    ("is", ("is",)),
    ("s", ("",)),
    ("ied", ("y", "ie")),
    ("eed", ("eed", "ee")),
    ("ed", ("", "e")),
    ("ying", ("y", "ie")),
    ("ing", ("", "e")),
    ("iest", ("y",)),
    ("ier", ("y", "ier")),
    ("est", ("", "e")),
    ("ily", ("y",)),
    ("bly", ("ble",)),
    ("ally", ("al", "ally", "")),
    ("ly", ("", "le")),
    ("ization", ("ize",)),
    ("ation", ("ate", "e", "")),
    ("ition", ("ite", "it", "e")),
    ("ution", ("ute", "ve")),
    ("sion", ("de", "d", "se", "t", "s")),
    ("tion", ("te", "t")),
    ("ment", ("",)),
    ("ance", ("", "e", "ant")),
    ("ence", ("", "e", "ent")),
    ("ency", ("ent",)),
    ("ity", ("", "e")),
    ("ive", ("e", "")),
    ("able", ("", "e")),
    ("ful", ("",)),
    ("less", ("",)),
    ("or", ("", "e")),
    ("er", ("", "e", "er")),
    ("al", ("", "e")),
    ("ic", ("y", "e", "")),
    ("ous", ("", "e", "y")),
    ("y", ("", "e")),
    ("en", ("", "e")),
    ("th", ("",)),
)
# Endings of inflection: only these are taken off without a word that is known.
_INFLECTION = (
    "s",
    "ies",
    "sses",
    "ches",
    "shes",
    "xes",
    "ed",
    "ied",
    "ing",
    "ying",
    "'s",
    "oes",
    "ves",
    "zes",
)
# What ends like a participle or plural, but is none.
_UNINFLECTED = frozenset(
    (
        *(
            "during",
            "nothing",
            "something",
            "anything",
            "everything",
            "morning",
            "evening",
            "wedding",
            "ceiling",
        ),
        *(
            "always",
            "perhaps",
            "towards",
            "besides",
            "sometimes",
            "news",
            "hundred",
            "indeed",
            "across",
            "unless",
        ),
    )
)
# Then they are forgotten, so that a service does not grow for ever.
MAX_CACHED_WORDS = 100_000

_SENSE = re.compile(r"-[0-9]{2,}$")
_VOWEL = re.compile(r"[aeiouy]")


def stem(label: str) -> str:
    """A concept without its sense number, a string without its quotes."""
    return label.strip('"') if label.startswith('"') else _SENSE.sub("", label)


def lemma_candidates(form: str) -> list[str]:
    """The lemmas that a word may have, and words that it may be derived from: itself, too, in lower case."""
    lower = form.lower()
    found = [*IRREGULAR.get(lower, ())]
    if lower not in IRREGULAR:
        found += _stripped(lower)
    found.append(lower)
    for first in tuple(found):
        # One more ending, as of "drawings" and "meaningfully".
        found += _stripped(first)
    return list(dict.fromkeys(text for text in found if text))


class Lemmatizer:
    """Lemmas by rules, and by which words are known.

    Args:
        known: Words that are lemmas, such as the concepts of training data, with how often they are there.

    Attributes:
        known: Likewise, in the order of the alphabet.
    """

    def __init__(self, known: Mapping[str, int] | None = None) -> None:
        self.known = dict(sorted((known or {}).items()))
        self._cache: dict[str, str] = {}

    @classmethod
    def learn(cls, graphs: Iterable[AmrGraph]) -> Lemmatizer:
        """A lemmatizer that knows the concepts of graphs."""
        return cls(
            Counter(
                stem(label)
                for graph in graphs
                for node, label in enumerate(graph.labels)
                if node not in graph.constants
            )
        )

    def lemma(self, form: str) -> str:
        """The lemma of a word, in lower case.

        Of an irregular form's lemmas and the form itself the most frequent one that is known, else the first
        known one of `lemma_candidates`, else the form without its inflection.
        """
        lower = form.lower()
        if len(self._cache) > MAX_CACHED_WORDS:
            self._cache.clear()
        if lower not in self._cache:
            nearest = max((*IRREGULAR.get(lower, ()), lower), key=lambda text: self.known.get(text, 0))
            known = (text for text in (nearest, *lemma_candidates(lower)) if text in self.known)
            self._cache[lower] = next(known, None) or _without_inflection(lower)
        return self._cache[lower]

    def sentence(self, forms: Sequence[str], lemmas: Sequence[str] | None = None) -> AmrSentence:
        """A sentence of words, with lemmas by rule where `lemmas` has none or is None."""
        given = lemmas if lemmas is not None else [""] * len(forms)
        return AmrSentence.of(
            forms, [lemma or self.lemma(form) for form, lemma in zip(forms, given, strict=True)]
        )


def _stripped(word: str) -> list[str]:
    """A word without each ending that fits."""
    found = []
    for ending, endings in _ENDINGS:
        base = word.removesuffix(ending)
        if base == word or not base:
            continue
        is_doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiou"
        for new in endings:
            if is_doubled and not new and ending[0] in "aeiouy":
                found.append(base[:-1])
            if len(base + new) > 1 and _VOWEL.search(base + new):
                found.append(base + new)
    return found


def _without_inflection(word: str) -> str:
    if word in IRREGULAR:
        return IRREGULAR[word][0]
    if word in _UNINFLECTED:
        return word
    for ending, endings in _ENDINGS:
        base = word.removesuffix(ending)
        if base == word or not _VOWEL.search(base + endings[0]):
            continue
        if ending not in _INFLECTION:
            if ending in ("ss", "us", "is", "eed"):
                return word
            continue
        if ending in ("ed", "ing"):
            return _without_participle(base)
        return base + endings[0]
    return word


def _without_participle(base: str) -> str:
    """The verb of a base that -ed or -ing was taken off."""
    if len(base) > 2 and base[-1] == base[-2] and base[-1] not in "aeiouls":
        return base[:-1]
    # A single consonant after a single vowel, as in "mak": mostly a silent e.
    needs_e = re.search(r"(?:^|[^aeiou])[aiou][bcdgkmpstvz]$|[cuv]$|[^aeiourlw]l$|dg$|rs$", base)
    return f"{base}e" if needs_e else base
