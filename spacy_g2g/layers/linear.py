"""Linear layers that predict faster on a CPU, with a copy of their weights in oneDNN's layout."""

import platform
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

#: oneDNN optimizes the layout of weights for this number of rows. Other numbers give the same results.
EXPECTED_ROWS = 512
#: Description of the CPU on Linux.
CPU_INFO = Path("/proc/cpuinfo")


class Linear(nn.Linear):
    """``nn.Linear`` with weights in oneDNN's layout where that is faster: in inference mode on a CPU.

    The first prediction makes a copy in that layout, as does the first one after the weights have changed.
    The copy is neither saved nor moved. Training and other devices never use it. PyTorch's fused optimizers
    do not mark weights as changed, so call ``train()`` after their steps: it drops the copy.
    """

    #: Version of the weights that were copied; weights and bias in oneDNN's layout.
    _copy: tuple[tuple[Any, ...], Tensor, Tensor | None] | None = None

    def forward(self, x: Tensor, activation: str = "none", algorithm: str = "") -> Tensor:
        """Transform vectors, [..., in_features] to [..., out_features].

        activation: Activation that oneDNN applies to the result; must be "none" unless ``is_packed()``.
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
        """Return whether the layer now computes with oneDNN."""
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
        version = (dtype, *((weight.data_ptr(), weight._version) for weight in parameters))
        if self._copy is None or self._copy[0] != version:
            weight, *bias = (parameter.detach().to(dtype) for parameter in parameters)
            packed = torch.ops.mkldnn._reorder_linear_weight(weight, EXPECTED_ROWS)
            self._copy = version, packed, bias[0] if bias else None
        return self._copy[1:]

    def train(self, mode: bool = True) -> "Linear":
        """Switch training mode on or off. Training mode drops the copy of the weights."""
        if mode:
            self._copy = None
        return super().train(mode)

    def _apply(self, *args: Any, **kwargs: Any) -> "Linear":
        self._copy = None
        return super()._apply(*args, **kwargs)  # type: ignore[no-untyped-call, no-any-return]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_copy"}


@cache
def has_onednn() -> bool:
    """Return whether this PyTorch has oneDNN and the operations used here."""
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

    It does on CPUs of AMD, where MKL is slow. The decision depends on the maker alone, since a timing could
    differ from process to process.
    """
    maker = CPU_INFO.read_text(encoding="utf8") if CPU_INFO.exists() else platform.processor()
    has_mkl: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]
    return has_mkl and "AuthenticAMD" in maker
