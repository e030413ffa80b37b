"""Exist and Relation: the classifiers of transition-based parsers (Mohammadshahi & Henderson 2020, eq. 5)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ...layers.dropout import Dropout

N_DIRECTIONS = 2


class TransitionClassifiers(nn.Module):
    """Two networks with one hidden layer: Exist scores action types, Relation scores labels by direction.

    Each network reads the vectors of some slots of the parser state, and its history. The hidden layer of
    concatenated slots is a sum of one part for each slot, so ``project`` runs once for a word that is in many
    states. The parts of Exist come before the parts of Relation.

    width: Width of the slots' vectors.
    n_actions: Number of action types.
    n_labels: Number of labels.
    exist_slots: Slots that Exist reads.
    relation_slots: Slots that Relation reads.
    hidden_width: Width of both hidden layers.
    dropout: Rate on the hidden layers.
    history_width: Width of the history's vector; 0 for no history.
    """

    def __init__(
        self,
        width: int,
        *,
        n_actions: int,
        n_labels: int,
        exist_slots: tuple[int, ...],
        relation_slots: tuple[int, ...],
        hidden_width: int,
        dropout: float,
        history_width: int = 0,
    ) -> None:
        super().__init__()
        self.slots = exist_slots + relation_slots
        self.n_exist = len(exist_slots)
        self.hidden_width = hidden_width
        self.project_slots = nn.Linear(width, len(self.slots) * hidden_width, bias=False)
        self.hidden_bias = nn.Parameter(torch.zeros(2, hidden_width))
        self.project_history = nn.Linear(history_width, 2 * hidden_width) if history_width else None
        self.dropout = Dropout(dropout)
        self.exist = nn.Linear(hidden_width, n_actions)
        self.relation = nn.Linear(hidden_width, N_DIRECTIONS * n_labels)
        for module in (self.project_slots, self.exist, self.relation):
            nn.init.xavier_uniform_(module.weight)
        for module in (self.exist, self.relation):
            nn.init.zeros_(module.bias)

    def project(self, vectors: Tensor) -> Tensor:
        """Compute each vector's parts of the hidden layers: [..., width] to [..., parts, hidden_width]."""
        return self.project_slots(vectors).unflatten(-1, (len(self.slots), self.hidden_width))  # type: ignore[no-any-return]

    def forward(self, parts: Tensor, history: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Score states.

        parts: float [states, parts, hidden_width]; part p belongs to the vector in slot ``slots[p]``.
        history: float [states, history_width]; None without a history.
        Returns float32 scores of actions, [states, n_actions], and of labels, [states, n_labels, 2], for arcs
            to the left and to the right.
        """
        exist, relation = parts[:, : self.n_exist].sum(1), parts[:, self.n_exist :].sum(1)
        hidden = torch.stack([exist, relation], 1) + self.hidden_bias
        if self.project_history is not None:
            hidden = hidden + self.project_history(history).unflatten(-1, (2, self.hidden_width))
        hidden = self.dropout(hidden.relu())
        labels = self.relation(hidden[:, 1]).unflatten(-1, (-1, N_DIRECTIONS))
        return self.exist(hidden[:, 0]).float(), labels.float()

    def resize(self, n_labels: int) -> None:
        """Add labels after the existing ones, with zero weights."""
        relation = nn.Linear(self.hidden_width, N_DIRECTIONS * n_labels).to(self.relation.weight)
        with torch.no_grad():
            for new, old in zip(relation.parameters(), self.relation.parameters(), strict=True):
                new.zero_()
                new[: len(old)] = old
        self.relation = relation
