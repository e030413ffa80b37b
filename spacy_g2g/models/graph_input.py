"""Convert graphs over words to edges between pieces: labeled for RNGTr, unlabeled for G2GTr.

RNGTr (Mohammadshahi & Henderson 2021, section 3.2): a relation stands for the label of an arc and for the end
that attends. With L labels, relation l goes from a head to its dependent, and l + L from a dependent to its
head. G2GTr (Mohammadshahi & Henderson 2020, section 3.2): there is one relation for each end, for all labels.
The input vector of the dependent contains the label.

An arc joins the first pieces of its words. Each further piece of a word depends on the first piece with the
sub-word label. If two words are each other's head, both arcs are present and their terms add up.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import LongTensor, nn

from ..arrays import BoolArray, IntArray
from ..layers.edges import Edges
from .batch import PieceBatch

# Labels besides those of the parser: any other label, and the sub-word label.
N_EXTRA_LABELS = 2
# The label id of the sub-word label, and the relations without labels.
SUB_WORD = -2
TO_DEPENDENT, TO_HEAD, N_UNLABELED = 0, 1, 2
N_SPECIAL_ROWS = 2


def count_relations(n_labels: int) -> int:
    """Return the number of relations for a parser's number of labels."""
    return 2 * (n_labels + N_EXTRA_LABELS)


def rows_with_added_labels(n_relations: int, *, first: int, n_added: int) -> LongTensor:
    """Return the rows of a relation table for more labels. New labels begin as "any other label".

    n_relations: Number of rows in the present table.
    first: Id of the first added label.
    n_added: Number of added labels.
    Returns int [n_relations + 2 * n_added].
    """
    n_labels = n_relations // 2
    rows = np.insert(np.arange(n_labels), first, [n_labels - N_EXTRA_LABELS] * n_added)
    return torch.from_numpy(np.concatenate([rows, rows + n_labels]))  # type: ignore[return-value]


def graph_edges(batch: PieceBatch, n_labels: int) -> IntArray:
    """List the edges of a batch: both directions of each arc of its graphs, and of each sub-word link.

    batch: Pieces and graphs.
    n_labels: Number of labels of the parser.
    Returns int [4, edges], the fields of ``Edges``.
    """
    row, head, dependent, label = _piece_arcs(batch)
    label = np.select([label == SUB_WORD, label < 0], [n_labels + 1, n_labels], label)
    return both_directions(
        row=row, head=head, dependent=dependent, relations=(label, label + n_labels + N_EXTRA_LABELS)
    )


def unlabeled_graph(batch: PieceBatch) -> tuple[IntArray, IntArray]:
    """List the same edges with two relations, to a dependent (0) and to a head (1), and the labels apart.

    Returns int [4, edges], and the row of ``LabelEmbeddings`` for each piece's arc, int [rows, width].
    """
    row, head, dependent, label = _piece_arcs(batch)
    label_rows = np.zeros_like(batch.piece_ids)
    label_rows[row, dependent] = to_label_rows(label)
    return both_directions(row=row, head=head, dependent=dependent, relations=unlabeled(row)), label_rows


def unlabeled(row: IntArray) -> tuple[IntArray, IntArray]:
    """Return the relations of unlabeled arcs in both directions, int [arcs] each."""
    return np.full_like(row, TO_DEPENDENT), np.full_like(row, TO_HEAD)


def to_label_rows(labels: IntArray) -> IntArray:
    """Translate label ids to rows of ``LabelEmbeddings``; -1 is a missing label."""
    return np.where(labels == SUB_WORD, 1, np.where(labels < 0, 0, labels + N_SPECIAL_ROWS))


class LabelEmbeddings(nn.Embedding):
    """Vectors of labels, which are added to the input vectors of dependents. They begin at zero.

    Mohammadshahi & Henderson 2020, section 3.2. Row 0 stands for no label, row 1 for the sub-word label.
    """

    def __init__(self, n_labels: int, width: int) -> None:
        super().__init__(n_labels + N_SPECIAL_ROWS, width, padding_idx=0)
        nn.init.zeros_(self.weight)

    def resize(self, n_labels: int) -> None:
        """Add labels, whose vectors begin at zero."""
        self.num_embeddings = n_labels + N_SPECIAL_ROWS
        added = self.weight.new_zeros(self.num_embeddings - len(self.weight), self.embedding_dim)
        self.weight = nn.Parameter(torch.cat([self.weight.data, added]))


def both_directions(
    *, row: IntArray, head: IntArray, dependent: IntArray, relations: tuple[IntArray, IntArray]
) -> IntArray:
    """List the edges from heads to dependents, then from dependents to heads: int [4, edges].

    row: Row of each arc, int [arcs].
    head: Place of its head in the row, int [arcs].
    dependent: Place of its dependent, int [arcs].
    relations: Its relations in the one direction and in the other, int [arcs] each.
    """
    return np.stack(
        [
            np.concatenate([row, row]),
            np.concatenate([head, dependent]),
            np.concatenate([dependent, head]),
            np.concatenate(relations),
        ]
    )


def _piece_arcs(batch: PieceBatch) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """List row, head, dependent and label of each arc between pieces; the label is SUB_WORD within words."""
    places, is_first = _first_pieces(batch)
    rows, pieces = np.nonzero((batch.words >= 0) & ~is_first)
    firsts = places[rows, batch.words[rows, pieces]]
    arcs = [(rows, firsts, pieces, np.full_like(rows, SUB_WORD))]
    if batch.heads is not None and batch.labels is not None:
        heads = batch.heads[batch.sentence_of]
        head_places = np.take_along_axis(places, np.maximum(heads, 0), axis=1)
        rows, words = np.nonzero((heads >= 0) & (places[:, 1:] >= 0) & (head_places >= 0))
        labels = batch.labels[batch.sentence_of[rows], words]
        arcs.append((rows, head_places[rows, words], places[rows, words + 1], labels))
    row, head, dependent, label = (np.concatenate(fields) for fields in zip(*arcs, strict=True))
    return row, head, dependent, label


def to_edges(edges: IntArray, device: torch.device) -> Edges:
    """Move edges, int [4, edges], to a device."""
    return Edges(*torch.from_numpy(edges).to(device, non_blocking=True).unbind(0))  # type: ignore[arg-type]


def _first_pieces(batch: PieceBatch) -> tuple[IntArray, BoolArray]:
    """Find the first pieces.

    Returns int [rows, words + 1], the column of ROOT's and each word's first piece, -1 for words that are not
        in the row; and bool [rows, width], whether a piece is the first of its word.
    """
    is_first = batch.words >= 0
    is_first[:, 1:] &= batch.words[:, 1:] != batch.words[:, :-1]
    places = np.full((len(batch.words), int(batch.n_words.max()) + 1), -1, dtype=np.int64)
    rows, pieces = np.nonzero(is_first)
    places[rows, batch.words[rows, pieces]] = pieces
    return places, is_first
