"""Disentangled attention: terms of the distance between two positions (He et al. 2021, "DeBERTa", 3.1).

Let s(i, j) be the row of the distance i - j in a table of vectors, which all layers share. Each layer makes a
key Kd and a query Qd of each row, and its attention computes

    e_ij = (q_i . k_j + q_i . Kd[s(i, j)] + k_j . Qd[s(i, j)]) / sqrt(3 d)

"Content to position" is the second product, "position to content" the third; without one of them the scale is
sqrt(2 d). Graph input adds q_i . N(K[r_ij]) to the sum. There are no products of relations with distances, as
there are none of two distances. So here, too, the relation NONE needs no parameters: its product would be the
same number for all keys of a query.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from .dropout import Dropout
from .encoder_config import Disentangled, EncoderConfig
from .linear import Linear
from .norms import make_norm

#: Number of positions whose products with distances are computed together.
BLOCK = 128


class DistanceTable(nn.Module):
    """Table of vectors for distances, which all layers share.

    Each distance up to half of ``distance_buckets`` has its own row. Longer distances share rows, on a
    logarithmic scale that ends at ``max_distance`` (the code of DeBERTa-v2).

    config: Sizes of the encoder.
    sizes: Number of buckets on each side, half the number of rows; without buckets, each distance has a row.
    """

    def __init__(self, config: EncoderConfig, sizes: Disentangled) -> None:
        super().__init__()
        self.sizes = sizes
        self.rows = nn.Embedding(2 * (sizes.distance_buckets or sizes.max_distance), config.width)
        self.norm = make_norm(config, config.width) if sizes.distance_norm else nn.Identity()

    def forward(self, n: int) -> Tensor:
        """Return the vectors of the distances n, n - 1, ..., -n, float [2 * n + 1, width]."""
        vectors: Tensor = self.norm(self.rows.weight)
        return vectors[distance_rows(n, self.sizes).to(vectors.device)]


def distance_rows(n: int, sizes: Disentangled) -> Tensor:
    """Return the table's rows of the distances n, n - 1, ..., -n, int [2 * n + 1].

    See ``DistanceTable``. Logarithms have 32 bits, as in the code of the checkpoints. Others would give other
    rows where the scale is close to a whole number.
    """
    distances = torch.arange(n, -n - 1, -1)
    size = sizes.distance_buckets or sizes.max_distance
    if sizes.distance_buckets:
        middle = size // 2
        lengths = distances.abs().clamp(min=middle)
        scale = torch.log(torch.tensor((sizes.max_distance - 1) / middle))
        steps = torch.ceil(torch.log(lengths / middle) / scale * (middle - 1)) + middle
        distances = torch.where(distances.abs() <= middle, distances, (steps * distances.sign()).long())
    return (distances + size).clamp(0, 2 * size - 1)


class DistanceTerms(NamedTuple):
    """Terms of one layer for all of its heads.

    keys: float [heads, d, 2 * n], Kd of the distances n - 1, ..., -n; None without this term.
    queries: float [heads, d, 2 * n], Qd of the distances 1 - n, ..., n, scaled; None without this term.
    """

    keys: Tensor | None
    queries: Tensor | None

    def add_to_scores(self, scores: Tensor, *, q: Tensor, k: Tensor, first: int) -> None:
        """Add both terms to the scores of some heads.

        scores: float [heads, batch, n, n].
        q, k: Scaled queries and keys, float [heads, batch, n, d].
        first: Number of the first of these heads.
        """
        heads = slice(first, first + len(q))
        if self.keys is not None:
            scores.add_(_by_distance(q, self.keys[heads]))
        if self.queries is not None:
            scores.add_(_by_distance(k, self.queries[heads]).transpose(2, 3))


class DistanceProjections(nn.Module):
    """Projections of distances to keys and queries, in one layer.

    config: Sizes of the encoder.
    sizes: The terms of scores, and whether distances share the layer's projections of queries and keys.
    """

    def __init__(self, config: EncoderConfig, sizes: Disentangled) -> None:
        super().__init__()
        width, shared = config.width, sizes.share_projections
        self.n_heads = config.n_attention_heads
        self.to_position, self.to_content = sizes.content_to_position, sizes.position_to_content
        self.key = Linear(width, width) if self.to_position and not shared else None
        self.query = Linear(width, width) if self.to_content and not shared else None
        self.dropout = Dropout(config.dropout)

    def forward(self, distances: Tensor, qkv: nn.Linear, scale: float) -> DistanceTerms:
        """Project the distances.

        distances: Vectors of the distances n, n - 1, ..., -n, float [2 * n + 1, width].
        qkv: The layer's linear layer with the rows of queries, keys and values.
        scale: Factor of queries.
        """
        vectors = self.dropout(distances)
        width = vectors.shape[1]
        keys = queries = None
        if self.to_position:
            keys = self._project(vectors[1:], self.key, qkv, slice(width, 2 * width))
        if self.to_content:
            queries = self._project(vectors[:-1].flip(0), self.query, qkv, slice(width)) * scale
        return DistanceTerms(keys, queries)

    def _project(self, vectors: Tensor, own: nn.Module | None, qkv: nn.Linear, rows: slice) -> Tensor:
        """Return float [heads, d, 2 * n]."""
        if own is not None:
            projected: Tensor = own(vectors)
        else:
            projected = nn.functional.linear(vectors, qkv.weight[rows], qkv.bias[rows])
        return projected.view(len(vectors), self.n_heads, -1).permute(1, 2, 0)


def _by_distance(x: Tensor, vectors: Tensor) -> Tensor:
    """Return y[i, j] = x_i . v(n - 1 - i + j) for the columns v of some vectors.

    Products of ``BLOCK`` positions leave out most of the columns that these positions do not meet.

    x: float [heads, batch, n, d].
    vectors: float [heads, d, 2 * n].
    Returns float [heads, batch, n, n].
    """
    n = x.shape[2]
    blocks = []
    for start in range(0, n, BLOCK):
        rows = x[:, :, start : start + BLOCK]
        size = rows.shape[2]
        products = rows.flatten(1, 2) @ vectors[..., n - start - size : 2 * n - start]
        # The columns of each row begin one earlier than those of the row before it. Longer rows align them.
        flat = products.view(len(x), -1, size * (n + size))[..., size - 1 : -1]
        rows = flat.unflatten(-1, (size, n + size - 1))  # type: ignore[no-untyped-call]
        blocks.append(rows[..., :n])
    return blocks[0] if len(blocks) == 1 else torch.cat(blocks, 2)
