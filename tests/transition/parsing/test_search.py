import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spacy_g2g.transition.parsing.search import NO_CHOICE, select

# Few values, so that many are equal, and their sums are exact.
values = st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 0.5])


def brute_force(scores: np.ndarray, totals: np.ndarray, width: int) -> list[tuple[int, int, float]]:
    """The best ways to go on of one sentence."""
    n_parents, n_choices = scores.shape
    ways = [
        (-(totals[parent] + scores[parent, choice]), parent, choice)
        for parent in range(n_parents)
        for choice in range(n_choices)
        if np.isfinite(totals[parent] + scores[parent, choice])
    ]
    best = [(parent, choice, -cost) for cost, parent, choice in sorted(ways)[:width]]
    return best + [(0, NO_CHOICE, -np.inf)] * (width - len(best))


@given(st.data(), st.integers(0, 3), st.integers(1, 4), st.integers(1, 5), st.none() | st.integers(1, 6))
def test_select_equals_brute_force(data: st.DataObject, batch: int, n_parents: int, n_choices: int, width):
    scores = data.draw(hnp.arrays(np.float64, (batch, n_parents, n_choices), elements=values))
    totals = data.draw(hnp.arrays(np.float64, (batch, n_parents), elements=values))
    before = scores.copy(), totals.copy()
    parents, choices, new_totals = select(scores, totals, width)
    width = width or n_parents
    assert parents.shape == choices.shape == new_totals.shape == (batch, width)
    for row in range(batch):
        found = list(zip(parents[row].tolist(), choices[row].tolist(), new_totals[row].tolist(), strict=True))
        assert found == brute_force(scores[row], totals[row], width)
    assert (scores == before[0]).all()
    assert (totals == before[1]).all()


@given(hnp.arrays(np.float32, (4, 1, 7), elements=st.floats(-2, 2, width=32)))
def test_a_beam_of_one_is_arg_max(scores: np.ndarray):
    totals = np.zeros((4, 1), dtype=np.float32)
    parents, choices, new_totals = select(scores, totals)
    assert choices[:, 0].tolist() == scores[:, 0].argmax(axis=1).tolist()
    assert (parents == 0).all()
    assert new_totals.tolist() == scores.max(axis=2).tolist()


def test_hypotheses_without_a_total_have_no_part_and_places_without_a_way_are_marked():
    scores = np.array([[[1.0, -np.inf], [5.0, 5.0]]])
    parents, choices, totals = select(scores, np.array([[2.0, -np.inf]]), width=3)
    assert parents.tolist() == [[0, 0, 0]]
    assert choices.tolist() == [[0, NO_CHOICE, NO_CHOICE]]
    assert totals.tolist() == [[3.0, -np.inf, -np.inf]]


def test_the_width_may_grow_from_one_hypothesis():
    scores = np.array([[[0.0, 3.0, 1.0, 2.0]]])
    parents, choices, totals = select(scores, np.array([[10.0]]), width=3)
    assert (parents.tolist(), choices.tolist()) == ([[0, 0, 0]], [[1, 3, 2]])
    assert totals.tolist() == [[13.0, 12.0, 11.0]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_totals_keep_the_precision_of_the_scores(dtype):
    assert select(np.zeros((1, 2, 3), dtype), np.zeros((1, 2), dtype))[2].dtype == dtype
