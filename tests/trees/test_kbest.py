import numpy as np
import pytest

from spacy_g2g.trees import kbest as module
from spacy_g2g.trees.kbest import best_trees, near_trees
from spacy_g2g.trees.mst import decode
from spacy_g2g.trees.tree import are_trees

from .all_trees import all_trees

RNG = np.random.default_rng(3)
#: Draws of their own, so that the best heads are trees in every order of the tests.
NEAR = np.random.default_rng(5)


def plain(n: int) -> np.ndarray:
    return RNG.normal(size=(n, n + 1))


def tied(n: int) -> np.ndarray:
    return RNG.integers(-1, 2, size=(n, n + 1)).astype(float)


def sparse(n: int) -> np.ndarray:
    return np.where(RNG.random((n, n + 1)) < 0.4, -np.inf, tied(n))


def peaked(n: int) -> np.ndarray:
    """One head of each word is far better than the others; some of these heads form cycles."""
    scores = plain(n)
    scores[np.arange(n), RNG.integers(0, n + 1, n)] += 9
    return scores


def check(scores: np.ndarray, k: int, expected: np.ndarray, **more) -> None:
    """Compare the trees with those of brute force: the same scores in order, and no tree twice."""
    n = len(scores)
    totals = np.sort(scores[np.arange(n), expected].sum(axis=1))[::-1]
    totals = totals[totals > -np.inf]
    heads, found = best_trees(scores, k, **more)
    assert found == pytest.approx(totals[:k])
    assert (np.diff(found) <= 0).all()
    assert found == pytest.approx(scores[np.arange(n), heads].sum(axis=1))
    assert len(np.unique(heads, axis=0)) == len(heads)
    assert set(map(tuple, heads.tolist())) <= set(map(tuple, expected.tolist()))


@pytest.mark.parametrize("make", [plain, tied, sparse, peaked])
@pytest.mark.parametrize(("n", "n_graphs"), [(1, 2), (2, 10), (3, 20), (4, 20), (5, 10), (6, 5)])
def test_the_k_best_trees_are_those_of_brute_force(make, n: int, n_graphs: int):
    for k in [*[1, 10, 50] * n_graphs, len(all_trees(min(n, 5)))]:
        check(make(n), k, all_trees(n))


@pytest.mark.parametrize("make", [plain, tied, sparse, peaked])
def test_subtrees_are_the_whole_subtree_of_a_word(make):
    for _ in range(30):
        inner, outer = np.zeros(6, dtype=bool), np.zeros(6, dtype=bool)
        inner[RNG.choice(np.arange(1, 6), 2, replace=False)] = True
        outer[RNG.choice(np.arange(1, 6), 3, replace=False)] = True
        subtrees = [outer | inner, inner]
        trees = [heads for heads in all_trees(5) if all(is_subtree(heads, words) for words in subtrees)]
        check(make(5), 20, np.array(trees), subtrees=subtrees)


def is_subtree(heads: np.ndarray, words: np.ndarray) -> bool:
    """Whether one word of the set has its head outside, and no word outside has its head in the set."""
    return (~words[heads[words[1:]]]).sum() == 1 and not words[heads[~words[1:]]].any()


@pytest.mark.parametrize("make", [plain, peaked])
def test_the_first_of_many_words_is_the_best_tree(make):
    for n in (12, 40):
        scores = make(n)
        heads, totals = best_trees(scores, 12)
        best = decode(scores[None], lengths=[n])[0]
        assert heads[0].tolist() == best.tolist()
        assert are_trees(heads, lengths=[n] * 12).all()
        assert (np.diff(totals) <= 0).all()
        assert len(np.unique(heads, axis=0)) == 12


def test_huge_penalties_do_not_drown_the_other_scores():
    scores = np.array([[0.25, 0, -1e300, -1e300], [0.5, -1e300, 0, 1], [0.5, -1e300, 1.125, 0]])
    scores[0, 2:] = [-2, -1e300]
    heads, totals = best_trees(scores, 2)
    assert heads.tolist() == [[2, 0, 2], [2, 3, 0]]
    assert totals.tolist() == [-0.375, -0.5]


def test_no_word_has_one_tree_and_no_allowed_arc_none():
    assert [part.tolist() for part in best_trees(np.zeros((0, 1)), 3)] == [[[]], [0.0]]
    assert best_trees(np.full((2, 3), -np.inf), 3)[0].shape == (0, 2)


def around_a_tree(n: int, step: float) -> np.ndarray:
    """Return scores whose best heads are a tree; some are equal if they are multiples of a step."""
    scores = np.round(NEAR.normal(size=(n, n + 1)) / step) * step
    scores[NEAR.random(scores.shape) < 0.2] = -np.inf
    order = NEAR.permutation(n)
    scores[order[0], 0] = 6.0
    for i in range(1, n):
        scores[order[i], order[NEAR.integers(i)] + 1] = 4.0
    scores[np.arange(n), np.arange(1, n + 1)] = -np.inf
    return scores


@pytest.mark.parametrize("step", [0.01, 1.0])
def test_trees_near_the_best_heads_are_the_best_of_all_trees(step: float):
    for k in [1, 2, 10, 60] * 10:
        scores = around_a_tree(5, step)
        totals = scores[np.arange(5), all_trees(5)].sum(axis=1)
        expected = np.sort(totals[totals > -np.inf])[::-1][:k]
        found = near_trees(scores, k)
        assert found is not None
        assert len({tuple(heads) for heads in found}) == len(found)
        assert scores[np.arange(5), found].sum(axis=1) == pytest.approx(expected)


def test_the_general_search_takes_over_from_near_trees(monkeypatch: pytest.MonkeyPatch):
    """It has to if the best heads are not a tree, or if too many sets of arcs are not."""
    assert near_trees(np.array([[0.0, -np.inf, 1.0], [0.0, 1.0, -np.inf]]), 1) is None
    scores = around_a_tree(12, 0.01)
    before = best_trees(scores, 20)
    monkeypatch.setattr(module, "MIN_SETS", 0)
    monkeypatch.setattr(module, "SETS_PER_TREE", 1)
    assert near_trees(scores, 20) is None
    heads, totals = best_trees(scores, 20)
    assert totals == pytest.approx(before[1])
    assert (heads[0] == before[0][0]).all()
