"""What the places of positions mean to the attention of a layer."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from .disentangled import Distances
from .edges import Edges
from .encoder_config import EncoderConfig
from .packing import Packing
from .rotary import Rotation
from .window import Window


class Geometry(NamedTuple):
    """What the places of positions mean to the attention of some layers, for one batch.

    rotation: Rotations of queries and keys, of shapes that fit the input; None without rotary positions.
    at_edges: Rotation of each edge's query; None without edges or rotary positions.
    window: Layout of attention to near positions; None if each position sees the whole row.
    distances: Vectors of the distances in a row, for disentangled attention; None for none.
    """

    rotation: Rotation | None = None
    at_edges: Rotation | None = None
    window: Window | None = None
    distances: Distances | None = None

    @classmethod
    def of(
        cls,
        config: EncoderConfig,
        x: Tensor,
        mask: Tensor | None,
        edges: Edges | None,
        packing: Packing | None,
        *,
        is_local: bool,
    ) -> Geometry:
        """Return the geometry of a batch; see ``GraphSelfAttention.forward`` for the arguments.

        is_local: Whether the layers see a window.
        """
        base = config.local_rotary_base if is_local else config.rotary_base
        width = config.width // config.n_attention_heads
        if packing is not None:
            mask = packing.mask
        n = x.shape[1] if mask is None else mask.shape[1]
        rotation, at_edges, window = None, None, None
        if base:
            rotation = Rotation.of(torch.arange(n, device=x.device), width, base)
            at_edges = None if edges is None else rotation.take(edges.query)
            rotation = rotation if packing is None else rotation.take(packing.places % n)
        if is_local and n > config.window + 1:
            if mask is None:
                mask = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
            window = Window.of(mask, config.window, edges, width, base)
        return cls(rotation, at_edges, window)


#: No rotary positions, and no window.
PLAIN = Geometry()
