"""Composition of words with their dependents (Mohammadshahi & Henderson 2019, eq. 3, after Dyer et al.)."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import LongTensor, Tensor, nn

from ...arrays import BoolArray, IntArray
from ...layers.embeddings import extend_table
from .classifiers import N_DIRECTIONS

# Relation of words without a new dependent.
NO_RELATION = 0


def relation_ids(labels: IntArray, is_right: BoolArray) -> IntArray:
    """Return a number for the label and direction of each arc; NO_RELATION for labels of -1."""
    return np.where(labels < 0, NO_RELATION, 1 + N_DIRECTIONS * labels + is_right)


class Composition(nn.Module):
    """``C <- s tanh(W [head, dependent, relation] + b) + C``. Before training it leaves all words unchanged.

    The papers have no factor s. But each step composes all words on the stack, and tanh soon grows to 1. That
    is twenty times the elements of a checkpoint's word vectors, so with s = 1 the vectors of words on the
    stack are lost after a step.

    width: Width of the vectors.
    n_labels: Number of arc labels. A relation is a label with the direction of its arc.
    scale: The factor s, about as large as an element of a word vector.
    """

    scale: Tensor

    def __init__(self, width: int, n_labels: int, *, scale: float) -> None:
        super().__init__()
        self.relations = nn.Embedding(1 + N_DIRECTIONS * n_labels, width)
        self.no_dependent = nn.Parameter(torch.empty(width))
        self.linear = nn.Linear(3 * width, width)
        nn.init.normal_(self.relations.weight, std=0.02)
        nn.init.normal_(self.no_dependent, std=0.02)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)
        # Saved with the weights, so that loading refuses weights that were learned without it.
        self.register_buffer("scale", torch.tensor(scale))

    def parts(self) -> tuple[Tensor, Tensor]:
        """Return W for heads, float [width, width], and for dependents with relations, [width, 2 * width].

        All steps of an update, or of the decoding of a batch, share them.
        """
        width = len(self.linear.weight)
        return self.linear.weight[:, :width].contiguous(), self.linear.weight[:, width:].contiguous()

    def forward(
        self,
        parts: tuple[Tensor, Tensor],
        heads: Tensor,
        dependents: Tensor,
        relations: LongTensor,
        arcs: LongTensor,
    ) -> Tensor:
        """Compose words with their new dependents.

        Few words have one, so W is applied to heads and to dependents separately.

        parts: From ``parts``.
        heads: float [n, width].
        dependents: float [arcs, width].
        relations: int [arcs], from ``relation_ids``.
        arcs: int [n], the row of each head's dependent; -1 for no new dependent.
        Returns float [n, width], the new vectors of the heads.
        """
        head_weight, other_weight = parts
        others = torch.cat([self.no_dependent.to(dependents.dtype)[None], dependents])
        relations = F.pad(relations, (1, 0), value=NO_RELATION)  # type: ignore[assignment]
        others = torch.cat([others, self.relations(relations)], 1)
        terms = F.linear(others, other_weight)
        return heads + self.scale * torch.tanh(
            F.linear(heads, head_weight, self.linear.bias) + terms[arcs + 1]
        )

    def resize(self, n_labels: int) -> None:
        """Add labels after the existing ones."""
        self.relations = extend_table(self.relations, 1 + N_DIRECTIONS * n_labels)
