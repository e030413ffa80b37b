"""Multi-head self-attention that takes a graph as input."""

from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import LongTensor, Tensor, nn

from ..errors import Errors
from .dropout import Dropout
from .linear import Linear
from .packing import Packing

#: Number of attention scores computed together on a CPU: a mebibyte of float32, which stays in a core's
#: cache.
CACHED_SCORES = 2**18


class Edges(NamedTuple):
    """Labelled edges of any graphs over the positions of a batch, in any order. Each field is int [n_edges].

    Edge e says that in sentence ``batch[e]`` the relation of position ``query[e]`` to position ``key[e]`` is
    ``relation[e]``. Pairs without an edge have the relation NONE, which has no id. Two edges on one pair add
    up.
    """

    batch: LongTensor
    query: LongTensor
    key: LongTensor
    relation: LongTensor


class GraphSelfAttention(nn.Module):
    """Self-attention with relations between positions as input.

    Let r_ij be the relation of i to j, and N a layer normalisation or the identity. Each head computes

        e_ij = q_i . (k_j + N(K[r_ij])) / sqrt(d)
        a_i  = softmax(e_i)
        z_i  = sum_j a_ij (v_j + V[r_ij])

    (Mohammadshahi and Henderson 2020, "Graph-to-Graph Transformer for Transition-based Dependency
    Parsing", eq. 4 and 5; 2021, "Recursive Non-Autoregressive Graph-to-Graph Transformer", eq. 7 to 9).

    The code computes edges alone, and the relation NONE has no parameters. This is a re-parametrisation, not
    an approximation. Let K[r] and V[r] stand for the differences to the NONE row:
    - q_i . K[NONE] adds one number to all scores of query i, and softmax drops it;
    - sum_j a_ij V[NONE] = V[NONE] is a constant of the output, which the output bias already contains,
      and which is zero in a layer without biases;
    - N(K[r]) - N(K[NONE]), if N is LayerNorm, is the same LayerNorm with N(K[NONE]) subtracted from its bias.

    A new table means "no graph", so that a checkpoint starts from what it knows. V is zero, and so is K. If N
    is LayerNorm, its gain is zero instead, since its gradient explodes at a zero vector.

    width: Width of the input and of the output; a multiple of n_heads.
    n_heads: Number of attention heads.
    bias: Whether the linear layers have a bias.
    dropout: Rate on the attention weights a, before both the values and V[r] are taken.
    n_relations: Number of rows in the tables K and V, [n_relations, width / n_heads], which the heads share;
        0 for no tables.
    normalise_keys: Whether N is a layer normalisation.
    layer_norm_eps: Constant that keeps N from dividing by zero.
    Raises ValueError for a width that its heads do not divide.
    """

    def __init__(
        self,
        width: int,
        n_heads: int,
        *,
        bias: bool = True,
        dropout: float = 0.0,
        n_relations: int = 0,
        normalise_keys: bool = False,
        layer_norm_eps: float = 1e-12,
    ) -> None:
        super().__init__()
        if width % n_heads:
            raise ValueError(Errors.E204.format(width=width, n_heads=n_heads))
        self.n_heads = n_heads
        self.head_width = width // n_heads
        self.n_relations = n_relations
        # The rows of query, key and value in one matrix: one large product is faster than three.
        self.qkv = Linear(width, 3 * width, bias=bias)
        self.output = Linear(width, width, bias=bias)
        self.dropout = Dropout(dropout)
        if n_relations:
            self.relation_keys = nn.Parameter(torch.zeros(n_relations, self.head_width))
            self.relation_values = nn.Parameter(torch.zeros(n_relations, self.head_width))
            self.relation_norm: nn.Module = nn.Identity()
            if normalise_keys:
                self.relation_norm = nn.LayerNorm(self.head_width, eps=layer_norm_eps)
                nn.init.normal_(self.relation_keys, std=0.02)
                nn.init.zeros_(self.relation_norm.weight)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        edges: Edges | None = None,
        packing: Packing | None = None,
    ) -> Tensor:
        """Let each position attend to the real positions of its sentence.

        x: float [batch, n, width], or the packed positions, [positions, width], with a packing.
        mask: bool [batch, n], True for real positions; at least one in each sentence. None if nothing is
            padded, and with a packing.
        edges: The graphs; None for no graph.
        packing: Places of the packed positions in padded rows; None if x has padded rows.
        Returns floats of the shape of x.
        Raises ValueError for edges if there are no relations.
        """
        qkv = self.qkv(x)
        if packing is not None:
            qkv, mask = packing.pad(qkv), packing.mask
        batch, n = qkv.shape[:2]
        qkv = qkv.view(batch, n, 3, self.n_heads, self.head_width)
        visible = None if mask is None else mask[:, None, None, :]
        if edges is not None and len(edges.batch):
            if not self.n_relations:
                raise ValueError(Errors.E205.format(n_edges=len(edges.batch)))
        else:
            edges = None
        dropout = self.dropout.p if self.training else 0.0
        if edges is not None or (dropout and x.device.type == "cpu"):
            z = self._attend(qkv, visible, edges)
        else:
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            z = F.scaled_dot_product_attention(q, k, v, attn_mask=visible, dropout_p=dropout).transpose(1, 2)
        z = z.reshape(batch, n, -1)
        return cast(Tensor, self.output(z if packing is None else packing.pack(z)))

    def select_relations(self, rows: LongTensor) -> None:
        """Rebuild the tables from these rows of the present tables; rows may repeat."""
        rows = rows.to(self.relation_keys.device)  # type: ignore[assignment]
        self.relation_keys = nn.Parameter(self.relation_keys.data[rows])
        self.relation_values = nn.Parameter(self.relation_values.data[rows])
        self.n_relations = len(rows)

    def _attend(self, qkv: Tensor, visible: Tensor | None, edges: Edges | None) -> Tensor:
        """Attend by the formula: for graphs, and for dropout on a CPU, where PyTorch's own attention is slow.

        Beyond the scores, [heads, batch, n, n], memory is linear in the number of edges.

        qkv: float [batch, n, 3, heads, d].
        visible: bool [batch, 1, 1, n]; None for no mask.
        edges: The graphs; None for no graph.
        Returns z, float [batch, n, heads, d].
        """
        batch, n = qkv.shape[:2]
        size = self.n_heads
        if qkv.device.type == "cpu":
            size = min(size, max(1, CACHED_SCORES // (batch * n * n)))
        terms = None if edges is None else self._terms(edges, batch, n, size)
        parts = [part.permute(2, 0, 1, 3).split(size) for part in qkv.unbind(2)]  # type: ignore[no-untyped-call]
        outputs = []
        for q, k, v in zip(*parts, strict=True):
            q = (q * self.head_width**-0.5).contiguous()
            scores = q @ k.transpose(2, 3)
            if terms is not None:
                terms.add_to_scores(scores, q)
            if visible is not None:
                scores = scores.masked_fill_(~visible[:, 0], float("-inf"))
            a = self.dropout(scores.softmax(-1))
            z = a @ v
            if terms is not None:
                terms.add_to_outputs(z, a)
            outputs.append(z.permute(1, 2, 0, 3))
        return torch.cat(outputs, 2)

    def _terms(self, edges: Edges, batch: int, n: int, n_heads: int) -> "_EdgeTerms":
        """Prepare the terms of edges in a batch with sentences of n positions, for some heads at a time."""
        heads = torch.arange(n_heads, device=edges.batch.device)[:, None]
        rows = (heads * batch + edges.batch) * n + edges.query
        keys = self.relation_norm(self.relation_keys)[edges.relation]
        values = self.relation_values[edges.relation]
        return _EdgeTerms(rows.flatten(), (rows * n + edges.key).flatten(), keys, values)


class _EdgeTerms(NamedTuple):
    """Terms that edges add, for the heads computed together. Fewer heads take the first part.

    rows: int [heads * edges], indices of the edges' queries in [heads, batch, n].
    cells: int [heads * edges], indices of the edges in [heads, batch, n, n].
    keys: float [edges, d], N(K[r]).
    values: float [edges, d], V[r].
    """

    rows: Tensor
    cells: Tensor
    keys: Tensor
    values: Tensor

    def add_to_scores(self, scores: Tensor, q: Tensor) -> None:
        """Add q_i . N(K[r_ij]) to the scores, [heads, batch, n, n]; q: [heads, batch, n, d]."""
        n_heads, n_edges, width = len(q), len(self.keys), q.shape[-1]
        rows = q.view(-1, width).index_select(0, self.rows[: n_heads * n_edges])
        terms = (rows.view(n_heads, n_edges, width) * self.keys).sum(-1).flatten()
        scores.view(-1).scatter_add_(0, self.cells[: len(terms)], terms.to(scores.dtype))

    def add_to_outputs(self, z: Tensor, a: Tensor) -> None:
        """Add a_ij V[r_ij] to the outputs, [heads, batch, n, d]; a: [heads, batch, n, n]."""
        n_heads, n_edges, width = len(z), len(self.values), z.shape[-1]
        weights = a.view(-1).index_select(0, self.cells[: n_heads * n_edges])
        terms = (weights.view(n_heads, n_edges, 1) * self.values).view(-1, width)
        z.view(-1, width).index_add_(0, self.rows[: len(terms)], terms.to(z.dtype))
