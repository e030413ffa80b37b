from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

from spacy_g2g.layers import attention
from spacy_g2g.layers.attention import GraphSelfAttention
from spacy_g2g.layers.edges import Edges
from spacy_g2g.layers.encoder_config import EncoderConfig
from spacy_g2g.layers.geometry import Geometry

N_RELATIONS = 6
N_HEADS = 3
HEAD_WIDTH = 8
WIDTH = N_HEADS * HEAD_WIDTH
NONE = 0  # in the dense form only, where the relation r of the sparse form is r + 1

Edge = tuple[int, int, int, int]


def tree(sentence: int, heads: list[int]) -> list[Edge]:
    """Both directions of each arc: 0 to 2 where the query is the head, 3 to 5 where it is the dependent."""
    arcs = [(i, head) for i, head in enumerate(heads) if head >= 0]
    down = [(sentence, head, i, i % 3) for i, head in arcs]
    return down + [(sentence, i, head, 3 + i % 3) for i, head in arcs]


# No pair has two edges, which the textbook form cannot say. Sentences have LENGTHS where they are padded.
GRAPHS: dict[str, list[Edge]] = {
    "trees": tree(0, [-1, 0, 1, 1, 5, 3]) + tree(1, [1, 2, -1, 2]),
    "cycles": tree(0, [1, 2, 0, 4, 5, 3]) + tree(1, [1, 2, 3, 0]) + [(2, 0, 0, 5)],
    "several edges on one query": [(0, 2, j, (j * j) % 6) for j in range(6)] + [(1, 0, 1, 1), (1, 0, 3, 1)],
    "one sentence without edges": [*tree(0, [-1, 0, 0, 2, 3, 4]), (2, 0, 0, 0)],
    "one edge": [(1, 3, 0, 4)],
}
LENGTHS = torch.tensor([6, 4, 1])


def as_edges(graph: list[Edge]) -> Edges:
    return Edges(*torch.tensor(graph, dtype=torch.long).reshape(-1, 4).T)


def make(normalize_keys: bool = False, dropout: float = 0.0) -> GraphSelfAttention:
    config = EncoderConfig(
        0, WIDTH, WIDTH, 1, N_HEADS, 1, n_relations=N_RELATIONS, normalize_keys=normalize_keys
    )
    return GraphSelfAttention(replace(config, attention_dropout=dropout))


def draw_weights(module: GraphSelfAttention) -> GraphSelfAttention:
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.4)
    return module


def random_module(normalize_keys: bool = False, dropout: float = 0.0) -> GraphSelfAttention:
    return draw_weights(make(normalize_keys, dropout))


def largest_saved(compute: Callable[[], Tensor]) -> int:
    """The number of values in the largest tensor that is kept for gradients."""
    sizes: list[int] = []

    def note_size(tensor: Tensor) -> Tensor:
        sizes.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note_size, lambda tensor: tensor):
        compute()
    return max(sizes)


def attend(
    module: GraphSelfAttention, x: Tensor, mask: Tensor | None = None, edges: Edges | None = None
) -> Tensor:
    return module(x, Geometry(mask, edges))


def dense_parameters(dtype: torch.dtype) -> dict[str, Tensor]:
    """Draw the parameters of the textbook form, whose tables have a row for NONE."""
    torch.manual_seed(3)
    shapes = {
        "qkv.weight": (3 * WIDTH, WIDTH),
        "qkv.bias": (3 * WIDTH,),
        "output.weight": (WIDTH, WIDTH),
        "output.bias": (WIDTH,),
        "keys": (N_RELATIONS + 1, HEAD_WIDTH),
        "values": (N_RELATIONS + 1, HEAD_WIDTH),
        "gain": (HEAD_WIDTH,),
        "bias": (HEAD_WIDTH,),
    }
    return {name: (torch.randn(shape, dtype=dtype) * 0.4).requires_grad_() for name, shape in shapes.items()}


def textbook(p: dict[str, Tensor], x: Tensor, mask: Tensor, graph: list[Edge], normalize: bool) -> Tensor:
    """Compute the papers' formula, with a relation for every pair of positions."""
    batch, n, _ = x.shape
    relation = torch.full((batch, n, n), NONE)
    for sentence, i, j, r in graph:
        relation[sentence, i, j] = r + 1
    keys = nn.functional.layer_norm(p["keys"], (HEAD_WIDTH,), p["gain"], p["bias"], 1e-12)
    keys = (keys if normalize else p["keys"])[relation]  # [batch, n, n, d]
    values = p["values"][relation]
    qkv = (x @ p["qkv.weight"].T + p["qkv.bias"]).view(batch, n, 3, N_HEADS, HEAD_WIDTH)
    z = []
    for head in range(N_HEADS):
        q, k, v = qkv[:, :, :, head].unbind(2)
        e = (q[:, :, None] * (k[:, None] + keys)).sum(-1) / HEAD_WIDTH**0.5
        a = e.masked_fill(~mask[:, None], float("-inf")).softmax(-1)
        z.append((a[..., None] * (v[:, None] + values)).sum(2))
    return torch.cat(z, -1) @ p["output.weight"].T + p["output.bias"]


