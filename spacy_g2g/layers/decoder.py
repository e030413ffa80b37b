"""The decoder of the stack-Transformer: cross-attention heads that are tied to a parser's stack and buffer.

Fernandez Astudillo, Ballesteros, Naseem, Blodgett & Florian 2020, "Transition-based Parsing with
Stack-Transformers", section 3.1. It knows sources (what the memory has vectors of, words in most parsers) and
where they are in the state of each step, but nothing of any transition system.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import LongTensor, Tensor, nn

from ..errors import Errors
from .dropout import Dropout
from .embeddings import grown
from .feedforward import FeedForward

#: What a head of cross-attention can be tied to: a part of the state, and how many of its sources from its
#: end, where the parser works, the head sees; None for all.
TIES: dict[str, tuple[str, int | None]] = {
    "stack": ("stack", None),
    "stack_top2": ("stack", 2),
    "buffer": ("buffer", None),
    "buffer_top2": ("buffer", 2),
}
#: Places in a part of the state that have vectors of their own; deeper ones share the last.
N_PLACES = 512
#: Rows of the sinusoids that the places of a part take.
FIRST_ROWS = {"buffer": 0, "stack": N_PLACES}
BEGIN_STEPS = 16


class Places(NamedTuple):
    """Where sources are in the states of some steps, int [batch, steps, sources] each.

    stack, buffer: 0 at the top of the stack and at the front of the buffer, growing inwards; -1 for sources
        that are not there, padding included.
    """

    stack: Tensor
    buffer: Tensor


class Seen(NamedTuple):
    """What the heads of cross-attention see at some steps.

    visible: bool, [batch, heads or 1, steps or 1, sources]; where nothing is visible, everything is; None for
        everything everywhere.
    has_any: [batch, heads, steps, 1], 0 where nothing is visible; None where heads are free.
    places: int [batch, tied heads, steps, sources], -1 as 0; None where places have no vectors.
    """

    visible: Tensor | None
    has_any: Tensor | None
    places: Tensor | None


class Memory(NamedTuple):
    """What a layer's cross-attention keeps of the sources.

    keys, values: [batch, heads, sources, d].
    place_keys: of the tied heads' places, [tied heads, places, d]; None without.
    """

    keys: Tensor
    values: Tensor
    place_keys: Tensor | None


class StateAttention(nn.Module):
    """Cross-attention some of whose heads see a part of the parser state alone (equation 2 of the paper).

    Head i is tied to ``ties[i]``, a key of ``TIES``; the others are free. With places, ``p`` the sinusoid of
    a source's place in that part, a tied head's score is ``q_t . W_K (h_i + p_ti) / sqrt(d)``. A head that
    sees nothing gives zeros.
    """

    first_rows: Tensor

    def __init__(self, width: int, n_heads: int, ties: Sequence[str], *, with_places: bool) -> None:
        super().__init__()
        self.n_heads, self.head_width = n_heads, width // n_heads
        self.query = nn.Linear(width, width)
        self.keys_values = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)
        first_rows = [FIRST_ROWS[TIES[tie][0]] for tie in ties] if with_places else []
        self.register_buffer("first_rows", torch.tensor(first_rows, dtype=torch.int64), persistent=False)

    def read(self, memory: Tensor) -> Memory:
        """What attention needs of the sources: [batch, sources, width]."""
        batch, n, width = memory.shape
        kv = self.keys_values(memory).view(batch, n, 2, self.n_heads, self.head_width)
        keys, values = kv.permute(2, 0, 3, 1, 4)
        place_keys = None
        if len(self.first_rows):
            rows = self.first_rows[:, None]
            table = sinusoids(rows + torch.arange(N_PLACES, device=memory.device), width)
            of_heads = self.keys_values.weight[:width].view(self.n_heads, self.head_width, width)
            place_keys = table.to(keys.dtype) @ of_heads[: len(rows)].transpose(1, 2).to(keys.dtype)
        return Memory(keys, values, place_keys)

    def forward(self, x: Tensor, memory: Memory, seen: Seen) -> Tensor:
        """Let steps attend to sources: x, [batch, steps, width], to the same shape."""
        batch, n, width = x.shape
        q = self.query(x).view(batch, n, self.n_heads, self.head_width).transpose(1, 2)
        mask = seen.visible
        if memory.place_keys is not None and seen.places is not None and mask is not None:
            terms = self._place_terms(q, memory.place_keys, seen.places)
            mask = terms.masked_fill(~mask, torch.finfo(terms.dtype).min)
        z = F.scaled_dot_product_attention(q, memory.keys, memory.values, attn_mask=mask)
        if seen.has_any is not None:
            z = z * seen.has_any.to(z.dtype)
        attended: Tensor = self.output(z.transpose(1, 2).reshape(batch, n, width))
        return attended

    def _place_terms(self, q: Tensor, place_keys: Tensor, places: Tensor) -> Tensor:
        """What places add to the scores, [batch, heads, steps, sources]; nothing where heads are free."""
        n_tied = len(place_keys)
        of_places = q[:, :n_tied] @ place_keys.transpose(1, 2) * self.head_width**-0.5
        terms = of_places.gather(3, places)
        return F.pad(terms, (0, 0, 0, 0, 0, self.n_heads - n_tied))


class StepAttention(nn.Module):
    """Self-attention of a step to itself and the steps before it."""

    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads, self.head_width = n_heads, width // n_heads
        self.qkv = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """All steps at once: [batch, steps, width] to the same shape."""
        batch, n, width = x.shape
        q, k, v = self.qkv(x).view(batch, n, 3, self.n_heads, self.head_width).permute(2, 0, 3, 1, 4)
        z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        attended: Tensor = self.output(z.transpose(1, 2).reshape(batch, n, width))
        return attended

    def step(self, x: Tensor, past: Tensor, number: int, ancestors: Tensor | None) -> Tensor:
        """One step of the hypotheses of each sentence, whose keys and values are written to the past.

        x: [batch, hypotheses, width].
        past: [batch, steps, slots, 2 * width]; number: of this step.
        ancestors: bool [batch, 1, hypotheses, (number + 1) * slots], what is a hypothesis' own past; None
            where each sentence has one slot.
        """
        batch, n, width = x.shape
        q, kv = self.qkv(x).split([width, 2 * width], dim=-1)
        past[:, number, :n] = kv
        keys, values = (
            past[:, : number + 1].flatten(1, 2).view(batch, -1, 2, self.n_heads, self.head_width)
        ).permute(2, 0, 3, 1, 4)
        q = q.reshape(batch, n, self.n_heads, self.head_width).transpose(1, 2)
        z = F.scaled_dot_product_attention(q, keys, values, attn_mask=ancestors)
        attended: Tensor = self.output(z.transpose(1, 2).reshape(batch, n, width))
        return attended


class DecoderLayer(nn.Module):
    """Attention to past steps and to the state, and feed-forward network, each normalised after it."""

    def __init__(
        self,
        width: int,
        n_heads: int,
        hidden_width: int,
        *,
        ties: Sequence[str],
        with_places: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        self.steps = StepAttention(width, n_heads)
        self.steps_norm = nn.LayerNorm(width)
        self.state = StateAttention(width, n_heads, ties, with_places=with_places)
        self.state_norm = nn.LayerNorm(width)
        self.feedforward = FeedForward(width, hidden_width, "relu")
        self.feedforward_norm = nn.LayerNorm(width)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, memory: Memory, seen: Seen) -> Tensor:
        """All steps at once, [batch, steps, width]."""
        return self._after_steps(x, self.steps(x), memory, seen)

    def step(self, x: Tensor, cache: Cache, layer: int, ancestors: Tensor | None, seen: Seen) -> Tensor:
        """One step, [batch, hypotheses, width]."""
        attended = self.steps.step(x, cache.pasts[layer], cache.n_steps, ancestors)
        return self._after_steps(x, attended, cache.memories[layer], seen)

    def _after_steps(self, x: Tensor, attended: Tensor, memory: Memory, seen: Seen) -> Tensor:
        x = self.steps_norm(x + self.dropout(attended))
        x = self.state_norm(x + self.dropout(self.state(x, memory, seen)))
        return self.feedforward_norm(x + self.dropout(self.feedforward(x)))  # type: ignore[no-any-return]


class StateDecoder(nn.Module):
    """Reads the actions taken so far, and the sources by where they are in the state.

    n_actions: that the history can have.
    ties: of the first heads of cross-attention in every layer, keys of ``TIES``; the other heads are free.
    with_places: tied heads know the place of a source in their part of the state.
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
        ties: Sequence[str],
        with_places: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        if width % n_heads:
            raise ValueError(Errors.E204.format(width=width, n_heads=n_heads))
        self.n_heads = n_heads
        self.ties = tuple(ties)
        self.with_places = with_places and bool(ties)
        # The first row is for what is before the first action.
        self.actions = nn.Embedding(1 + n_actions, width)
        nn.init.normal_(self.actions.weight, std=width**-0.5)
        self.dropout = Dropout(dropout)
        self.layers = nn.ModuleList(
            DecoderLayer(
                width, n_heads, hidden_width, ties=self.ties, with_places=self.with_places, dropout=dropout
            )
            for _ in range(n_layers)
        )

    def forward(self, previous: LongTensor, memory: Tensor, mask: Tensor | None, places: Places) -> Tensor:
        """The vectors of all steps of sequences that are known.

        previous: int [batch, steps], the action before each step, -1 before the first one.
        memory: [batch, sources, width]; mask: bool [batch, sources], True for real ones; None for all.
        places: of the sources in the state before each step.
        Returns [batch, steps, width]; what comes after a step changes nothing in it.
        """
        x = self._embed(previous, torch.arange(previous.shape[1], device=previous.device))
        seen = self._look(mask, places)
        for layer in self.layers:
            x = layer(x, layer.state.read(memory), seen)  # type: ignore[union-attr, operator]
        return x

    def begin(self, memory: Tensor, mask: Tensor | None, n_slots: int = 1) -> Cache:
        """Begin to decode, with at most that many hypotheses of each sentence; see ``forward``."""
        memories = [layer.state.read(memory) for layer in self.layers]  # type: ignore[union-attr, operator]
        return Cache(memories, mask, n_slots)

    def step(self, previous: LongTensor, cache: Cache, places: Places) -> Tensor:
        """The vectors of the next step of each hypothesis, which the cache remembers.

        previous: int [batch, hypotheses], their last actions, -1 before the first one.
        places: [batch, hypotheses, sources] each.
        Returns [batch, hypotheses, width].
        """
        x = self._embed(previous, torch.full((1,), cache.n_steps, device=previous.device))
        seen = self._look(cache.mask, places)
        ancestors = cache.open_step(x)
        for i, layer in enumerate(self.layers):
            x = layer.step(x, cache, i, ancestors, seen)  # type: ignore[operator]
        cache.n_steps += 1
        return x

    def resize(self, n_actions: int) -> None:
        """Add actions behind those there are."""
        self.actions = grown(self.actions, 1 + n_actions)

    def _embed(self, previous: LongTensor, numbers: Tensor) -> Tensor:
        width = self.actions.embedding_dim
        x = self.actions(previous + 1) * math.sqrt(width)
        embedded: Tensor = self.dropout(x + sinusoids(numbers, width).to(x.dtype))
        return embedded

    def _look(self, mask: Tensor | None, places: Places) -> Seen:
        """What each head sees; the same in all layers."""
        everything = None if mask is None else mask[:, None, None, :]
        if not self.ties:
            return Seen(everything, None, None)
        of_ties = [getattr(places, TIES[tie][0]) for tie in self.ties]
        tops = [TIES[tie][1] for tie in self.ties]
        tied = torch.stack(
            [(p >= 0) if top is None else (p >= 0) & (p < top) for p, top in zip(of_ties, tops, strict=True)],
            dim=1,
        )
        has_any = tied.any(-1, keepdim=True)
        n_free = self.n_heads - len(self.ties)
        batch, _, n_steps, n = tied.shape
        if everything is None:
            everything = tied.new_ones(batch, 1, 1, n)
        visible = torch.cat([tied | ~has_any, everything.expand(batch, n_free, n_steps, n)], 1)
        has_any = F.pad(has_any, (0, 0, 0, 0, 0, n_free), value=True)
        indices = torch.stack(of_ties, 1).long().clamp(0, N_PLACES - 1) if self.with_places else None
        return Seen(visible, has_any, indices)


