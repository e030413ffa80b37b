"""Memory of step-by-step decoding: sources, past steps, and which past belongs to which hypothesis."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import LongTensor, Tensor

BEGIN_STEPS = 16


class Memory(NamedTuple):
    """Keys and values of the sources, for the cross-attention of one layer.

    keys, values: float [batch, heads, sources, d].
    position_keys: float [tied heads, positions, d], keys of positions; None without them.
    """

    keys: Tensor
    values: Tensor
    position_keys: Tensor | None


class Cache:
    """Memory of step-by-step decoding, for some sentences and their hypotheses.

    Keys and values of past steps stay where they were written. Each hypothesis knows the slots of its own
    past, so that a beam that changes its mind copies nothing.

    memories: Keys and values of the sources, for each layer.
    mask: bool [batch, sources], True for real sources; None if all are.
    n_slots: Largest number of hypotheses of a sentence.
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
            shape = batch, BEGIN_STEPS, self.n_slots, 2 * width
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
        """Go on with these hypotheses of each sentence, int [batch, hypotheses], which may repeat."""
        if self.n_slots > 1:
            index = parents[..., None].expand(*parents.shape, self.slots.shape[2])
            self.slots = self.slots.gather(1, index)

    def keep(self, sentences: LongTensor) -> None:
        """Go on with these sentences alone, int [sentences]."""
        self.memories = [
            Memory(memory.keys[sentences], memory.values[sentences], memory.position_keys)
            for memory in self.memories
        ]
        self.mask = None if self.mask is None else self.mask[sentences]
        self.slots = self.slots[sentences]
        self.pasts = [past[sentences] for past in self.pasts]
