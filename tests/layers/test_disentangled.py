"""Disentangled attention equals DeBERTa-v2's of transformers, and the textbook with a graph."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from spacy_g2g.layers.attention import GraphSelfAttention
from spacy_g2g.layers.checkpoints.load import load_checkpoint
from spacy_g2g.layers.disentangled import DistanceTable
from spacy_g2g.layers.edges import Edges
from spacy_g2g.layers.encoder import GraphEncoder
from spacy_g2g.layers.encoder_config import Disentangled, EncoderConfig
from spacy_g2g.layers.geometry import Geometry
from spacy_g2g.layers.packing import Packing

from .families import build, dropout_settings, make_model, padded_batch, save

CLOSE = {"atol": 1e-5, "rtol": 1e-5}
#: What the configurations of DeBERTa-v3 say, and of CamemBERTa-v2.
V3 = {
    "position_buckets": 256,
    "position_biased_input": False,
    "type_vocab_size": 0,
    "layer_norm_eps": 1e-7,
    "pos_att_type": "p2c|c2p",
    "max_relative_positions": -1,
    "max_position_embeddings": 1024,
}


def both(folder: Path, **settings: Any) -> tuple[Any, GraphEncoder]:
    theirs = make_model("deberta-v2", **{**dropout_settings("deberta-v2", 0.0), **settings})
    return theirs, build(load_checkpoint(save(theirs, folder)))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"share_att_key": False},
        {"pos_att_type": ["p2c"], "share_att_key": False},
        {"position_buckets": -1, "max_relative_positions": 7, "norm_rel_ebd": "none"},
        {"embedding_size": 16, "type_vocab_size": 2},
        {"conv_kernel_size": 3, "conv_act": "gelu", "position_biased_input": True},
    ],
    ids=str,
)
def test_vectors_and_gradients_equal_the_original(settings: dict[str, Any], tmp_path: Path) -> None:
    theirs, ours = both(tmp_path, **{**V3, "position_buckets": 8, "max_position_embeddings": 30, **settings})
    piece_ids, mask = padded_batch(0, (23, 9, 1))
    weights = torch.randn(int(mask.sum()), 24, generator=torch.Generator().manual_seed(3))
    for model in (theirs, ours):
        model.train()
    expected = theirs(piece_ids, attention_mask=mask.long(), output_hidden_states=True)
    found = ours(piece_ids, mask)[mask]
    torch.testing.assert_close(found, expected.last_hidden_state[mask], **CLOSE)
    (found * weights).mean().backward()
    (expected.last_hidden_state[mask] * weights).mean().backward()
    gradients = [(ours.embeddings.pieces.weight.grad, theirs.embeddings.word_embeddings.weight.grad)]
    qkv = theirs.encoder.layer[1].attention.self
    parts = [part.weight.grad for part in (qkv.query_proj, qkv.key_proj, qkv.value_proj)]
    gradients.append((ours.layers[1].attention.qkv.weight.grad, torch.cat(parts)))
    if ours.distances is not None:
        gradients.append((ours.distances.rows.weight.grad, theirs.encoder.rel_embeddings.weight.grad))
    for own, original in gradients:
        torch.testing.assert_close(own, original, **CLOSE)
    # First layers alone.
    first = build(load_checkpoint(tmp_path, 1))
    torch.testing.assert_close(first(piece_ids, mask)[mask], expected.hidden_states[1][mask], **CLOSE)


def test_rows_of_1_to_1024_pieces_equal_the_original(tmp_path: Path) -> None:
    theirs, ours = both(tmp_path, **V3, num_hidden_layers=2)
    with torch.inference_mode():
        for lengths in ((1,), (2, 1), (127, 64), (129, 128), (1024, 300)):
            piece_ids, mask = padded_batch(0, lengths)
            expected = theirs(piece_ids, attention_mask=mask.long()).last_hidden_state
            torch.testing.assert_close(ours(piece_ids, mask)[mask], expected[mask], **CLOSE)


def test_packed_rows_and_bfloat16_are_close_to_padded_rows(tmp_path: Path) -> None:
    _, ours = both(tmp_path, **V3, conv_kernel_size=3)
    piece_ids, mask = padded_batch(0, (140, 30, 1))
    with torch.inference_mode():
        *_, padded = ours.states(ours.embeddings(piece_ids), Geometry(mask))
        torch.testing.assert_close(ours(piece_ids, mask)[mask], padded[mask], **CLOSE)
        with torch.autocast("cpu", torch.bfloat16):
            half = ours(piece_ids, mask)[mask].float()
    assert (half - padded[mask]).abs().mean() < 0.02 * padded[mask].abs().mean()


CONFIG = EncoderConfig(
    vocab_size=40,
    width=24,
    embedding_width=24,
    n_layers=2,
    n_attention_heads=3,
    hidden_width=32,
    position_table=False,
    disentangled=Disentangled(
        max_distance=20,
        distance_buckets=8,
        distance_norm=True,
        content_to_position=True,
        position_to_content=True,
    ),
    n_relations=4,
)
N, D = 15, 8
LENGTHS = torch.tensor([15, 6])
MASK = torch.arange(N) < LENGTHS[:, None]
EDGES = Edges(
    *torch.tensor(
        [*((0, i, (i * 4) % N, i % 4) for i in range(N)), (0, 14, 0, 1), (1, 5, 0, 3), (1, 2, 2, 2)]
    ).T
)


def textbook(
    module: GraphSelfAttention, table: DistanceTable, x: Tensor, edges: Edges, rows: Tensor
) -> Tensor:
    """Compute each pair with its distance and its relation. rows: Rows of the table, [n, n]."""
    q, k, v = (x @ module.qkv.weight.T + module.qkv.bias).view(len(x), N, 3, 3, D).unbind(2)
    of_distances = table.norm(table.rows.weight) @ module.qkv.weight.T + module.qkv.bias
    query_of, key_of, _ = of_distances.view(-1, 3, 3, D).unbind(1)
    keys, values = torch.zeros(2, len(x), N, N, D)
    where = (edges.batch, edges.query, edges.key)
    keys = keys.index_put(where, module.relation_norm(module.relation_keys)[edges.relation], accumulate=True)
    values = values.index_put(where, module.relation_values[edges.relation], accumulate=True)
    z = []
    for head in range(3):
        content = (q[:, :, None, head] * (k[:, None, :, head] + keys)).sum(-1)
        to_position = (q[:, :, None, head] * key_of[rows][:, :, head]).sum(-1)
        to_content = (k[:, None, :, head] * query_of[rows][:, :, head]).sum(-1)
        e = (content + to_position + to_content) / (3 * D) ** 0.5
        a = e.masked_fill(~MASK[:, None], float("-inf")).softmax(-1)
        z.append((a[..., None] * (v[:, None, :, head] + values)).sum(2))
    return torch.cat(z, -1) @ module.output.weight.T + module.output.bias


@pytest.mark.parametrize("normalize", [True, False])
def test_graphs_equal_the_textbook_in_values_and_gradients(normalize: bool) -> None:
    torch.manual_seed(1)
    table = DistanceTable(CONFIG, CONFIG.disentangled)
    module = GraphSelfAttention(replace(CONFIG, normalize_keys=normalize)).eval()
    with torch.no_grad():
        for parameter in (*module.parameters(), *table.parameters()):
            parameter.copy_(torch.randn_like(parameter) * 0.4)
    x = torch.randn(2, N, 24, requires_grad=True)
    distance = torch.arange(N)[:, None] - torch.arange(N)
    # Up to half of the buckets each distance has its own row; 20 positions away is the last.
    steps = (distance.abs().clamp(min=4) / 4).log() / torch.tensor(19 / 4).log() * 3
    far = distance.sign() * (steps.ceil() + 4)
    rows = (torch.where(distance.abs() <= 4, distance, far).long() + 8).clamp(0, 15)
    weights = torch.randn(int(MASK.sum()), 24)
    results = []
    packing = Packing.of(x, MASK)
    packed = module(packing.pack(x), Geometry(packing.mask, EDGES, packing, distances=table(16)))
    for y in (
        module(x, Geometry(MASK, EDGES, distances=table(N))),
        packing.pad(packed)[:, :N],
        textbook(module, table, x, EDGES, rows),
    ):
        loss = (y[MASK] * weights).sum()
        parameters = [x, *module.parameters(), *table.parameters()]
        results.append([y[MASK], *torch.autograd.grad(loss, parameters, retain_graph=True)])
    for found in results[:2]:
        for own, expected in zip(found, results[2], strict=True):
            torch.testing.assert_close(own, expected, atol=1e-4, rtol=1e-4)
