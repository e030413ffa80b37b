"""Networks that score their input, and that a component trains beside its encoder.

They are PyTorch modules, not Thinc layers, so that a pipeline has one kind of weights, one optimizer and one
arithmetic. Thinc has neither dilated convolutions nor a sum of vectors with dropout of single features. Its
``HashEmbed`` hashes in another way, so it can't load the weights of earlier pipelines. A network of sentence
boundaries from Thinc's layers took twice the time, for about the same F1 in four languages.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from thinc.api import Model, torch2xp
from torch import Tensor

from .forks import computing
from .network import NetworkSpec, WordNetwork
from .network_shim import NetworkShim, get_network_shim
from .settings import NetworkSettings


class ScoringNetwork(WordNetwork, ABC):
    """Network with scores as its output."""

    @abstractmethod
    def forward(self, inputs: Any) -> Tensor:
        """Return the scores, float32."""

    @abstractmethod
    def loss(self, scores: Tensor, gold: Any) -> Tensor:
        """Return the loss of scores, a sum."""


class ScoringShim(NetworkShim[ScoringNetwork]):
    """Runs a network that scores."""

    def predict(self, inputs: Any) -> Any:
        """Return the scores as an array."""
        network = self.network.eval()
        with torch.inference_mode(), self.arithmetic():
            return torch2xp(network(inputs))

    def begin_update(self, inputs: tuple[Any, Any]) -> tuple[float, Callable[[Any], None]]:
        """Return the loss, and a callback that adds its gradient to the parameters.

        inputs: The input of the network, and the gold standard.
        """
        network = self.network.train()
        with self.arithmetic():
            scores = network(inputs[0])
        loss = network.loss(scores, inputs[1])

        def backprop(_: Any) -> None:
            loss.backward()  # type: ignore[no-untyped-call]
            # Clip the sum, not the mean, so that all updates have the same weight.
            self.n_targets = 1

        return float(loss.detach()), backprop


def make_side_network(
    name: str,
    build: Callable[[NetworkSpec], ScoringNetwork],
    settings: NetworkSettings,
    spec_of: Callable[[Any], NetworkSpec],
    **attrs: Any,
) -> Model[Any, Any]:
    """Make the Thinc model around a network that scores.

    name: Name of the model.
    build: Makes the network from its specification.
    settings: Settings of the network.
    spec_of: Returns the specification for ``X`` of ``model.initialize``. A loaded model gets no ``X`` and
        keeps its network.
    attrs: Attributes of the model.
    """
    shim = ScoringShim(
        build,
        pretrained_factor=settings.pretrained_factor,
        rate_factor=settings.rate_factor,
        precision=settings.precision,
    )
    return Model(name, _score, init=partial(_build, spec_of), shims=[shim], attrs=attrs)


def _build(
    spec_of: Callable[[Any], NetworkSpec],
    model: Model[Any, Any],
    X: Any = None,  # noqa: N803
    Y: Any = None,  # noqa: ARG001, N803
) -> None:
    if X is not None:
        get_network_shim(model, ScoringShim).build_network(spec_of(X))


@computing
def _score(model: Model[Any, Any], inputs: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    """Return scores. In training, return the loss of inputs with their gold standard, and its callback."""
    shim = get_network_shim(model, ScoringShim)
    return shim.begin_update(inputs) if is_train else (shim.predict(inputs), lambda d_scores: d_scores)
