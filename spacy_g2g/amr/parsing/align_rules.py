"""Rules that find the words to which a node of an AMR may belong."""

from __future__ import annotations

import re
from itertools import takewhile

from .actions import AmrSentence
from .lemmas import find_lemma, stem

# Maximum distance, in words, from the first to the last part of a concept of several words.
MAX_SPAN = 4
MIN_PREFIX, MIN_PREFIX_SHARE = 4, 0.6


class AlignRules:
    """The rules for the nodes of one sentence's graph."""

    def __init__(self, sentence: AmrSentence) -> None:
        self._forms = sentence.forms
        self._lowers = [form.lower() for form in sentence.forms]
        # The form, the given lemma, the lemma that we find, and the lemma of that lemma.
        self._lemmas = [
            {lower, lemma.lower(), find_lemma(lower), find_lemma(find_lemma(lower))}
            for lower, lemma in zip(self._lowers, sentence.lemmas, strict=True)
        ]

    def sure_words(self, label: str) -> list[int]:
        """Return the words that belong to a label by the first rule that finds any.

        They equal the label, or have it as lemma, or begin a label of several words.
        """
        text = stem(label)
        return self._exact(text) or self._lemma(text) or self._multiword(text)

    def prefix_words(self, label: str) -> list[int]:
        """Return the words that share the longest prefix with a label, if it is long enough."""
        text = stem(label)
        lengths = [_shared_prefix(text.lower(), lower) for lower in self._lowers]
        longest = max(lengths, default=0)
        if longest < MIN_PREFIX or longest < MIN_PREFIX_SHARE * len(text):
            return []
        return [i for i, length in enumerate(lengths) if length == longest]

    def _exact(self, text: str) -> list[int]:
        same = [i for i, form in enumerate(self._forms) if form == text]
        return same or [i for i, lower in enumerate(self._lowers) if lower == text.lower()]

    def _lemma(self, text: str) -> list[int]:
        return [i for i, lemmas in enumerate(self._lemmas) if text.lower() in lemmas]

    def _multiword(self, text: str) -> list[int]:
        parts = [part for part in re.split(r"[-_ ]", text) if part]
        if len(parts) < 2:
            return []
        first, last = self._lemma(parts[0]), self._lemma(parts[-1])

        def begins_concept(word: int) -> bool:
            return any(0 < other - word <= MAX_SPAN for other in last)

        return [*filter(begins_concept, first)] or first


def _shared_prefix(a: str, b: str) -> int:
    """Return the length of the prefix that two texts share."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
