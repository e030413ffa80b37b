"""Linear layers that compute by oneDNN give PyTorch's results, always of their present weights."""

import copy
import io
import platform
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from spacy_g2g.layers import linear
from spacy_g2g.layers.feedforward import ACTIVATIONS, FeedForward
from spacy_g2g.layers.linear import Linear, onednn_has_bfloat16, onednn_is_faster

pytestmark = pytest.mark.skipif(not linear.has_onednn(), reason="needs oneDNN, which this PyTorch lacks")
TOLERANCE = {torch.float32: 1e-5, torch.bfloat16: 5e-2}


@pytest.fixture(autouse=True)
def faster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "onednn_is_faster", lambda: True)


def make(bias: bool = True) -> Linear:
    torch.manual_seed(0)
    return Linear(32, 48, bias=bias).eval()


def predict(layer: nn.Module, x: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
        return layer(x)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", [(1, 32), (70, 32), (3, 5, 32)])
@pytest.mark.parametrize("bias", [True, False])
def test_results_are_those_of_pytorch(shape: tuple[int, ...], bias: bool, dtype: torch.dtype):
    layer, x = make(bias), torch.randn(shape)
    expected = nn.functional.linear(x, layer.weight, layer.bias)
    found = predict(layer, x, dtype)
    assert found.dtype == dtype
    assert (layer._copy is not None) == (dtype == torch.float32 or onednn_has_bfloat16())
    torch.testing.assert_close(found.float(), expected, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_are_those_of_pytorch(activation: str, gated: bool):
    layer, x = FeedForward(32, 64, activation, gated=gated, bias=not gated).eval(), torch.randn(7, 32)
    torch.testing.assert_close(predict(layer, x), layer(x), atol=1e-5, rtol=1e-5)


def test_weights_that_have_changed_count():
    layer, x = make(), torch.randn(4, 32)
    optimizer = torch.optim.AdamW(layer.parameters())

    def step() -> None:
        layer(x).sum().backward()
        optimizer.step()

    other = copy.deepcopy(layer.state_dict())
    changes = (step, step, lambda: layer.load_state_dict(other), lambda: layer.double().float())
    for change in changes:
        before = predict(layer, x)
        change()
        torch.testing.assert_close(predict(layer, x), layer(x), atol=1e-5, rtol=1e-5)
        if change is step:
            assert not torch.equal(before, predict(layer, x))


def test_training_drops_the_copy_and_never_uses_it():
    layer, x = make(), torch.randn(4, 32)
    predict(layer, x)
    layer.train()
    assert layer._copy is None
    assert layer(x).requires_grad
    assert layer._copy is None


def test_the_copy_is_not_saved():
    layer, x = make(), torch.randn(4, 32)
    expected = predict(layer, x)
    assert set(layer.state_dict()) == {"weight", "bias"}
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    for kept in (copy.deepcopy(layer), torch.load(file, weights_only=False)):
        assert kept._copy is None
        assert torch.equal(predict(kept, x), expected)


def test_float32_is_left_to_pytorch_where_onednn_is_not_faster(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(linear, "onednn_is_faster", lambda: False)
    layer, x = make(), torch.randn(4, 32)
    predict(layer, x)
    assert layer._copy is None
    predict(layer, x, torch.bfloat16)
    assert (layer._copy is not None) == onednn_has_bfloat16()


def test_bfloat16_is_left_to_pytorch_where_onednn_lacks_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(linear, "onednn_has_bfloat16", lambda: False)
    layer, x = FeedForward(32, 64, "gelu").eval(), torch.randn(7, 32)
    with torch.autocast("cpu", torch.bfloat16):
        expected = layer(x)
    assert torch.equal(predict(layer, x, torch.bfloat16), expected)


@pytest.mark.parametrize(("maker", "expected"), [("AuthenticAMD", True), ("GenuineIntel", False)])
@pytest.mark.parametrize("has_file", [True, False])
def test_onednn_takes_float32_on_cpus_of_amd(
    maker: str, expected: bool, has_file: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "cpuinfo"
    if has_file:
        file.write_text(f"vendor_id\t: {maker}\n")
    monkeypatch.setattr(linear, "CPU_INFO", file)
    monkeypatch.setattr(platform, "processor", lambda: "" if has_file else f"AMD64 Family 25, {maker}")
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: True)
    assert onednn_is_faster.__wrapped__() == expected
