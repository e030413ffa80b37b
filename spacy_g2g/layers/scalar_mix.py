"""A learned mix of layers (Peters et al. 2018, "Deep contextualized word representations", equation 1)."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn


class ScalarMix(nn.Module):
    """Weighted mean of the outputs of layers, times a scale. At first all layers weigh the same.

    n_layers: Number of layers.
    """

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(n_layers))
        self.scale = nn.Parameter(torch.ones(()))

    @property
    def n_layers(self) -> int:
        """Number of layers."""
        return len(self.weights)

    def forward(self, states: Iterable[Tensor]) -> Tensor:
        """Mix the outputs of layers. Takes them one by one, so that few are in memory at a time.

        states: ``n_layers`` tensors of one shape.
        """
        weights = iter(self.weights.softmax(0) * self.scale)
        states = iter(states)
        mixed: Tensor = next(states) * next(weights)
        for state in states:
            # In place, because gradients do not need the former sum.
            mixed.addcmul_(state, next(weights))
        return mixed