class Cache:
    """What step-by-step decoding remembers of some sentences and their hypotheses.

    Keys and values of past steps stay where they were written, and each hypothesis knows in which slots its
    own past is: so a beam that changes its mind copies nothing.
    """

    def __init__(self, memories: list[Memory], mask: Tensor | None, n_slots: int) -> None:
        self.memories = memories
        self.mask = mask
        self.n_slots = n_slots
        self.n_steps = 0
        self.pasts: list[Tensor] = []
        keys = memories[0].keys
        # The slot of each hypothesis' past, int [batch, hypotheses, steps].
        self.slots = torch.zeros(len(keys), 1, 0, dtype=torch.int64, device=keys.device)

    def open_step(self, x: Tensor) -> Tensor | None:
        """Make room for a step; returns which past is that of each hypothesis, see ``StepAttention.step``."""
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
        """Go on with these of each sentence's hypotheses, int [batch, hypotheses]; they may repeat."""
        if self.n_slots > 1:
            index = parents[..., None].expand(*parents.shape, self.slots.shape[2])
            self.slots = self.slots.gather(1, index)

    def keep(self, sentences: LongTensor) -> None:
        """Go on with these of the sentences, int [sentences]."""
        self.memories = [
            Memory(memory.keys[sentences], memory.values[sentences], memory.place_keys)
            for memory in self.memories
        ]
        self.mask = None if self.mask is None else self.mask[sentences]
        self.slots = self.slots[sentences]
        self.pasts = [past[sentences] for past in self.pasts]


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Sines and cosines of positions (Vaswani et al. 2017, section 3.5): [...] to float32 [..., width]."""
    n = (width + 1) // 2
    rates = torch.exp(torch.arange(n, device=positions.device) * (-math.log(10_000.0) / max(n - 1, 1)))
    angles = positions[..., None] * rates
    return torch.cat([angles.sin(), angles.cos()], -1)[..., :width]
