"""Modules without memory for their weights, to compare them with a file before allocating anything."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.overrides import TorchFunctionMode

from ..errors import Errors


class _SkipInitialization(TorchFunctionMode):
    """Context that does not initialize weights.

    Though they have no memory, PyTorch would import its compiler to fill them, which takes over a second.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__module__", "") == nn.init.__name__ or func in (Tensor.normal_, Tensor.uniform_):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


@contextmanager
def on_meta(most: int) -> Iterator[None]:
    """Build modules on the device "meta" within this context, where sizes cost neither memory nor time.

    most: Maximum number of parameters. A file whose config asks for more than it holds is damaged or hostile.
    Raises ValueError as soon as modules have more parameters.
    """
    thread, n_parameters = threading.get_ident(), 0

    def count(_module: nn.Module, _name: str, _parameter: nn.Parameter) -> None:
        nonlocal n_parameters
        if threading.get_ident() == thread:
            n_parameters += 1
            if n_parameters > most:
                raise ValueError(Errors.E217.format(n=most))

    hook = register_module_parameter_registration_hook(count)
    try:
        with torch.device("meta"), _SkipInitialization():
            yield
    finally:
        hook.remove()


def assign_weights(module: nn.Module, weights: dict[str, Tensor]) -> None:
    """Give weights to a module built on the device "meta", in the number types of the module.

    Raises RuntimeError for weights that are missing, unknown or of another shape.
    """
    types = {name: weight.dtype for name, weight in module.state_dict().items()}
    # PyTorch aligns the memory of a copy. Results may depend on the alignment.
    copies = {name: weight.to(types.get(name, weight.dtype), copy=True) for name, weight in weights.items()}
    module.load_state_dict(copies, assign=True)
