"""The decoder of the stack-Transformer: cross-attention heads that are tied to a parser's stack and buffer.

Fernandez Astudillo, Ballesteros, Naseem, Blodgett & Florian 2020, "Transition-based Parsing with
Stack-Transformers", section 3.1. The decoder knows sources (mostly words) and their positions in the state
of each step. It does not depend on any transition system.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import LongTensor, Tensor, nn

from ...layers.dropout import Dropout
from ...layers.embeddings import extend_table
from ...layers.feedforward import FeedForward
from .state_attention import (
    N_POSITIONS,
    TOP2,
    Memory,
    Positions,
    StateAttention,
    StateHead,
    StepAttention,
    VisibleMask,
    sinusoids,
)

#: Number of steps that a new cache has room for.
INITIAL_STEPS = 16


class Cache:
    """Memory of step-by-step decoding, for some sentences and their hypotheses.

    Keys and values of past steps stay where they were written. Each hypothesis knows the slots of its own
    past, so nothing is copied when hypotheses are dropped or repeated.

    memories: Keys and values of the sources, for each layer.
    mask: bool [batch, sources], True for real sources; None if all are.
    n_slots: Maximum number of hypotheses for a sentence.
    """

    def __init__(self, memories: list[Memory], mask: Tensor | None, n_slots: int) -> None:
        self.memories = memories
        self.mask = mask
        self.n_slots = n_slots
        self.n_steps = 0
        self.pasts: list[Tensor] = []
        keys = memories[0].keys
        # Slots of each hypothesis' past, int [batch, hypotheses, steps].
        self.slots = torch.zeros(len(keys), 1, 0, dtype=torch.int64, device=keys.device)

    def open_step(self, x: Tensor) -> Tensor | None:
        """Make room for a step. Returns the ancestors of each hypothesis; see ``StepAttention.step``."""
        batch, n, width = x.shape
        if not self.pasts:
            shape = batch, INITIAL_STEPS, self.n_slots, 2 * width
            dtype = self.memories[0].keys.dtype
            self.pasts = [x.new_zeros(shape, dtype=dtype) for _ in self.memories]
        elif self.n_steps == self.pasts[0].shape[1]:
            self.pasts = [torch.cat([past, torch.zeros_like(past)], 1) for past in self.pasts]
        if self.n_slots == 1:
            return None
        own = torch.arange(n, device=x.device)
        self.slots = torch.cat([self.slots, own.expand(batch, n)[..., None]], 2)
        is_own = self.slots[..., None] == torch.arange(self.n_slots, device=x.device)
        return is_own.flatten(2)[:, None]

    def take(self, parents: LongTensor) -> None:
        """Continue with these hypotheses of each sentence, int [batch, hypotheses], which may repeat."""
        if self.n_slots > 1:
            index = parents[..., None].expand(*parents.shape, self.slots.shape[2])
            self.slots = self.slots.gather(1, index)

    def keep(self, sentences: LongTensor) -> None:
        """Continue with only these sentences, int [sentences]."""
        self.memories = [
            Memory(memory.keys[sentences], memory.values[sentences], memory.position_keys)
            for memory in self.memories
        ]
        self.mask = None if self.mask is None else self.mask[sentences]
        self.slots = self.slots[sentences]
        self.pasts = [past[sentences] for past in self.pasts]


@dataclass(frozen=True, kw_only=True)
class DecoderConfig:
    """Sizes and settings of a decoder.

    width: Width of the vectors.
    n_heads: Number of attention heads in each layer; it divides the width.
    hidden_width: Width of the feed-forward networks.
    n_layers: Number of layers.
    views: Views of the first heads of cross-attention in every layer. The other heads are free.
    with_positions: Whether tied heads know the position of a source in their part of the state.
    dropout: Rate on all vectors.
    """

    width: int
    n_heads: int
    hidden_width: int
    n_layers: int
    views: Sequence[StateHead]
    with_positions: bool
    dropout: float


class DecoderLayer(nn.Module):
    """Attention to past steps, attention to the state and a feed-forward network, each followed by a norm."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        width = config.width
        self.steps = StepAttention(width, config.n_heads)
        self.steps_norm = nn.LayerNorm(width)
        self.state = StateAttention(width, config.n_heads, config.views, with_positions=config.with_positions)
        self.state_norm = nn.LayerNorm(width)
        self.feedforward = FeedForward(width, config.hidden_width, "relu")
        self.feedforward_norm = nn.LayerNorm(width)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, attended: Tensor, memory: Memory, seen: VisibleMask) -> Tensor:
        """Compute the layer after its attention to past steps, [batch, steps, width].

        x: float [batch, steps, width].
        attended: Output of ``steps`` for x.
        """
        x = self.steps_norm(x + self.dropout(attended))
        x = self.state_norm(x + self.dropout(self.state(x, memory, seen)))
        return self.feedforward_norm(x + self.dropout(self.feedforward(x)))  # type: ignore[no-any-return]


class StateDecoder(nn.Module):
    """Decoder that reads the actions taken so far, and the sources by their positions in the state."""

    def __init__(self, n_actions: int, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        # Row 0 stands for the missing action before the first one.
        self.actions = nn.Embedding(1 + n_actions, config.width)
        nn.init.normal_(self.actions.weight, std=config.width**-0.5)
        self.dropout = Dropout(config.dropout)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.n_layers))

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
        layer: Any
        for layer in self.layers:
            x = layer(x, layer.steps(x), layer.state.read(memory), seen)
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
        layer: Any
        for layer, past, memory in zip(self.layers, cache.pasts, cache.memories, strict=True):
            x = layer(
                x, layer.steps.step(x, past=past, number=cache.n_steps, ancestors=ancestors), memory, seen
            )
        cache.n_steps += 1
        return x

    def resize(self, n_actions: int) -> None:
        """Add actions after the existing ones."""
        self.actions = extend_table(self.actions, 1 + n_actions)

    def _embed(self, previous: LongTensor, numbers: Tensor) -> Tensor:
        width = self.actions.embedding_dim
        x = self.actions(previous + 1) * math.sqrt(width)
        embedded: Tensor = self.dropout(x + sinusoids(numbers, width).to(x.dtype))
        return embedded

    def _look(self, mask: Tensor | None, positions: Positions) -> VisibleMask:
        """Find the sources that each head sees. All layers share them."""
        everything = None if mask is None else mask[:, None, None, :]
        if not self.config.views:
            return VisibleMask(everything, None, None)
        viewed = [getattr(positions, view.removesuffix(TOP2)) for view in self.config.views]
        in_view = [
            (p >= 0) & (p < 2) if view.endswith(TOP2) else p >= 0
            for view, p in zip(self.config.views, viewed, strict=True)
        ]
        tied = torch.stack(in_view, dim=1)
        has_any = tied.any(-1, keepdim=True)
        n_free = self.config.n_heads - len(self.config.views)
        batch, _, n_steps, n = tied.shape
        if everything is None:
            everything = tied.new_ones(batch, 1, 1, n)
        visible = torch.cat([tied | ~has_any, everything.expand(batch, n_free, n_steps, n)], 1)
        has_any = F.pad(has_any, (0, 0, 0, 0, 0, n_free), value=True)
        indices = None
        if self.config.with_positions:
            indices = torch.stack(viewed, 1).long().clamp(0, N_POSITIONS - 1)
        return VisibleMask(visible, has_any, indices)
