"""Convolution beside the first layer of an encoder (the larger models of DeBERTa-v2)."""

from torch import Tensor, nn

from .dropout import Dropout
from .encoder_config import EncoderConfig, SideConvolution
from .feedforward import find_activation
from .geometry import Geometry
from .norms import make_norm


class Convolution(nn.Module):
    """Convolution of a layer's input, which is added to the layer's output before a norm.

    config: Sizes of the encoder.
    sizes: Sizes and activation of the convolution.
    """

    def __init__(self, config: EncoderConfig, sizes: SideConvolution) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(
            config.width,
            config.width,
            sizes.convolution_width,
            padding=sizes.convolution_width // 2,
            groups=sizes.convolution_groups,
        )
        self.activation, _ = find_activation(sizes.convolution_activation)
        self.norm = make_norm(config, config.width)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, inputs: Tensor, geometry: Geometry) -> Tensor:
        """Convolve the inputs of a layer, and add them to its outputs x.

        See ``GraphSelfAttention.forward`` for shapes.
        """
        packing = geometry.packing
        rows = inputs if packing is None else packing.pad(inputs)
        if geometry.mask is not None:
            rows = rows * geometry.mask[..., None]
        rows = self.convolution(rows.transpose(1, 2)).transpose(1, 2)
        y = rows if packing is None else packing.pack(rows)
        return self.norm(x + self.activation(self.dropout(y)))  # type: ignore[no-any-return]
