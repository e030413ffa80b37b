"""The Thinc model around a network."""

from typing import Any

import numpy as np
import pytest
import torch
from thinc.api import Adam, Linear, Model

from spacy_g2g.amr.models.amr_transformer import AmrTransformer, AmrTransformerSettings
from spacy_g2g.models.model import make_model
from spacy_g2g.models.network import Network
from spacy_g2g.models.rngtr import RNGTr, RNGTrSettings
from spacy_g2g.models.shim import get_shim
from spacy_g2g.models.syntr import SynTr, SynTrSettings, build_syntr
from spacy_g2g.models.types import Arcs
from spacy_g2g.transition.models.sent_tr import SentTr, SentTrSettings
from spacy_g2g.transition.models.stack_transformer import StackTransformer, StackTransformerSettings

from ..util import TINY_MODEL, weights_of
from .tiny_syntr import GOLD, SENTENCES, changes, learn, make, step


def test_a_model_of_another_kind_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"E407.*'linear'"):
        get_shim(Linear())


def abilities(model: Model[Any, Any]) -> tuple[bool, ...]:
    """Whether a model meets constraints, scores arcs, reads priors, and can't learn from all trees."""
    attrs = model.attrs
    flags = tuple(attrs[name] for name in ("meets_constraints", "scores_arcs", "reads_prior"))
    return (*flags, attrs["can_learn"] is not None)


def test_a_network_that_declares_nothing_meets_no_constraints_and_reads_no_prior():
    class New(Network[Any]):
        """A network by CONTRIBUTING.md."""

    model = make_model("new", New, RNGTrSettings(prior_share=0.5))
    assert abilities(model) == (False, False, False, False)
    for network, settings, expected in (
        (RNGTr, RNGTrSettings(), (True, True, True, False)),
        (RNGTr, RNGTrSettings(prior_share=0.0), (True, True, False, False)),
        (SynTr, SynTrSettings(), (True, True, False, False)),
        (SentTr, SentTrSettings(), (False, False, False, True)),
        (StackTransformer, StackTransformerSettings(swap=False), (False, False, False, True)),
        (AmrTransformer, AmrTransformerSettings(), (False, False, False, False)),
    ):
        assert abilities(make_model("known", network, settings)) == expected


def test_a_model_tells_before_it_is_built_what_it_can_learn_from():
    model = make_model("new", SentTr, SentTrSettings(swap=False))
    gold = [Arcs(np.array(heads), np.array([0, 1, 1, 1])) for heads in ([0, 1, 1, 1], [3, 4, 0, 3])]
    assert model.attrs["can_learn"](model, gold).tolist() == [True, False]


def test_the_dropout_rate_of_thinc_reaches_the_network():
    model, shim = make()
    losses = [learn(model) for _ in range(2)]
    assert losses[0] == losses[1]
    model.attrs["dropout_rate"] = 0.5
    dropped = [learn(model) for _ in range(2)]
    assert dropped[0] != dropped[1]
    rates = {m.p for m in shim.network.encoder.modules() if isinstance(m, torch.nn.Dropout)}
    assert rates == {0.5}


def test_prediction_after_training_drops_nothing():
    model, _ = make(dropout=0.5)
    model.attrs["dropout_rate"] = 0.5
    learn(model)
    first, second = (model.predict(SENTENCES[:1])[0].head_probs for _ in range(2))
    assert np.array_equal(first, second)


def test_added_labels_are_learned_and_kept():
    model, _ = make()
    resize_output = model.attrs["resize_output"]
    gold = [Arcs(tree.heads, np.full(len(tree.heads), 6)) for tree in GOLD]
    optimizer = Adam(0.01)
    step(model, optimizer)
    resize_output(model, 7)
    before = weights_of(model)
    step(model, optimizer, gold)
    assert changes(before, model)["scorer.label_weight"] > 0
    for _ in range(20):
        step(model, optimizer, gold)
    (parse,) = build_syntr(**TINY_MODEL).from_bytes(model.to_bytes()).predict(SENTENCES[:1])
    assert sorted(set(parse.tree.labels.tolist())) == [0, 6]
