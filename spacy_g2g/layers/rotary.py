"""Rotary positions (Su et al. 2021, "RoFormer", equation 34)."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

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
        """Turn the first heads of vectors in place, without a copy for the gradient.

        x: float [..., heads * d], which nothing else needs unturned.
        n_heads: Number of heads to turn.
        Returns x.
        """
        if torch.is_grad_enabled() and x.requires_grad:
            return cast(Tensor, _Turn.apply(x, self.cos, self.sin, n_heads))  # type: ignore[no-untyped-call]
        return _turn(x, self.cos, self.sin, n_heads)


class _Turn(torch.autograd.Function):
    """The gradient of a rotation is the rotation back, which needs nothing of the input."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, cos: Tensor, sin: Tensor, n_heads: int) -> Tensor:
        ctx.mark_dirty(x)
        ctx.save_for_backward(cos, sin)
        ctx.n_heads = n_heads
        return _turn(x, cos, sin, n_heads)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        cos, sin = ctx.saved_tensors
        return _turn(gradient.clone(), cos, -sin, ctx.n_heads), None, None, None


def _turn(x: Tensor, cos: Tensor, sin: Tensor, n_heads: int) -> Tensor:
    pairs = x.view(*x.shape[:-1], -1, 2, cos.shape[-1])[..., :n_heads, :, :]
    first, second = pairs.unbind(-2)
    cos, sin = cos.unsqueeze(-2), sin.unsqueeze(-2)
    turned = first * cos - second * sin
    second.copy_(second * cos + first * sin)
    first.copy_(turned)
    return x
