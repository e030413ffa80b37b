"""Attention with rotary positions, windows and shared keys equals the textbook, with and without a graph."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from spacy_g2g.layers.attention import GraphSelfAttention
from spacy_g2g.layers.edges import Edges
from spacy_g2g.layers.encoder_config import EncoderConfig, Rotary
from spacy_g2g.layers.geometry import Geometry

from .test_attention import draw_weights, largest_saved
from .test_encoder import random_encoder

N_RELATIONS, N_HEADS, HEAD_WIDTH, N = 5, 4, 6, 21
WIDTH = N_HEADS * HEAD_WIDTH
CONFIG = EncoderConfig(
    vocab_size=40,
    n_added_pieces=1,
    width=WIDTH,
    embedding_width=WIDTH,
    n_layers=4,
    n_attention_heads=N_HEADS,
    hidden_width=32,
    n_positions=600,
    position_table=False,
    rotary=Rotary(160.0, 10.0, window=3, global_every=3),
    pre_norm=True,
    attention_dropout=0.0,
)
LENGTHS = torch.tensor([21, 9, 1])
MASK = torch.arange(N) < LENGTHS[:, None]
# Near and far pairs in both directions, many far ones on one query, and two edges on one far pair.
GRAPH = torch.tensor(
    [
        *((0, i, (i * 7) % N, i % N_RELATIONS) for i in range(N)),
        *((0, (i * 7) % N, i, (i + 2) % N_RELATIONS) for i in range(N) if (i * 7) % N != i),
        *((0, 10, j, 1) for j in range(0, N, 2)),
        (1, 0, 8, 3),
        (1, 8, 0, 4),
        (1, 8, 0, 1),
        (2, 0, 0, 2),
    ]
)
EDGES = Edges(*GRAPH.T)
CLOSE = {"atol": 2e-5, "rtol": 2e-5}


def random_module(**settings: Any) -> GraphSelfAttention:
    return draw_weights(GraphSelfAttention(replace(CONFIG, n_relations=N_RELATIONS, **settings)))


def textbook(module: GraphSelfAttention, x: Tensor, base: float, reach: int, edges: Edges | None) -> Tensor:
    """Compute every pair: positions are clipped to the window, and seen in it or by an edge.

    A rotation is a product of complex numbers, whose real and imaginary parts are the halves of a vector.
    """
    batch = len(x)
    keys, values = torch.zeros(2, batch, N, N, HEAD_WIDTH)
    sees = MASK[:, None].repeat(1, N, 1)
    distance = torch.arange(N) - torch.arange(N)[:, None]  # of key j from query i
    if reach:
        sees &= distance.abs() <= reach
        distance = distance.clamp(-reach, reach)
    if edges is not None:
        where = (edges.batch, edges.query, edges.key)
        keys = keys.index_put(
            where, module.relation_norm(module.relation_keys)[edges.relation], accumulate=True
        )
        values = values.index_put(where, module.relation_values[edges.relation], accumulate=True)
        sees[where] = True
    rates = base ** (-torch.arange(0, HEAD_WIDTH, 2) / HEAD_WIDTH) if base else torch.zeros(HEAD_WIDTH // 2)
    turns = torch.polar(torch.ones(N, N, HEAD_WIDTH // 2), distance[..., None] * rates)
    n_keys = module.n_key_heads
    heads = module.qkv(x).unflatten(-1, (-1, HEAD_WIDTH))
    outputs = []
    for head in range(N_HEADS):
        shared = head * n_keys // N_HEADS
        q, k, v = (heads[:, :, i] for i in (head, N_HEADS + shared, N_HEADS + n_keys + shared))
        q_, k_ = (torch.complex(*part.chunk(2, -1)) for part in (q, k))
        scores = torch.einsum("bic,ijc,bjc->bij", q_.conj(), turns, k_).real
        scores = (scores + torch.einsum("bid,bijd->bij", q, keys)) / HEAD_WIDTH**0.5
        a = scores.masked_fill(~(sees | ~MASK[..., None]), -torch.inf).softmax(-1)
        outputs.append(a @ v + torch.einsum("bij,bijd->bid", a, values))
    return module.output(torch.cat(outputs, -1))


@pytest.mark.parametrize("with_graph", [True, False])
@pytest.mark.parametrize(
    ("base", "reach", "settings"),
    [
        (0.0, 0, {"n_key_heads": 2}),
        (100.0, 0, {"n_key_heads": 1, "attention_bias": False}),
        (100.0, 0, {"normalize_keys": True}),
        (100.0, 3, {"normalize_keys": True, "attention_bias": False}),  # blocks
        (100.0, 8, {"n_key_heads": 2}),  # one block
        (100.0, 1, {}),  # many blocks, one of which has many edges
        (100.0, 20, {}),  # which no position is beyond
    ],
    ids=str,
)
def test_geometry_equals_the_textbook_in_values_and_gradients(
    base: float, reach: int, settings: dict[str, Any], with_graph: bool
) -> None:
    module = random_module(**settings)
    x = torch.randn(3, N, WIDTH, requires_grad=True)
    edges = EDGES if with_graph else None
    config = replace(CONFIG, rotary=Rotary(base, base, window=reach) if base else None)
    geometry = Geometry(MASK, edges).for_layers(config, x, is_local=reach > 0)
    expected = textbook(module, x, base, reach, edges)
    found = module(x, geometry)
    torch.testing.assert_close(found[MASK], expected[MASK], **CLOSE)

    weights = torch.randn_like(found[MASK])
    names, leaves = zip(*{"x": x, **dict(module.named_parameters())}.items(), strict=True)
    gradients = [
        torch.autograd.grad((y[MASK] * weights).sum(), leaves, allow_unused=True) for y in (found, expected)
    ]
    for name, *pair in zip(names, *gradients, strict=True):
        if pair == [None, None]:
            assert "relation" in name
            assert not with_graph
            continue
        torch.testing.assert_close(*pair, atol=1e-4, rtol=1e-4, msg=lambda m, n=name: f"{n}: {m}")


def test_bfloat16_stays_close_and_prediction_equals_training() -> None:
    encoder = random_encoder(replace(CONFIG, n_relations=N_RELATIONS))
    x = torch.randn(3, N, WIDTH)
    exact = encoder.encode(x, MASK, EDGES)[MASK]
    with torch.inference_mode():
        torch.testing.assert_close(encoder.encode(x, MASK, EDGES)[MASK], exact, **CLOSE)
        with torch.autocast("cpu", torch.bfloat16):
            rounded = encoder.encode(x, MASK, EDGES)[MASK]
    assert (rounded - exact).abs().mean() < 0.05


def test_relation_is_read_alike_at_any_distance() -> None:
    module = random_module()
    with torch.no_grad():
        module.qkv.weight[WIDTH : 2 * WIDTH] = 0  # all keys are one vector,
        module.qkv.bias[WIDTH : 2 * WIDTH] = 0  # which is zero, so that relations alone have scores
    x = torch.randn(1, 1, WIDTH).expand(1, N, WIDTH)
    outputs = []
    for key in (1, 2, 20):
        edges = Edges(*torch.tensor([[0, 0, key, 3]]).T)
        geometry = Geometry(edges=edges).for_layers(CONFIG, x, is_local=False)
        outputs.append(module(x, geometry)[0, 0])
    torch.testing.assert_close(outputs[0], outputs[1])
    torch.testing.assert_close(outputs[0], outputs[2])


def test_local_attention_needs_memory_linear_in_the_length() -> None:
    n, reach = 512, 16
    module = nn.Module.train(random_module(attention_dropout=0.1))
    x = torch.randn(1, n, WIDTH, requires_grad=True)
    config = replace(CONFIG, rotary=Rotary(160.0, 10.0, window=reach))
    geometry = Geometry().for_layers(config, x, is_local=True)
    assert N_HEADS * n * n / 8 > largest_saved(lambda: module(x, geometry)) > n * WIDTH


def test_heads_that_can_not_share_keys_are_refused() -> None:
    with pytest.raises(ValueError, match=r"G2G-E403.*3 key heads"):
        random_module(n_key_heads=3)
