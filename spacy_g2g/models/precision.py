"""Arithmetic of a network: 32-bit floats or bfloat16.

In bfloat16, matrix products round their inputs and outputs to 8 significant bits, and sum in 32 bits.
Weights, residual connections, norms, scores, probabilities and losses have 32 bits in either case.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch

from .settings import Precision


def has_bfloat16(device: torch.device) -> bool:
    """Return whether a device has instructions for products in bfloat16.

    A device that only emulates bfloat16, such as a T4, does not count. Neither does a CPU that PyTorch cannot
    check, such as one of ARM.
    """
    if device.type == "cuda":
        with torch.cuda.device(device):
            return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type != "cpu":
        return False
    return hasattr(torch.cpu, "_is_avx512_bf16_supported") and bool(torch.cpu._is_avx512_bf16_supported())


def uses_bfloat16(precision: Precision, device: torch.device) -> bool:
    """Return whether a network computes in bfloat16 on a device."""
    return precision == "bfloat16" or (precision == "auto" and has_bfloat16(device))


def arithmetic(precision: Precision, device: torch.device) -> contextlib.AbstractContextManager[Any]:
    """Return a context in which a network computes with a precision on a device."""
    if uses_bfloat16(precision, device):
        return torch.autocast(device.type, torch.bfloat16)
    return contextlib.nullcontext()
