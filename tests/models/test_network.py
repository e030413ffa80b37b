"""The vectors of words are those of their pieces, in the last layers."""

from typing import Any

import pytest
import torch

from spacy_g2g.layers.geometry import Geometry
from spacy_g2g.models.network import Network
from spacy_g2g.models.types import Sentence

from ..util import MIXED_WORDS
from . import systems
from .test_contract import MAKE

#: Two sentences of the batch have words of several pieces, one is read in windows and one is shortened.
SENTENCES = [
    Sentence(["the", "cat", "sat"]),
    Sentence(["hearing", "milk"]),
    Sentence([f"w{i}" for i in range(90)]),
    Sentence(["the cat sat"] * 30),
]
NAMES = ("SynTr", "RNGTr", "SentTr")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_mixed_layers", [1, 2, 9])
def test_a_word_has_the_mean_of_its_pieces_in_a_mix_of_layers(name: str, n_mixed_layers: int):
    model, shim = MAKE[name](pooling="mean", n_mixed_layers=n_mixed_layers)
    network: Network[Any] = shim.network.eval()
    batch = shim.wordpieces.batch(SENTENCES)
    ids, lengths = torch.from_numpy(batch.piece_ids), torch.from_numpy(batch.lengths)
    mask = torch.arange(ids.shape[1]) < lengths[:, None]
    states = list(network.encoder.states(network.encoder.embeddings(ids), Geometry(mask)))[-n_mixed_layers:]
    pieces = states[-1]
    if n_mixed_layers > 1:
        weights = network.mix.weights.softmax(0)
        assert len(weights) == len(states) == 2
        pieces = network.mix.scale * (weights[0] * states[0] + weights[1] * states[1])
    found = network.encode(batch)
    n_means = 0
    for i, n_words in enumerate(batch.n_words.tolist()):
        for word in range(n_words + 1):
            own = [
                pieces[row, place]
                for row in (batch.sentence_of == i).nonzero()[0]
                for place in (batch.words[row] == word).nonzero()[0]
            ]
            n_means += len(own) > 1
            torch.testing.assert_close(found[i, word], torch.stack(own).mean(0), rtol=1e-4, atol=1e-5)
    assert n_means > 50
    assert model.predict(SENTENCES[:1])


@pytest.mark.parametrize("name", NAMES)
def test_mix_and_mean_are_learned(name: str):
    model, shim = MAKE[name](**MIXED_WORDS)
    _, backprop = model.begin_update((systems.SENTENCES[:2], systems.GOLD[:2]))
    backprop(None)
    mix = shim.network.mix
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in mix.parameters())