def fold_none(p: dict[str, Tensor], normalize: bool) -> dict[str, Tensor]:
    """Express the textbook's parameters in ours, as the docstring of GraphSelfAttention argues."""
    none_value = p["values"][NONE].repeat(N_HEADS)
    ours = {
        "qkv.weight": p["qkv.weight"],
        "qkv.bias": p["qkv.bias"],
        "output.weight": p["output.weight"],
        "output.bias": p["output.bias"] + p["output.weight"] @ none_value,
        "relation_keys": p["keys"][1:] - p["keys"][NONE],
        "relation_values": p["values"][1:] - p["values"][NONE],
    }
    if normalize:
        none_key = nn.functional.layer_norm(p["keys"][NONE], (HEAD_WIDTH,), p["gain"], p["bias"], 1e-12)
        ours["relation_keys"] = p["keys"][1:]
        ours["relation_norm.weight"] = p["gain"]
        ours["relation_norm.bias"] = p["bias"] - none_key
    return ours


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("padding", [True, False])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS.keys())
def test_sparse_form_equals_the_textbook_in_values_and_gradients(
    graph: list[Edge], normalize: bool, padding: bool, dtype: torch.dtype, tolerance: float
) -> None:
    parameters = dense_parameters(dtype)
    module = make(normalize)
    x = torch.randn(3, 6, WIDTH, dtype=dtype, requires_grad=True)
    mask = torch.arange(6) < LENGTHS[:, None] if padding else torch.ones(3, 6, dtype=torch.bool)
    expected = textbook(parameters, x, mask, graph, normalize)
    ours = fold_none(parameters, normalize)
    found = functional_call(
        module, ours, (x, Geometry(mask if padding else None, as_edges(graph))), strict=True
    )
    torch.testing.assert_close(found[mask], expected[mask], atol=tolerance, rtol=tolerance)

    weights = torch.randn_like(found[mask])
    leaves = {"x": x, **parameters}
    for name, leaf in leaves.items():
        gradients = [
            torch.autograd.grad((y[mask] * weights).mean(), leaf, retain_graph=True, allow_unused=True)[0]
            for y in (found, expected)
        ]
        if not normalize and name in ("gain", "bias"):
            assert gradients == [None, None]
            continue
        torch.testing.assert_close(
            *gradients, atol=tolerance, rtol=tolerance, msg=lambda m, n=name: f"{n}: {m}"
        )


@pytest.mark.parametrize("n_cells", [0, 3 * 6 * 6, 2 * 3 * 6 * 6])
@pytest.mark.parametrize(
    "edges", [None, as_edges([*GRAPHS["cycles"], (0, 0, 1, 4)])], ids=["no graph", "graph"]
)
def test_heads_computed_in_parts_give_the_same(
    edges: Edges | None, n_cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Computed by the formula, and nothing is dropped.
    module = random_module(normalize_keys=True, dropout=1e-9).train()
    x = torch.randn(3, 6, WIDTH)
    mask = torch.arange(6) < LENGTHS[:, None]
    found = []
    for cached in (2**18, n_cells):
        monkeypatch.setattr(attention, "CACHED_SCORES", cached)
        y = attend(module, x, mask, edges)[mask]
        gradients = torch.autograd.grad(y.square().sum(), list(module.parameters()), allow_unused=True)
        found.append([y, *(gradient for gradient in gradients if gradient is not None)])
    for whole, in_parts in zip(*found, strict=True):
        torch.testing.assert_close(in_parts, whole, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("normalize", [True, False])
def test_new_relations_are_no_graph_and_can_be_learned(normalize: bool) -> None:
    module = make(normalize)
    x = torch.randn(3, 6, WIDTH)
    edges = as_edges(GRAPHS["trees"])
    found = attend(module, x, None, edges)
    torch.testing.assert_close(found, module(x), atol=1e-6, rtol=1e-6)
    found.square().sum().backward()
    learned = module.relation_norm.weight if normalize else module.relation_keys
    for parameter in (learned, module.relation_values):
        assert 0 < parameter.grad.abs().max() < 100


def test_attention_dropout_takes_values_and_relations_alike() -> None:
    module = random_module(dropout=1.0).train()
    found = attend(module, torch.randn(3, 6, WIDTH), None, as_edges(GRAPHS["trees"]))
    torch.testing.assert_close(found, module.output.bias.expand(3, 6, WIDTH))


@pytest.mark.parametrize("edges", [None, as_edges(GRAPHS["trees"])], ids=["no graph", "graph"])
def test_attention_dropout_acts_in_train_mode_alone(edges: Edges | None) -> None:
    module = random_module(dropout=0.5)
    x = torch.randn(3, 6, WIDTH)
    exact = attend(module.eval(), x, None, edges)
    assert torch.equal(attend(module, x, None, edges), exact)
    assert (attend(module.train(), x, None, edges) - exact).abs().max() > 1e-3


def test_memory_for_gradients_is_linear_in_edges() -> None:
    n, head_width = 24, 32
    module = GraphSelfAttention(EncoderConfig(0, head_width, head_width, 1, 1, 1, n_relations=2))
    x, edges = torch.randn(1, n, head_width), as_edges([(0, i, 0, i % 2) for i in range(n)])
    assert largest_saved(lambda: attend(module, x, None, edges)) < n * n * head_width / 4


@pytest.mark.parametrize("edges", [None, as_edges(GRAPHS["cycles"])], ids=["no graph", "graph"])
def test_bfloat16_autocast_stays_close(edges: Edges | None) -> None:
    module = random_module()
    x = torch.randn(3, 6, WIDTH)
    mask = torch.arange(6) < LENGTHS[:, None]
    with torch.autocast("cpu", torch.bfloat16):
        found = attend(module, x, mask, edges)
    torch.testing.assert_close(found.float()[mask], attend(module, x, mask, edges)[mask], atol=0.2, rtol=0.1)
