"""Calibration: whether a parser's predictions with a probability of 90 % are right in 90 % of the cases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ..arrays import DoubleArray, IntArray

#: Kind and probability of a prediction, and whether it is right.
Prediction = tuple[str, float, bool]
N_BINS = 15


class Reliability(NamedTuple):
    """Predictions in bins of equal width by their probability.

    counts: Number of predictions in each bin, int [bins].
    probs: Mean probability of each bin, float [bins]; 0 for an empty bin.
    rates: Share of the predictions of each bin that are right, float [bins]; 0 for an empty bin.
    """

    counts: IntArray
    probs: DoubleArray
    rates: DoubleArray

    @property
    def error(self) -> float:
        """Expected calibration error (Naeini, Cooper & Hauskrecht 2015), from 0 to 1."""
        gaps = self.counts * np.abs(self.probs - self.rates)
        return float(gaps.sum() / max(1, self.counts.sum()))


def reliability(predictions: Iterable[Prediction]) -> dict[str, Reliability]:
    """Compare the probabilities of predictions with the share that is right, for each kind of prediction."""
    kinds: dict[str, list[tuple[float, bool]]] = {}
    for kind, prob, is_right in predictions:
        kinds.setdefault(kind, []).append((prob, is_right))
    return {kind: _in_bins(*np.array(pairs, dtype=np.float64).T) for kind, pairs in kinds.items()}


def _in_bins(probs: DoubleArray, right: DoubleArray) -> Reliability:
    bins = np.minimum((probs * N_BINS).astype(np.int64), N_BINS - 1)
    counts = np.bincount(bins, minlength=N_BINS)
    means = [
        np.bincount(bins, weights=values, minlength=N_BINS) / np.maximum(counts, 1)
        for values in (probs, right)
    ]
    return Reliability(counts, *means)
