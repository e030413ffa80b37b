"""Tests by resampling whether one parser is significantly better than another."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import IntArray

#: Number of sentences to draw at once. A draw takes 8 bytes, and 8 more for each column.
DRAWS_PER_BATCH = 100_000


@dataclass(frozen=True)
class Comparison:
    """Comparison of system b with system a.

    score_a, score_b: Shares of the words that the systems have right, between 0 and 1.
    difference: score_b - score_a.
    low, high: 95 % confidence interval of the difference, by quantiles of the resampled differences.
    p_value: Two-sided p-value between 1 / (resamples + 1) and 1: the share of resampled differences that lie
        at least as far from the observed difference as the observed difference lies from 0. The observed
        difference counts as one of the resamples, so the p-value is never 0.
    """

    score_a: float
    score_b: float
    difference: float
    low: float
    high: float
    p_value: float


def paired_bootstrap(
    correct_a: ArrayLike, *, correct_b: ArrayLike, totals: ArrayLike, resamples: int = 10_000, seed: int = 0
) -> Comparison:
    """Compare two systems on the same sentences by the paired bootstrap (Efron & Tibshirani 1993).

    Each resample draws sentences with replacement until it has as many as the original sample. Both systems
    are scored on it by words, like UAS and LAS, so a long sentence counts more than a short one.

    correct_a, correct_b: Number of words that the systems have right, int [sentences].
    totals: Number of words in each sentence, one or more; int [sentences].
    resamples: Number of resamples to draw.
    """
    sides, words = np.array([correct_a, correct_b]), np.asarray(totals)
    assert resamples > 0
    assert ((sides >= 0) & (sides <= words) & (words > 0)).all()
    gain, n_words = int((sides[1] - sides[0]).sum()), int(words.sum())
    pairs = np.stack([sides[1] - sides[0], words])
    gains, drawn_words = _resample(pairs, resamples, np.random.default_rng(seed))
    # |gains / drawn_words - gain / n_words| >= |gain / n_words| in integers, so that ties are exact.
    n_far = int((abs(gains * n_words - gain * drawn_words) >= abs(gain) * drawn_words).sum())
    low, high = np.quantile(gains / drawn_words, [0.025, 0.975]).tolist()
    return Comparison(
        score_a=int(sides[0].sum()) / n_words,
        score_b=int(sides[1].sum()) / n_words,
        difference=gain / n_words,
        low=low,
        high=high,
        p_value=(n_far + 1) / (resamples + 1),
    )


def _resample(columns: IntArray, resamples: int, rng: np.random.Generator) -> IntArray:
    """Draw sentences with replacement, and return the sums of each sample, int [columns, resamples].

    columns: Numbers to sum, int [columns, sentences].
    """
    n = columns.shape[1]
    step = max(1, DRAWS_PER_BATCH // n)
    sums = np.empty((len(columns), resamples), dtype=np.int64)
    for start in range(0, resamples, step):
        batch = sums[:, start : start + step]
        drawn = rng.integers(n, size=(batch.shape[1], n))
        for column, values in zip(columns, batch, strict=True):
            values[:] = column[drawn].sum(axis=1)
    return sums
