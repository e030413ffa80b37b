"""A network as bytes: the specification that it is built from, and its weights as safetensors."""

from __future__ import annotations

from typing import Any

import srsly
import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor

from ..errors import Errors
from .network import NetworkSpec


def to_bytes(spec: NetworkSpec, weights: dict[str, Tensor], dtype: torch.dtype) -> bytes:
    """Return a specification and weights as bytes.

    dtype: Type of the saved weights. Weights with values that are too large for it keep their own type.
    """
    saved = {name: _convert(weight.detach().cpu().contiguous(), dtype) for name, weight in weights.items()}
    data: bytes = srsly.msgpack_dumps({"spec": spec.to_dict(), "weights": save_tensors(saved)})
    return data


def from_bytes(data: bytes) -> tuple[NetworkSpec, dict[str, Tensor]]:
    """Return the specification and the weights. Raises ValueError when the bytes are not those saved."""
    try:
        msg: dict[str, Any] = srsly.msgpack_loads(data)
        return NetworkSpec.from_dict(msg["spec"]), load_tensors(msg["weights"])
    except Exception as error:  # whatever damaged bytes lead to
        raise ValueError(Errors.E406.format(error=error)) from error


def _convert(weight: Tensor, dtype: torch.dtype) -> Tensor:
    converted = weight.to(dtype)
    return converted if bool(converted.isfinite().all()) else weight
