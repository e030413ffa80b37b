"""Checks of an encoder's configuration that comes from a file."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..errors import Errors
from .encoder_config import EncoderConfig

#: Smallest values of fields that count something; other numbers are 0 or more.
LEAST = {
    "vocab_size": 1,
    "width": 1,
    "embedding_width": 1,
    "n_layers": 1,
    "n_attention_heads": 1,
    "hidden_width": 1,
    "global_every": 1,
    "n_positions": 8,
}
RATES = ("dropout", "attention_dropout")


class UnfitSettingError(ValueError):
    """A setting of config.json that no encoder of ours has."""

    def __init__(self, key: str, found: object, expected: str) -> None:
        super().__init__(key, found, expected)
        self.key, self.found, self.expected = key, found, expected


def checked_config(values: Mapping[str, Any]) -> EncoderConfig:
    """Return the configuration with some values.

    Raises ValueError for a value of another type or out of range, and TypeError for an unknown field.
    """
    config = EncoderConfig(**values)
    for field in fields(config):
        value = getattr(config, field.name)
        expected = _expected(field.name, field.type, value)
        if expected:
            raise ValueError(Errors.E218.format(setting=field.name, value=value, expected=expected))
    head_width = config.width // config.n_attention_heads
    if (config.rotary_base or config.local_rotary_base) and head_width % 2:
        raise ValueError(
            Errors.E218.format(
                setting="head width", value=head_width, expected="an even number, for rotary positions"
            )
        )
    if config.width % config.n_attention_heads:
        raise ValueError(Errors.E204.format(width=config.width, n_heads=config.n_attention_heads))
    return config


def _expected(name: str, kind: Any, value: Any) -> str:
    """Say what a field may be, if it is not; else return ""."""
    if kind in (str, bool):
        return "" if isinstance(value, kind) else f"a value of type {kind.__name__}"
    is_number = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    least, most = LEAST.get(name, 0), 1 if name in RATES else math.inf
    is_right = is_number and least <= value <= most and value < math.inf
    limits = f"from {least} to {most}" if name in RATES else f"of {least} or more"
    return "" if is_right else f"a{' whole' if kind is int else ''} number {limits}"
