import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from spacy_g2g.layers.checkpoints.load import load_weights
from spacy_g2g.layers.edges import Edges
from spacy_g2g.layers.encoder import GraphEncoder
from spacy_g2g.layers.encoder_config import Disentangled, EncoderConfig, Rotary
from spacy_g2g.layers.geometry import Geometry
from spacy_g2g.layers.scalar_mix import ScalarMix

CONFIG = EncoderConfig(
    vocab_size=40,
    n_added_pieces=1,
    width=24,
    embedding_width=24,
    n_layers=2,
    n_attention_heads=3,
    hidden_width=48,
    n_positions=12,
)
PIECES = torch.tensor([[2, 8, 9, 10, 11, 12, 3], [2, 5, 40, 3, 0, 0, 0], [3, 0, 0, 0, 0, 0, 0]])
MASK = PIECES != 0
EDGES = Edges(*torch.tensor([(0, 1, 2, 0), (0, 2, 1, 3), (0, 5, 1, 1), (1, 1, 2, 0), (1, 2, 1, 3)]).T)
#: With a pair beyond the window below.
FAR_EDGES = Edges(*torch.cat([torch.stack(EDGES), torch.tensor([[0, 0, 6, 2]]).T], 1))
CLOSE = {"atol": 1e-5, "rtol": 1e-5}
#: What some families have of their own.
PARTS: dict[str, dict[str, Any]] = {
    "BERT": {},
    "ModernBERT": {
        "rotary": Rotary(160.0, 10.0, window=4, global_every=2),
        "pre_norm": True,
        "gated": True,
        "attention_bias": False,
    },
    "DeBERTa": {
        "disentangled": Disentangled(
            max_distance=12,
            distance_buckets=4,
            distance_norm=True,
            content_to_position=True,
            position_to_content=True,
        ),
    },
}


def random_encoder(config: EncoderConfig = CONFIG) -> GraphEncoder:
    """Build an encoder in which no weight is a plain 0 or 1."""
    torch.manual_seed(4)
    encoder = GraphEncoder(config)
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return encoder.eval()


def test_config_is_plain_json() -> None:
    for settings in PARTS.values():
        config = replace(CONFIG, **settings)
        assert EncoderConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_config_of_an_earlier_version_is_read() -> None:
    config = replace(CONFIG, normalize_keys=True)
    values = config.to_dict()
    del values["normalize_keys"]
    assert EncoderConfig.from_dict({**values, "normalise_keys": True, "pad_id": 0}) == config


@pytest.mark.parametrize("with_graph", [True, False])
def test_sentence_alone_equals_the_same_in_a_padded_batch(with_graph: bool) -> None:
    encoder = random_encoder(replace(CONFIG, n_relations=4))
    batch = encoder(PIECES, MASK, edges=EDGES if with_graph else None)
    for i, n in enumerate(MASK.sum(1).tolist()):
        own = EDGES.batch == i
        edges = Edges(torch.zeros_like(EDGES.batch[own]), *(field[own] for field in EDGES[1:]))
        alone = encoder(PIECES[i : i + 1, :n], MASK[i : i + 1, :n], edges=edges if with_graph else None)
        torch.testing.assert_close(alone[0], batch[i, :n], **CLOSE)


@pytest.mark.parametrize("family", PARTS)
@pytest.mark.parametrize("with_graph", [True, False])
@pytest.mark.parametrize("mode", ["train", "eval", "n_layers", "mix"])
def test_vectors_that_are_read_are_those_of_all_positions(family: str, with_graph: bool, mode: str) -> None:
    encoder = random_encoder(replace(CONFIG, n_relations=4, **PARTS[family]))
    encoder.set_dropout(0.0)
    places = torch.tensor([[5, 2, 2], [1, 0, 1], [0, 0, 0]])
    settings: dict[str, Any] = {"edges": EDGES if with_graph else None}
    settings |= {"n_layers": {"n_layers": 1}, "mix": {"mix": ScalarMix(2)}}.get(mode, {})
    gradients, vectors = [], []
    for settings["read"] in (None, places):
        encoder.train(mode != "eval").zero_grad()
        found = encoder(PIECES, MASK, **settings)
        rows = torch.arange(len(places))[:, None]
        vectors.append(found[rows, places] if settings["read"] is None else found)
        vectors[-1].square().sum().backward()
        gradients.append([parameter.grad for parameter in encoder.parameters()])
    torch.testing.assert_close(*vectors, **CLOSE)
    for whole, part in zip(*gradients, strict=True):
        torch.testing.assert_close(whole, part, atol=1e-3, rtol=1e-4)


