"""Multi-head self-attention that takes a graph as input."""

from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from .disentangled import DistanceProjections
from .dropout import Dropout
from .edges import Edges
from .encoder_config import EncoderConfig
from .geometry import PLAIN_ROWS, Geometry
from .linear import Linear
from .packing import fill_up
from .relations import RelationTables
from .rotary import Rotation

#: Number of attention scores computed together on a CPU: a mebibyte of float32, which stays in a core's
#: cache.
CACHED_SCORES = 2**18


class GraphSelfAttention(RelationTables):
    """Self-attention with relations between positions as input.

    Let r_ij be the relation of i to j, and N a layer normalization or the identity. Each head computes

        e_ij = q_i . (k_j + N(K[r_ij])) / sqrt(d)
        a_i  = softmax(e_i)
        z_i  = sum_j a_ij (v_j + V[r_ij])

    (Mohammadshahi and Henderson 2020, "Graph-to-Graph Transformer for Transition-based Dependency
    Parsing", eq. 4 and 5; 2021, "Recursive Non-Autoregressive Graph-to-Graph Transformer", eq. 7 to 9).

    The code computes only edges, and the relation NONE has no parameters. This is a re-parametrization, not
    an approximation. Let K[r] and V[r] stand for the differences to the NONE row:
    - q_i . K[NONE] adds one number to all scores of query i, and softmax drops it;
    - sum_j a_ij V[NONE] = V[NONE] is a constant of the output, which the output bias already contains,
      and which is zero in a layer without biases;
    - N(K[r]) - N(K[NONE]), if N is LayerNorm, is the same LayerNorm with N(K[NONE]) subtracted from its bias.

    With rotary positions, let R_i be the rotation at position i. The score is

        e_ij = (R_i q_i) . (R_j k_j + R_i N(K[r_ij])) / sqrt(d) = q_i . (R_(j-i) k_j + N(K[r_ij])) / sqrt(d)

    so that a relation means the same at any distance: the query reads it before its rotation. The code
    rotates the relations of edges, which are fewer than the queries of all heads.

    Disentangled attention adds terms of distances to the score: see ``disentangled.py``.

    If positions see a window, an edge opens it for its pair; see ``Window``.

    A new table means "no graph", so that a checkpoint at first computes what it did before. V and K are zero.
    If N is LayerNorm, its gain is zero in place of K, since its gradient explodes at a zero vector.

    config: Sizes of the encoder. Scores are divided by sqrt(d) times the square root of the number of their
        terms, which is 3 for disentangled attention with all terms. ``n_relations`` is the number of rows in
        the tables K and V, [n_relations, d], which the heads share; 0 for no tables. ``normalize_keys`` makes
        N a layer normalization. ``attention_dropout`` is the rate on the attention weights a, before both the
        values and V[r] are taken.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        width, terms = config.width, config.disentangled
        self.n_heads = config.n_attention_heads
        self.n_key_heads = config.n_key_heads or self.n_heads
        self.head_width = config.head_width
        n_terms = 1
        self.distances = None
        if terms is not None:
            n_terms += terms.content_to_position + terms.position_to_content
            self.distances = DistanceProjections(config, terms)
        self.scale = (n_terms * self.head_width) ** -0.5
        # The rows of query, key and value in one matrix: one large product is faster than three.
        n_rows = (self.n_heads + 2 * self.n_key_heads) * self.head_width
        self.qkv = Linear(width, n_rows, bias=config.attention_bias)
        self.output = Linear(width, width, bias=config.attention_bias)
        self.dropout = Dropout(config.attention_dropout)

    def forward(
        self, x: Tensor, geometry: Geometry = PLAIN_ROWS, tables: RelationTables | None = None
    ) -> Tensor:
        """Let each position attend to the real positions of its sentence.

        x: float [batch, n, width], or the packed positions, [positions, width], with a packing.
        geometry: Places of the positions, and the graphs.
        tables: Relations of the edges; None for this layer's own.
        Returns floats of the shape of x, or of ``geometry.kept(x)``.
        """
        qkv, window, packing = self.qkv(x), geometry.window, geometry.packing
        if geometry.rotation is not None:
            qkv = geometry.rotation.turn(qkv, self.n_heads + self.n_key_heads)
        if packing is not None:
            qkv = packing.pad(qkv)
        batch, n = qkv.shape[:2]
        heads = [self.n_heads, self.n_key_heads, self.n_key_heads]
        q, k, v = qkv.view(batch, n, -1, self.head_width).split(heads, 2)
        visible = None if geometry.mask is None else geometry.mask[:, None, None, :]
        if geometry.read is not None:
            q = q.gather(1, geometry.read[:, :, None, None].expand(-1, -1, *q.shape[2:]))
            n = q.shape[1]
        if window is not None:
            q, k, v = window.cut(q, k=k, v=v)
            visible = window.visible
        if self.n_key_heads < self.n_heads:
            k, v = (part.repeat_interleave(self.n_heads // self.n_key_heads, 2) for part in (k, v))
        dropout = self.dropout.p if self.training else 0.0
        has_terms = geometry.edges is not None or self.distances is not None
        if has_terms or (dropout and x.device.type == "cpu"):
            z = self._attend(q, k, v, visible, geometry, self if tables is None else tables)
        else:
            q, k, v = (part.transpose(1, 2) for part in (q, k, v))
            z = F.scaled_dot_product_attention(
                q, k, v, attn_mask=visible, dropout_p=dropout, scale=self.scale
            ).transpose(1, 2)
        if window is not None:
            z = window.join(z)
        z = z.reshape(batch, n, -1)
        if geometry.read is not None:
            z = fill_up(z.flatten(0, 1))
        elif packing is not None:
            z = packing.pack(z)
        return cast(Tensor, self.output(z))

    def _attend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        visible: Tensor | None,
        geometry: Geometry,
        tables: RelationTables,
    ) -> Tensor:
        """Attend by the formula: for graphs, for distances, and for dropout on a CPU, where PyTorch is slow.

        Beyond the scores, [heads, batch, n, keys], memory is linear in the number of edges.

        q: Queries, float [batch, n, heads, d].
        k: Keys, float [batch, keys, heads, d].
        v: Values, of the keys' shape.
        visible: Keys that each query sees, bool [batch, 1, n or 1, keys]; None for all.
        geometry: Places of the positions, and the graphs.
        tables: Relations of the edges.
        Returns z, float [batch, n, heads, d].
        """
        batch, n, size = q.shape[:3]
        n_keys = k.shape[1]
        if q.device.type == "cpu":
            size = min(size, max(1, CACHED_SCORES // (batch * n * n_keys)))
        terms = None
        if geometry.edges is not None:
            terms = _edge_terms(geometry.edges, geometry.at_edges, tables, (size, batch, n, n_keys))
        distance_terms = None
        if self.distances is not None and geometry.distances is not None:
            distance_terms = self.distances(geometry.distances, self.qkv, self.scale)
        parts = [part.permute(2, 0, 1, 3).split(size) for part in (q, k, v)]  # type: ignore[no-untyped-call]
        outputs: list[Tensor] = []
        for q, k, v in zip(*parts, strict=True):
            q = (q * self.scale).contiguous()
            scores = q @ k.transpose(2, 3)
            if distance_terms is not None:
                distance_terms.add_to_scores(scores, q=q, k=k, first=size * len(outputs))
            if terms is not None:
                terms.add_to_scores(scores, q=q)
            if visible is not None:
                scores = scores.masked_fill_(~visible[:, 0], float("-inf"))
            a = self.dropout(scores.softmax(-1))
            z = a @ v
            if terms is not None:
                terms.add_to_outputs(z, a=a)
            outputs.append(z.permute(1, 2, 0, 3))
        return torch.cat(outputs, 2)


class _EdgeTerms(NamedTuple):
    """Terms that edges add to a group of heads. A smaller group uses the first part of the rows and cells.

    rows: int [heads * edges], indices of the edges' queries in [heads, batch, n].
    cells: int [heads * edges], indices of the edges in [heads, batch, n, keys].
    keys: float [edges, d], N(K[r]).
    values: float [edges, d], V[r].
    """

    rows: Tensor
    cells: Tensor
    keys: Tensor
    values: Tensor

    def add_to_scores(self, scores: Tensor, *, q: Tensor) -> None:
        """Add q_i . N(K[r_ij]) to the scores, [heads, batch, n, keys]; q: [heads, batch, n, d]."""
        n_heads, n_edges, width = len(q), len(self.keys), q.shape[-1]
        rows = q.view(-1, width).index_select(0, self.rows[: n_heads * n_edges])
        terms = (rows.view(n_heads, n_edges, width) * self.keys).sum(-1).flatten()
        scores.view(-1).scatter_add_(0, self.cells[: len(terms)], terms.to(scores.dtype))

    def add_to_outputs(self, z: Tensor, *, a: Tensor) -> None:
        """Add a_ij V[r_ij] to the outputs, [heads, batch, n, d]; a: [heads, batch, n, keys]."""
        n_heads, n_edges, width = len(z), len(self.values), z.shape[-1]
        weights = a.view(-1).index_select(0, self.cells[: n_heads * n_edges])
        terms = (weights.view(n_heads, n_edges, 1) * self.values).view(-1, width)
        z.view(-1, width).index_add_(0, self.rows[: len(terms)], terms.to(z.dtype))


def _edge_terms(
    edges: Edges, at_edges: Rotation | None, tables: RelationTables, shape: tuple[int, int, int, int]
) -> _EdgeTerms:
    """Prepare the terms of edges for scores of a shape, [heads, batch, n, keys]."""
    n_heads, batch, n, n_keys = shape
    heads = torch.arange(n_heads, device=edges.batch.device)[:, None]
    rows = (heads * batch + edges.batch) * n + edges.query
    keys, values = tables.look_up(edges.relation)
    if at_edges is not None:
        keys = at_edges.turn(keys, 1)
    return _EdgeTerms(rows.flatten(), (rows * n_keys + edges.key).flatten(), keys, values)
