"""Convolution beside the first layer of an encoder (the larger models of DeBERTa-v2)."""

from torch import Tensor, nn

from ..errors import Errors
from .dropout import Dropout
from .encoder_config import EncoderConfig
from .feedforward import find_activation
from .norms import make_norm
from .packing import Packing


class Convolution(nn.Module):
    """Adds a convolution of a layer's input to its output, and normalises the sum.

    config: Sizes and activation.
    Raises ValueError for an even number of positions, or groups that do not divide the width.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        size, groups = config.convolution_width, config.convolution_groups
        if size % 2 == 0 or groups < 1 or config.width % groups:
            raise ValueError(Errors.E224.format(size=size, groups=groups, width=config.width))
        self.convolution = nn.Conv1d(config.width, config.width, size, padding=size // 2, groups=groups)
        self.activation = find_activation(config.convolution_activation)
        self.norm = make_norm(config, config.width)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, inputs: Tensor, mask: Tensor | None, packing: Packing | None) -> Tensor:
        """Convolve the inputs of a layer, and add them to its outputs x.

        See ``GraphSelfAttention.forward`` for shapes.
        """
        rows = inputs
        if packing is not None:
            rows, mask = packing.pad(inputs), packing.mask
        if mask is not None:
            rows = rows * mask[..., None]
        rows = self.convolution(rows.transpose(1, 2)).transpose(1, 2)
        y = rows if packing is None else packing.pack(rows)
        return self.norm(x + self.activation(self.dropout(y)))  # type: ignore[no-any-return]
