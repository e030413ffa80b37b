"""Graphs of words to edges between pieces: the labelled relations of RNGTr, the unlabelled ones of G2GTr.

Mohammadshahi & Henderson 2021 (RNGTr), section 3.2. A relation says which label an arc has and which of its
ends attends: with L labels, relation l is that of a head to its dependent, l + L that of a dependent to its
head. Mohammadshahi & Henderson 2020 (G2GTr), section 3.2, has a relation for each of both ends, whatever the
label, which is added to the input vector of the dependent instead. An arc joins the first pieces of its
words; each further piece of a word hangs on the first one by the sub-word label. Where two words are each
other's head, both arcs are there, and their terms add up.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import LongTensor, nn

from ..arrays import BoolArray, IntArray
from ..layers.attention import Edges
from .wordpieces import PieceBatch

# Labels beyond the known ones: any other label, and the link of a word's further pieces.
N_EXTRA_LABELS = 2
# The label id of the link of a word's further pieces, and the relations without labels.
SUB_WORD = -2
TO_DEPENDENT, TO_HEAD, N_UNLABELLED = 0, 1, 2
N_SPECIAL_ROWS = 2


def count_relations(n_labels: int) -> int:
    """Relations for a number of known labels."""
    return 2 * (n_labels + N_EXTRA_LABELS)


def added_labels(n_relations: int, place: int, n_added: int) -> LongTensor:
    """Rows of a relation table in the order of one with more labels; new ones begin as "any other label".

    n_relations: rows of the present table.
    place: id of the first of the n_added labels.
    Returns int [n_relations + 2 * n_added].
    """
    n_labels = n_relations // 2
    rows = np.insert(np.arange(n_labels), place, [n_labels - N_EXTRA_LABELS] * n_added)
    return torch.from_numpy(np.concatenate([rows, rows + n_labels]))  # type: ignore[return-value]


def graph_edges(batch: PieceBatch, n_labels: int) -> IntArray:
    """The edges of a batch's graphs, both directions of each arc, and of its sub-words.

    n_labels: known labels.
    Returns int [4, edges], the fields of ``Edges``.
    """
    row, head, dependent, label = _arcs(batch)
    label = np.select([label == SUB_WORD, label < 0], [n_labels + 1, n_labels], label)
    return both_ways(row, head, dependent, label, label + n_labels + N_EXTRA_LABELS)


def unlabelled_graph(batch: PieceBatch) -> tuple[IntArray, IntArray]:
    """The same edges with two relations alone, to a dependent (0) and to a head (1), and the labels apart.

    Returns int [4, edges], and for each piece the row of ``LabelEmbeddings`` for its arc, int [rows, width].
    """
    row, head, dependent, label = _arcs(batch)
    label_rows = np.zeros_like(batch.piece_ids)
    label_rows[row, dependent] = to_label_rows(label)
    return both_ways(row, head, dependent, *unlabelled(row)), label_rows


def unlabelled(row: IntArray) -> tuple[IntArray, IntArray]:
    """The relations of both ways of unlabelled arcs, int [arcs] each."""
    return np.full_like(row, TO_DEPENDENT), np.full_like(row, TO_HEAD)


def to_label_rows(labels: IntArray) -> IntArray:
    """Rows of a ``LabelEmbeddings`` table for label ids; -1 has none."""
    return np.where(labels == SUB_WORD, 1, np.where(labels < 0, 0, labels + N_SPECIAL_ROWS))


class LabelEmbeddings(nn.Embedding):
    """Vectors of labels, added to the input vectors of dependents; at first they are zero.

    Mohammadshahi & Henderson 2020, section 3.2. Row 0 is no label, row 1 that of further pieces of a word.
    """

    def __init__(self, n_labels: int, width: int) -> None:
        super().__init__(n_labels + N_SPECIAL_ROWS, width, padding_idx=0)
        nn.init.zeros_(self.weight)

    def resize(self, n_labels: int) -> None:
        """Add labels behind those there are, which begin at zero."""
        self.num_embeddings = n_labels + N_SPECIAL_ROWS
        added = self.weight.new_zeros(self.num_embeddings - len(self.weight), self.embedding_dim)
        self.weight = nn.Parameter(torch.cat([self.weight.data, added]))


def both_ways(
    row: IntArray, head: IntArray, dependent: IntArray, to_dependent: IntArray, to_head: IntArray
) -> IntArray:
    """Edges from heads to dependents, then from dependents to heads, with their relations: int [4, edges]."""
    return np.stack(
        [
            np.concatenate([row, row]),
            np.concatenate([head, dependent]),
            np.concatenate([dependent, head]),
            np.concatenate([to_dependent, to_head]),
        ]
    )


def _arcs(batch: PieceBatch) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Row, places of head and dependent, and label of each arc between pieces; SUB_WORD within words."""
    places, is_first = _first_pieces(batch)
    rows, pieces = np.nonzero((batch.words >= 0) & ~is_first)
    firsts = places[rows, batch.words[rows, pieces]]
    arcs = [(rows, firsts, pieces, np.full_like(rows, SUB_WORD))]
    if batch.heads is not None and batch.labels is not None:
        heads = batch.heads[batch.sentences]
        head_places = np.take_along_axis(places, np.maximum(heads, 0), axis=1)
        rows, words = np.nonzero((heads >= 0) & (places[:, 1:] >= 0) & (head_places >= 0))
        labels = batch.labels[batch.sentences[rows], words]
        arcs.append((rows, head_places[rows, words], places[rows, words + 1], labels))
    row, head, dependent, label = (np.concatenate(fields) for fields in zip(*arcs, strict=True))
    return row, head, dependent, label


def to_edges(edges: IntArray, device: torch.device) -> Edges:
    """The edges as tensors."""
    return Edges(*torch.from_numpy(edges).to(device, non_blocking=True).unbind(0))  # type: ignore[arg-type]


def _first_pieces(batch: PieceBatch) -> tuple[IntArray, BoolArray]:
    """Where the first pieces are.

    Returns int [rows, words + 1], the place of ROOT and of each word in each row, -1 where a row has it
    not, and bool [rows, width], whether a piece is a first one.
    """
    is_first = batch.words >= 0
    is_first[:, 1:] &= batch.words[:, 1:] != batch.words[:, :-1]
    places = np.full((len(batch.words), int(batch.n_words.max()) + 1), -1, dtype=np.int64)
    rows, pieces = np.nonzero(is_first)
    places[rows, batch.words[rows, pieces]] = pieces
    return places, is_first
