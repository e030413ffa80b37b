"""The mix of layers is a learned weighted sum, of the encoder's last layers alone."""

import pytest
import torch

from spacy_g2g.layers.encoder import GraphEncoder
from spacy_g2g.layers.encoder_config import EncoderConfig
from spacy_g2g.layers.geometry import Geometry
from spacy_g2g.layers.scalar_mix import ScalarMix

SIZES = {"vocab_size": 30, "width": 16, "embedding_width": 16, "n_attention_heads": 2, "hidden_width": 32}
PIECES = torch.tensor([[1, 5, 2, 7], [3, 3, 9, 0]])
MASK = torch.tensor([[True] * 4, [True, True, True, False]])


@pytest.fixture(scope="module")
def encoder() -> GraphEncoder:
    torch.manual_seed(0)
    return GraphEncoder(EncoderConfig(n_layers=3, **SIZES)).eval()


def make_mix(n_layers: int) -> ScalarMix:
    torch.manual_seed(1)
    mix = ScalarMix(n_layers)
    torch.nn.init.normal_(mix.weights)
    torch.nn.init.normal_(mix.scale)
    return mix


def test_layers_weigh_the_same_at_first():
    states = list(torch.randn(3, 2, 5))
    torch.testing.assert_close(ScalarMix(3)(states), torch.stack(states).mean(0))


@pytest.mark.parametrize("n_layers", [1, 2, 4])
def test_the_last_layers_are_mixed(encoder: GraphEncoder, n_layers: int):
    mix = make_mix(n_layers)
    x = encoder.embeddings(PIECES)
    states = list(encoder.states(x, Geometry(MASK)))
    assert torch.equal(states[0], x)
    torch.testing.assert_close(states[-1][MASK], encoder(PIECES, MASK)[MASK])
    weights = mix.scale * mix.weights.exp() / mix.weights.exp().sum()
    expected = torch.einsum("l,l...->...", weights, torch.stack(states[-n_layers:]))
    torch.testing.assert_close(encoder(PIECES, MASK, mix=mix)[MASK], expected[MASK])


def test_gradients_are_those_of_the_sum(encoder: GraphEncoder):
    mix = make_mix(3)
    target = torch.randn(*PIECES.shape, 16) * MASK[..., None]

    def gradients(mixed: torch.Tensor) -> list[torch.Tensor]:
        parameters = [*mix.parameters(), *encoder.layers.parameters()]
        return list(torch.autograd.grad((mixed * target).sum(), parameters))

    states = list(encoder.states(encoder.embeddings(PIECES), Geometry(MASK)))[1:]
    expected = gradients(torch.einsum("l,l...->...", mix.weights.softmax(0), torch.stack(states)) * mix.scale)
    for found, other in zip(gradients(encoder(PIECES, MASK, mix=mix)), expected, strict=True):
        torch.testing.assert_close(found, other, rtol=1e-4, atol=1e-5)
