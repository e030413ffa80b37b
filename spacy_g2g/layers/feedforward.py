"""Position-wise feed-forward network (Vaswani et al. 2017, "Attention Is All You Need", eq. 2)."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..errors import Errors
from .linear import Linear

_GELU_NEW = partial(F.gelu, approximate="tanh")
#: Activations by their names in config.json, with their names and variants in oneDNN; None if it cannot fuse
#: them with a product.
ACTIVATIONS: dict[str, tuple[Callable[[Tensor], Tensor], tuple[str, str] | None]] = {
    "gelu": (F.gelu, ("gelu", "none")),
    "gelu_new": (_GELU_NEW, ("gelu", "tanh")),
    "gelu_pytorch_tanh": (_GELU_NEW, ("gelu", "tanh")),
    "relu": (F.relu, ("relu", "")),
    "silu": (F.silu, None),
    "swish": (F.silu, None),
    "tanh": (torch.tanh, None),
}


class FeedForward(nn.Module):
    """Two linear layers with an activation between them.

    A gated network multiplies the activation of one half of the first layer by the other half (Shazeer 2020,
    "GLU Variants Improve Transformer").

    width: Width of the input and of the output.
    hidden_width: Width between the two layers.
    activation: A key of ``ACTIVATIONS``.
    gated: Whether the network is gated. Its first layer is then twice as wide.
    bias: Whether the linear layers have a bias.
    Raises ValueError for an unknown activation.
    """

    def __init__(
        self, width: int, hidden_width: int, activation: str, *, gated: bool = False, bias: bool = True
    ) -> None:
        super().__init__()
        self.activation, self.fused = find_activation(activation)
        self.gated = gated
        self.hidden = Linear(width, 2 * hidden_width if gated else hidden_width, bias=bias)
        self.output = Linear(hidden_width, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """Transform each position on its own: [..., width] to [..., width]."""
        if self.gated:
            first, second = self.hidden(x).chunk(2, -1)
            hidden = self.activation(first) * second
        elif self.hidden.is_packed() and self.fused is not None:
            hidden = self.hidden(x, *self.fused)
        else:
            hidden = self.activation(self.hidden(x))
        return self.output(hidden)  # type: ignore[no-any-return]


def find_activation(name: str) -> tuple[Callable[[Tensor], Tensor], tuple[str, str] | None]:
    """Look up an activation; see ``ACTIVATIONS``. Raises ValueError for an unknown name."""
    if name not in ACTIVATIONS:
        raise ValueError(Errors.E201.format(activation=name, known=", ".join(sorted(ACTIVATIONS))))
    return ACTIVATIONS[name]