def test_the_last_layer_computes_what_is_read_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, counts = random_encoder(), []
    for layer in encoder.layers:
        forward = layer.feedforward.forward
        monkeypatch.setattr(
            layer.feedforward, "forward", lambda x, run=forward: counts.append(len(x)) or run(x)
        )
    encoder(PIECES.repeat(8, 1), MASK.repeat(8, 1), read=torch.zeros(24, 1, dtype=torch.int64))
    assert counts == [96, 32]


def test_no_mask_says_that_nothing_is_padded() -> None:
    encoder = random_encoder()
    found = encoder(PIECES, None)
    torch.testing.assert_close(found, encoder(PIECES, torch.ones_like(MASK)), **CLOSE)
    assert not torch.allclose(found[MASK], encoder(PIECES, MASK)[MASK], atol=1e-2)


def test_padding_piece_does_not_matter() -> None:
    encoder = random_encoder()
    other = PIECES.masked_fill(~MASK, 7)
    torch.testing.assert_close(encoder(other, MASK)[MASK], encoder(PIECES, MASK)[MASK], **CLOSE)


def test_extra_vectors_are_added_before_the_sum_is_normalized() -> None:
    encoder = random_encoder(replace(CONFIG, embedding_width=16))
    extra = torch.randn(3, 7, 16)
    table = encoder.embeddings
    total = table.pieces(PIECES) + table.positions.weight[:7] + table.segments.weight[0] + extra
    expected = table.projection(table.norm(total))
    torch.testing.assert_close(encoder.embeddings(PIECES, extra=extra), expected, **CLOSE)


def test_set_dropout_reaches_hidden_vectors_and_attention() -> None:
    encoder = random_encoder()
    exact = encoder(PIECES, MASK)
    encoder.set_dropout(0.0)
    torch.testing.assert_close(encoder.train()(PIECES, MASK), exact, **CLOSE)
    encoder.set_dropout(0.5)
    rates = {name: module.p for name, module in encoder.named_modules() if isinstance(module, nn.Dropout)}
    expected = ["embeddings", "layers.0", "layers.0.attention", "layers.1", "layers.1.attention"]
    assert rates == {f"{name}.dropout": 0.5 for name in expected}
    assert not torch.allclose(encoder(PIECES, MASK), exact, atol=1e-2)
    torch.testing.assert_close(encoder.eval()(PIECES, MASK), exact, **CLOSE)


def test_rates_of_the_config_reach_their_places() -> None:
    encoder = GraphEncoder(replace(CONFIG, dropout=0.25, attention_dropout=0.5))
    assert encoder.layers[1].attention.dropout.p == 0.5
    assert encoder.embeddings.dropout.p == encoder.layers[1].dropout.p == 0.25


def test_random_weights_are_those_of_bert() -> None:
    encoder = GraphEncoder(replace(CONFIG, width=96, embedding_width=96, initializer_range=0.05))
    for name, parameter in encoder.named_parameters():
        if name.endswith("bias"):
            assert not parameter.any(), name
        elif "norm" in name:
            assert (parameter == 1).all(), name
        else:
            assert 0.04 < parameter.std().item() < 0.06, name


def test_gradients_reach_every_parameter() -> None:
    encoder = random_encoder(replace(CONFIG, embedding_width=16, n_relations=4, normalize_keys=True)).train()
    encoder(PIECES, MASK, edges=EDGES)[MASK].square().sum().backward()
    assert [name for name, p in encoder.named_parameters() if p.grad is None or not p.grad.any()] == []


def test_unknown_activation_is_refused() -> None:
    with pytest.raises(ValueError, match=r"G2G-E201.*'mish'.*gelu, gelu_new, .*relu, silu, swish, tanh"):
        GraphEncoder(replace(CONFIG, activation="mish"))


