"""How training starts: rare words, and the weights of other parsers."""

import copy
from typing import Any

import numpy as np
import pytest

from spacy_g2g.models.shim import G2GShim, get_shim
from spacy_g2g.models.types import Arcs, ParserModel, Sentence
from spacy_g2g.transition.models.sent_tr import build_sent_tr

from ..util import randomize, start, tiny_encoder
from .checks import pretrained
from .tiny_syntr import SENTENCES

# Rare words


def make_sent_tr(unknown_share: float, source: Any = None) -> tuple[ParserModel, G2GShim]:
    model = build_sent_tr(hidden_width=16, dropout=0.0, unknown_share=unknown_share)
    sentences = [*SENTENCES, Sentence(["often"] * 9), Sentence(["rare"])]
    shim = start(model, sentences, source or tiny_encoder(min_frequency=1))
    randomize(model)
    return model, shim


def loss_of(model: ParserModel, words: list[str]) -> float:
    """The loss of a tree in which each word hangs on the one before it."""
    tree = Arcs(np.arange(len(words)), np.minimum(np.arange(len(words)), 1))
    return float(model.begin_update(([Sentence(words)], [tree]))[0])


def test_from_scratch_the_rarest_share_of_words_is_read_as_unknown():
    _, shim = make_sent_tr(0.25)
    words = [word for sentence in SENTENCES for word in sentence.words] + ["often"] * 9 + ["rare"]
    rare = shim.known_spec.learned["rare_words"]
    assert len(rare) == int(0.25 * len(set(words)))
    assert len(set(rare)) == len(rare)
    assert {words.count(word) for word in rare} == {1}
    assert "often" not in rare


def test_rare_words_are_unknown_in_training_alone():
    model, shim = make_sent_tr(0.999)
    assert {"rare", "she", "saw"} <= set(shim.known_spec.learned["rare_words"])
    assert "often" not in shim.known_spec.learned["rare_words"]
    assert loss_of(model, ["rare", "she"]) == loss_of(model, ["saw", "rare"])
    assert loss_of(model, ["often", "she"]) != loss_of(model, ["saw", "rare"])
    probs = [model.predict([Sentence(words)])[0].head_probs for words in (["rare", "she"], ["saw", "rare"])]
    assert not np.allclose(*probs)


def test_without_a_share_or_with_a_checkpoint_no_word_is_unknown_in_training():
    for share, source in ((0.5, pretrained), (0.0, None)):
        model, shim = make_sent_tr(share, source)
        assert shim.known_spec.learned["rare_words"] == []
        assert loss_of(model, ["rare", "she"]) != loss_of(model, ["saw", "rare"])


def test_rare_words_are_kept():
    model, shim = make_sent_tr(0.5)
    other = build_sent_tr(hidden_width=16, dropout=0.0)
    for kept in (other.from_bytes(model.to_bytes()), copy.deepcopy(model), model.copy()):
        assert get_shim(kept).spec == shim.spec
        assert loss_of(kept, ["rare", "often"]) == pytest.approx(loss_of(model, ["rare", "often"]))
