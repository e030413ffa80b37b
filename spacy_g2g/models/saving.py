"""A network as bytes: the specification that it is built from, and its weights as safetensors."""

from __future__ import annotations

import json
from hashlib import sha256
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

    dtype: Type of the saved weights. Weights with values that exceed it keep their own type.
    """
    saved = {name: _convert(weight.detach().cpu().contiguous(), dtype) for name, weight in weights.items()}
    fields, content = spec.to_dict(), save_tensors(saved)
    digest = digest_of(fields, content)
    data: bytes = srsly.msgpack_dumps({"spec": fields, "weights": content, "sha256": digest})
    return data


def from_bytes(data: bytes) -> tuple[NetworkSpec, dict[str, Tensor]]:
    """Return the specification and the weights. Raises ValueError for bytes other than those saved."""
    try:
        msg: dict[str, Any] = srsly.msgpack_loads(data)
        if msg.get("sha256") != digest_of(msg["spec"], msg["weights"]):
            raise ValueError(Errors.E430)
        return NetworkSpec.from_dict(msg["spec"]), load_tensors(msg["weights"])
    except Exception as error:  # damaged bytes may lead to any error
        raise ValueError(Errors.E406.format(error=error)) from error


def digest_of(spec: dict[str, Any], weights: bytes) -> str:
    """Return the SHA-256 of a specification and weights, which detects damage but not an attack."""
    digest = sha256(json.dumps(spec, sort_keys=True).encode())
    digest.update(weights)
    return digest.hexdigest()


def _convert(weight: Tensor, dtype: torch.dtype) -> Tensor:
    converted = weight.to(dtype)
    return converted if bool(converted.isfinite().all()) else weight
