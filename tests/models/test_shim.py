"""The seam of Thinc and PyTorch: weights that are kept whole."""

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest
import torch
from thinc.api import Adam

from spacy_g2g.layers import linear
from spacy_g2g.models.settings import Precision
from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.syntr import build_syntr
from spacy_g2g.models.types import ParserModel

from ..util import TINY_MODEL, weights_of
from .tiny_syntr import GOLD, SENTENCES, changes, learn, make, step


def through_bytes(model: ParserModel) -> ParserModel:
    return build_syntr(**TINY_MODEL).from_bytes(model.to_bytes())  # type: ignore[arg-type]


def through_pickle(model: ParserModel) -> ParserModel:
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("keep", [through_bytes, through_pickle, copy.deepcopy, lambda model: model.copy()])
def test_a_kept_model_parses_alike_and_lives_on_its_own(keep: Callable[[ParserModel], ParserModel]):
    model, _ = make()
    step(model, Adam(0.01))
    kept = keep(model)
    for found, expected in zip(kept.predict(SENTENCES), model.predict(SENTENCES), strict=True):
        assert np.array_equal(found.tree.heads, expected.tree.heads)
        assert np.array_equal(found.head_probs, expected.head_probs)
    before = weights_of(model)
    step(kept, Adam(0.01))
    assert any(changes(before, kept).values())
    assert not any(changes(before, model).values())


def test_the_same_model_gives_the_same_bytes():
    model, _ = make()
    assert model.to_bytes() == through_bytes(model).to_bytes()


def test_a_model_that_is_not_initialized_is_kept_as_such():
    model = build_syntr(**TINY_MODEL)  # type: ignore[arg-type]
    for kept in (through_bytes(model), through_pickle(model), model.copy()):
        assert get_shim(kept).spec is None


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_bytes_that_are_not_whole_are_an_error(share: float):
    data = make()[1].to_bytes()
    _, shim = make()
    with pytest.raises(ValueError, match="E406"):
        shim.from_bytes(data[: max(1, int(len(data) * share))])


def test_weights_of_other_sizes_are_an_error():
    data = make()[1].to_bytes()
    other = get_shim(build_syntr(arc_width=8, label_width=8))
    with pytest.raises(ValueError, match=r"E406(.|\n)*size mismatch"):
        other.from_bytes(data)


def test_a_loss_that_is_not_finite_is_an_error_and_reaches_no_weights():
    model, shim = make()
    with torch.no_grad():
        shim.network.scorer.arc_weight.fill_(float("nan"))  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"E410.*nan"):
        learn(model)
    assert shim.n_targets == 0


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_parses_between_loss_and_step_keep_no_old_weights(
    precision: Precision, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(linear, "onednn_is_faster", lambda: True)
    model, shim = make(precision=precision)
    _, backprop = model.begin_update((SENTENCES, GOLD))
    backprop(None)
    before = model.predict(SENTENCES)
    shim.finish_update(Adam(0.1))
    found = model.predict(SENTENCES)
    assert not np.array_equal(found[0].head_probs, before[0].head_probs)
    kept = make(precision=precision)[0].from_bytes(model.to_bytes())
    for parse, expected in zip(found, kept.predict(SENTENCES), strict=True):
        assert np.allclose(parse.head_probs, expected.head_probs, atol=1e-6)


def test_a_network_moves_to_the_device_of_thinc(monkeypatch: pytest.MonkeyPatch):
    model, shim = make()
    step(model, Adam(0.01))
    optimizer, devices = shim.adamw, list[torch.device]()
    monkeypatch.setattr(shim.network, "to", devices.append)
    shim.to_device("gpu", 1)
    shim.to_device("cpu", 0)
    assert devices == [torch.device("cuda", 1), torch.device("cpu")]
    assert shim.adamw is not optimizer


def test_no_sentences_have_no_vectors():
    _, shim = make()
    assert shim.encode([]).shape == (0, shim.known_spec.width)
