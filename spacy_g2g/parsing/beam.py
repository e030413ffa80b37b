"""Beam search over any state and scorer: which hypotheses go on, and how."""

from __future__ import annotations

import numpy as np

from ..arrays import IntArray, RealArray

NO_CHOICE = -1


def select(
    scores: RealArray, totals: RealArray, width: int | None = None
) -> tuple[IntArray, IntArray, RealArray]:
    """The best ways to go on from the hypotheses of each sentence.

    A way is as good as the total of its hypothesis (its parent) plus the score of its choice. The
    results are sorted, the best first; of equal ones, that of the lowest parent and then the lowest
    choice comes first, so that one hypothesis takes its arg-max.

    Args:
        scores: Score of each choice, shape [batch, parents, choices]; -inf for an impossible one.
        totals: Score of each hypothesis so far, shape [batch, parents]; -inf for one that is none.
        width: Hypotheses to keep; None for as many as there were.

    Returns:
        Parents, choices and totals of the new hypotheses, each of shape [batch, width]. Where a
        sentence has less than `width` ways to go on, the last ones have the parent 0, NO_CHOICE and
        the total -inf.
    """
    batch, n_parents, n_choices = scores.shape
    width = n_parents if width is None else width
    left = (totals[:, :, None] + scores).reshape(batch, n_parents * n_choices)
    rows = np.arange(batch)
    best = np.zeros((batch, width), dtype=np.int64)
    new_totals = np.full((batch, width), -np.inf, dtype=left.dtype)
    # A few times arg-max: unlike a partial sort, it takes the first of equal ones.
    for i in range(min(width, left.shape[1])):
        best[:, i] = left.argmax(axis=1)
        new_totals[:, i] = left[rows, best[:, i]]
        left[rows, best[:, i]] = -np.inf
    is_way = new_totals > -np.inf
    parents = np.where(is_way, best // n_choices, 0)
    choices = np.where(is_way, best % n_choices, NO_CHOICE)
    return parents, choices, new_totals
