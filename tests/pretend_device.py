"""A second device without hardware: it computes on the CPU, but has tensors of its own, and counts transfers.

Within the context ``pretend_device`` PyTorch has a device, ``DEVICE``, whose tensors wrap CPU tensors. As on
a GPU, an operation on tensors of both devices raises RuntimeError, except that numbers (tensors without
dimensions) and indices may be on the CPU. Uploads go from the host to the device. Downloads go from the
device to the host, which must wait for them.

Nothing is registered with PyTorch, so other tests are not disturbed. A PrivateUse1 backend would stay
registered, would have to be registered before the process computes its first gradient, and would forbid
gradients after a fork. Here a dispatch mode catches all operations. The type of the device is ``lazy``:
PyTorch computes its gradients in the calling thread, and has no kernels for it, so an operation that is not
caught raises an error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

DEVICE = torch.device("lazy")
#: Operations that give the host what only the device knows: numbers, or shapes.
DOWNLOADING = {
    "aten::_local_scalar_dense",
    "aten::_unique2",
    "aten::bincount",
    "aten::equal",
    "aten::masked_select",
    "aten::nonzero",
    "aten::unique_consecutive",
    "aten::unique_dim",
}
INDEXING = {"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"}


@dataclass
class Transfers:
    """Numbers of transfers.

    uploads: From the host to the device.
    downloads: From the device to the host, which waits for them.
    """

    uploads: int = 0
    downloads: int = 0

    def take(self) -> tuple[int, int]:
        """Return uploads and downloads since the last call, or since the beginning."""
        taken = self.uploads, self.downloads
        self.uploads = self.downloads = 0
        return taken


class PretendTensor(Tensor):
    """A tensor on ``DEVICE``; ``raw`` is the CPU tensor that has its numbers."""

    raw: Tensor

    @staticmethod
    def __new__(cls, raw: Tensor, requires_grad: bool = False) -> PretendTensor:
        """Wrap a CPU tensor."""
        tensor: PretendTensor = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls,
            raw.shape,
            strides=raw.stride(),
            storage_offset=raw.storage_offset(),
            dtype=raw.dtype,
            device=DEVICE,
            requires_grad=requires_grad,
        )
        tensor.raw = raw
        return tensor

    def __repr__(self, *, tensor_contents: object = None) -> str:
        return f"{type(self).__name__}({self.raw})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise RuntimeError(f"{func}: a tensor of the pretended device outside of its context")


@contextmanager
def pretend_device() -> Iterator[Transfers]:
    """Pretend within this context that there is a second device; gives the transfers, which it counts."""
    autocast, tensor = torch.autocast, torch.tensor
    optimizers: Any = sys.modules[torch.optim.Optimizer.__module__]
    fused = [*optimizers._get_fused_kernels_supported_devices(), DEVICE.type]

    def make_tensor(*args: Any, device: Any = None, **kwargs: Any) -> Tensor:
        made = tensor(*args, **kwargs)
        return made if device is None else made.to(device)

    transfers = Transfers()
    with (
        # PyTorch looks up types of devices in lists, and makes tensors below the dispatch mode.
        patch.object(
            torch, "autocast", lambda kind, **k: autocast("cpu" if kind == DEVICE.type else kind, **k)
        ),
        patch.object(torch, "tensor", make_tensor),
        # Inference mode would hand over operations that are made of others undivided.
        patch.object(torch, "inference_mode", torch.no_grad),
        patch.object(optimizers, "_get_fused_kernels_supported_devices", lambda: fused),
        _Dispatch(transfers),
    ):
        yield transfers


class _Dispatch(TorchDispatchMode):
    """Computes on the CPU what is asked of the device, and counts transfers."""

    def __init__(self, transfers: Transfers) -> None:
        super().__init__()
        self.transfers = transfers

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = func._schema.name, dict(kwargs or {})
        leaves = tree_leaves((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        wrapped = [tensor for tensor in tensors if isinstance(tensor, PretendTensor)]
        if not (wrapped or any(isinstance(leaf, torch.device) and leaf == DEVICE for leaf in leaves)):
            return func(*args, **kwargs)
        if name == "aten::_to_copy":
            return self._copy(func, args[0], kwargs)
        if name == "aten::copy_":
            self._count(args[1], args[0])
        else:
            self._check(name, args, tensors)
        if kwargs.get("device") == DEVICE:
            kwargs["device"] = torch.device("cpu")
        result = func(*tree_map(_unwrap, args), **tree_map(_unwrap, kwargs))
        # What an operation changes in place keeps its wrapper.
        wrappers = {id(tensor.raw): tensor for tensor in wrapped}
        return tree_map(lambda x: wrappers[id(x)] if id(x) in wrappers else _wrap(x), result)

    def _copy(self, func: Callable[..., Tensor], source: Tensor, kwargs: dict[str, Any]) -> Tensor:
        """Copy a tensor, maybe to another device or type."""
        target = kwargs.pop("device", None) or source.device
        copied = func(_unwrap(source), **kwargs)
        copied = PretendTensor(copied) if target == DEVICE else copied
        self._count(source, copied)
        return copied

    def _count(self, source: Tensor, target: Tensor) -> None:
        self.transfers.uploads += isinstance(target, PretendTensor) and not isinstance(source, PretendTensor)
        self.transfers.downloads += isinstance(source, PretendTensor) and not isinstance(
            target, PretendTensor
        )

    def _check(self, name: str, args: Any, tensors: list[Tensor]) -> None:
        """Count what an operation transfers unasked; raise RuntimeError for tensors of two devices."""
        self.transfers.downloads += name in DOWNLOADING
        if name in INDEXING:
            indices = [index for index in args[1] if index is not None]
            # The shape of what a mask picks is not known to the host.
            self.transfers.downloads += any(index.dtype in (torch.bool, torch.uint8) for index in indices)
            if isinstance(args[0], PretendTensor):
                strangers = [index for index in indices if not isinstance(index, PretendTensor)]
                self.transfers.uploads += len(strangers)
                tensors = [x for x in tensors if not any(x is index for index in strangers)]
        for tensor in tensors:
            if not isinstance(tensor, PretendTensor) and tensor.ndim:
                raise RuntimeError(f"{name}: a CPU tensor {tuple(tensor.shape)} among tensors on {DEVICE}")


def _unwrap(x: Any) -> Any:
    return x.raw if isinstance(x, PretendTensor) else x


def _wrap(x: Any) -> Any:
    return PretendTensor(x) if isinstance(x, Tensor) else x
