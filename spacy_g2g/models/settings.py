"""Checks of the settings that architectures share."""

from __future__ import annotations

from ..errors import Errors


def check_shared_settings(
    tag_attr: str | None,
    *,
    dropout: float,
    encoder_rate_factor: float,
    rate_factor: float = 1.0,
    unknown_share: float = 0.0,
) -> None:
    """Raise ValueError for a tag attribute that there is not, and for numbers out of range."""
    if tag_attr not in (None, "POS", "TAG"):
        raise ValueError(Errors.E408.format(tag_attr=tag_attr))
    for setting, share in {"dropout": dropout, "unknown_share": unknown_share}.items():
        if not 0.0 <= share < 1.0:
            raise ValueError(Errors.E409.format(setting=setting, value=share, expected="from 0 to below 1"))
    for setting, factor in {"encoder_rate_factor": encoder_rate_factor, "rate_factor": rate_factor}.items():
        if factor <= 0.0:
            raise ValueError(Errors.E409.format(setting=setting, value=factor, expected="above 0"))


def check_counts(**counts: int) -> None:
    """Raise ValueError for a setting below 1."""
    for setting, count in counts.items():
        if count < 1:
            raise ValueError(Errors.E409.format(setting=setting, value=count, expected="of 1 or more"))


def check_choice(setting: str, value: object, choices: tuple[object, ...]) -> None:
    """Raise ValueError for a value that is not one of the choices."""
    if value not in choices:
        raise ValueError(Errors.E412.format(setting=setting, value=value, choices=choices))
