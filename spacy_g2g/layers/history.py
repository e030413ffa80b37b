"""The history of a parser's actions, read by an LSTM (Mohammadshahi & Henderson 2020, eq. 8)."""

from __future__ import annotations

import torch
from torch import LongTensor, Tensor, nn

from .embeddings import grown

State = tuple[Tensor, Tensor]


class History(nn.Module):
    """An LSTM over the embeddings of past actions, with or without those of their labels.

    n_actions: types of actions.
    n_labels: labels of arcs, that actions can have; 0 for a history of action types alone.
    width: of embeddings and output.
    n_layers: of the LSTM.
    """

    def __init__(self, n_actions: int, n_labels: int, *, width: int, n_layers: int) -> None:
        super().__init__()
        self.actions = nn.Embedding(n_actions, width)
        self.labels = nn.Embedding(n_labels + 1, width, padding_idx=0) if n_labels else None
        self.lstm = nn.LSTM(width, width, n_layers, batch_first=True)

    def begin(self, n: int) -> State:
        """The state of n parsers before their first action: zeros."""
        zeros = self.actions.weight.new_zeros(self.lstm.num_layers, n, self.lstm.hidden_size)
        return zeros, zeros

    def forward(self, actions: LongTensor, labels: LongTensor, state: State) -> tuple[Tensor, State]:
        """Read further actions.

        actions: int [n, steps], each an action.
        labels: int [n, steps], -1 for actions without one.
        state: of ``begin`` or an earlier call.
        Returns the outputs after each action, [n, steps, width], and the new state.
        """
        x = self.actions(actions)
        if self.labels is not None:
            x = x + self.labels(labels + 1)
        # Autocast computes an LSTM in float16, whatever was asked for.
        with torch.autocast(x.device.type, enabled=False):
            return self.lstm(x.float(), state)  # type: ignore[no-any-return]

    def resize(self, n_labels: int) -> None:
        """Add labels behind those there are."""
        if self.labels is not None:
            self.labels = grown(self.labels, n_labels + 1)
