"""`spacy train` drives the parser: schedule, rate factors, dropout, accumulation, frozen and sourced use."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
import torch
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.util import load_config

from spacy_g2g.layers.encoder import GraphEncoder
from spacy_g2g.models.shim import get_shim

from ..models.test_sources import make_checkpoint
from ..util import gold_doc, read_treebank, tree_of, treebank_docs, weights_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BASE = ROOT / "configs" / "syntr_pretrained.cfg"


def write_corpus(path: Path) -> Path:
    nlp = spacy.blank("xx")
    DocBin(docs=[gold_doc(nlp.vocab, [sentence]) for sentence in read_treebank()]).to_disk(path)
    return path


def run_train(folder: Path, **overrides: Any) -> tuple[Language, dict[str, Any]]:
    """`spacy train` with the shipped config on the ten sentences; overrides by dotted names."""
    corpus = write_corpus(folder / "corpus.spacy")
    settings = {
        "paths.train": str(corpus),
        "paths.dev": str(corpus),
        "paths.encoder": str(make_checkpoint(folder / "bert")),
        "components.g2g_parser.model.arc_width": 24,
        "components.g2g_parser.model.label_width": 16,
        "initialize.components.g2g_parser.encoder.n_layers": 2,
        "training.logger.progress_bar": False,
        "training.max_steps": 4,
        "training.eval_frequency": 2,
        **overrides,
    }
    train(BASE, folder / "out", overrides=settings)
    nlp = spacy.load(folder / "out" / "model-last")
    return nlp, nlp.meta["performance"]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[float], list[float]]]:
    """The learning rates and decays of the parameter groups at each step."""
    found: list[tuple[list[float], list[float]]] = []
    step = torch.optim.AdamW.step

    def spy(self: torch.optim.AdamW, *args: Any) -> Any:
        groups = self.param_groups
        found.append(([g["lr"] for g in groups], sorted({g["weight_decay"] for g in groups})))
        return step(self, *args)

    monkeypatch.setattr(torch.optim.AdamW, "step", spy)
    return found


def test_the_shipped_config_trains_from_a_checkpoint(
    tmp_path: Path, steps: list[Any], monkeypatch: pytest.MonkeyPatch
):
    rates: set[float] = set()
    set_dropout = GraphEncoder.set_dropout
    monkeypatch.setattr(
        GraphEncoder, "set_dropout", lambda self, rate: (rates.add(rate), set_dropout(self, rate))
    )
    factor = 0.0125
    settings = {"training.dropout": 0.37, "components.g2g_parser.model.encoder_rate_factor": factor}
    nlp, performance = run_train(tmp_path, **settings)
    spec = get_shim(nlp.get_pipe("g2g_parser").model).spec
    assert spec is not None
    assert (spec.pretrained, spec.encoder.width, spec.encoder.n_layers) == (("encoder",), 24, 2)
    assert 0 < performance["ud_las"] <= 1
    assert rates == {0.37}
    config = load_config(BASE)
    peak = config["training"]["optimizer"]["learn_rate"]["initial_rate"]
    warmup = config["training"]["optimizer"]["learn_rate"]["warmup_steps"]
    for i, (group_rates, decays) in enumerate(steps):
        rate = peak * i / warmup
        assert sorted(set(group_rates)) == pytest.approx(sorted({rate * factor, rate}))
        assert decays == [0.0, config["training"]["optimizer"]["L2"]]


def test_accumulated_gradients_make_as_many_steps(tmp_path: Path, steps: list[Any]):
    counts = []
    for accumulate in (1, 2):
        folder = tmp_path / str(accumulate)
        folder.mkdir()
        run_train(folder, **{"training.accumulate_gradient": accumulate})
        counts.append(len(steps))
    assert counts == [counts[0], 2 * counts[0]]


def train_tagger(base: Path, parser: Path, folder: Path, **training: Any) -> Language:
    """Train a tagger with a config, behind a frozen parser that is sourced from a folder."""
    config = load_config(base)
    config["nlp"] |= {"lang": "xx", "pipeline": ["g2g_parser", "tagger"]}
    config["components"] = {"g2g_parser": {"source": str(parser)}, "tagger": {"factory": "tagger"}}
    config["initialize"]["components"] = {}
    config["training"] |= {"frozen_components": ["g2g_parser"], "annotating_components": ["g2g_parser"]}
    config["training"] |= {"score_weights": {"tag_acc": 1.0}, **training}
    config["training"]["logger"]["progress_bar"] = False
    config["paths"] |= dict.fromkeys(("train", "dev"), str(write_corpus(folder / "corpus.spacy")))
    config.to_disk(folder / "config.cfg")
    train(folder / "config.cfg", folder / "out")
    return spacy.load(folder / "out" / "model-last")


def test_a_frozen_sourced_parser_comes_through_training_unchanged(tmp_path: Path, trained_folder: Path):
    trained = spacy.load(trained_folder)
    nlp = train_tagger(BASE, trained_folder, tmp_path, max_steps=2, eval_frequency=1)
    before, after = weights_of(trained), weights_of(nlp)
    assert all(torch.equal(after[name], weight) for name, weight in before.items())
    assert [tree_of(doc) for doc in nlp.pipe(treebank_docs(nlp.vocab))] == [
        tree_of(doc) for doc in trained.pipe(treebank_docs(trained.vocab))
    ]


def test_averages_of_the_optimizer_do_not_get_in_the_way(tmp_path: Path):
    nlp, _ = run_train(tmp_path, **{"training.optimizer.use_averages": True})
    assert nlp.get_pipe("g2g_parser").labels[0] == "root"


def test_training_needs_no_network(tmp_path: Path, no_network: Callable[[], None]):
    no_network()
    run_train(tmp_path, **{"training.max_steps": 1})
