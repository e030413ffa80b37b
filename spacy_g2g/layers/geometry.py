"""Positions of a batch, as the attention of a layer sees them."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from .edges import Edges
from .encoder_config import EncoderConfig
from .packing import Packing
from .rotary import Rotation
from .window import Window


class Geometry(NamedTuple):
    """Positions of a batch, as the attention of some layers sees them.

    mask: bool [batch, n], True for real positions; at least one in each sentence. None if nothing is padded.
    edges: The graphs, numbered by the window's blocks if there is a window; None for no graph.
    packing: Places of the packed positions in padded rows; None if inputs are padded rows.
    rotation: Rotations of queries and keys, of shapes that fit the input; None without rotary positions.
    at_edges: Rotation of each edge's query; None without edges or rotary positions.
    window: Layout of attention to near positions; None if each position sees the whole row.
    distances: Vectors of the distances in a row, for disentangled attention; see ``DistanceTable``.
    read: Positions whose output is computed, int [batch, k]; None for all. It needs a packing. The queries of
        edges are then numbers of these positions.
    """

    mask: Tensor | None = None
    edges: Edges | None = None
    packing: Packing | None = None
    rotation: Rotation | None = None
    at_edges: Rotation | None = None
    window: Window | None = None
    distances: Tensor | None = None
    read: Tensor | None = None

    def kept(self, x: Tensor) -> Tensor:
        """Return the rows of x, [positions, width], whose output is computed, filled up with other rows."""
        return x if self.read is None or self.packing is None else self.packing.take(x, places=self.read)

    def reading(self, places: Tensor) -> Geometry:
        """Return the geometry of a layer that computes the output of some positions only."""
        return self._replace(read=places, edges=self.edges and self.edges.for_queries(places))

    def for_layers(self, config: EncoderConfig, x: Tensor, *, is_local: bool) -> Geometry:
        """Add rotary positions and a window to the geometry of a batch.

        x: Vectors of the positions, [batch, n, width], or [positions, width] if they are packed.
        is_local: Whether the layers see a window.
        """
        rotary, edges = config.rotary, self.edges
        if rotary is None:
            return self
        base = rotary.local_rotary_base if is_local else rotary.rotary_base
        rows = x if self.mask is None else self.mask
        n = rows.shape[1]
        rotation = Rotation.of(torch.arange(n, device=x.device), config.head_width, base)
        at_edges = None if edges is None else rotation.take(edges.query)
        if self.packing is not None:
            rotation = rotation.take(self.packing.places % n)
        rotated = self._replace(rotation=rotation, at_edges=at_edges)
        if not is_local or n <= rotary.window + 1:
            return rotated
        mask = self.mask
        if mask is None:
            mask = torch.ones(rows.shape[:2], dtype=torch.bool, device=x.device)
        window = Window.of(mask, rotary.window, edges, config.head_width, base)
        return rotated._replace(window=window, edges=window.edges)


#: Rows that are neither padded nor packed, without a graph.
PLAIN_ROWS = Geometry()
