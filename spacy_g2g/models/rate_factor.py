"""A separate learning rate for a model of spaCy, such as a tagger on a transformer."""

from functools import partial
from typing import Any

from thinc.api import Model, Optimizer

from ..errors import Errors


class _ModelWithRate(Model[Any, Any]):
    """A model that passes its rate factor to the optimizer."""

    __slots__ = ()

    def finish_update(self, optimizer: Optimizer) -> None:
        """Make a step of the optimizer."""
        super().finish_update(partial(optimizer, lr_scale=self.attrs["rate_factor"]))  # type: ignore[arg-type]


def with_rate_factor(model: Model[Any, Any], factor: float) -> Model[Any, Any]:
    """Let a model of spaCy learn at a multiple of the optimizer's rate. Return the model.

    Registered as ``spacy_g2g.RateFactor.v1``. A head with random weights needs a higher rate than the
    pretrained transformer that it listens to. Our own architectures have ``rate_factor`` instead.

    model: Model, such as ``spacy.Tagger.v2``.
    factor: Learning rate of the model as a multiple of the optimizer's rate.
    Raises ValueError unless factor is above 0.
    """
    if factor <= 0:
        raise ValueError(Errors.E421.format(factor=factor))
    model.attrs["rate_factor"] = factor
    model.__class__ = _ModelWithRate
    return model
