"""Is one parser better than another, or are the sentences at hand just kind to it?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import IntArray
from ..errors import Errors

#: Draws made at a time, which bounds memory: 8 bytes for each draw and each of the numbers that are summed.
CHUNK = 100_000


@dataclass(frozen=True)
class Comparison:
    """System b against system a.

    score_a, score_b: Share of all words that are right, between 0 and 1.
    difference: score_b - score_a.
    low, high: The confidence interval of the difference: quantiles of the resampled differences.
    p_value: Two-sided, between 1 / (resamples + 1) and 1: how often a resampled difference is at least as far
        from the observed one as the observed one is from 0. Were the systems equally good, differences would
        scatter like this around 0, and that often reach what was observed. Both the observed value and the
        resamples count, so it is never 0.
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

    Each resample draws as many sentences as there are, with replacement, and scores both systems on them. The
    score is over words (as UAS and LAS are), so that sentences count by their length.

    correct_a, correct_b: Words that each system has right, [sentences].
    totals: Words of each sentence, [sentences].
    resamples: How many to draw. seed: Of the draws; the same seed gives the same result.
    confidence: Share of the resampled differences that the confidence interval holds.
    RAISES (ValueError): for arrays that are not whole numbers of one length, a sentence without words or with
        more right words than words, no sentences, no resamples, and a confidence not between 0 and 1.
    """
    if resamples < 1 or not 0 < confidence < 1:
        raise ValueError(Errors.E387.format(resamples=resamples, confidence=confidence))
    counts = _counts(correct_a, correct_b, totals)
    sum_a, sum_b, n_words = counts.sum(axis=0).tolist()
    pairs = np.stack([counts[:, 1] - counts[:, 0], counts[:, 2]])
    gains, drawn_words = _resample(pairs, resamples, np.random.default_rng(seed))
    # |gains / drawn_words - gain / n_words| >= |gain / n_words| in whole numbers, so that ties are exact.
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
    """Sums over sentences drawn with replacement. columns: [k, sentences]. RETURNS: [k, resamples]."""
    n = columns.shape[1]
    step = max(1, CHUNK // n)
    sums = np.empty((len(columns), resamples), dtype=np.int64)
    for start in range(0, resamples, step):
        chunk = sums[:, start : start + step]
        drawn = rng.integers(n, size=(chunk.shape[1], n))
        for column, values in zip(columns, chunk, strict=True):
            values[:] = column[drawn].sum(axis=1)
    return sums


def _counts(correct_a: ArrayLike, correct_b: ArrayLike, totals: ArrayLike) -> IntArray:
    """The three arrays side by side, [sentences, 3]."""
    arrays: dict[str, NDArray[Any]] = {
        "totals": np.asarray(totals),
        "correct_a": np.asarray(correct_a),
        "correct_b": np.asarray(correct_b),
    }
    shape = arrays["totals"].shape
    for name, array in arrays.items():
        is_whole = np.issubdtype(array.dtype, np.integer)
        if not is_whole or array.ndim != 1 or array.shape != shape or not len(array):
            raise ValueError(Errors.E385.format(name=name, dtype=array.dtype, shape=array.shape))
    counts = np.stack([arrays["correct_a"], arrays["correct_b"], arrays["totals"]], axis=1).astype(np.int64)
    right, words = counts[:, :2], counts[:, 2:]
    wrong = np.flatnonzero(((right < 0) | (right > words) | (words < 1)).any(axis=1))
    if len(wrong):
        sentence = int(wrong[0])
        a, b, total = counts[sentence].tolist()
        raise ValueError(Errors.E386.format(sentence=sentence, a=a, b=b, total=total))
    return counts
