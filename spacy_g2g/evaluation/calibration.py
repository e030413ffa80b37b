"""Calibration: whether events that a parser holds for 90 % probable happen in 90 % of the cases."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import DoubleArray, IntArray

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


def reliability(probs: ArrayLike, are_right: ArrayLike) -> Reliability:
    """Compare probabilities with what happened.

    probs: Probability of each prediction, float [predictions].
    are_right: Whether each prediction is right, bool [predictions].
    """
    given, right = np.asarray(probs, dtype=np.float64), np.asarray(are_right, dtype=np.float64)
    bins = np.minimum((given * N_BINS).astype(np.int64), N_BINS - 1)
    counts = np.bincount(bins, minlength=N_BINS)
    sums = [np.bincount(bins, weights=values, minlength=N_BINS) for values in (given, right)]
    means = [of_bins / np.maximum(counts, 1) for of_bins in sums]
    return Reliability(counts, means[0], means[1])
