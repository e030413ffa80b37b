import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spacy_g2g.trees.mst import decode
from spacy_g2g.trees.tree import is_tree

from .all_trees import all_trees
from .reference import maximum_spanning_tree

INF = float("inf")


def score_of(scores: np.ndarray, heads: np.ndarray) -> float:
    return float(scores[np.arange(len(heads)), heads].sum())


def brute_force_best_score(scores: np.ndarray) -> float:
    return max(score_of(scores, heads) for heads in all_trees(len(scores)))


def networkx_best_score(scores: np.ndarray) -> float:
    """The best of the trees that each possible root gives."""
    n = len(scores)
    best = -INF
    for root in range(1, n + 1):
        graph = nx.DiGraph()
        graph.add_edge(0, root, weight=scores[root - 1, 0])
        for word, head in itertools.permutations(range(1, n + 1), 2):
            graph.add_edge(head, word, weight=scores[word - 1, head])
        tree = nx.maximum_spanning_arborescence(graph)
        best = max(best, sum(scores[word - 1, head] for head, word in tree.edges))
    return best


def matrices(max_size: int, elements: st.SearchStrategy[float], dtype: type = np.float64):
    return st.integers(1, max_size).flatmap(lambda n: arrays(dtype, (n, n + 1), elements=elements))


def nested_cycles(n: int) -> np.ndarray:
    """Words 1 and 2 prefer each other, then word 3 and both, and so on: n - 1 contractions."""
    words = np.arange(1, n + 1)
    scores = np.full((n, n + 1), -1.0)
    scores[words[1:] - 1, words[:-1]] = 10.0 * n
    scores[0, 1:] = 10.0 * n - words
    return scores


@given(matrices(4, st.floats(-10, 10)))
def test_the_score_is_that_of_brute_force(scores: np.ndarray):
    heads = maximum_spanning_tree(scores)
    assert is_tree(heads)
    assert score_of(scores, heads) == pytest.approx(brute_force_best_score(scores))


@given(matrices(4, st.integers(-2, 2), dtype=np.int64))
def test_the_score_is_that_of_brute_force_where_many_trees_tie(scores: np.ndarray):
    heads = maximum_spanning_tree(scores)
    assert is_tree(heads)
    assert score_of(scores, heads) == brute_force_best_score(scores)


@given(matrices(9, st.floats(-10, 10)))
def test_the_score_is_that_of_networkx(scores: np.ndarray):
    heads = maximum_spanning_tree(scores)
    assert is_tree(heads)
    assert score_of(scores, heads) == pytest.approx(networkx_best_score(scores))


@given(matrices(4, st.sampled_from([-INF, -INF, -1.0, 0.0, 1.0])))
def test_forbidden_arcs_are_never_chosen(scores: np.ndarray):
    best = brute_force_best_score(scores)
    if best == -INF:
        with pytest.raises(ValueError, match=r"G2G-E107\]"):
            maximum_spanning_tree(scores)
    else:
        assert score_of(scores, maximum_spanning_tree(scores)) == best


@pytest.mark.parametrize("n", [3, 4, 5])
def test_nested_cycles_give_the_score_of_brute_force(n: int):
    scores = nested_cycles(n)
    heads = maximum_spanning_tree(scores)
    assert score_of(scores, heads) == brute_force_best_score(scores)


@pytest.mark.parametrize("make", [nested_cycles, lambda n: np.random.default_rng(0).normal(size=(n, n + 1))])
def test_300_words_give_a_tree(make):
    assert is_tree(maximum_spanning_tree(make(300)))


def test_a_chain_of_900_words_is_not_too_deep():
    scores = np.zeros((900, 901))
    scores[np.arange(900), (np.arange(900) + 1) % 900 + 1] = 1
    scores[899, 0] = 0.5
    assert maximum_spanning_tree(scores).tolist() == [*range(2, 901), 0]


