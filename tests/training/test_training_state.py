"""A training that was stopped goes on as if it had not been stopped."""

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
import spacy
import srsly
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.util import load_config, registry

from spacy_g2g.data.docs import sentences_to_docs
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.models.network_shim import find_shims
from spacy_g2g.training.training_state import BEST, STATE_FILE, TrainingState, trainable_models

from ..faults import fault
from ..models.test_sources import make_checkpoint
from ..util import make_nlp, treebank_examples

# The checkpoint has few positions.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*G2G-(W402|W802|W803)")]

ROOT = Path(__file__).parents[2]
CONFIGS, SAMPLE = ROOT / "configs", ROOT / "assets" / "sample" / "en_sample-ud-dev.conllu"
#: Configs and settings: a shared encoder behind spaCy's taggers; an encoder of spaCy, and averages.
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "shared encoder": (
        "pipeline.cfg",
        {
            "components.g2g_parser.model.arc_width": 24,
            "components.g2g_parser.model.label_width": 16,
            "components.rng_refiner.model.arc_width": 24,
            "components.rng_refiner.model.label_width": 16,
            "training.batcher.batcher.batcher.size": 60,
        },
    ),
    "averages": (
        "light.cfg",
        {
            "components.tok2vec.model.encode.width": 16,
            "training.optimizer.use_averages": True,
            "training.batcher.batcher.batcher.size.start": 60,
        },
    ),
}
Rows = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def told() -> Rows:
    """What a logger is told about the evaluated steps. The logger `stops.v1` stops training after a step."""
    rows: Rows = []

    def make_stops(after: int) -> Callable[..., Any]:
        def setup(nlp: Language, stdout: IO[str], stderr: IO[str]) -> Any:
            def log_step(info: dict[str, Any] | None) -> None:
                if info is not None:
                    scores = {k: v for k, v in info["other_scores"].items() if k != "speed"}
                    rows.append({"step": info["step"], "losses": dict(info["losses"]), "scores": scores})
                    if info["step"] == after:
                        raise KeyboardInterrupt

            return log_step, lambda: None

        return setup

    registry.loggers.register("stops.v1", func=make_stops)
    return rows


def run(kind: str, folder: Path, *, stop_after: int = -1, state: str | None = None, **settings: Any) -> Path:
    """Train eight steps on 20 sentences, with an evaluation after each second one. Return the output."""
    corpus, (name, sizes) = folder / "corpus.spacy", KINDS[kind]
    if not corpus.exists():
        docs = sentences_to_docs(read_conllu(SAMPLE), spacy.blank("xx").vocab, n_sents=2)
        DocBin(docs=list(docs)[:10], store_user_data=True).to_disk(corpus)
    overrides: dict[str, Any] = dict.fromkeys(("paths.train", "paths.dev"), str(corpus))
    overrides |= {"training.max_steps": 8, "training.eval_frequency": 2, "nlp.lang": "xx", **sizes}
    if "encoder" in load_config(CONFIGS / name)["paths"]:
        overrides["paths.encoder"] = str(make_checkpoint(folder / "bert"))
    config = load_config(CONFIGS / name, overrides={**overrides, **settings})
    inner = {"@loggers": "stops.v1", "after": stop_after}
    config["training"]["logger"] = {
        "@loggers": "spacy_g2g.ResumableLogger.v1",
        "path": state,
        "logger": inner,
    }
    config.to_disk(folder / "config.cfg")
    try:
        train(folder / "config.cfg", folder / "out")
    except KeyboardInterrupt:
        assert stop_after >= 0
    return folder / "out"


@pytest.mark.parametrize("kind", KINDS)
def test_losses_scores_and_weights_are_those_of_a_training_without_a_stop(
    kind: str, tmp_path: Path, told: Rows
):
    whole = shutil.copytree(run(kind, tmp_path), tmp_path / "whole")
    expected = list(told)
    told.clear()
    state = str(tmp_path / "state")
    run(kind, tmp_path, stop_after=4, state=state)
    run(kind, tmp_path, stop_after=6, state=state)
    assert [row["step"] for row in told] == [0, 2, 4, 0, 2, 4, 6]
    told.clear()
    output = run(kind, tmp_path, state=state)
    # Sums may be rounded in another order, since tensors lie elsewhere in memory.
    assert figures(told) == pytest.approx(figures(expected), rel=1e-6)
    for name in ("model-best", "model-last"):
        found, wanted = saved_weights(output / name), saved_weights(whole / name)
        assert found.keys() == wanted.keys()
        assert all(np.allclose(found[key], wanted[key], rtol=0, atol=1e-7) for key in wanted)


