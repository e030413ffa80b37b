"""The LSTM over words reads each sentence as if it were alone."""

import numpy as np
import pytest
import torch

from spacy_g2g.layers.context import WordLSTM, pack

LENGTHS = np.array([2, 5, 1, 4])


def make(n_layers: int = 1, dropout: float = 0.0) -> tuple[WordLSTM, torch.Tensor]:
    """An LSTM with random weights, and the vectors of padded sentences."""
    torch.manual_seed(0)
    return WordLSTM(6, 4, n_layers=n_layers, dropout=dropout), torch.randn(4, 5, 6, requires_grad=True)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_sentences_are_read_in_both_directions_without_their_padding(n_layers: int):
    context, words = make(n_layers)
    output = context(words, LENGTHS)
    assert output.shape == (4, 5, 8)
    for i, n in enumerate(LENGTHS):
        alone, _ = context.lstm(words[i, :n])
        torch.testing.assert_close(output[i, :n], alone)
        assert not output[i, n:].any()


def test_each_word_learns_from_its_whole_sentence_and_nothing_else():
    context, words = make()
    (gradient,) = torch.autograd.grad(context(words, LENGTHS)[1, 2].sum(), words)
    assert gradient[1].any(-1).all()
    assert not gradient[[0, 2, 3]].any()


def test_dropout_is_for_training_alone():
    context, words = make(2, dropout=0.5)
    assert (context(words, LENGTHS)[1] == 0).any()
    context.eval()
    output = context(words, LENGTHS)
    assert (output[1] != 0).all()
    torch.testing.assert_close(context(words, LENGTHS), output)


def test_words_are_packed_step_by_step_and_longer_sentences_first():
    places, sizes = pack(LENGTHS, 5)
    assert places.tolist() == [5, 15, 0, 10, 6, 16, 1, 7, 17, 8, 18, 9]
    assert sizes.tolist() == [4, 3, 2, 2, 1]
