"""The history of a parser's actions, read by an LSTM (Mohammadshahi & Henderson 2020, eq. 8)."""

from __future__ import annotations

import torch
from torch import LongTensor, Tensor, nn

from ...layers.embeddings import extend_table

State = tuple[Tensor, Tensor]


class History(nn.Module):
    """LSTM over the embeddings of past actions, with or without embeddings of their labels.

    n_actions: Number of action types.
    n_labels: Number of arc labels; 0 for a history of action types alone.
    width: Width of the embeddings and of the output.
    n_layers: Number of layers of the LSTM.
    """

    def __init__(self, n_actions: int, n_labels: int, *, width: int, n_layers: int) -> None:
        super().__init__()
        self.actions = nn.Embedding(n_actions, width)
        self.labels = nn.Embedding(n_labels + 1, width, padding_idx=0) if n_labels else None
        self.lstm = nn.LSTM(width, width, n_layers, batch_first=True)

    def begin(self, n: int) -> State:
        """Return the state of n parsers before their first action: zeros."""
        zeros = self.actions.weight.new_zeros(self.lstm.num_layers, n, self.lstm.hidden_size)
        return zeros, zeros

    def forward(self, actions: LongTensor, labels: LongTensor, state: State) -> tuple[Tensor, State]:
        """Read more actions.

        actions: int [n, steps].
        labels: int [n, steps], -1 for actions without a label.
        state: From ``begin`` or an earlier call.
        Returns the outputs after each action, float [n, steps, width], and the new state.
        """
        x = self.actions(actions)
        if self.labels is not None:
            x = x + self.labels(labels + 1)
        # Autocast runs an LSTM in float16, whatever type it is given.
        with torch.autocast(x.device.type, enabled=False):
            return self.lstm(x.float(), state)  # type: ignore[no-any-return]

    def resize(self, n_labels: int) -> None:
        """Add labels after the existing ones."""
        if self.labels is not None:
            self.labels = extend_table(self.labels, n_labels + 1)