def figures(rows: Rows) -> dict[str, float]:
    """The losses and scores of all rows, by their places."""
    found: dict[str, float] = {}
    for row in rows:
        for kind in ("losses", "scores"):
            for place, value in flat(row[kind]):
                found[f"{row['step']} {kind} {place}"] = value
    assert len(found) > len(rows)
    return found


def flat(figures: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the figures in a dictionary and in those below it, by their places."""
    for name, value in figures.items():
        if isinstance(value, dict):
            yield from ((f"{name} {place}", each) for place, each in flat(value))
        else:
            yield name, value


def saved_weights(folder: Path) -> dict[str, Any]:
    """The weights of all networks of a saved pipeline, and of the layers of Thinc, by their places."""
    weights: dict[str, Any] = {}
    for name, model in trainable_models(spacy.load(folder)):
        for n, shim in enumerate(find_shims(model)):
            weights |= {f"{name}/{n}/{key}": value for key, value in shim.network.state_dict().items()}
        for n, node in enumerate(model.walk()):
            weights |= {f"{name}/{n}/{key}": node.get_param(key) for key in node.param_names}
    assert weights
    return weights


@pytest.mark.filterwarnings("ignore:.*G2G-W801")
def test_a_network_that_never_learns_has_no_moments(tmp_path: Path):
    """Docs of one sentence teach no boundaries."""
    docs = sentences_to_docs(read_conllu(SAMPLE), spacy.blank("xx").vocab, n_sents=1)
    DocBin(docs=list(docs)[:10], store_user_data=True).to_disk(tmp_path / "corpus.spacy")
    run("shared encoder", tmp_path, stop_after=2, state=str(tmp_path / "state"))
    output = run("shared encoder", tmp_path, state=str(tmp_path / "state"))
    assert "boundaries" not in {path.name for path in (output / "model-last/g2g_encoder").iterdir()}


def test_another_config_is_an_error(tmp_path: Path):
    state = str(tmp_path / "state")
    run("averages", tmp_path, stop_after=2, state=state)
    with pytest.raises(ValueError, match=r"G2G-E708.*\[training\] differ"):
        run("averages", tmp_path, state=state, **{"training.dropout": 0.2})


def test_another_corpus_is_an_error(tmp_path: Path):
    state = str(tmp_path / "state")
    run("averages", tmp_path, stop_after=2, state=state)
    docs = DocBin().from_disk(tmp_path / "corpus.spacy")
    words = list(docs.get_docs(spacy.blank("xx").vocab))
    DocBin(docs=[words[0], *words], store_user_data=True).to_disk(tmp_path / "corpus.spacy")
    with pytest.raises(ValueError, match="G2G-E709"):
        run("averages", tmp_path, state=state)


def test_a_state_whose_nth_operation_fails_is_the_old_one_or_the_new_one(tmp_path: Path):
    nlp = make_nlp()
    nlp.initialize(lambda: treebank_examples(nlp))
    state, place, best = TrainingState(nlp, tmp_path / "none"), tmp_path / "state", tmp_path / "model-best"
    nlp.update(treebank_examples(nlp), sgd=nlp.create_optimizer())
    state.folder = place
    best.mkdir()

    def save(step: int) -> bool:
        (best / "weights").unlink(missing_ok=True)  # spaCy makes the folder anew.
        (best / "weights").write_text(str(step))
        told = {"step": step, "words": step, "losses": {}, "other_scores": {}}
        try:
            state.after_step({**told, "output_path": str(tmp_path / "model-last")})
        except OSError:
            return False
        return True

    assert save(2)
    template, n_faults = shutil.copytree(place, tmp_path / "template"), 0
    for n in count(1):
        shutil.rmtree(place)
        shutil.copytree(template, place)
        with fault(place, n) as faults:
            is_saved = save(4)
        if not faults.failed:
            break
        step = srsly.read_msgpack(place / STATE_FILE)["evaluations"][-1]["step"]
        assert step in ((4,) if is_saved else (2, 4)), faults.failed
        assert (place / BEST.format(step=step) / "weights").read_text() == str(step), faults.failed
        n_faults += not is_saved
    assert n_faults > 3
