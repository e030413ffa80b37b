"""Options of an error analysis: scored words and equality of labels."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray
from ..formats.conllu import ConlluSentence
from .punctuation import punctuation_rule


@dataclass(frozen=True)
class ScoringOptions:
    """Options that decide which words are scored and when two labels are equal.

    subtypes: Compare labels with their subtypes, so that nmod:poss differs from nmod.
    exclude_punct: Name of the rule in ``punctuation`` for gold words that are not scored; "" to score all.
    """

    subtypes: bool = False
    exclude_punct: str = ""

    def __str__(self) -> str:
        labels = "labels with their subtypes" if self.subtypes else "universal part of labels"
        if not self.exclude_punct:
            return f"{labels}, punctuation counts"
        return f"{labels}, punctuation does not count ({punctuation_rule(self.exclude_punct).text})"

    def scored_words(self, sentences: Iterable[ConlluSentence]) -> BoolArray:
        """Return for each gold word whether it is scored, bool [words]."""
        words = [word for sentence in sentences for word in sentence.words]
        if not self.exclude_punct:
            return np.ones(len(words), dtype=np.bool_)
        is_punctuation = punctuation_rule(self.exclude_punct).matches
        return np.array([not is_punctuation(word) for word in words], dtype=np.bool_)


DEFAULT_OPTIONS = ScoringOptions()
