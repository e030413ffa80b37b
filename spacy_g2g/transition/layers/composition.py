"""Composition of words with their dependents (Mohammadshahi & Henderson 2019, eq. 3, after Dyer et al.)."""

from __future__ import annotations

import numpy as np
import torch
from torch import LongTensor, Tensor, nn

from ...arrays import BoolArray, IntArray
from ...layers.embeddings import extend_table
from .classifiers import N_DIRECTIONS

# Relation of words without a new dependent.
NO_RELATION = 0


def relation_ids(labels: IntArray, is_right: BoolArray) -> IntArray:
    """Number the relations of arcs by label and direction; labels of -1 have NO_RELATION."""
    return np.where(labels < 0, NO_RELATION, 1 + N_DIRECTIONS * labels + is_right)


class Composition(nn.Module):
    """``C <- tanh(W [head, dependent, relation] + b) + C``. Before training it leaves all words unchanged.

    width: Width of the vectors.
    n_labels: Number of arc labels. A relation is a label with the direction of its arc.
    """

    def __init__(self, width: int, n_labels: int) -> None:
        super().__init__()
        self.relations = nn.Embedding(1 + N_DIRECTIONS * n_labels, width)
        self.no_dependent = nn.Parameter(torch.empty(width))
        self.linear = nn.Linear(3 * width, width)
        nn.init.normal_(self.relations.weight, std=0.02)
        nn.init.normal_(self.no_dependent, std=0.02)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(self, heads: Tensor, dependents: Tensor, relations: LongTensor) -> Tensor:
        """Compose words with their new dependents.

        heads: float [..., width].
        dependents: float [..., width], ``no_dependent`` for words without a new dependent.
        relations: int [...], from ``relation_ids``.
        Returns float [..., width], the new vectors of the heads.
        """
        inputs = torch.cat([heads, dependents, self.relations(relations)], dim=-1)
        return heads + torch.tanh(self.linear(inputs))

    def resize(self, n_labels: int) -> None:
        """Add labels behind the present ones."""
        self.relations = extend_table(self.relations, 1 + N_DIRECTIONS * n_labels)
