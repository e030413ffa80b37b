"""Log-odds of sentence boundaries from the vectors of tokens."""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from ..arrays import IntArray
from .context import WordLSTM


class BoundaryLSTM(nn.Module):
    """Bidirectional LSTM over the tokens of texts, and a scorer of the places between neighbouring tokens.

    width: Width of the tokens' vectors, and of the LSTM in both directions together.
    dropout: Rate on the input and the output of the LSTM.
    """

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.context = WordLSTM(width, width // 2, n_layers=1, dropout=dropout)
        self.scorer = nn.Sequential(nn.Linear(2 * width, 64), nn.GELU(), nn.Linear(64, 1))

    def forward(self, tokens: Tensor, lengths: IntArray) -> Tensor:
        """Return the log-odds that a sentence starts at each token, float [tokens].

        A text does not depend on the others. Zeros are before its first token.

        tokens: Vectors of the tokens of all texts, float [tokens, width].
        lengths: Number of tokens of each text, at least 1, int [texts].
        """
        texts = list(torch.split(tokens, lengths.tolist()))
        padded = self.context(pad_sequence(texts, batch_first=True), lengths)
        is_token = torch.from_numpy(np.arange(padded.shape[1]) < lengths[:, None]).to(tokens.device)
        before = F.pad(padded[:, :-1], (0, 0, 1, 0))
        pairs = torch.cat([before, padded], dim=2)[is_token]
        scores: Tensor = self.scorer(pairs)[:, 0]
        return scores
