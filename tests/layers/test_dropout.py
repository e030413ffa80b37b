import pytest
import torch

from spacy_g2g.layers.dropout import Dropout


@pytest.mark.parametrize("rate", [0.1, 0.33, 0.5])
def test_rate_and_scale_are_those_of_dropout(rate: float) -> None:
    y = Dropout(rate)(torch.ones(1000, 999))
    assert (y == 0).float().mean().item() == pytest.approx(rate, abs=1 / 256)
    assert y.mean().item() == pytest.approx(1.0, abs=0.01)
    assert len(y.unique()) == 2


def test_gradient_passes_where_values_passed() -> None:
    x = torch.randn(7, 13, requires_grad=True)
    y = Dropout(0.5)(x)
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad * x, y)


def test_values_are_dropped_independently() -> None:
    kept = (Dropout(0.5)(torch.ones(512, 512)) > 0).float()
    for shift in range(1, 9):
        both = (kept[:, shift:] * kept[:, :-shift]).mean().item()
        assert both == pytest.approx(0.25, abs=0.01)


def test_seed_reproduces() -> None:
    x, dropout = torch.ones(50, 50), Dropout(0.3)
    torch.manual_seed(1)
    first = dropout(x)
    torch.manual_seed(1)
    assert torch.equal(first, dropout(x))
    assert not torch.equal(first, dropout(x))


@pytest.mark.parametrize("dropout", [Dropout(0.0), Dropout(0.9).eval()])
def test_nothing_is_dropped_in_evaluation_or_at_rate_zero(dropout: Dropout) -> None:
    x = torch.randn(4, 5)
    assert torch.equal(dropout(x), x)


def test_rates_near_one_stay_finite() -> None:
    assert torch.isfinite(Dropout(0.999)(torch.ones(100, 100))).all()
