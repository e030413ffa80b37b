"""Attention of the stack-Transformer's decoder: to past steps, and to sources by their place in the parser
state.

Fernandez Astudillo, Ballesteros, Naseem, Blodgett & Florian 2020, "Transition-based Parsing with
Stack-Transformers", section 3.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

#: What a head of cross-attention can be tied to: a part of the state, or the two items at its top.
StateHead = Literal["stack", "stack_top2", "buffer", "buffer_top2"]
TOP2 = "_top2"
#: Number of positions in a part of the state with their own vectors. Deeper positions share the last vector.
N_POSITIONS = 512
#: First row of the sinusoids for each part of the state.
FIRST_ROWS = {"buffer": 0, "stack": N_POSITIONS}


class Positions(NamedTuple):
    """Positions of sources in the states of some steps, int [batch, steps, sources] each.

    stack: Distance from the top of the stack; -1 for sources that are not on the stack, and for padding.
    buffer: Distance from the front of the buffer; -1 for sources that are not in it, and for padding.
    """

    stack: Tensor
    buffer: Tensor


class Memory(NamedTuple):
    """Keys and values of the sources, for the cross-attention of one layer.

    keys, values: float [batch, heads, sources, d].
    position_keys: float [tied heads, positions, d], keys of positions; None without them.
    """

    keys: Tensor
    values: Tensor
    position_keys: Tensor | None


class VisibleMask(NamedTuple):
    """Sources that the heads of cross-attention see at some steps.

    visible: bool [batch, heads or 1, steps or 1, sources]; None for no mask. A row of a head that sees
        nothing is all True here, and ``has_any`` zeroes its output.
    has_any: [batch, heads, steps, 1], 0 for rows with nothing visible; None if no head is tied.
    positions: int [batch, tied heads, steps, sources], with -1 replaced by 0; None without position vectors.
    """

    visible: Tensor | None
    has_any: Tensor | None
    positions: Tensor | None


class StateAttention(nn.Module):
    """Cross-attention with heads that see one part of the parser state (equation 2 of the paper).

    Head i is tied to ``views[i]``, a ``StateHead``. The remaining heads are free. With positions, the
    score of a tied head is ``q_t . W_K (h_i + p_ti) / sqrt(d)``, where ``p`` is the sinusoid of the source's
    position in that part. A head that sees nothing returns zeros.
    """

    first_rows: Tensor

    def __init__(self, width: int, n_heads: int, views: Sequence[str], *, with_positions: bool) -> None:
        super().__init__()
        self.n_heads, self.head_width = n_heads, width // n_heads
        self.query = nn.Linear(width, width)
        self.keys_values = nn.Linear(width, 2 * width)
        self.output = nn.Linear(width, width)
        first_rows = [FIRST_ROWS[view.removesuffix(TOP2)] for view in views] if with_positions else []
        rows = torch.tensor(first_rows, dtype=torch.int64, device="cpu")
        self.register_buffer("first_rows", rows, persistent=False)

    def read(self, memory: Tensor) -> Memory:
        """Compute keys and values of the sources, [batch, sources, width]."""
        batch, n, width = memory.shape
        kv = self.keys_values(memory).view(batch, n, 2, self.n_heads, self.head_width)
        keys, values = kv.permute(2, 0, 3, 1, 4)
        position_keys = None
        if len(self.first_rows):
            rows = self.first_rows[:, None]
            table = sinusoids(rows + torch.arange(N_POSITIONS, device=memory.device), width)
            head_weight = self.keys_values.weight[:width].view(self.n_heads, self.head_width, width)
            position_keys = table.to(keys.dtype) @ head_weight[: len(rows)].transpose(1, 2).to(keys.dtype)
        return Memory(keys, values, position_keys)

    def forward(self, x: Tensor, memory: Memory, seen: VisibleMask) -> Tensor:
        """Let steps attend to sources: [batch, steps, width] to the same shape."""
        batch, n, width = x.shape
        q = self.query(x).view(batch, n, self.n_heads, self.head_width).transpose(1, 2)
        mask = seen.visible
        if memory.position_keys is not None and seen.positions is not None and mask is not None:
            terms = self._position_terms(q, memory.position_keys, seen.positions)
            mask = terms.masked_fill(~mask, torch.finfo(terms.dtype).min)
        z = F.scaled_dot_product_attention(q, memory.keys, memory.values, attn_mask=mask)
        if seen.has_any is not None:
            z = z * seen.has_any.to(z.dtype)
        attended: Tensor = self.output(z.transpose(1, 2).reshape(batch, n, width))
        return attended

    def _position_terms(self, q: Tensor, position_keys: Tensor, positions: Tensor) -> Tensor:
        """Compute the scores of positions, [batch, heads, steps, sources]; 0 for free heads."""
        n_tied = len(position_keys)
        position_scores = q[:, :n_tied] @ position_keys.transpose(1, 2) * self.head_width**-0.5
        terms = position_scores.gather(3, positions)
        return F.pad(terms, (0, 0, 0, 0, 0, self.n_heads - n_tied))


class StepAttention(nn.Module):
    """Self-attention of a step to itself and the steps before it."""

    def __init__(self, width: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads, self.head_width = n_heads, width // n_heads
        self.qkv = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Attend at all steps at once: [batch, steps, width] to the same shape."""
        batch, n, width = x.shape
        q, k, v = self.qkv(x).view(batch, n, 3, self.n_heads, self.head_width).permute(2, 0, 3, 1, 4)
        z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        attended: Tensor = self.output(z.transpose(1, 2).reshape(batch, n, width))
        return attended

    def step(self, x: Tensor, *, past: Tensor, number: int, ancestors: Tensor | None) -> Tensor:
        """Make one step of the hypotheses of each sentence, and write its keys and values to the past.

        x: float [batch, hypotheses, width].
        past: float [batch, steps, slots, 2 * width].
        number: Number of steps before this one.
        ancestors: bool [batch, 1, hypotheses, (number + 1) * slots], each hypothesis' own past; None if each
            sentence has one slot.
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


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Return sines and cosines (Vaswani et al. 2017, section 3.5) of positions, float32 [..., width]."""
    n = (width + 1) // 2
    rates = torch.exp(torch.arange(n, device=positions.device) * (-math.log(10_000.0) / max(n - 1, 1)))
    angles = positions[..., None] * rates
    return torch.cat([angles.sin(), angles.cos()], -1)[..., :width]
