"""Probabilities of arcs, labelled arcs and trees, and the temperatures that calibrate them.

Trees have the probabilities of the distribution over all trees with one root whose scores are the sums of the
arcs' log-probabilities, divided by a temperature. Temperatures are fitted as Guo, Pleiss, Sun and Weinberger
("On Calibration of Modern Neural Networks", 2017) do. They change no tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch

from ..arrays import DoubleArray, FloatArray, IntArray
from ..layers.matrix_tree import log_partition, marginals
from ..trees.tree import ROOT_LABEL
from .types import ArcScores, Tree

#: Largest number of arcs of a batch, with padding.
ARCS_AT_ONCE = 500_000
#: Bounds of temperatures, and the number of steps of the search for the best one.
COLDEST, WARMEST, N_STEPS = 0.1, 10.0, 14
#: Least probability of what happened. It keeps logarithms finite.
LEAST = 1e-12


class Temperatures(NamedTuple):
    """Divisors of the log-probabilities of heads and of labels; 1 leaves them as they are."""

    heads: float = 1.0
    labels: float = 1.0


def confidences(
    scores: Sequence[ArcScores], trees: Sequence[Tree], temperatures: Temperatures
) -> list[tuple[float, DoubleArray, DoubleArray]]:
    """Return the probabilities of a tree of each sentence, and of its parts.

    scores: Scores of the sentences.
    trees: Their trees, without missing heads. Labels that a parser would never give have the probability 0:
        unknown ones, -1, the root label of other arcs than the root's, and any other label of that arc.
    temperatures: Temperatures of heads and labels.
    Returns the probability of all heads together; that of each word's head, float [n]; and that of each
        word's head and label together, float [n].
    """
    found = [(1.0, np.zeros(0), np.zeros(0))] * len(scores)
    for members, arcs, is_word in _padded_scores([of.arcs for of in scores], temperatures.heads):
        probs, log_z = marginals(arcs, is_word).numpy(), log_partition(arcs, is_word).numpy()
        for row, i in enumerate(members):
            words, tree = np.arange(len(trees[i].heads)), trees[i]
            score = arcs[row].numpy()[words, tree.heads].sum()
            of_heads = probs[row, words, tree.heads]
            of_labels = np.exp(_label_log_probs(scores[i], tree, temperatures.labels))
            is_possible = (tree.labels >= 0) & ((tree.labels == ROOT_LABEL) == (tree.heads == 0))
            of_labels[~is_possible] = 0.0
            found[i] = float(np.exp(min(score - log_z[row], 0.0))), of_heads, of_heads * of_labels
    return found


def fit_temperatures(pairs: Iterable[tuple[ArcScores, Tree]]) -> Temperatures:
    """Return the temperatures at which the arcs and labels of gold trees are most probable.

    A temperature is 1 if the trees do not tell it, as trees of one word do not.

    pairs: Scores and gold tree of each sentence. Labels that the parser does not know are -1. Of the scores
        of labels, which would fill memory, only those at gold heads are kept.
    """
    all_arcs: list[FloatArray] = []
    all_heads: list[IntArray] = []
    all_labels: list[tuple[FloatArray, IntArray]] = []
    for of, tree in pairs:
        words = _labelled_words(tree)
        all_arcs.append(of.arcs)
        all_heads.append(tree.heads)
        all_labels.append((of.labels[words, tree.heads[words] - 1], tree.labels[words] - 1))

    def of_heads(temperature: float) -> float:
        total = 0.0
        for members, arcs, is_word in _padded_scores(all_arcs, temperature):
            probs = marginals(arcs, is_word).numpy()
            for row, i in enumerate(members):
                heads = all_heads[i]
                total -= float(np.log(np.maximum(probs[row, np.arange(len(heads)), heads], LEAST)).sum())
        return total

    def of_labels(temperature: float) -> float:
        return -sum(float(_log_probs(*of, temperature).sum()) for of in all_labels)

    return Temperatures(_least(of_heads), _least(of_labels))


def _padded_scores(
    scores: Sequence[FloatArray], temperature: float
) -> Iterator[tuple[list[int], torch.Tensor, torch.Tensor]]:
    """Yield numbers of sentences of similar lengths, their padded scores, and which places hold words."""
    order = sorted((i for i, of in enumerate(scores) if len(of)), key=lambda i: len(scores[i]))
    while order:
        width = len(scores[order[-1]])
        size = max(1, ARCS_AT_ONCE // width**2)
        members, order = order[-size:], order[:-size]
        arcs = np.full((len(members), width, width + 1), -np.inf)
        for row, i in enumerate(members):
            n = len(scores[i])
            arcs[row, :n, : n + 1] = scores[i] / temperature
        lengths = np.array([len(scores[i]) for i in members])
        yield members, torch.from_numpy(arcs), torch.from_numpy(np.arange(width) < lengths[:, None])


def _label_log_probs(scores: ArcScores, tree: Tree, temperature: float) -> DoubleArray:
    """Return the log-probability of each label at its head, 0 for root arcs and unknown labels; float [n]."""
    words = _labelled_words(tree)
    log_probs = np.zeros(len(tree.heads))
    logits = scores.labels[words, tree.heads[words] - 1]
    log_probs[words] = _log_probs(logits, tree.labels[words] - 1, temperature)
    return log_probs


def _labelled_words(tree: Tree) -> IntArray:
    """Return the words that have a known label and a head that is a word, int [words]."""
    return np.flatnonzero((tree.heads > 0) & (tree.labels > ROOT_LABEL))


def _log_probs(logits: FloatArray, chosen: IntArray, temperature: float) -> DoubleArray:
    """Return the log-probability of the chosen column of each row, float [rows]."""
    scores = logits.astype(np.float64) / temperature
    of_chosen = np.take_along_axis(scores, chosen[:, None], axis=1)[:, 0]
    log_probs: DoubleArray = of_chosen - np.logaddexp.reduce(scores, axis=1)
    return log_probs


def _least(loss: Callable[[float], float]) -> float:
    """Return the temperature with the least loss, by golden-section search over its logarithm.

    Returns 1 if the loss does not depend on the temperature.
    """
    low, high = np.log(COLDEST), np.log(WARMEST)
    share = (np.sqrt(5.0) - 1.0) / 2.0
    left, right = high - share * (high - low), low + share * (high - low)
    of_left, of_right = loss(float(np.exp(left))), loss(float(np.exp(right)))
    if of_left == of_right:
        return 1.0
    for _ in range(N_STEPS):
        if of_left < of_right:
            high, right, of_right = right, left, of_left
            left = high - share * (high - low)
            of_left = loss(float(np.exp(left)))
        else:
            low, left, of_left = left, right, of_right
            right = low + share * (high - low)
            of_right = loss(float(np.exp(right)))
    return float(np.exp((low + high) / 2.0))
