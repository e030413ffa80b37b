"""Probabilities of arcs, labeled arcs and trees, and the temperatures that calibrate them.

The distribution is over all trees with one root. The score of a tree is the sum of its arcs'
log-probabilities, divided by a temperature. Temperatures are fitted as Guo, Pleiss, Sun and Weinberger ("On
Calibration of Modern Neural Networks", 2017) do. They do not change trees.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch

from ..arrays import DoubleArray, FloatArray, IntArray
from ..layers.matrix_tree import log_partition, marginals
from ..models.types import Arcs, ArcScores
from ..trees.tree import ROOT_LABEL

#: Maximum number of arcs of a batch, with padding.
ARCS_AT_ONCE = 500_000
#: Bounds of temperatures, and the number of steps of the search for the best one.
MIN_TEMPERATURE, MAX_TEMPERATURE, N_STEPS = 0.1, 10.0, 14
#: Minimum probability of a gold head. It keeps logarithms finite.
MIN_PROBABILITY = 1e-12


class Temperatures(NamedTuple):
    """Divisors of the log-probabilities of heads and of labels; 1 leaves them as they are."""

    heads: float = 1.0
    labels: float = 1.0


def confidences(
    scores: Sequence[ArcScores], trees: Sequence[Arcs], temperatures: Temperatures
) -> list[tuple[float, DoubleArray, DoubleArray]]:
    """Return the probabilities of a tree of each sentence, and of its parts.

    scores: Scores of the sentences.
    trees: Their trees, without missing heads. Labels that a parser never gives have the probability 0: an
        unknown label (-1), a root label of another arc, and another label of the root arc.
    temperatures: Temperatures of heads and labels.
    Returns the probability of all heads together; that of each word's head, float [n]; and that of each
        word's head and label together, float [n].
    """
    results: list[tuple[float, DoubleArray, DoubleArray]] = [(1.0, np.zeros(0), np.zeros(0))] * len(scores)
    for members, arcs, is_word in _padded_scores([own.arcs for own in scores], temperatures.heads):
        probs, log_z = marginals(arcs, is_word=is_word).numpy(), log_partition(arcs, is_word=is_word).numpy()
        for row, i in enumerate(members):
            heads, labels = trees[i].heads, trees[i].labels
            words, labeled = np.arange(len(heads)), _labeled_words(trees[i])
            log_prob = arcs[row].numpy()[words, heads].sum() - log_z[row]
            head_probs = probs[row, words, heads]
            label_probs = ((heads == 0) & (labels == ROOT_LABEL)).astype(np.float64)
            logits = scores[i].labels[labeled, heads[labeled] - 1]
            label_probs[labeled] = np.exp(_log_probs(logits, labels[labeled] - 1, temperatures.labels))
            results[i] = float(np.exp(min(log_prob, 0.0))), head_probs, head_probs * label_probs
    return results


def fit_temperatures(pairs: Iterable[tuple[ArcScores, Arcs]]) -> Temperatures:
    """Return the temperatures at which the arcs and labels of gold trees are most probable.

    A temperature is 1 if the trees do not depend on it, as trees of one word.

    pairs: Scores and gold tree of each sentence. Labels that the parser lacks are -1. To save memory, only
        scores of labels at gold heads are stored.
    """
    all_arcs: list[FloatArray] = []
    all_heads: list[IntArray] = []
    all_labels: list[tuple[FloatArray, IntArray]] = []
    for scores, tree in pairs:
        words = _labeled_words(tree)
        all_arcs.append(scores.arcs)
        all_heads.append(tree.heads)
        all_labels.append((scores.labels[words, tree.heads[words] - 1], tree.labels[words] - 1))

    def loss_of_heads(temperature: float) -> float:
        total = 0.0
        for members, arcs, is_word in _padded_scores(all_arcs, temperature):
            probs = marginals(arcs, is_word=is_word).numpy()
            for row, i in enumerate(members):
                gold_probs = probs[row, np.arange(len(all_heads[i])), all_heads[i]]
                total -= float(np.log(np.maximum(gold_probs, MIN_PROBABILITY)).sum())
        return total

    def loss_of_labels(temperature: float) -> float:
        return -sum(float(_log_probs(*labels, temperature).sum()) for labels in all_labels)

    return Temperatures(_best_temperature(loss_of_heads), _best_temperature(loss_of_labels))


def _padded_scores(
    scores: Sequence[FloatArray], temperature: float
) -> Iterator[tuple[list[int], torch.Tensor, torch.Tensor]]:
    """Yield indices of sentences of similar lengths, their padded scores, and which places hold words."""
    order = sorted((i for i, arcs in enumerate(scores) if len(arcs)), key=lambda i: len(scores[i]))
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


def _labeled_words(tree: Arcs) -> IntArray:
    """Return the words that have a label of the parser and whose head is a word, int [words]."""
    return np.flatnonzero((tree.heads > 0) & (tree.labels > ROOT_LABEL))


def _log_probs(logits: FloatArray, chosen: IntArray, temperature: float) -> DoubleArray:
    """Return the log-probability of the chosen column of each row, float [rows]."""
    scores = logits.astype(np.float64) / temperature
    best = np.take_along_axis(scores, chosen[:, None], axis=1)[:, 0]
    log_probs: DoubleArray = best - np.logaddexp.reduce(scores, axis=1)
    return log_probs


def _best_temperature(loss: Callable[[float], float]) -> float:
    """Minimize the loss of a temperature, by golden-section search over its logarithm.

    Returns the temperature, or 1 if the loss does not depend on it.
    """
    low, high = np.log(MIN_TEMPERATURE), np.log(MAX_TEMPERATURE)
    share = (np.sqrt(5.0) - 1.0) / 2.0
    left, right = high - share * (high - low), low + share * (high - low)
    loss_left, loss_right = loss(float(np.exp(left))), loss(float(np.exp(right)))
    if loss_left == loss_right:
        return 1.0
    for _ in range(N_STEPS):
        if loss_left < loss_right:
            high, right, loss_right = right, left, loss_left
            left = high - share * (high - low)
            loss_left = loss(float(np.exp(left)))
        else:
            low, left, loss_left = left, right, loss_right
            right = low + share * (high - low)
            loss_right = loss(float(np.exp(right)))
    return float(np.exp((low + high) / 2.0))
