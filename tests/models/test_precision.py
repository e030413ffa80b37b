"""Arithmetic of networks: 32-bit floats and bfloat16."""

from pathlib import Path

import pytest
import spacy
import torch
from thinc.api import Adam, fix_random_seed

from spacy_g2g.models import precision
from spacy_g2g.models.precision import uses_bfloat16
from spacy_g2g.models.settings import Precision
from spacy_g2g.models.shim import G2GShim

from ..util import parser_of, treebank_docs, weights_of
from .systems import GOLD, SENTENCES
from .test_contract import MAKE
from .tiny_syntr import changes

CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("setting", "is_native", "expected"),
    [("float32", True, False), ("bfloat16", False, True), ("auto", True, True), ("auto", False, False)],
)
def test_auto_is_bfloat16_where_it_is_native(
    setting: Precision, is_native: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(precision, "has_bfloat16", lambda device: is_native)
    assert uses_bfloat16(setting, CPU) == expected


@pytest.mark.parametrize("emulates", [False, True])
def test_a_gpu_that_emulates_bfloat16_does_not_have_it(emulates: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, "device", lambda device: torch.device("cpu"))
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: not emulates)
    assert precision.has_bfloat16(torch.device("cuda")) != emulates


@pytest.mark.parametrize("has", [False, True])
def test_pytorch_knows_whether_the_cpu_has_bfloat16(has: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: has)
    assert precision.has_bfloat16(CPU) == has


def test_devices_that_are_not_known_compute_in_float32():
    assert not precision.has_bfloat16(torch.device("meta"))


@pytest.mark.parametrize("name", ["SynTr", "RNGTr", "SentTr+G2GTr", "StateTr+G2GTr+C", "Stack-a"])
def test_losses_in_bfloat16_are_nearly_those_in_float32(name: str):
    model, shim = MAKE[name]()

    def update(precision: Precision) -> tuple[float, float]:
        fix_random_seed(0)
        shim.precision = precision
        loss, backprop = model.begin_update((SENTENCES, GOLD))
        backprop(None)
        gradients = [weight.grad for weight in shim.network.parameters() if weight.grad is not None]
        assert {gradient.dtype for gradient in gradients} == {torch.float32}
        norm = float(torch.stack([gradient.norm() for gradient in gradients]).norm())
        before = weights_of(model)
        model.finish_update(Adam(1e-30))
        assert max(changes(before, model).values()) < 1e-20
        return float(loss), norm

    exact, rounded = update("float32"), update("bfloat16")
    assert rounded == pytest.approx(exact, rel=0.05)
    assert rounded[0] != exact[0]


def test_precision_is_changed_on_the_component_and_when_loading(trained_folder: Path):
    setting = "components.g2g_parser.model.precision"
    nlp = spacy.load(trained_folder, config={setting: "bfloat16"})
    parser = parser_of(nlp)
    assert parser.precision == "bfloat16"
    products = set()

    def note(_: torch.nn.Module, inputs: tuple[torch.Tensor], output: torch.Tensor) -> None:
        products.add(output.dtype)

    shim = parser.model.shims[0]
    assert isinstance(shim, G2GShim)
    shim.network.encoder.layers[0].feedforward.register_forward_hook(note)  # type: ignore[union-attr, operator]
    for value in ("bfloat16", "float32"):
        parser.precision = value  # type: ignore[assignment]
        (parse, *_) = parser.predict(treebank_docs(nlp.vocab)).parses
        assert parse.head_probs.dtype == "float32"
    assert products == {torch.bfloat16, torch.float32}
    for unknown in ("float16", "half", "fp32", None):
        with pytest.raises(ValueError, match=rf"E411\] precision is {unknown!r}.*'bfloat16'"):
            parser.precision = unknown
    assert parser.precision == "float32"