def test_final_norm_is_that_of_every_mixed_layer() -> None:
    encoder = random_encoder(replace(CONFIG, pre_norm=True))
    states = [encoder.final_norm(x) for x in encoder.states(encoder.embeddings(PIECES), Geometry(MASK))]
    found = encoder(PIECES, MASK, mix=ScalarMix(3))
    torch.testing.assert_close(found[MASK], (sum(states) / 3)[MASK], **CLOSE)
    # A lower layer is read without those above it, and without the mix.
    found = encoder(PIECES, MASK, mix=ScalarMix(3), n_layers=1)
    torch.testing.assert_close(found[MASK], states[1][MASK], **CLOSE)


@pytest.mark.slow
def test_building_an_encoder_for_a_file_imports_no_heavy_relatives() -> None:
    code = (
        "import sys, spacy_g2g.layers.encoder as encoder, spacy_g2g.layers.checkpoints.load as load\n"
        f"from {EncoderConfig.__module__} import EncoderConfig\n"
        f"with load.on_meta(100): encoder.GraphEncoder({CONFIG})\n"
        "print([name for name in sys.argv[1:] if name in sys.modules])"
    )
    heavy = ["transformers", "tokenizers", "safetensors", "huggingface_hub", "spacy", "thinc"]
    compiler = ["torch._dynamo", "sympy"]
    command = [sys.executable, "-c", code, *heavy, *compiler]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_layers_compute_nothing_for_padding() -> None:
    encoder = random_encoder()
    shapes = []
    encoder.layers[0].feedforward.register_forward_hook(lambda *args: shapes.append(args[-1].shape))
    encoder(PIECES, MASK)
    assert int(MASK.sum()) == 12 < MASK.numel()
    assert shapes == [(16, 24)]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("mask", [MASK, None], ids=["padded", "not padded"])
@pytest.mark.parametrize("edges", [FAR_EDGES, None], ids=["graph", "no graph"])
def test_layers_on_real_pieces_alone_give_the_values_and_gradients_of_padded_rows(
    edges: Edges | None, mask: Tensor | None, part: str
) -> None:
    encoder = random_encoder(replace(CONFIG, n_relations=4, **PARTS[part]))
    x = encoder.embeddings(PIECES).detach().requires_grad_()
    *_, padded = encoder.states(x, Geometry(mask, edges))
    padded = encoder.final_norm(padded)
    weights = torch.randn_like(padded)
    found = []
    for y in (encoder.encode(x, mask, edges), padded):
        real = y * weights if mask is None else (y * weights)[mask]
        gradients = torch.autograd.grad(real.sum(), [x, *encoder.layers.parameters()], allow_unused=True)
        found.append([real, *(gradient for gradient in gradients if gradient is not None)])
    for packed, expected in zip(*found, strict=True):
        torch.testing.assert_close(packed, expected, atol=1e-4, rtol=1e-4)
    assert len(found[0]) > 10


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("normalize_keys", [True, False])
def test_encoder_with_relations_but_no_graph_equals_the_one_without(normalize_keys: bool, part: str) -> None:
    plain = random_encoder(replace(CONFIG, **PARTS[part]))
    config = replace(CONFIG, n_relations=4, normalize_keys=normalize_keys, **PARTS[part])
    graphs = random_encoder(config)
    graphs.load_state_dict(plain.state_dict(), strict=False)
    no_edges = Edges(*torch.zeros(4, 0, dtype=torch.long))
    for edges in (None, no_edges):
        torch.testing.assert_close(graphs(PIECES, MASK, edges=edges), plain(PIECES, MASK), **CLOSE)
    assert (graphs(PIECES, MASK, edges=EDGES) - plain(PIECES, MASK))[MASK].abs().max() > 1e-2
    # New relations change nothing either.
    new = GraphEncoder(config).eval()
    load_weights(new, plain.state_dict())
    torch.testing.assert_close(new(PIECES, MASK, edges=EDGES)[MASK], plain(PIECES, MASK)[MASK], **CLOSE)
