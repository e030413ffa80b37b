"""Doubtful sentence boundaries."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_g2g.parsing.sentences import MOST_IN_ROW, best_boundaries, find_rows


def score(boundaries: np.ndarray, sentences: np.ndarray, is_real: tuple[bool, ...]) -> float:
    edges = [0, *(i + 1 for i, real in enumerate(is_real) if real), len(boundaries) + 1]
    of_sentences = sum(sentences[i, j] for i, j in pairwise(edges))
    return float(boundaries @ np.array(is_real, dtype=float) + of_sentences)


@settings(max_examples=50, deadline=None)
@given(m=st.integers(1, 5), seed=st.integers(0, 10_000))
def test_the_best_reading_is_that_of_brute_force(m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    boundaries, sentences = rng.normal(size=m), rng.normal(size=(m + 2, m + 2))
    expected = max(product([False, True], repeat=m), key=lambda found: score(boundaries, sentences, found))
    assert best_boundaries(boundaries.tolist(), sentences) == [*expected]


@settings(max_examples=50, deadline=None)
@given(log_odds=st.lists(st.floats(-6, 6), min_size=1, max_size=40), doubt=st.floats(0, 7))
def test_rows_have_all_doubtful_boundaries_that_are_not_settled(log_odds: list[float], doubt: float) -> None:
    odds = np.array(log_odds)
    is_start, rows = find_rows(odds, doubt)
    inner = [place for row in rows for place in row.edges[1:-1]]
    assert is_start[0]
    assert not is_start[inner].any()
    assert (np.abs(odds[inner]) < doubt).all()
    assert inner == sorted(set(inner))
    for row in rows:
        assert 1 <= len(row.edges) - 2 <= MOST_IN_ROW
        edges = [row.edges[0], *([row.edges[-1]] if row.edges[-1] < len(odds) else [])]
        assert is_start[edges].all()
        assert not is_start[row.edges[0] + 1 : row.edges[-1]].any()
        assert len(row.spans) == (len(row.edges) - 1) * len(row.edges) // 2
    # Outside of rows nothing changes.
    others = np.delete(np.arange(1, len(odds)), np.array(inner, dtype=int) - 1)
    assert (is_start[others] == (odds[others] > 0)).all()


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_long_rows_are_decided_where_they_are_least_doubtful(sign: float) -> None:
    odds = np.full(2 * MOST_IN_ROW, sign * 0.1)
    odds[4] = sign * 0.5
    is_start, rows = find_rows(odds, 1.0)
    assert is_start[4] == (sign > 0)
    assert all(4 not in row.edges[1:-1] for row in rows)
