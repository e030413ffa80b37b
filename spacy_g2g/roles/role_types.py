"""Input and output of a network of roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray, IntArray
from ..models.types import Coverage, Sentence, Start

#: Name of the first label, which only the arc from ROOT to a predicate has.
PREDICATE_LABEL = "predicate"


@dataclass(frozen=True)
class RoleInput(Sentence):
    """A sentence, perhaps with its tree as ``graph``.

    candidates: Ids of the rolesets that each word may have; empty for words that training did not see.
    predicates: Words that are the predicates, counted from 0; None to find them.
    """

    candidates: Sequence[tuple[int, ...]] = field(kw_only=True)
    predicates: tuple[int, ...] | None = None


class Roles(NamedTuple):
    """Predicates of a sentence of n words, which count from 0, and their arguments.

    n_words: Number of words.
    predicates: Words that are predicates, int [predicates].
    rolesets: Ids of their rolesets, -1 if unknown, int [predicates].
    arguments: Place of the predicate in ``predicates``, word and id of the role, from 1, of each argument;
        int [arguments, 3].
    predicate_probs: Probability of each predicate with its roleset, float [predicates]; empty in gold roles.
    argument_probs: Probability of each argument with its role, float [arguments]; empty in gold roles.
    coverage: How the sentence was fitted into the encoder.
    """

    n_words: int
    predicates: IntArray
    rolesets: IntArray
    arguments: IntArray
    predicate_probs: FloatArray = np.zeros(0, dtype=np.float32)
    argument_probs: FloatArray = np.zeros(0, dtype=np.float32)
    coverage: Coverage = "whole"


@dataclass(frozen=True, kw_only=True)
class RoleStart(Start):
    """The start of training.

    labels: ``PREDICATE_LABEL`` and the roles.
    n_initial_labels: Number of labels of trees.
    n_rolesets: Number of rolesets.
    """

    n_rolesets: int

    @property
    def built_for(self) -> dict[str, int]:
        """Sizes that a saved model and its component must agree on."""
        return {**super().built_for, "n_rolesets": self.n_rolesets}
