"""Decide which of the doubtful sentence boundaries of a text are real, by the scores of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..arrays import BoolArray, DoubleArray

#: Largest number of doubtful boundaries in a row that are decided together. A row of m has (m + 1)(m + 2) / 2
#: possible sentences.
MOST_IN_ROW = 4


class Row(NamedTuple):
    """Doubtful boundaries between two certain ones.

    edges: The certain boundary before them, the m doubtful ones, and the certain one after them. Each is the
        index of the token that follows the boundary, or the number of tokens.
    """

    edges: list[int]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Start and end of each possible sentence, that is, of one part or of neighbouring ones."""
        n = len(self.edges)
        return [(self.edges[i], self.edges[j]) for i in range(n) for j in range(i + 1, n)]


def find_rows(log_odds: DoubleArray, doubt: float) -> tuple[BoolArray, list[Row]]:
    """Return the certain boundaries of a text, and the rows of doubtful ones between them.

    In a row of more than ``MOST_IN_ROW`` the least doubtful ones count as certain.

    log_odds: Log-odds that a sentence starts at each token, float [tokens].
    doubt: Log-odds nearer to 0 than this are doubtful.
    Returns whether each token surely starts a sentence, bool [tokens], and the rows.
    """
    is_start: BoolArray = log_odds > 0.0
    is_start[:1] = True
    is_doubtful = np.abs(log_odds) < doubt
    is_doubtful[:1] = False
    rows: list[Row] = []
    certain = [*np.flatnonzero(is_start & ~is_doubtful).tolist(), len(log_odds)]
    doubtful = np.flatnonzero(is_doubtful)
    open_ = [(start, end, doubtful[np.searchsorted(doubtful, start) :]) for start, end in pairwise(certain)]
    open_ = [(start, end, places[: np.searchsorted(places, end)]) for start, end, places in open_]
    while open_:
        start, end, places = open_.pop()
        while len(places) > MOST_IN_ROW:
            settled = int(np.abs(log_odds[places]).argmax())
            place, others = int(places[settled]), np.delete(places, settled)
            if is_start[place]:
                open_.append((place, end, others[settled:]))
                end, places = place, others[:settled]
            else:
                places = others
        is_start[places] = False
        if len(places):
            rows.append(Row([start, *places.tolist(), end]))
    return is_start, sorted(rows)


def best_boundaries(boundaries: Sequence[float], sentences: DoubleArray) -> list[bool]:
    """Return which boundaries of a row are real in the reading with the highest score (Viterbi).

    The score of a reading is the sum of the scores of its boundaries and of its sentences.

    boundaries: Score of each of m boundaries, float [m].
    sentences: Score of the sentence from edge i to edge j, float [m + 2, m + 2]; only i < j is read.
    """
    n = len(boundaries) + 2
    best, before = np.zeros(n), [0] * n
    for j in range(1, n):
        scores = best[:j] + sentences[:j, j]
        before[j] = int(scores.argmax())
        best[j] = scores[before[j]] + (boundaries[j - 1] if j < n - 1 else 0.0)
    is_real = [False] * n
    place = n - 1
    while place:
        is_real[place] = True
        place = before[place]
    return is_real[1:-1]
