"""The logger ``spacy_g2g.average_best.v1``: model-last is the mean of the best evaluations' weights.

Averages of checkpoints: Junczys-Dowmunt, Dwojak & Sennrich 2016, "The AMU-UEDIN Submission to the WMT16 News
Translation Task".
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

#: Weights of a pipeline by their names: arrays of Thinc and tensors of PyTorch.
Weights = dict[str, Any]
LogStep = Callable[[dict[str, Any] | None], None]
Logger = Callable[[Language, IO[str], IO[str]], tuple[LogStep, Callable[[], None]]]


def make_average_best(n: int = 3, progress_bar: bool = False) -> Logger:
    """Registered as ``spacy_g2g.average_best.v1``, for ``[training.logger]``: the console logger, and more.

    It keeps the weights of the best evaluations in memory, of all that is trained, and at the end of training
    gives the pipeline their mean, so that ``model-last`` has it. ``model-best`` is the best evaluation's, as
    ever; the scores in the meta of ``model-last`` are those of the last evaluation, not of the mean.
    n: how many evaluations; of equal ones the later.
    progress_bar: as of ``spacy.ConsoleLogger.v1``.
    Raises ValueError for a number below 1.
    """
    if n < 1:
        raise ValueError(Errors.E409.format(setting="n", value=n, expected="of 1 or more"))

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
                place = next((i for i, (other, _) in enumerate(best) if score >= other), len(best))
                best.insert(place, (score, copy_weights(trained)))
                del best[n:]

        def finalize() -> None:
            finalize_console()
            if best:
                set_weights(trained, mean_weights([weights for _, weights in best]))

        return log_step, finalize

    return setup


def copy_weights(components: Sequence[Any]) -> Weights:
    """Copies of all weights that are trained, on the CPU."""
    weights: Weights = {}
    for key, node, name in _parameters(components):
        weights[key] = node.ops.to_numpy(node.get_param(name)).copy()  # type: ignore[no-untyped-call]
    for key, module in _modules(components):
        for name, parameter in module.named_parameters():
            if parameter.requires_grad:
                # A copy in any case: on the CPU `cpu` gives the tensor itself.
                weights[f"{key}.{name}"] = parameter.detach().cpu().clone()
    return weights


def set_weights(components: Sequence[Any], weights: Mapping[str, Any]) -> None:
    """Give components weights that were copied from them, or their mean."""
    for key, node, name in _parameters(components):
        node.set_param(name, node.ops.asarray_f(weights[key]))
    for key, module in _modules(components):
        for name, parameter in module.named_parameters():
            if parameter.requires_grad:
                parameter.data.copy_(weights[f"{key}.{name}"])


def mean_weights(weights: Sequence[Mapping[str, Any]]) -> Weights:
    """The mean of several weights of one pipeline."""
    return {name: sum(each[name] for each in weights) / len(weights) for name in weights[0]}


def _nodes(components: Sequence[Any]) -> Iterator[tuple[str, Model[Any, Any]]]:
    """The layers of all components, with a name each."""
    for number, component in enumerate(components):
        for place, node in enumerate(component.model.walk()):
            yield f"{number}.{place}", node


def _parameters(components: Sequence[Any]) -> Iterator[tuple[str, Model[Any, Any], str]]:
    """The parameters of Thinc."""
    for key, node in _nodes(components):
        for name in node.param_names:
            if node.has_param(name):
                yield f"{key}.{name}", node, name


def _modules(components: Sequence[Any]) -> Iterator[tuple[str, nn.Module]]:
    """The modules of PyTorch, of shims that have one."""
    for key, node in _nodes(components):
        for place, shim in enumerate(node.shims):
            module: Any = getattr(shim, "_model", None)
            if hasattr(module, "named_parameters"):
                yield f"{key}.{place}", module
