"""Attention of each position to the positions near it, in memory and time linear in the length."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from .edges import Edges
from .rotary import Rotation

#: Maximum number of windows in a row that is one block. Such a row has about as many keys as a short block.
MAX_BLOCK_WINDOWS = 3


class Window(NamedTuple):
    """Layout of attention to near positions: each row is cut into blocks of queries, with the keys near them.

    A position sees the positions at most ``reach`` away, and those to which it has an edge, at any distance.
    A far position seems to stand at the end of the window, because the layer has not learned greater
    distances. Each block has extra keys for its pairs of far positions; all blocks have equally many.

    n: Number of positions of a row.
    size: Number of queries in a block.
    margin: Number of keys on either side of a block; 0 if a row is one block.
    visible: Keys that each query sees, bool [blocks, 1, size, keys].
    edges: The edges, with queries and keys numbered within blocks; None for no graph.
    far: Keys of pairs of far positions, by their numbers in the flattened rows, int [blocks, most pairs in a
        block]; None if there are none.
    far_turn: Rotation that brings these keys near; None if there are none.
    """

    n: int
    size: int
    margin: int
    visible: Tensor
    edges: Edges | None
    far: Tensor | None
    far_turn: Rotation | None

    @classmethod
    def of(cls, mask: Tensor, reach: int, edges: Edges | None, head_width: int, base: float) -> Window:
        """Lay out a batch.

        mask: bool [batch, n], True for real positions.
        reach: Maximum distance at which positions see each other without an edge; at least 1.
        edges: The graphs; None for no graph.
        head_width: Width of an attention head.
        base: Base of rotary positions.
        """
        n = mask.shape[1]
        size, margin = (n, 0) if n <= MAX_BLOCK_WINDOWS * reach else (reach, reach)
        rest = -n % size
        columns = torch.arange(-margin, size + margin, device=mask.device)
        near = (columns - torch.arange(size, device=mask.device)[:, None]).abs() <= reach
        keys = F.pad(mask, (margin, rest + margin)).unfold(1, size + 2 * margin, size)
        queries = F.pad(mask, (0, rest)).view(len(mask), -1, size)
        # Padding sees padding, since softmax over nothing is not a number.
        visible = (near & (keys[:, :, None] | ~queries[..., None])).flatten(0, 1)
        layout = cls(n, size, margin, visible[:, None], None, None, None)
        return layout if edges is None else layout._with_edges(edges, reach, head_width, base)

    def cut(self, q: Tensor, *, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Cut queries, keys and values, [batch, n, heads, d], into [blocks, size or keys, heads, d]."""
        rest = -self.n % self.size
        q = F.pad(q, (0, 0, 0, 0, 0, rest)).reshape(-1, self.size, *q.shape[2:])
        return q, self._cut_keys(k, self.far_turn), self._cut_keys(v, None)

    def join(self, z: Tensor) -> Tensor:
        """Put blocks, [blocks, size, heads, d], into rows, [batch, n, heads, d]."""
        n_blocks = (self.n + self.size - 1) // self.size
        return z.reshape(-1, n_blocks * self.size, *z.shape[2:])[:, : self.n]

    def _cut_keys(self, x: Tensor, far_turn: Rotation | None) -> Tensor:
        near = x
        if self.margin:
            rest = -self.n % self.size
            padded = F.pad(x, (0, 0, 0, 0, self.margin, rest + self.margin))
            blocks = padded.unfold(1, self.size + 2 * self.margin, self.size)
            near = blocks.flatten(0, 1).permute(0, 3, 1, 2)
        if self.far is None:
            return near
        heads, d = x.shape[2:]
        far = x.flatten(2).flatten(0, 1)[self.far]
        if far_turn is not None:
            far = far_turn.turn(far, heads)
        return torch.cat([near, far.view(*far.shape[:2], heads, d)], 1)

    def _with_edges(self, edges: Edges, reach: int, head_width: int, base: float) -> Window:
        """Number edges by blocks, and add keys for the pairs of far positions."""
        n_near = self.visible.shape[-1]
        n_blocks = (self.n + self.size - 1) // self.size
        block = edges.batch * n_blocks + edges.query // self.size
        query = edges.query % self.size
        key = edges.key - edges.query // self.size * self.size + self.margin
        is_far = (edges.key - edges.query).abs() > reach
        ids = (edges.batch * self.n + edges.query) * self.n + edges.key
        pairs, pair_of_edge = torch.unique(ids[is_far], return_inverse=True)
        if not len(pairs):
            return self._replace(edges=edges._replace(batch=block, query=query, key=key))  # type: ignore[arg-type]
        row, pair_keys = pairs // self.n, pairs % self.n
        batch, pair_queries = row // self.n, row % self.n
        pair_blocks = batch * n_blocks + pair_queries // self.size
        # Pairs are in the order of their blocks.
        counts = torch.bincount(pair_blocks, minlength=len(self.visible))
        ranks = torch.arange(len(pairs), device=pairs.device) - (counts.cumsum(0) - counts)[pair_blocks]
        key = key.masked_scatter(is_far, n_near + ranks[pair_of_edge])
        n_far = int(counts.max())
        far = pairs.new_zeros(len(self.visible), n_far)
        far[pair_blocks, ranks] = batch * self.n + pair_keys
        sees_far = self.visible.new_zeros(len(self.visible), 1, self.size, n_far)
        sees_far[pair_blocks, 0, pair_queries % self.size, ranks] = True
        steps = torch.zeros_like(far)
        distance = pair_keys - pair_queries
        steps[pair_blocks, ranks] = distance.clamp(-reach, reach) - distance
        return self._replace(
            visible=torch.cat([self.visible, sees_far], -1),
            edges=edges._replace(batch=block, query=query, key=key),  # type: ignore[arg-type]
            far=far,
            far_turn=Rotation.of(steps, head_width, base),
        )
