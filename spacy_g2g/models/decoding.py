"""Decode the scores of all arcs of a sentence to its best trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..errors import Errors
from ..trees.constraints import Constraint, allowed_arcs, allowed_labels, subtree_words
from ..trees.kbest import best_trees
from ..trees.tree import ROOT_LABEL
from .types import Arcs, ArcScores, Parse


def mask_arcs(scores: ArcScores, constraints: Sequence[Constraint]) -> ArcScores:
    """Return the scores with -inf for the arcs that the constraints exclude one by one."""
    if not constraints:
        return scores
    allowed = allowed_arcs(constraints, len(scores.arcs), n_labels=scores.n_labels)
    return replace(scores, arcs=np.where(allowed, scores.arcs, np.float32(-np.inf)))


def best_parses(
    scores: ArcScores,
    k: int = 1,
    constraints: Sequence[Constraint] = (),
    subjects: Sequence[int] = (),
) -> list[Parse]:
    """Return the k best trees with one root that meet the constraints, best first, or all trees if fewer.

    The scores of arcs rank the trees. Each arc has its best allowed label.

    scores: Scores of the sentence, with the labels of all arcs.
    k: Number of trees.
    constraints: Constraints of the sentence.
    subjects: Labels of which a word has one dependent at most (see ``Request``).
    Raises ValueError if no tree meets the constraints.
    """
    n = len(scores.arcs)
    arcs = mask_arcs(scores, constraints).arcs.astype(np.float64)
    trees = best_trees(arcs, k, subtree_words(constraints, n))[0]
    if not len(trees):
        raise ValueError(Errors.E107.format(sentence=0))
    allowed = allowed_labels(constraints, n, n_labels=scores.n_labels)[:, ROOT_LABEL + 1 :]
    return [_label_tree(scores, heads, allowed, subjects) for heads in trees]


def further_subjects(
    heads: IntArray, *, labels: IntArray, rank: FloatArray, subjects: Sequence[int]
) -> IntArray:
    """Return the words with a subject label whose head has a subject of a higher rank.

    heads: int [n]. Words of several sentences need different heads, except for the roots, which have 0.
    labels: int [n], label ids.
    rank: float [n], such as the probability of each label.
    subjects: Label ids of subjects.
    """
    words = np.flatnonzero(np.isin(labels, subjects) & (heads > 0))
    words = words[np.argsort(-rank[words], kind="stable")]
    _, first = np.unique(heads[words], return_index=True)
    return np.delete(words, first)


def _label_tree(scores: ArcScores, heads: IntArray, allowed: BoolArray, subjects: Sequence[int]) -> Parse:
    """Return the tree with the best allowed label of each arc; allowed: bool [n, labels - 1]."""
    words = np.arange(len(heads))
    all_log_probs = scores.for_heads(heads).labels
    log_probs = np.where(allowed, all_log_probs, -np.inf)
    best = log_probs.argmax(axis=1)
    others = log_probs.copy()
    others[:, np.array(subjects, dtype=np.int64) - 1] = -np.inf
    has_other = others.max(axis=1) > -np.inf
    rank = np.where(has_other, log_probs.max(axis=1), np.inf)
    further = further_subjects(heads, labels=best + 1, rank=rank, subjects=subjects)
    further = further[has_other[further]]
    best[further] = others[further].argmax(axis=1)
    labels = np.where(heads == 0, ROOT_LABEL, best + 1)
    label_probs = np.where(heads == 0, np.float32(1), np.exp(all_log_probs[words, best]))
    return Parse(Arcs(heads, labels), np.exp(scores.arcs[words, heads]), label_probs)
