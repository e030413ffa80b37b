"""Dropout that is not the slowest step of training on a CPU."""

import torch
from torch import Tensor, nn

N_LEVELS = 256


class Dropout(nn.Dropout):
    """``nn.Dropout`` (Srivastava et al. 2014), faster on a CPU (``docs/results/speed.md``).

    On a CPU it draws eight random bits for each value instead of a Bernoulli variable. So the rate is rounded
    to a multiple of 1/256 (0.1 becomes 0.1016), and values are scaled by the rounded rate.
    """

    def forward(self, x: Tensor) -> Tensor:
        """Set values to zero at random in training; x and the output have the same shape."""
        if not self.training:
            return x
        n_dropped = min(round(self.p * N_LEVELS), N_LEVELS - 1)
        if not n_dropped or x.device.type != "cpu":
            return super().forward(x)
        words = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        levels = words.view(torch.uint8)[: x.numel()].view(x.shape)
        return x * ((levels >= n_dropped) * (N_LEVELS / (N_LEVELS - n_dropped)))
