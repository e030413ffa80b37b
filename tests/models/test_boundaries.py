"""The network of sentence boundaries."""

from typing import Any

import numpy as np
import pytest
import spacy
from spacy.ml.models import MultiHashEmbed
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_g2g.models.boundaries import build_boundaries

VOCAB = Vocab()
DOCS = [Doc(VOCAB, words=words) for words in (["She", "left", "He", "ran"], ["Go"], ["a", "b", "c"])]
VECTORS = [np.random.default_rng(i).normal(size=(len(doc), 5)).astype("f") for i, doc in enumerate(DOCS)]


def build(**settings: Any) -> Model[Any, Any]:
    embed = MultiHashEmbed(width=4, attrs=["LOWER", "SHAPE"], rows=[50, 50], include_static_vectors=False)
    return build_boundaries(embed, **{"width": 8, "precision": "float32", **settings})


@pytest.mark.parametrize(("name", "value"), [("width", 0), ("n_layers", -1), ("dropout", 1.0)])
def test_settings_out_of_range_are_refused(name: str, value: float):
    with pytest.raises(ValueError, match=rf"E408.*{name} is {value}"):
        build(**{name: value})


def test_it_learns_from_features_and_vectors_and_comes_back_from_bytes():
    spacy.util.fix_random_seed(0)
    model = build(dropout=0.0)
    model.initialize(X=(DOCS, VECTORS))
    gold = [np.array([0.0, 0.0, 1.0, 0.0], "f"), np.zeros(1, "f"), np.array([0.0, 1.0, 0.0], "f")]
    optimizer = spacy.util.registry.get("optimizers", "Adam.v1")(learn_rate=0.02)
    for _ in range(40):
        scores, backprop = model.begin_update((DOCS, VECTORS))
        backprop([1 / (1 + np.exp(-score)) - of_gold for score, of_gold in zip(scores, gold, strict=True)])
        model.finish_update(optimizer)
    found = model.predict((DOCS, VECTORS))
    assert [(score > 0).tolist() for score in found] == [(of_gold > 0).tolist() for of_gold in gold]
    # A text does not depend on the others, and its vectors count.
    for doc, vectors, score in zip(DOCS, VECTORS, found, strict=True):
        np.testing.assert_allclose(model.predict(([doc], [vectors]))[0], score, atol=1e-5)
    assert np.abs(model.predict((DOCS, [-v for v in VECTORS]))[0] - found[0]).max() > 0.1
    copy = build(dropout=0.0).from_bytes(model.to_bytes())
    np.testing.assert_allclose(copy.predict((DOCS, VECTORS))[0], found[0], atol=1e-5)