@given(matrices(6, st.integers(-3, 3), dtype=np.int64), st.integers(-1000, 1000))
def test_a_constant_added_to_the_scores_of_a_word_changes_nothing(scores: np.ndarray, constant: int):
    shifted = scores + constant * np.arange(1, len(scores) + 1)[:, None]
    assert maximum_spanning_tree(shifted).tolist() == maximum_spanning_tree(scores).tolist()


@given(matrices(6, st.floats(-10, 10)))
def test_the_score_of_a_word_as_its_own_head_is_ignored(scores: np.ndarray):
    expected = maximum_spanning_tree(scores).tolist()
    for own in [INF, float("nan"), 1e6]:
        np.fill_diagonal(scores[:, 1:], own)
        assert maximum_spanning_tree(scores).tolist() == expected


@pytest.mark.parametrize("mask", [-1e9, float(np.finfo(np.float32).min), -1e300])
def test_huge_penalties_do_not_drown_the_other_scores(mask: float):
    scores = np.array([[0.25, 0, mask, mask], [0.5, mask, 0, 1], [0.5, mask, 1.125, 0]])
    scores[0, 2:] = [-2, mask]
    assert maximum_spanning_tree(scores).tolist() == [2, 0, 2]


def test_ties_are_broken_in_the_same_way_each_time():
    scores = np.random.default_rng(2).integers(0, 2, size=(12, 13))
    expected = maximum_spanning_tree(scores).tolist()
    for same in [scores.astype(np.float32), np.asfortranarray(scores), scores.tolist()]:
        assert maximum_spanning_tree(same).tolist() == expected


def test_the_scores_given_are_not_changed():
    scores = np.random.default_rng(1).normal(size=(6, 7))
    before = scores.copy()
    maximum_spanning_tree(scores)
    assert (scores == before).all()


def test_one_word_is_the_root_and_no_word_has_no_head():
    assert maximum_spanning_tree([[-5.0, 7.0]]).tolist() == [0]
    assert maximum_spanning_tree(np.zeros((0, 1))).tolist() == []


@pytest.mark.parametrize(
    "scores",
    [
        [[0, -INF, -INF], [0, -INF, -INF]],  # two words that only ROOT can head
        [[-INF, 0, 1], [-INF, 1, 0]],  # no word that ROOT can head
        [[0, 0, 0], [-INF, -INF, 0]],  # a word that no word can head
        [[0, 0, 0], [0, INF, 0]],
        [[0, 0, 0], [float("nan"), 0, 0]],
    ],
)
def test_scores_that_allow_no_tree_and_scores_that_are_not_numbers_are_refused(scores):
    with pytest.raises(ValueError, match=r"G2G-E107\] No tree with a single root .* sentence 0"):
        maximum_spanning_tree(scores)


@given(st.lists(matrices(5, st.floats(-10, 10)), max_size=5), st.sampled_from([0.0, 99.0, INF, float("nan")]))
def test_a_batch_gives_the_trees_of_its_sentences_whatever_the_padding(
    sentences: list[np.ndarray], padding: float
):
    batch = np.full((len(sentences), 6, 7), padding)
    for cells, scores in zip(batch, sentences, strict=True):
        cells[: len(scores), : len(scores) + 1] = scores
    heads = decode(batch, lengths=[len(scores) for scores in sentences])
    assert heads.shape == (len(sentences), 6)
    for row, scores in zip(heads, sentences, strict=True):
        assert row.tolist() == [*maximum_spanning_tree(scores), *[0] * (6 - len(scores))]


def test_a_batch_may_have_a_sentence_without_words():
    assert decode(np.zeros((2, 1, 2)), lengths=[0, 1]).tolist() == [[0], [0]]


def test_the_bad_sentence_of_a_batch_is_named():
    scores = np.zeros((3, 2, 3))
    scores[2, 0, 0] = INF
    with pytest.raises(ValueError, match="sentence 2 of the batch"):
        decode(scores, lengths=[2, 2, 1])
