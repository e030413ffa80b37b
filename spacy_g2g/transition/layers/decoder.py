"""The decoder of the stack-Transformer: cross-attention heads that are tied to a parser's stack and buffer.

Fernandez Astudillo, Ballesteros, Naseem, Blodgett & Florian 2020, "Transition-based Parsing with
Stack-Transformers", section 3.1. The decoder knows sources (mostly words) and their positions in the state
of each step. It knows nothing of any transition system.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import LongTensor, Tensor, nn

from ...errors import Errors
from ...layers.dropout import Dropout
from ...layers.embeddings import extend_table
from ...layers.feedforward import FeedForward
from .decoder_cache import Cache, Memory
from .state_attention import (
    N_POSITIONS,
    TOP2,
    Positions,
    StateAttention,
    StepAttention,
    VisibleMask,
    sinusoids,
)


class DecoderLayer(nn.Module):
    """Attention to past steps, attention to the state and a feed-forward network, each followed by a norm."""

    def __init__(
        self,
        width: int,
        n_heads: int,
        hidden_width: int,
        *,
        views: Sequence[str],
        with_positions: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.steps = StepAttention(width, n_heads)
        self.steps_norm = nn.LayerNorm(width)
        self.state = StateAttention(width, n_heads, views, with_positions=with_positions)
        self.state_norm = nn.LayerNorm(width)
        self.feedforward = FeedForward(width, hidden_width, "relu")
        self.feedforward_norm = nn.LayerNorm(width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, memory: Memory, seen: VisibleMask) -> Tensor:
        """Decode all steps at once, [batch, steps, width]."""
        return self._after_steps(x, self.steps(x), memory, seen)

    def step(
        self, x: Tensor, cache: Cache, layer: int, ancestors: Tensor | None, seen: VisibleMask
    ) -> Tensor:
        """Decode one step, [batch, hypotheses, width]."""
        attended = self.steps.step(x, cache.pasts[layer], cache.n_steps, ancestors)
        return self._after_steps(x, attended, cache.memories[layer], seen)

    def _after_steps(self, x: Tensor, attended: Tensor, memory: Memory, seen: VisibleMask) -> Tensor:
        x = self.steps_norm(x + self.dropout(attended))
        x = self.state_norm(x + self.dropout(self.state(x, memory, seen)))
        return self.feedforward_norm(x + self.dropout(self.feedforward(x)))  # type: ignore[no-any-return]


class StateDecoder(nn.Module):
    """Decoder that reads the actions taken so far, and the sources by their positions in the state.

    n_actions: Number of actions.
    width: Width of the vectors.
    n_heads: Attention heads of each layer; must divide the width.
    hidden_width: Width of the feed-forward networks.
    n_layers: Number of layers.
    views: Views of the first heads of cross-attention in every layer, each a ``StateHead``. The other heads
        are free.
    with_positions: Whether tied heads know the position of a source in their part of the state.
    dropout: Rate on all vectors.
    Raises ValueError for a width that its heads do not divide.
    """

    def __init__(
        self,
        n_actions: int,
        *,
        width: int,
        n_heads: int,
        hidden_width: int,
        n_layers: int,
        views: Sequence[str],
        with_positions: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        if width % n_heads:
            raise ValueError(Errors.E204.format(width=width, n_heads=n_heads))
        self.n_heads = n_heads
        self.views = tuple(views)
        self.with_positions = with_positions and bool(views)
        # Row 0 stands before the first action.
        self.actions = nn.Embedding(1 + n_actions, width)
        nn.init.normal_(self.actions.weight, std=width**-0.5)
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(
            DecoderLayer(
                width,
                n_heads,
                hidden_width,
                views=self.views,
                with_positions=self.with_positions,
                dropout=dropout,
            )
            for _ in range(n_layers)
        )

    def forward(
        self, previous: LongTensor, memory: Tensor, mask: Tensor | None, positions: Positions
    ) -> Tensor:
        """Compute the vectors of all steps of known sequences.

        previous: int [batch, steps], the action before each step, -1 before the first one.
        memory: float [batch, sources, width].
        mask: bool [batch, sources], True for real sources; None if all are.
        positions: Positions of the sources in the state before each step.
        Returns float [batch, steps, width]. A step depends on nothing after it.
        """
        x = self._embed(previous, torch.arange(previous.shape[1], device=previous.device))
        seen = self._look(mask, positions)
        for layer in self.layers:
            x = layer(x, layer.state.read(memory), seen)  # type: ignore[union-attr, operator]
        return x

    def begin(self, memory: Tensor, mask: Tensor | None, n_slots: int = 1) -> Cache:
        """Begin to decode, with at most ``n_slots`` hypotheses of each sentence; see ``forward``."""
        memories = [layer.state.read(memory) for layer in self.layers]  # type: ignore[union-attr, operator]
        return Cache(memories, mask, n_slots)

    def step(self, previous: LongTensor, cache: Cache, positions: Positions) -> Tensor:
        """Compute the vectors of the next step of each hypothesis, and remember the step in the cache.

        previous: int [batch, hypotheses], their last actions, -1 before the first one.
        cache: Memory of the steps so far; see ``begin``.
        positions: [batch, hypotheses, sources] each.
        Returns float [batch, hypotheses, width].
        """
        x = self._embed(previous, torch.full((1,), cache.n_steps, device=previous.device))
        seen = self._look(cache.mask, positions)
        ancestors = cache.open_step(x)
        for i, layer in enumerate(self.layers):
            x = layer.step(x, cache, i, ancestors, seen)  # type: ignore[operator]
        cache.n_steps += 1
        return x

    def resize(self, n_actions: int) -> None:
        """Add actions behind the present ones."""
        self.actions = extend_table(self.actions, 1 + n_actions)

    def _embed(self, previous: LongTensor, numbers: Tensor) -> Tensor:
        width = self.actions.embedding_dim
        x = self.actions(previous + 1) * math.sqrt(width)
        embedded: Tensor = self.dropout(x + sinusoids(numbers, width).to(x.dtype))
        return embedded

    def _look(self, mask: Tensor | None, positions: Positions) -> VisibleMask:
        """Find what each head sees, which is the same in all layers."""
        everything = None if mask is None else mask[:, None, None, :]
        if not self.views:
            return VisibleMask(everything, None, None)
        of_views = [getattr(positions, view.removesuffix(TOP2)) for view in self.views]
        is_there = [
            (p >= 0) & (p < 2) if view.endswith(TOP2) else p >= 0
            for view, p in zip(self.views, of_views, strict=True)
        ]
        tied = torch.stack(is_there, dim=1)
        has_any = tied.any(-1, keepdim=True)
        n_free = self.n_heads - len(self.views)
        batch, _, n_steps, n = tied.shape
        if everything is None:
            everything = tied.new_ones(batch, 1, 1, n)
        visible = torch.cat([tied | ~has_any, everything.expand(batch, n_free, n_steps, n)], 1)
        has_any = F.pad(has_any, (0, 0, 0, 0, 0, n_free), value=True)
        indices = torch.stack(of_views, 1).long().clamp(0, N_POSITIONS - 1) if self.with_positions else None
        return VisibleMask(visible, has_any, indices)
