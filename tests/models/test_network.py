"""The vectors of words are those of their pieces, in the last layers."""

from typing import Any

import pytest
import torch

from spacy_g2g.layers.geometry import Geometry
from spacy_g2g.models.model import read_words
from spacy_g2g.models.network import Network
from spacy_g2g.models.syntr import build_syntr
from spacy_g2g.models.types import Sentence

from ..util import MIXED_WORDS, TINY_MODEL, initialized_model
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


@pytest.mark.parametrize("n_mixed_layers", [1, 2])
def test_a_text_of_one_sentence_goes_through_each_layer_once(n_mixed_layers: int):
    model = build_syntr(**{**TINY_MODEL, "pooling": "mean", "n_mixed_layers": n_mixed_layers})
    shim = initialized_model(model, n_layers=3)
    network, sentences = shim.network.eval(), [*SENTENCES[:2], *systems.SENTENCES]
    texts = [sentences[0].words, sentences[1].words + sentences[2].words, *(s.words for s in sentences[3:])]
    ran: list[int] = []
    for layer in network.encoder.layers:
        layer.register_forward_hook(lambda *args: ran.append(len(args[1][0])))
    with torch.inference_mode():
        expected = shim.encode(sentences)
        from_start = sum(ran)
        read_words(model, texts, 2)
        ran.clear()
        torch.testing.assert_close(shim.encode(sentences), expected, rtol=0, atol=1e-6)
        # Two layers read only the sentences of the text that has two.
        assert sum(ran) < from_start / 2
        # What was kept is used once.
        ran.clear()
        shim.encode(sentences)
        assert sum(ran) == from_start
        read_words(model, texts, 2)
        assert network.lower[1]
    network.forget()
    assert not network.lower[1]
