"""A learning rate of its own for a model of spaCy."""

import numpy as np
import pytest
from thinc.api import Linear, Optimizer

from spacy_g2g.models.rate_factor import with_rate_factor


def moved(factor: float) -> float:
    """Return how far one step moves the weights of a layer."""
    layer = with_rate_factor(Linear(2, 3), factor)
    layer.initialize()
    before = layer.get_param("W").copy()
    _, backprop = layer.begin_update(np.ones((4, 3), dtype="f"))
    backprop(np.ones((4, 2), dtype="f"))
    layer.finish_update(Optimizer(0.01, L2=0.0, grad_clip=0.0))
    return float(np.abs(layer.get_param("W") - before).mean())


def test_a_step_is_longer_by_the_factor():
    assert moved(10.0) == pytest.approx(10 * moved(1.0), rel=1e-4)


def test_a_factor_that_is_not_positive_is_an_error():
    with pytest.raises(ValueError, match=r"E421.*0"):
        with_rate_factor(Linear(2, 3), 0)
