import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_g2g.trees.tree import (
    are_trees,
    can_be_trees,
    is_projective,
    is_tree,
    non_projective_arcs,
    projective_order,
)

heads_of_any_shape = st.integers(0, 8).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n))


@st.composite
def trees(draw: st.DrawFn, max_size: int = 9) -> list[int]:
    """Words in any order, each attached to one that came before; the first one to ROOT."""
    order = draw(st.permutations(range(1, draw(st.integers(1, max_size)) + 1)))
    heads = [0] * len(order)
    for i, word in enumerate(order[1:], start=1):
        heads[word - 1] = order[draw(st.integers(0, i - 1))]
    return heads


def ancestors(heads: list[int], word: int) -> list[int]:
    """The word, its head, and so on; stops at ROOT, or after more steps than words."""
    chain = [word]
    while chain[-1] and len(chain) <= len(heads):
        chain.append(heads[chain[-1] - 1])
    return chain


def literal_is_tree(heads: list[int]) -> bool:
    words = range(1, len(heads) + 1)
    return not heads or (all(0 in ancestors(heads, word) for word in words) and heads.count(0) == 1)


def literal_non_projective(heads: list[int]) -> list[bool]:
    return [
        any(head not in ancestors(heads, w) for w in range(min(head, word) + 1, max(head, word)))
        for word, head in enumerate(heads, start=1)
    ]


def literal_in_order(heads: list[int], word: int = 0) -> list[int]:
    dependents = [w for w, head in enumerate(heads, start=1) if head == word]
    left = [x for w in dependents if w < word for x in literal_in_order(heads, w)]
    right = [x for w in dependents if w > word for x in literal_in_order(heads, w)]
    return [*left, word, *right]


@given(heads_of_any_shape)
def test_is_tree_equals_the_definition_on_any_heads(heads: list[int]):
    assert is_tree(heads) == literal_is_tree(heads)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_number_of_trees_is_that_of_cayleys_formula(n: int):
    assert sum(is_tree(heads) for heads in itertools.product(range(n + 1), repeat=n)) == n ** (n - 1)


@given(st.lists(st.one_of(heads_of_any_shape, trees()), max_size=6), st.integers(-1000, 1000))
def test_are_trees_equals_is_tree_for_each_sentence_whatever_the_padding(
    sentences: list[list[int]], padding: int
):
    heads = np.full((len(sentences), 10), padding)
    for row, sentence in zip(heads, sentences, strict=True):
        row[: len(sentence)] = sentence
    expected = [is_tree(sentence) for sentence in sentences]
    assert are_trees(heads, lengths=[len(sentence) for sentence in sentences]).tolist() == expected


@pytest.mark.parametrize("n", [1, 2, 3])
def test_heads_can_be_trees_where_some_tree_agrees_with_the_known_ones(n: int):
    every = np.array(list(itertools.product(range(-1, n + 1), repeat=n)), dtype=np.int64)
    trees = np.array([heads for heads in itertools.product(range(n + 1), repeat=n) if is_tree(heads)])
    expected = [bool(((known == -1) | (known == trees)).all(axis=1).any()) for known in every]
    padded = np.pad(every, ((0, 0), (0, 1)), constant_values=-1)
    assert can_be_trees(padded, lengths=np.full(len(every), n)).tolist() == expected


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 9, 5000])
def test_the_longest_chain_of_each_length_is_a_tree(n: int):
    assert is_tree(np.arange(n))
    assert is_tree(np.append(np.arange(2, n + 1), 0))


@given(trees())
def test_projective_order_is_that_of_the_in_order_traversal(heads: list[int]):
    order = projective_order(heads)
    assert [0, *(np.argsort(order) + 1)] == literal_in_order(heads)


@given(trees())
def test_in_the_projective_order_each_tree_is_projective(heads: list[int]):
    order = [0, *projective_order(heads).tolist()]
    reordered = [0] * len(heads)
    for word, head in enumerate(heads, start=1):
        reordered[order[word] - 1] = order[head]
    assert is_projective(reordered)


@given(trees())
def test_non_projective_arcs_equal_the_definition(heads: list[int]):
    assert non_projective_arcs(heads).tolist() == literal_non_projective(heads)


@given(trees())
def test_a_tree_is_projective_if_all_its_arcs_are(heads: list[int]):
    assert is_projective(heads) == (not any(literal_non_projective(heads)))


def test_the_hearing_example_of_nivre_2009():
    # A hearing is scheduled on the issue today .
    heads = [2, 3, 0, 3, 2, 7, 5, 4, 3]
    assert projective_order(heads).tolist() == [1, 2, 6, 7, 3, 4, 5, 8, 9]
    assert np.flatnonzero(non_projective_arcs(heads)).tolist() == [4, 7]  # on, today


def test_several_roots_have_a_projective_order_too():
    assert projective_order([0, 0, 2]).tolist() == [1, 2, 3]
    assert non_projective_arcs([3, 0, 0]).tolist() == [True, False, False]


@pytest.mark.parametrize("function", [is_projective, projective_order, non_projective_arcs])
def test_no_words_are_no_problem(function):
    assert np.all(function([]))


def test_a_chain_of_5000_words_is_not_too_deep():
    chain = np.arange(5000)
    assert projective_order(chain).tolist() == list(range(1, 5001))
    assert is_projective(chain)
    assert not non_projective_arcs(chain).any()
