"""Lemmas of English words by rules, for pipelines without a lemmatizer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from .actions import AmrSentence
from .graph import AmrGraph
from .lexicon import IRREGULAR

# Endings, each with what may replace it. The first ending that fits decides.
_ENDING_TABLE = """
iness:y fulness:ful ness: 's: s':s, sses:ss ches:ch,che shes:sh xes:x zes:ze,z oes:o,oe ies:y,ie ves:ve,f,fe
ss:ss us:us is:is s: ied:y,ie eed:eed,ee ed:,e ying:y,ie ing:,e iest:y ier:y,ier est:,e ily:y bly:ble
ally:al,ally, ly:,le ization:ize ation:ate,e, ition:ite,it,e ution:ute,ve sion:de,d,se,t,s tion:te,t ment:
ance:,e,ant ence:,e,ent ency:ent ity:,e ive:e, able:,e ful: less: or:,e er:,e,er al:,e ic:y,e, ous:,e,y y:,e
en:,e th:
"""
_ENDINGS = tuple(
    (ending, tuple(new.split(",")))
    for ending, _, new in (entry.partition(":") for entry in _ENDING_TABLE.split())
)
# Endings of inflection: only these are removed from a word without known lemmas.
_INFLECTION = frozenset(
    ["s", "ies", "sses", "ches", "shes", "xes", "ed", "ied", "ing", "ying", "'s", "oes", "ves", "zes"]
)
# Words that end like a participle or plural without being such a form.
_UNINFLECTED = frozenset(
    [
        "across",
        "always",
        "anything",
        "besides",
        "ceiling",
        "during",
        "evening",
        "everything",
        "hundred",
        "indeed",
        "morning",
        "news",
        "nothing",
        "perhaps",
        "something",
        "sometimes",
        "towards",
        "unless",
        "wedding",
    ]
)
# Cached words; then the cache is cleared, so that a service does not grow for ever.
MAX_CACHED_WORDS = 100_000

_SENSE = re.compile(r"-[0-9]{2,}$")
_VOWEL = re.compile(r"[aeiouy]")


def stem(label: str) -> str:
    """Return a concept without its sense number, or a string without its quotes."""
    return label.strip('"') if label.startswith('"') else _SENSE.sub("", label)


def lemma_candidates(form: str) -> list[str]:
    """Return possible lemmas of a word and words from which it may derive, itself in lower case included."""
    lower = form.lower()
    found = [*IRREGULAR.get(lower, ())]
    if lower not in IRREGULAR:
        found += _stripped(lower)
    found.append(lower)
    for first in tuple(found):
        # A second ending, as in "drawings" and "meaningfully".
        found += _stripped(first)
    return list(dict.fromkeys(text for text in found if text))


class Lemmatizer:
    """Lemmas by rules and by known words.

    known: Count of each word that is a lemma, such as the concepts of training data; stored alphabetically.
    """

    def __init__(self, known: Mapping[str, int] | None = None) -> None:
        self.known = dict(sorted((known or {}).items()))
        self._cache: dict[str, str] = {}

    @classmethod
    def learn(cls, graphs: Iterable[AmrGraph]) -> Lemmatizer:
        """Make a lemmatizer that knows the concepts of graphs."""
        return cls(
            Counter(
                stem(label)
                for graph in graphs
                for node, label in enumerate(graph.labels)
                if node not in graph.constants
            )
        )

    def lemma(self, form: str) -> str:
        """Return the lemma of a word, in lower case.

        It is the most frequent known word among the form and its irregular lemmas, or else the first known
        word of `lemma_candidates`, or else the form without its inflection.
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
        """Make a sentence. Words whose lemma in `lemmas` is missing or "" get theirs by rule."""
        given = lemmas if lemmas is not None else [""] * len(forms)
        return AmrSentence.of(
            forms, [lemma or self.lemma(form) for form, lemma in zip(forms, given, strict=True)]
        )


def _stripped(word: str) -> list[str]:
    """Return the word with each fitting ending replaced."""
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
    """Return the verb of a base from which -ed or -ing was removed."""
    if len(base) > 2 and base[-1] == base[-2] and base[-1] not in "aeiouls":
        return base[:-1]
    # A single consonant after a single vowel, as in "mak", mostly lost a silent e.
    needs_e = re.search(r"(?:^|[^aeiou])[aiou][bcdgkmpstvz]$|[cuv]$|[^aeiourlw]l$|dg$|rs$", base)
    return f"{base}e" if needs_e else base
