"""Scores of all arcs of a sentence, from which trees are found again without the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..arrays import DoubleArray, FloatArray, IntArray
from ..errors import Errors
from .constraints import Constraint, allowed_arcs, allowed_labels, subtree_words
from .kbest import best_trees
from .tree import ROOT_LABEL


class RankedTrees(NamedTuple):
    """Trees of a sentence of n words, the best first.

    heads: int [trees, n].
    labels: The best label of each arc, int [trees, n].
    scores: Sum of the log-probabilities of the heads, float [trees].
    head_probs: Probability of each head, float [trees, n].
    label_probs: Probability of each label given the head, float [trees, n].
    """

    heads: IntArray
    labels: IntArray
    scores: DoubleArray
    head_probs: FloatArray
    label_probs: FloatArray


@dataclass(frozen=True)
class ArcScores:
    """Log-probabilities of the arcs of a sentence of n words.

    arcs: Log-probability of each head of each word, -inf for the word itself; float32 [n, n + 1].
    labels: Log-probability of each label but the root label, for heads that are words; float32 [n, n,
        labels - 1].
    """

    arcs: FloatArray
    labels: FloatArray

    @property
    def n_labels(self) -> int:
        """Number of labels, with the root label."""
        return int(self.labels.shape[2]) + 1

    def restricted(self, constraints: Sequence[Constraint]) -> ArcScores:
        """Return the scores with -inf for the arcs that the constraints exclude one by one."""
        if not constraints:
            return self
        allowed = allowed_arcs(constraints, len(self.arcs), self.n_labels)
        return replace(self, arcs=np.where(allowed, self.arcs, np.float32(-np.inf)))

    def best(self, k: int = 1, constraints: Sequence[Constraint] = ()) -> RankedTrees:
        """Return the k best trees with one root that meet the constraints, or all if there are fewer.

        Trees are ranked by the scores of their arcs, and each arc gets its best label that is allowed.

        k: Number of trees.
        constraints: Demands on the sentence.
        Raises ValueError if no tree meets the constraints.
        """
        n = len(self.arcs)
        words = np.arange(n)
        arcs = self.restricted(constraints).arcs.astype(np.float64)
        heads, scores = best_trees(arcs, k, subtree_words(constraints, n))
        if not len(heads):
            raise ValueError(Errors.E107.format(sentence=0))
        labels = np.full(heads.shape, ROOT_LABEL)
        label_probs = np.ones(heads.shape, dtype=np.float32)
        if self.n_labels > 1:
            allowed = allowed_labels(constraints, n, self.n_labels)[:, ROOT_LABEL + 1 :]
            label_scores = np.where(allowed, self.labels[words, heads - 1], -np.inf)
            labels = np.where(heads == 0, ROOT_LABEL, label_scores.argmax(axis=2) + 1)
            label_probs = np.exp(self.labels[words, heads - 1, labels - 1])
            label_probs[heads == 0] = 1.0
        return RankedTrees(heads, labels, scores, np.exp(self.arcs[words, heads]), label_probs)
