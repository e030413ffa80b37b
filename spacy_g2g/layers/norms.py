"""Normalization of vectors."""

from torch import nn

from .encoder_config import EncoderConfig


def make_norm(config: EncoderConfig, width: int) -> nn.Module:
    """Return a norm of the kind that an encoder has, for vectors of some width."""
    if config.norm == "rms":
        return nn.RMSNorm(width, eps=config.layer_norm_eps)
    return nn.LayerNorm(width, eps=config.layer_norm_eps, bias=config.norm_bias)
