"""An LSTM over the words of a sentence, for word vectors that depend only on near words."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from ..arrays import IntArray
from .dropout import Dropout


class WordLSTM(nn.Module):
    """Bidirectional LSTM over words (Kiperwasser & Goldberg 2016, section 3; Dozat & Manning 2017).

    input_width: Width of the words' vectors.
    width: Width of the output in each direction.
    n_layers: Number of layers, at least 1.
    dropout: Rate on the input of each layer and on the output.
    """

    def __init__(self, input_width: int, width: int, *, n_layers: int, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.lstm = nn.LSTM(
            input_width, width, n_layers, bidirectional=True, dropout=dropout if n_layers > 1 else 0.0
        )

    def forward(self, words: Tensor, lengths: IntArray) -> Tensor:
        """Read sentences in both directions.

        words: float [sentences, words, input_width]; padding at the end is arbitrary.
        lengths: Number of words in each sentence, at least 1, int [sentences].
        Returns float32 [sentences, words, 2 * width], zeros in padding.
        """
        n_sentences, n_words, _ = words.shape
        places, sizes = pack(lengths, n_words)
        index = torch.from_numpy(places).to(words.device, non_blocking=True)
        x = self.dropout(words.flatten(0, 1).index_select(0, index).float())
        # Autocast would run an LSTM in float16 for inputs of all types.
        with torch.autocast(words.device.type, enabled=False):
            packed, _ = self.lstm(PackedSequence(x, torch.from_numpy(sizes)))
        output: Tensor = self.dropout(packed.data)
        padded = output.new_zeros(n_sentences * n_words, output.shape[1])
        padded = padded.index_copy(0, index, output)
        return padded.view(n_sentences, n_words, -1)


def pack(lengths: IntArray, n_words: int) -> tuple[IntArray, IntArray]:
    """Order the words of padded sentences as an LSTM reads them: all first words, all second words, ...

    lengths: Number of words in each sentence, int [sentences].
    n_words: Number of places in each sentence.
    Returns the place of each word in the flattened sentences, int [words], where longer sentences are before
        shorter ones, and the number of words in each step, int [steps].
    """
    order = np.argsort(-lengths, kind="stable")
    is_word = np.arange(lengths.max())[:, None] < lengths[order]
    steps, rows = np.nonzero(is_word)
    return order[rows] * n_words + steps, is_word.sum(axis=1)
