"""Normalisation of vectors."""

from torch import nn

from ..errors import Errors
from .encoder_config import EncoderConfig

NORMS = ("layer", "rms")


def make_norm(config: EncoderConfig, width: int) -> nn.Module:
    """Return a norm of the kind that an encoder has, for vectors of some width.

    Raises ValueError for an unknown kind.
    """
    if config.norm == "layer":
        return nn.LayerNorm(width, eps=config.layer_norm_eps, bias=config.norm_bias)
    if config.norm == "rms":
        return nn.RMSNorm(width, eps=config.layer_norm_eps)
    raise ValueError(Errors.E221.format(found=config.norm, known=", ".join(NORMS)))
