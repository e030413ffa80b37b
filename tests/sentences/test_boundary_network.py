"""The network of sentence boundaries."""

from typing import Any

import numpy as np
import pytest
import spacy
from thinc.api import Model

from spacy_g2g.sentences.boundary_network import ROWS, Texts, build_boundaries
from spacy_g2g.sentences.lines import N_FEATURES

LENGTHS = np.array([4, 0, 1, 3])
RANDOM = np.random.default_rng(0)
ATTRIBUTES = RANDOM.integers(0, 2**63, size=(8, len(ROWS))).astype(np.uint64)
TEXTS = Texts(
    ATTRIBUTES,
    RANDOM.integers(0, 2, size=(8, N_FEATURES)).astype("f"),
    RANDOM.normal(size=(8, 5)).astype("f"),
    LENGTHS,
)


def build(**settings: Any) -> Model[Any, Any]:
    return build_boundaries(**{"width": 8, "precision": "float32", **settings})


def part(texts: Texts, at: slice) -> Texts:
    return Texts(
        texts.attributes[at], texts.white_space[at], texts.vectors[at], np.array([at.stop - at.start])
    )


@pytest.mark.parametrize(("name", "value"), [("width", 0), ("n_layers", -1), ("dropout", 1.0)])
def test_settings_out_of_range_are_refused(name: str, value: float):
    with pytest.raises(ValueError, match=rf"E408.*{name} is {value}"):
        build(**{name: value})


def test_it_learns_from_features_and_vectors_and_comes_back_from_bytes():
    spacy.util.fix_random_seed(0)
    model = build(dropout=0.0)
    model.initialize(X=TEXTS)
    gold = np.array([0, 0, 1, 0, 0, -1, 1, 0])
    optimizer = spacy.util.registry.get("optimizers", "Adam.v1")(learn_rate=0.02)
    losses = []
    for _ in range(40):
        loss, backprop = model.begin_update((TEXTS, gold))
        backprop(None)
        model.finish_update(optimizer)
        losses.append(loss)
    assert losses[-1] < losses[0] / 10
    found = model.predict(TEXTS)
    known = gold >= 0
    assert ((found > 0) == (gold == 1))[known].all()
    # A text does not depend on the others, and each kind of input counts.
    for at in (slice(0, 4), slice(4, 5), slice(5, 8)):
        np.testing.assert_allclose(model.predict(part(TEXTS, at)), found[at], atol=1e-5)
    for change in (
        {"attributes": ATTRIBUTES[::-1]},
        {"white_space": 1 - TEXTS.white_space},
        {"vectors": -TEXTS.vectors},
    ):
        assert np.abs(model.predict(TEXTS._replace(**change)) - found).max() > 0.1
    copy = build(dropout=0.0).from_bytes(model.to_bytes())
    np.testing.assert_allclose(copy.predict(TEXTS), found, atol=1e-5)


def test_the_loss_is_the_cross_entropy_of_known_places():
    model = build(dropout=0.0)
    model.initialize(X=TEXTS)
    gold = np.array([0, 0, 1, 0, -1, -1, 1, 0])
    found = model.predict(TEXTS).astype(np.float64)
    expected = np.logaddexp(0.0, np.where(gold == 1, -found, found))[gold >= 0].sum()
    assert model.begin_update((TEXTS, gold))[0] == pytest.approx(expected, rel=1e-4)
