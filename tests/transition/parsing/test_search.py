import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spacy_g2g.transition.parsing.search import NO_CHOICE, ActionMachines, Beam, Choices, select

# Few values, so that many are equal, and their sums are exact.
values = st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 0.5])


def brute_force(keys: np.ndarray, width: int) -> list[tuple[int, int]]:
    """The best ways to go on of one sentence."""
    ways = sorted((-key, *place) for place, key in np.ndenumerate(keys) if np.isfinite(key))[:width]
    return [(parent, choice) for _, parent, choice in ways] + [(0, NO_CHOICE)] * (width - len(ways))


@given(st.data(), st.integers(0, 3), st.integers(1, 4), st.integers(1, 5), st.integers(1, 6))
def test_select_equals_brute_force(
    data: st.DataObject, batch: int, n_parents: int, n_choices: int, width: int
):
    keys = data.draw(hnp.arrays(np.float64, (batch, n_parents, n_choices), elements=values))
    before = keys.copy()
    parents, choices = select(keys, width)
    assert parents.shape == choices.shape == (batch, width)
    for row in range(batch):
        found = list(zip(parents[row].tolist(), choices[row].tolist(), strict=True))
        assert found == brute_force(keys[row], width)
    assert (keys == before).all()


class Paths(ActionMachines):
    """Machines that end by action 0, or go on by action 1 up to three times, and know their actions."""

    def __init__(self, taken: list[list[int]]) -> None:
        self.taken = taken

    @property
    def is_final(self) -> np.ndarray:
        return np.array([len(actions) == 3 or 0 in actions for actions in self.taken])

    def apply(self, actions: np.ndarray, probs: np.ndarray) -> None:
        for taken, action in zip(self.taken, actions.tolist(), strict=True):
            taken += [action] * (action >= 0)

    def take(self, order: np.ndarray) -> "Paths":
        return Paths([list(self.taken[row]) for row in order])

    def valid(self, rows: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    positions = valid


@pytest.mark.parametrize(
    ("penalty", "path", "total"), [(0.0, [0], -2.0), (0.5, [1, 1, 1], -2.5), (1.0, [1, 1, 1], -2.5)]
)
def test_lengths_count_where_they_are_asked_for(penalty: float, path: list[int], total: float):
    # To end costs 2, the first step 1.5 and each further one 0.5.
    beam = Beam(Paths([[]]), 8, penalty)
    while len(rows := beam.open_rows):
        costs = [[-2.0, -0.5 if beam.machines.taken[row] else -1.5] for row in rows]
        choices = Choices(np.tile([0, 1], (len(rows), 1)), np.array(costs), np.ones((len(rows), 2, 2)))
        beam.advance(rows, choices)
    best = beam.best()
    assert (best.machines.taken, best.totals.tolist()) == ([path], [total])
