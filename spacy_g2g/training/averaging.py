"""Training logger that averages the weights of the best evaluations.

Source: Junczys-Dowmunt, Dwojak & Sennrich (2016). The AMU-UEDIN Submission to the WMT16 News Translation
Task.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from spacy.language import Language
from spacy.training.loggers import console_logger
from thinc.api import Model

from ..errors import Errors

if TYPE_CHECKING:
    from torch import nn

#: Weights of a pipeline by name: arrays of Thinc and tensors of PyTorch.
Weights = dict[str, Any]
LogStep = Callable[[dict[str, Any] | None], None]
Logger = Callable[[Language, IO[str], IO[str]], tuple[LogStep, Callable[[], None]]]


def make_average_best(n: int = 3, progress_bar: bool = False) -> Logger:
    """Make the logger ``spacy_g2g.average_best.v1``, a console logger that also averages weights.

    The logger keeps copies of all trained weights from the best evaluations in memory. At the end of training
    it gives the pipeline their mean, which is saved as ``model-last``. ``model-best`` still has the weights
    of the best evaluation. The scores in the meta of ``model-last`` belong to the last evaluation, not to the
    mean.

    n: Number of evaluations to average. Among equal scores, later evaluations are preferred.
    progress_bar: Show a progress bar, as ``spacy.ConsoleLogger.v1`` does.
    Raises ValueError if n is below 1.
    """
    if n < 1:
        raise ValueError(Errors.E408.format(setting="n", value=n, expected="of 1 or more"))

    def setup(
        nlp: Language, stdout: IO[str] = sys.stdout, stderr: IO[str] = sys.stderr
    ) -> tuple[LogStep, Callable[[], None]]:
        log_console, finalize_console = console_logger(progress_bar)(nlp, stdout, stderr)
        best: list[tuple[float, Weights]] = []
        trained = [component for name, component in nlp.pipeline if hasattr(component, "model")]

        def log_step(info: dict[str, Any] | None) -> None:
            log_console(info)
            if info is None:
                return
            score = float(info["score"])
            if len(best) < n or score >= best[-1][0]:
                rank = next((i for i, (other, _) in enumerate(best) if score >= other), len(best))
                best.insert(rank, (score, copy_weights(trained)))
                del best[n:]

        def finalize() -> None:
            finalize_console()
            if best:
                set_weights(trained, mean_weights([weights for _, weights in best]))

        return log_step, finalize

    return setup


def copy_weights(components: Sequence[Any]) -> Weights:
    """Return copies of all trained weights on the CPU, by name."""
    weights: Weights = {}
    for key, node, name in _parameters(components):
        weights[key] = node.ops.to_numpy(node.get_param(name)).copy()  # type: ignore[no-untyped-call]
    for key, module in _modules(components):
        for name, parameter in module.named_parameters():
            if parameter.requires_grad:
                # `cpu` alone does not copy a tensor that is on the CPU already.
                weights[f"{key}.{name}"] = parameter.detach().cpu().clone()
    return weights


def set_weights(components: Sequence[Any], weights: Mapping[str, Any]) -> None:
    """Set the weights of components to copied weights or to a mean of copied weights."""
    import torch

    for key, node, name in _parameters(components):
        node.set_param(name, node.ops.asarray_f(weights[key]))
    for key, module in _modules(components):
        for name, parameter in module.named_parameters():
            if parameter.requires_grad:
                # Unlike a change of `data`, this counts as one: copies in another layout are made anew.
                with torch.no_grad():
                    parameter.copy_(weights[f"{key}.{name}"])


def mean_weights(weights: Sequence[Mapping[str, Any]]) -> Weights:
    """Return the mean of several copies of a pipeline's weights."""
    return {name: sum(each[name] for each in weights) / len(weights) for name in weights[0]}


def _nodes(components: Sequence[Any]) -> Iterator[tuple[str, Model[Any, Any]]]:
    """Yield the layers of all components with a name for each."""
    for number, component in enumerate(components):
        for index, node in enumerate(component.model.walk()):
            yield f"{number}.{index}", node


def _parameters(components: Sequence[Any]) -> Iterator[tuple[str, Model[Any, Any], str]]:
    """Yield Thinc's parameters as key, layer and name."""
    for key, node in _nodes(components):
        for name in node.param_names:
            if node.has_param(name):
                yield f"{key}.{name}", node, name


def _modules(components: Sequence[Any]) -> Iterator[tuple[str, nn.Module]]:
    """Yield the PyTorch modules of shims with a key for each."""
    for key, node in _nodes(components):
        for index, shim in enumerate(node.shims):
            module: Any = getattr(shim, "_model", None)
            if hasattr(module, "named_parameters"):
                yield f"{key}.{index}", module
