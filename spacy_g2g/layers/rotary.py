"""Rotary positions (Su et al. 2021, "RoFormer", equation 34)."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Rotation(NamedTuple):
    """Rotation of vectors of an even width d: component c is turned with component c + d/2.

    cos: Cosines of the angles, float32 [..., d / 2].
    sin: Sines of the angles, of the same shape.
    """

    cos: Tensor
    sin: Tensor

    @classmethod
    def of(cls, positions: Tensor, width: int, base: float) -> Rotation:
        """Return the rotation of positions, int [...], by ``base ** (-2c / width)`` a step in component c."""
        steps = torch.arange(0, width, 2, device=positions.device).float() / width
        angles = positions[..., None].float() * (1.0 / base**steps)
        return cls(angles.cos(), angles.sin())

    def take(self, index: Tensor) -> Rotation:
        """Return the rotations of some positions."""
        return Rotation(self.cos[index], self.sin[index])

    def turn(self, x: Tensor, n_heads: int) -> Tensor:
        """Turn the first heads of vectors.

        x: float [..., heads * d].
        n_heads: Number of heads to turn.
        Returns floats of the shape of x.
        """
        halves = x.unflatten(-1, (-1, 2, self.cos.shape[-1]))  # type: ignore[no-untyped-call]
        first, second = halves[..., :n_heads, :, :].unbind(-2)
        cos, sin = self.cos.unsqueeze(-2), self.sin.unsqueeze(-2)
        turned = torch.stack([first * cos - second * sin, second * cos + first * sin], -2).to(x.dtype)
        return torch.cat([turned, halves[..., n_heads:, :, :]], -3).flatten(-3)
