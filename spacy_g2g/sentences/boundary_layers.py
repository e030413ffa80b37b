"""Log-odds of sentence boundaries from features and vectors of words."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..arrays import IntArray
from ..layers.dropout import Dropout
from ..layers.linear import Linear

#: Number of neighbors on either side that a convolution reads, and the distance between them in each layer.
REACH, DISTANCES = 2, (1, 2, 4, 8)
#: The number of places is padded to a multiple of the first step, or of the second above it, because oneDNN
#: compiles code for each number.
STEPS = (64, 256)
#: Width of the scorer's hidden layer.
HIDDEN = 64


class BoundaryScorer(nn.Module):
    """Convolutions over the words of texts, and a scorer of the places between neighboring words.

    A word sees 30 others on either side (dilated convolutions, Strubell et al. 2017).

    width: Width of the layers.
    dropout: Dropout rate of the input, of the output of each layer, and of the input of the scorer.
    """

    def __init__(self, width: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_Layer(width, distance, dropout) for distance in DISTANCES)
        self.dropout = Dropout(dropout)
        self.pair = nn.Linear(width, 2 * HIDDEN)
        self.scorer = nn.Sequential(nn.GELU(), nn.Linear(HIDDEN, 1))

    def forward(self, words: Tensor, lengths: IntArray) -> Tensor:
        """Return the log-odds that a sentence starts at each word, float32 [words].

        Zeros between texts keep the results of each text independent of the others.

        words: Vectors of the words of all texts, float [words, width].
        lengths: Number of words of each text, int [texts].
        """
        gap = REACH * max(DISTANCES)
        places = np.arange(len(words)) + gap * np.repeat(np.arange(1, len(lengths) + 1), lengths)
        n_places = len(words) + gap * len(lengths)
        at = torch.from_numpy(places).to(words.device)
        inputs = self.dropout(words)
        n_places += -n_places % STEPS[n_places > STEPS[1]]
        x = inputs.new_zeros(n_places, inputs.shape[1]).index_copy(0, at, inputs)
        is_word = x.new_zeros(len(x), 1).index_fill(0, at, 1.0)
        for layer in self.layers:
            x = layer(x) * is_word
        before, after = self.pair(self.dropout(x)).split(HIDDEN, dim=1)
        scores = self.scorer(before.index_select(0, at - 1) + after.index_select(0, at))
        return cast(Tensor, scores[:, 0].float())


class _Layer(nn.Module):
    """Convolution with a residual connection, float [places, width] to the same."""

    def __init__(self, width: int, distance: int, dropout: float) -> None:
        super().__init__()
        self.distance = distance
        self.linear = Linear((2 * REACH + 1) * width, width)
        self.dropout = Dropout(dropout)
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        edge = REACH * self.distance
        padded = F.pad(x, (0, 0, edge, edge))
        seen = [padded[i : i + len(x)] for i in range(0, 2 * edge + 1, self.distance)]
        return cast(Tensor, self.norm(x + self.dropout(F.relu(self.linear(torch.cat(seen, dim=1))))))
