"""Graphs to edges: equal to a dense relation matrix that is filled cell by cell."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from spacy_g2g.models.batch import PieceBatch
from spacy_g2g.models.graph_input import (
    LabelEmbeddings,
    count_relations,
    graph_edges,
    rows_with_added_labels,
    to_edges,
    unlabeled_graph,
)
from spacy_g2g.models.types import Arcs, Sentence
from spacy_g2g.models.wordpieces import WordPieces

from ..util import tries
from .test_wordpieces import char_tokenizer, sentence_of

N_LABELS = 4
OTHER, SUB_WORD = N_LABELS, N_LABELS + 1
UP = N_LABELS + 2  # what is added to a label where the dependent attends
N_POSITIONS = 11
PIECES = WordPieces(char_tokenizer().to_str(), N_POSITIONS, 1000, None)

Graph = tuple[list[int], list[int], list[int]]


def batch_of(graphs: Sequence[Graph], with_graph: bool = True) -> PieceBatch:
    """Sentences given as numbers of pieces, heads and labels of their words."""
    sentences = []
    for lengths, heads, labels in graphs:
        tree = Arcs(np.array(heads), np.array(labels)) if with_graph else None
        sentences.append(Sentence(sentence_of(*lengths).words, graph=tree))
    return PIECES.batch(sentences)


def no_relations(batch: PieceBatch) -> np.ndarray:
    n_rows, width = batch.piece_ids.shape
    return np.zeros((n_rows, width, width, count_relations(N_LABELS)), dtype=int)


def dense(batch: PieceBatch, graphs: Sequence[Graph], with_graph: bool = True) -> np.ndarray:
    """How often position j of a row has relation r to position i: [rows, i, j, r], by the definition."""
    matrix = no_relations(batch)
    for row, i, j in product(*map(range, matrix.shape[:3])):
        words = batch.words[row].tolist()
        _, heads, labels = graphs[batch.sentence_of[row]]
        if min(words[i], words[j]) < 0:
            continue
        i_is_first, j_is_first = words.index(words[i]) == i, words.index(words[j]) == j
        if words[i] == words[j] and i_is_first and not j_is_first:
            matrix[row, i, j, SUB_WORD] += 1
        if words[i] == words[j] and j_is_first and not i_is_first:
            matrix[row, i, j, SUB_WORD + UP] += 1
        if with_graph and i_is_first and j_is_first:
            if words[j] and heads[words[j] - 1] == words[i]:
                matrix[row, i, j, labels[words[j] - 1] if labels[words[j] - 1] >= 0 else OTHER] += 1
            if words[i] and heads[words[i] - 1] == words[j]:
                label = labels[words[i] - 1] if labels[words[i] - 1] >= 0 else OTHER
                matrix[row, i, j, label + UP] += 1
    return matrix


def sparse(batch: PieceBatch) -> np.ndarray:
    """The same matrix, from the edges."""
    matrix = no_relations(batch)
    np.add.at(matrix, tuple(graph_edges(batch, N_LABELS)), 1)
    return matrix


@st.composite
def graphs(draw: Any) -> Graph:
    n = draw(st.integers(1, 14))
    size = {"min_size": n, "max_size": n}
    lengths = draw(st.lists(st.integers(1, 4), **size))
    heads = draw(st.lists(st.integers(-1, n), **size))
    return lengths, heads, draw(st.lists(st.integers(-1, N_LABELS - 1), **size))


@tries(40)
@given(st.lists(graphs(), min_size=1, max_size=3))
@example([([1, 1], [2, 1], [0, 1])])  # two words are each other's head
@example([([1, 1], [1, 2], [0, 1])])  # and their own
@example([([3, 3, 4], [2, 0, 2], [1, 0, 2]), ([1], [0], [0])])  # words cut to their first pieces
@example([([1] * 14, [0, *range(1, 14)], [1] * 14)])  # windows
def test_edges_are_the_relations_of_the_definition(sentences: list[Graph]):
    batch = batch_of(sentences)
    assert np.array_equal(sparse(batch), dense(batch, sentences))


@tries(10)
@given(st.lists(graphs(), min_size=1, max_size=3))
def test_without_a_graph_only_sub_words_have_edges(sentences: list[Graph]):
    batch = batch_of(sentences, with_graph=False)
    assert batch.heads is None
    assert np.array_equal(sparse(batch), dense(batch, sentences, with_graph=False))


def test_an_arc_is_in_every_window_that_has_both_words_and_root_in_all():
    n = 20
    batch = batch_of([([1] * n, [0, *range(1, n)], [1] * n)])
    assert batch.coverages == ["windows"]
    edges = graph_edges(batch, N_LABELS)
    words = batch.words[edges[0], edges[1]], batch.words[edges[0], edges[2]]
    down = [pair for pair, r in zip(zip(*words, strict=True), edges[3], strict=True) if r == 1]
    n_rows_with = [sum(head in row and head + 1 in row for row in batch.words.tolist()) for head in range(n)]
    assert [down.count((head, head + 1)) for head in range(n)] == n_rows_with
    assert max(n_rows_with) > 1
    root_only = batch_of([([1] * n, [0] * n, [0] * n)])
    per_row = np.bincount(graph_edges(root_only, N_LABELS)[0])
    assert per_row.tolist() == [2 * (N_POSITIONS - 3)] * len(batch.piece_ids)


def test_a_batch_without_any_edge_has_empty_tensors():
    edges = to_edges(graph_edges(batch_of([([1, 1], [-1, -1], [-1, -1])]), N_LABELS), torch.device("cpu"))
    assert [(len(field), field.dtype) for field in edges] == [(0, torch.int64)] * 4


def test_edges_are_fields_of_the_attention():
    numbers = graph_edges(batch_of([([2, 1], [2, 0], [2, 0])]), N_LABELS)
    edges = to_edges(numbers, torch.device("cpu"))
    named = (edges.batch, edges.query, edges.key, edges.relation)
    assert [field.tolist() for field in named] == numbers.tolist()


@pytest.mark.parametrize(
    ("place", "n_added", "expected"),
    [
        (2, 2, ["a", "b", "other", "other", "x", "other", "sub-word"]),
        (3, 1, ["a", "b", "x", "other", "other", "sub-word"]),
        (2, 0, ["a", "b", "x", "other", "sub-word"]),
    ],
)
def test_added_labels_begin_as_any_other_label(place: int, n_added: int, expected: list[str]):
    labels = ["a", "b", "x", "other", "sub-word"]
    table = [f"{label} {way}" for way in ("down", "up") for label in labels]
    assert len(table) == count_relations(3)
    rows = rows_with_added_labels(len(table), first=place, n_added=n_added)
    found = [table[row] for row in rows.tolist()]
    assert found == [f"{label} {way}" for way in ("down", "up") for label in expected]
    assert len(found) == count_relations(3 + n_added)
    assert rows.dtype == torch.int64


# Unlabeled relations, and labels as vectors


@tries(40)
@given(st.lists(graphs(), min_size=1, max_size=3))
@example([([3, 3, 4], [2, 0, 2], [1, 0, 2]), ([1], [0], [0])])
@example([([1] * 14, [0, *range(1, 14)], [1] * 14)])
def test_unlabeled_edges_are_the_labeled_ones_by_their_direction(sentences: list[Graph]):
    batch = batch_of(sentences)
    labeled, found = graph_edges(batch, N_LABELS), unlabeled_graph(batch)[0]
    assert np.array_equal(found[:3], labeled[:3])
    assert np.array_equal(found[3], labeled[3] >= UP)


@tries(40)
@given(st.lists(graphs(), min_size=1, max_size=3), st.booleans())
@example([([3, 3, 4], [2, 0, 2], [1, 0, 2]), ([1], [0], [0])], True)
@example([([1] * 14, [0, *range(1, 14)], [1] * 14)], True)
def test_each_piece_has_the_label_of_its_arc(sentences: list[Graph], with_graph: bool):
    batch = batch_of(sentences, with_graph)
    _, rows = unlabeled_graph(batch)
    assert rows.shape == batch.piece_ids.shape
    for row, i in product(*map(range, rows.shape)):
        words = batch.words[row].tolist()
        _, heads, labels = sentences[batch.sentence_of[row]]
        expected = 0
        if words[i] >= 0 and words.index(words[i]) < i:
            expected = 1
        elif words[i] > 0 and with_graph and heads[words[i] - 1] in words and heads[words[i] - 1] >= 0:
            expected = labels[words[i] - 1] + 2 if labels[words[i] - 1] >= 0 else 0
        assert rows[row, i] == expected


def test_label_embeddings_begin_at_zero_learn_and_grow_by_zeros():
    table = LabelEmbeddings(N_LABELS, 3)
    rows = torch.tensor([0, 1, N_LABELS + 1])
    assert not table(rows).any()
    table(rows).sum().backward()
    assert table.weight.grad.abs().sum(1).tolist() == [0, 3, 0, 0, 0, 3]
    with torch.no_grad():
        table.weight.add_(1.0)
    table.resize(N_LABELS + 2)
    assert table.weight.sum(1).tolist() == [3.0] * (N_LABELS + 2) + [0.0] * 2
    assert table(torch.tensor([N_LABELS + 3])).shape == (1, 3)
