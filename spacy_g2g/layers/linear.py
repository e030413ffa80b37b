"""Linear layers that predict faster on a CPU, by a copy of their weights in the layout of oneDNN."""

import platform
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

#: Number of rows that the layout of weights is made for. Other numbers give the same results.
EXPECTED_ROWS = 512
#: What Linux knows of the CPU.
CPU_INFO = Path("/proc/cpuinfo")


class Linear(nn.Linear):
    """``nn.Linear`` with weights in oneDNN's layout where that is faster: in inference mode on a CPU.

    Weights are brought into that layout in the first prediction, and again after they have changed. This copy
    is neither saved nor moved. Training and other devices never use it. PyTorch does not tell of changes by
    its fused optimizers, so ``train()`` must follow their steps; it drops the copy.
    """

    #: What tells whether these are the layer's weights still; weights and bias in oneDNN's layout.
    _kept: tuple[tuple[Any, ...], Tensor, Tensor | None] | None = None

    def forward(self, x: Tensor, activation: str = "none", algorithm: str = "") -> Tensor:
        """Transform vectors, [..., in_features] to [..., out_features].

        activation: Activation that oneDNN applies to the result if ``is_packed()``; else it must be "none".
        algorithm: Variant of the activation.
        """
        if not self.is_packed():
            return super().forward(x)
        dtype = torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32
        weight, bias = self._weights(dtype)
        result: Tensor = torch.ops.mkldnn._linear_pointwise(
            x.to(dtype), weight, bias, activation, [], algorithm
        )
        return result

    def is_packed(self) -> bool:
        """Return whether the layer computes by oneDNN now."""
        if not torch.is_inference_mode_enabled() or self.weight.device.type != "cpu":
            return False
        if self.weight.is_inference() or self.weight.dtype != torch.float32 or not has_onednn():
            return False
        if torch.is_autocast_enabled("cpu"):
            return torch.get_autocast_dtype("cpu") == torch.bfloat16 and onednn_has_bfloat16()
        return onednn_is_faster()

    def _weights(self, dtype: torch.dtype) -> tuple[Tensor, Tensor | None]:
        """Return weights and bias in oneDNN's layout."""
        parameters = [self.weight] if self.bias is None else [self.weight, self.bias]
        origin = (dtype, *((weight.data_ptr(), weight._version) for weight in parameters))
        if self._kept is None or self._kept[0] != origin:
            weight, *bias = (parameter.detach().to(dtype) for parameter in parameters)
            packed = torch.ops.mkldnn._reorder_linear_weight(weight, EXPECTED_ROWS)
            self._kept = origin, packed, bias[0] if bias else None
        return self._kept[1:]

    def train(self, mode: bool = True) -> "Linear":
        """Switch training mode on or off. Training needs no copy of the weights."""
        if mode:
            self._kept = None
        return super().train(mode)

    def _apply(self, *args: Any, **kwargs: Any) -> "Linear":
        self._kept = None
        return super()._apply(*args, **kwargs)  # type: ignore[no-untyped-call, no-any-return]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_kept"}


@cache
def has_onednn() -> bool:
    """Return whether this PyTorch has oneDNN and the operations that are needed."""
    names = ("_reorder_linear_weight", "_linear_pointwise")
    available: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return available and all(hasattr(torch.ops.mkldnn, name) for name in names)


@cache
def onednn_has_bfloat16() -> bool:
    """Return whether oneDNN multiplies in bfloat16 on this CPU. PyTorch itself does so on every CPU."""
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


@cache
def onednn_is_faster() -> bool:
    """Return whether oneDNN multiplies 32-bit floats faster than PyTorch's own library.

    That is so on CPUs of AMD, where MKL is slow. The maker is asked, since a trial could end differently in
    each process.
    """
    maker = CPU_INFO.read_text(encoding="utf8") if CPU_INFO.exists() else platform.processor()
    has_mkl: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    return has_mkl and "AuthenticAMD" in maker
