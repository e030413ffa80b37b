"""Padded rows without their padding: real positions one after the other."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

#: On a CPU, attention pads rows to a multiple of this, the number of 32-bit floats in a register of AVX512.
#: Then PyTorch's attention sums in the same order in rows of all lengths.
MULTIPLE = 16
#: The number of rows is filled up to a multiple of the first step, or of the second above ``MAX_SMALL`` rows.
#: oneDNN caches code for each number of rows, so few different numbers save memory.
STEPS, MAX_SMALL = (16, 64), 256


class Packing(NamedTuple):
    """Places of packed positions in padded rows. Attention computes padded rows, other layers packed ones.

    places: Places of the packed positions in the flattened rows, int [positions]. The real positions come
        first, and repetitions of the first one fill up.
    n_real: Number of real positions.
    sources: Number of the real position at each place of the flattened rows, arbitrary at padding; int
        [batch * n].
    mask: bool [batch, n], True for real positions; n is a multiple of ``MULTIPLE``.
    """

    places: Tensor
    n_real: int
    sources: Tensor
    mask: Tensor

    @classmethod
    def of(cls, x: Tensor, mask: Tensor | None) -> Packing:
        """Find the real positions of rows.

        x: [batch, n, width].
        mask: bool [batch, n], True for real positions; None if nothing is padded.
        """
        if mask is None:
            mask = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        mask = F.pad(mask, (0, -mask.shape[1] % MULTIPLE))
        flat = mask.flatten()
        places = flat.nonzero().squeeze(1)
        n_real = len(places)
        places = F.pad(places, (0, n_missing(n_real)))
        return cls(places, n_real, (flat.cumsum(0) - 1).clamp_(min=0), mask)

    def pad(self, x: Tensor) -> Tensor:
        """Put positions, [positions, width], into rows, [batch, n, width]. Padding is arbitrary."""
        if self.mask.shape[0] == 1 and x.shape[0] >= self.mask.numel() and not x.requires_grad:
            return x[: self.mask.numel()].unsqueeze(0)  # A single row has its real positions in front.
        if x.requires_grad:  # Then the gradient is not a sum.
            rows = x.new_zeros(self.mask.numel(), x.shape[1]).index_copy(
                0, self.places[: self.n_real], x[: self.n_real]
            )
        else:
            rows = x.index_select(0, self.sources)
        return rows.view(*self.mask.shape, x.shape[1])

    def pack(self, rows: Tensor) -> Tensor:
        """Take the positions, [positions, width], of rows, [batch, at most n, width]."""
        n, places = rows.shape[1], self.places
        if rows.shape[0] == 1 and n == places.shape[0]:
            return rows[0]
        if n < self.mask.shape[1]:
            places = places // self.mask.shape[1] * n + places % self.mask.shape[1]
        return rows.flatten(0, 1).index_select(0, places)

    def take(self, x: Tensor, *, places: Tensor) -> Tensor:
        """Take some of the packed positions, [positions, width], and fill up.

        places: Places in each padded row, int [batch, k].
        """
        numbers = self.sources.view(self.mask.shape).gather(1, places).flatten()
        return x.index_select(0, F.pad(numbers, (0, n_missing(len(numbers)))))


def n_missing(n_rows: int) -> int:
    """Return the number of rows to add, so that few different numbers of rows occur."""
    return -n_rows % STEPS[n_rows > MAX_SMALL]


def fill_up(x: Tensor) -> Tensor:
    """Add zeros to rows, [rows, width], on a CPU, so that few different numbers of rows occur."""
    return F.pad(x, (0, 0, 0, n_missing(len(x)))) if x.device.type == "cpu" else x
