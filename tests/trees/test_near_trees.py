import numpy as np
import pytest

from spacy_g2g.trees import near_trees as module
from spacy_g2g.trees.kbest import best_trees
from spacy_g2g.trees.near_trees import near_trees

from .all_trees import all_trees

RNG = np.random.default_rng(5)


def around_a_tree(n: int, step: float) -> np.ndarray:
    """Return scores whose best heads are a tree; some are equal if they are multiples of a step."""
    scores = np.round(RNG.normal(size=(n, n + 1)) / step) * step
    scores[RNG.random(scores.shape) < 0.2] = -np.inf
    order = RNG.permutation(n)
    scores[order[0], 0] = 6.0
    for i in range(1, n):
        scores[order[i], order[RNG.integers(i)] + 1] = 4.0
    scores[np.arange(n), np.arange(1, n + 1)] = -np.inf
    return scores


@pytest.mark.parametrize("step", [0.01, 1.0])
def test_they_are_the_best_of_all_trees(step: float):
    for k in [1, 2, 10, 60] * 10:
        scores = around_a_tree(5, step)
        totals = scores[np.arange(5), all_trees(5)].sum(axis=1)
        expected = np.sort(totals[totals > -np.inf])[::-1][:k]
        found = near_trees(scores, k)
        assert found is not None
        assert len({tuple(heads) for heads in found}) == len(found)
        assert scores[np.arange(5), found].sum(axis=1) == pytest.approx(expected)


def test_the_general_search_takes_over(monkeypatch: pytest.MonkeyPatch):
    """It has to if the best heads are no tree, or if too many sets of arcs are none."""
    assert near_trees(np.array([[0.0, -np.inf, 1.0], [0.0, 1.0, -np.inf]]), 1) is None
    scores = around_a_tree(12, 0.01)
    before = best_trees(scores, 20)
    monkeypatch.setattr(module, "MIN_SETS", 0)
    monkeypatch.setattr(module, "SETS_A_TREE", 1)
    assert near_trees(scores, 20) is None
    heads, totals = best_trees(scores, 20)
    assert totals == pytest.approx(before[1])
    assert (heads[0] == before[0][0]).all()
