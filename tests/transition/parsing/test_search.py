import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spacy_g2g.transition.parsing.search import NO_CHOICE, select

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
