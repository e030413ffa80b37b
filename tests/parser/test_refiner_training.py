"""What a refiner learns from: trees of a parser before it, and graphs that training alone corrupts."""

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from thinc.api import Adam, fix_random_seed

from spacy_g2g.models.shim import get_shim

from ..util import add_tiny, graph_docs, graph_examples, make_nlp, tiny_encoder, treebank_examples
from .refiners import graphs_of, refiner_of


class Witness:
    """Notes the sentences that a model is given in updates and in prediction."""

    def __init__(self, nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
        self.learned: list[tuple[list[int], list[int]]] = []
        self.predicted: list[tuple[list[int], list[int]]] = []
        self.gold: list[tuple[list[int], list[int]]] = []
        shim = get_shim(refiner_of(nlp).model)
        begin_update, predict = shim.begin_update, shim.predict

        def spy_on_update(inputs: Any) -> Any:
            self.learned += graphs_of(inputs[0])
            self.gold += [(tree.heads.tolist(), tree.labels.tolist()) for tree in inputs[1]]
            return begin_update(inputs)

        def spy_on_predict(sentences: Any) -> Any:
            self.predicted += graphs_of(sentences)
            return predict(sentences)

        monkeypatch.setattr(shim, "begin_update", spy_on_update)
        monkeypatch.setattr(shim, "predict", spy_on_predict)


def witnessed(monkeypatch: pytest.MonkeyPatch, seed: int = 0, **rates: float) -> Witness:
    """One update and one prediction of the ten sentences from their gold trees, after seeding."""
    nlp = make_nlp(factory="rng_refiner", iterations=1, **rates)
    nlp.initialize(lambda: graph_examples(nlp, "gold"))
    witness = Witness(nlp, monkeypatch)
    fix_random_seed(seed)
    nlp.update(graph_examples(nlp, "gold"), sgd=Adam(0.001))
    list(nlp.pipe(graph_docs(nlp.vocab, "gold")))
    return witness


def test_without_rates_the_graphs_are_learned_from_as_they_are(monkeypatch: pytest.MonkeyPatch):
    witness = witnessed(monkeypatch)
    assert witness.learned == witness.predicted == witness.gold


@pytest.mark.parametrize("rate", ["head_corruption", "label_corruption", "empty_share"])
def test_rates_change_what_is_learned_from_and_nothing_else(monkeypatch: pytest.MonkeyPatch, rate: str):
    witness = witnessed(monkeypatch, **{rate: 1.0})
    assert witness.gold == witness.predicted
    changed = [found != gold for found, gold in zip(witness.learned, witness.gold, strict=True)]
    if rate == "empty_share":
        assert witness.learned == [([], [])] * 10
    elif rate == "head_corruption":
        # The word of the last sentence has no other head.
        assert changed == [True] * 9 + [False]
    else:
        assert [heads for heads, _ in witness.learned] == [heads for heads, _ in witness.gold]
        assert sum(changed) > 5


def test_a_share_of_sentences_starts_from_nothing(monkeypatch: pytest.MonkeyPatch):
    learned = [graph for seed in range(3) for graph in witnessed(monkeypatch, seed, empty_share=0.5).learned]
    assert 5 <= learned.count(([], [])) <= 25


def test_corruption_follows_the_seed(monkeypatch: pytest.MonkeyPatch):
    rates = {"head_corruption": 0.3, "label_corruption": 0.3, "empty_share": 0.3}
    first, again, other = (witnessed(monkeypatch, seed, **rates).learned for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_every_update_has_other_errors(monkeypatch: pytest.MonkeyPatch):
    nlp = make_nlp(factory="rng_refiner", iterations=1, head_corruption=0.5)
    nlp.initialize(lambda: graph_examples(nlp, "gold"))
    witness = Witness(nlp, monkeypatch)
    for _ in range(2):
        nlp.update(graph_examples(nlp, "gold"))
    assert witness.learned[:10] != witness.learned[10:]


def test_in_training_a_frozen_parsers_trees_are_the_initial_graphs(
    trained_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    nlp = spacy.load(trained_folder)
    refiner = add_tiny(nlp, "rng_refiner")
    refiner.initialize(lambda: treebank_examples(nlp), nlp=nlp, encoder=tiny_encoder())
    witness = Witness(nlp, monkeypatch)
    losses = nlp.update(
        treebank_examples(nlp), sgd=Adam(0.001), annotates=["g2g_parser"], exclude=["g2g_parser"]
    )
    assert set(losses) == {"rng_refiner"}
    assert witness.learned == witness.gold
    assert len(witness.learned) == 10
