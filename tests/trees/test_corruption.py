"""Wrong heads and labels: as many as wanted, never a word's own, missing ones left as they are."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.trees.corruption import corrupt

RATES = st.sampled_from([0.0, 0.3, 1.0])
Graphs = tuple[np.ndarray, np.ndarray, np.ndarray]


@st.composite
def graphs(draw: Any) -> Graphs:
    """Heads, labels and lengths of sentences with any graphs; roots have labels 0 to 2, others 3 to 6."""
    lengths = draw(st.lists(st.integers(1, 8), min_size=1, max_size=6))
    heads = [draw(st.integers(-1, n)) for n in lengths for _ in range(n)]
    labels = [draw(st.integers(0, 2) if head == 0 else st.integers(3, 6)) for head in heads]
    return np.array(heads), np.array(labels), np.array(lengths)


def trees(n_sentences: int, length: int) -> Graphs:
    """Sentences of which word 1 is the root, and each other word hangs on the half of its number."""
    heads = np.tile(np.arange(1, length + 1) // 2, n_sentences)
    labels = np.where(heads == 0, 0, np.arange(len(heads)) % 7 + 1)
    return heads, labels, np.full(n_sentences, length)


def run(graph: Graphs, head_rate: float, label_rate: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    heads, labels, lengths = graph
    return corrupt(heads, labels=labels, lengths=lengths, head_rate=head_rate, label_rate=label_rate, rng=rng)


@given(graphs(), st.integers(0, 1000))
def test_rates_of_zero_change_nothing(graph: Graphs, seed: int):
    heads, labels = run(graph, 0.0, 0.0, seed)
    assert np.array_equal(heads, graph[0])
    assert np.array_equal(labels, graph[1])


@given(graphs(), st.integers(0, 1000))
def test_at_a_rate_of_one_each_word_that_can_has_another_head(graph: Graphs, seed: int):
    old, _, lengths = graph
    heads, _ = run(graph, 1.0, 0.0, seed)
    length = np.repeat(lengths, lengths)
    can = (old >= 0) & (length > 1)
    assert (heads[can] != old[can]).all()
    cannot = ~can & (old < 1)
    assert np.array_equal(heads[cannot], old[cannot])


@given(graphs(), RATES, RATES, st.integers(0, 1000))
def test_new_heads_are_in_the_sentence_and_never_the_word_itself(
    graph: Graphs, head_rate: float, label_rate: float, seed: int
):
    old, _, lengths = graph
    heads, _ = run(graph, head_rate, label_rate, seed)
    number = np.concatenate([np.arange(1, n + 1) for n in lengths])
    moved = heads != old
    assert (heads[moved] != number[moved]).all()
    assert ((heads >= -1) & (heads <= np.repeat(lengths, lengths))).all()
    assert np.array_equal(heads == -1, old == -1)


@given(graphs(), RATES, RATES, st.integers(0, 1000))
def test_labels_are_those_of_words_of_the_same_kind(
    graph: Graphs, head_rate: float, label_rate: float, seed: int
):
    old_heads, old, _ = graph
    heads, labels = run(graph, head_rate, label_rate, seed)
    assert np.array_equal(labels[old_heads < 0], old[old_heads < 0])
    for is_root in (True, False):
        donors = old[(old_heads >= 0) & ((old_heads == 0) == is_root)]
        found = labels[(heads >= 0) & ((heads == 0) == is_root)]
        if len(donors):
            assert set(found.tolist()) <= set(donors.tolist())


def test_without_a_word_of_the_kind_a_label_stays():
    heads, labels = run((np.array([2, 1]), np.array([3, 4]), np.array([2])), 1.0, 0.0)
    assert heads.tolist() == [0, 0]
    assert labels.tolist() == [3, 4]


def test_labels_change_alone_where_heads_have_a_rate_of_zero():
    graph = trees(50, 10)
    heads, labels = run(graph, 0.0, 1.0)
    assert np.array_equal(heads, graph[0])
    is_root = heads == 0
    assert np.array_equal(labels[is_root], graph[1][is_root])
    # A donor has the same label by chance in one of seven cases.
    assert (labels != graph[1])[~is_root].mean() == pytest.approx(6 / 7, abs=0.05)


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0])
def test_the_share_of_heads_that_change_is_the_rate(rate: float):
    graph = trees(400, 12)
    heads, _ = run(graph, rate, 0.0)
    assert (heads != graph[0]).mean() == pytest.approx(rate, abs=0.03)


def test_new_heads_are_mostly_near_the_old_ones():
    graph = trees(200, 31)
    old = graph[0].reshape(200, 31)
    heads = run(graph, 1.0, 0.0)[0].reshape(200, 31)
    number = np.arange(1, 32)
    grandparent = np.take_along_axis(old, np.maximum(old, 1) - 1, axis=1)
    sibling_or_parent = np.take_along_axis(old, np.maximum(heads, 1) - 1, axis=1) == old
    near = (heads == grandparent) | (abs(heads - number) == 1) | sibling_or_parent
    assert near.mean() > 0.9
    assert (heads == grandparent).mean() > 0.2
    assert (abs(heads - number) == 1).mean() > 0.2
    assert sibling_or_parent.mean() > 0.2


def test_neighbors_on_either_side_become_heads():
    old = np.tile([0, *[1] * 30], 200)  # each word hangs on the first one
    heads = run((old, np.minimum(old, 1), np.full(200, 31)), 1.0, 0.0)[0].reshape(200, 31)
    for side in (-1, 1):
        assert (heads - np.arange(1, 32) == side).mean() > 0.1


def test_the_same_seed_makes_the_same_errors_and_another_makes_others():
    graph = trees(20, 10)
    first, again, other = (run(graph, 0.3, 0.3, seed) for seed in (1, 1, 2))
    assert all(map(np.array_equal, first, again))
    assert not np.array_equal(first[0], other[0])
    assert not np.array_equal(first[1], other[1])


def test_what_is_given_is_not_changed():
    graph = trees(5, 6)
    copies = [array.copy() for array in graph]
    run(graph, 1.0, 1.0)
    assert all(map(np.array_equal, graph, copies))
