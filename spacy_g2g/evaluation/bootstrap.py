"""Tests by resampling whether one parser is significantly better than another."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import IntArray
from ..errors import Errors

#: Number of sentences drawn at a time. A draw takes 8 bytes, and 8 bytes more for each column.
DRAWS_PER_BATCH = 100_000


@dataclass(frozen=True)
class Comparison:
    """Comparison of system b with system a.

    score_a: Share of the words that system a has right, between 0 and 1.
    score_b: Share of the words that system b has right, between 0 and 1.
    difference: Difference score_b - score_a.
    low: Lower end of the difference's confidence interval, a quantile of the resampled differences.
    high: Upper end of the difference's confidence interval.
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
    correct_a: ArrayLike,
    correct_b: ArrayLike,
    totals: ArrayLike,
    resamples: int = 10_000,
    seed: int = 0,
    *,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two systems on the same sentences by the paired bootstrap (Efron & Tibshirani 1993).

    Each resample draws sentences with replacement until it has as many as the original sample. Both systems
    are scored on it by words, like UAS and LAS, so a long sentence counts more than a short one.

    correct_a: Number of words that system a has right, int [sentences].
    correct_b: Number of words that system b has right, int [sentences].
    totals: Number of words in each sentence, int [sentences].
    resamples: Number of resamples to draw.
    seed: Seed of the random draws; the same seed gives the same result.
    confidence: Share of the resampled differences that the confidence interval contains.
    Raises ValueError if the arrays are not integers of one length, if there are no sentences, if a sentence
        has no words or more right words than words, if resamples is below 1, or if confidence is not
        between 0 and 1.
    """
    if resamples < 1 or not 0 < confidence < 1:
        raise ValueError(Errors.E614.format(resamples=resamples, confidence=confidence))
    counts = _counts(correct_a, correct_b, totals)
    sum_a, sum_b, n_words = counts.sum(axis=0).tolist()
    pairs = np.stack([counts[:, 1] - counts[:, 0], counts[:, 2]])
    gains, drawn_words = _resample(pairs, resamples, np.random.default_rng(seed))
    # |gains / drawn_words - gain / n_words| >= |gain / n_words| in integers, so that ties are exact.
    gain = sum_b - sum_a
    n_far = int((abs(gains * n_words - gain * drawn_words) >= abs(gain) * drawn_words).sum())
    tail = (1 - confidence) / 2
    low, high = np.quantile(gains / drawn_words, [tail, 1 - tail]).tolist()
    return Comparison(
        score_a=sum_a / n_words,
        score_b=sum_b / n_words,
        difference=gain / n_words,
        low=low,
        high=high,
        p_value=(n_far + 1) / (resamples + 1),
    )


def _resample(columns: IntArray, resamples: int, rng: np.random.Generator) -> IntArray:
    """Return sums over sentences drawn with replacement, int [columns, resamples].

    columns: Numbers to sum, int [columns, sentences].
    resamples: Number of samples.
    rng: Source of random numbers.
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


def _counts(correct_a: ArrayLike, correct_b: ArrayLike, totals: ArrayLike) -> IntArray:
    """Check the arrays and return them side by side, int [sentences, 3]."""
    arrays: dict[str, NDArray[Any]] = {
        "totals": np.asarray(totals),
        "correct_a": np.asarray(correct_a),
        "correct_b": np.asarray(correct_b),
    }
    shape = arrays["totals"].shape
    for name, array in arrays.items():
        is_whole = np.issubdtype(array.dtype, np.integer)
        if not is_whole or array.ndim != 1 or array.shape != shape or not len(array):
            raise ValueError(Errors.E612.format(name=name, dtype=array.dtype, shape=array.shape))
    counts = np.stack([arrays["correct_a"], arrays["correct_b"], arrays["totals"]], axis=1).astype(np.int64)
    right, words = counts[:, :2], counts[:, 2:]
    wrong = np.flatnonzero(((right < 0) | (right > words) | (words < 1)).any(axis=1))
    if len(wrong):
        sentence = int(wrong[0])
        a, b, total = counts[sentence].tolist()
        raise ValueError(Errors.E613.format(sentence=sentence, a=a, b=b, total=total))
    return counts
