"""The command reads what a refiner has stored; `tests/analysis/test_iterations.py` proves the figures."""

import json
import sys
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_g2g.analysis.error_analysis import Analysis
from spacy_g2g.analysis.evaluate import evaluate
from spacy_g2g.analysis.iterations import find_changes
from spacy_g2g.analysis.refinement import refinement

from ..experiments.util import write_conllu
from ..formats.samples import row
from ..util import initialized_nlp, model_config, randomize, read_treebank, tiny_encoder, treebank_examples
from .util import add_component, first_cells, merge_two, run

REFINER = {"@architectures": "spacy_g2g.RNGTr.v1", "iterations": 3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A pipeline of a parser and a refiner with random weights, which change their minds often."""
    nlp = initialized_nlp()
    refiner = nlp.add_pipe("rng_refiner", config={"model": {**model_config(), **REFINER}})
    refiner.initialize(lambda: treebank_examples(nlp), nlp=nlp, encoder=tiny_encoder())
    randomize(refiner.model, scale=0.3)
    path = tmp_path_factory.mktemp("refined") / "pipeline"
    nlp.to_disk(path)
    return str(path)


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ten sentences of ``tests.util``, with a subtype that is not compared."""
    path = tmp_path_factory.mktemp("gold") / "gold.conllu"
    write_conllu(path, read_treebank(), nsubj="nsubj:x")
    return path


def score(analysis: Analysis, place: int, metric: str) -> float | None:
    """UAS or LAS of the first graph (0) or of the last one (-1)."""
    return analysis[analysis.names[place], "overall", "compared", metric].value


def test_tokens_that_are_not_the_gold_words_are_an_error(folder: str, gold: Path, tmp_path: Path):
    merging = add_component(merge_two, folder, tmp_path / "merging")
    with pytest.raises(ValueError, match="E504"):
        refinement(merging, gold)


def test_scores_of_the_last_graph_are_those_of_evaluate(folder: str, gold: Path):
    analysis, scores = refinement(folder, gold), evaluate(folder, gold)
    assert analysis.n_words == scores["Words"].gold
    assert [score(analysis, -1, name) for name in ("UAS", "LAS")] == [scores["UAS"].f1, scores["LAS"].f1]


def test_scores_of_the_initial_graph_are_those_of_the_parser(folder: str, gold: Path, tmp_path: Path):
    nlp = spacy.load(folder)
    nlp.remove_pipe("rng_refiner")
    nlp.to_disk(tmp_path / "parser")
    analysis, scores = refinement(folder, gold), evaluate(str(tmp_path / "parser"), gold)
    assert [score(analysis, 0, name) for name in ("UAS", "LAS")] == [scores["UAS"].f1, scores["LAS"].f1]
    assert score(analysis, 0, "UAS") != score(analysis, -1, "UAS")


def test_trees_of_a_file_are_the_initial_graphs(folder: str, gold: Path, tmp_path: Path):
    nlp = spacy.load(folder)
    nlp.remove_pipe("g2g_parser")
    nlp.to_disk(tmp_path / "refiner")
    alone, output = str(tmp_path / "refiner"), tmp_path / "figures.json"
    assert score(refinement(alone, gold), 0, "LAS") == 0
    for pipeline in (alone, folder):
        printed = run("refinement", pipeline, gold, "--initial", gold, "--output", output)
        assert ("g2g_parser will not run" in printed) == (pipeline == folder)
        systems = json.loads(output.read_text(encoding="utf8"))["systems"].values()
        first, *_, last = (system["overall"]["compared"]["LAS"]["value"] for system in systems)
        assert last == evaluate(pipeline, gold, initial=gold)["LAS"].f1 < first == 1


def test_passes_are_those_that_the_refiner_made(folder: str, gold: Path):
    nlp: Language = spacy.load(folder)
    passes = [
        nlp(Doc(nlp.vocab, [w[0] for w in s], sent_starts=[True] + [False] * (len(s) - 1)))._.g2g_iterations
        for s in read_treebank()
    ]
    analysis = refinement(folder, gold)
    assert len(analysis.names) == 1 + max(max(p) for p in passes)
    stopped = [analysis[name, "stopped", "all", "sentences"].value for name in analysis.names]
    assert stopped == [passes.count([t]) for t in range(len(stopped))]


def test_a_pipeline_without_a_refiner_is_an_error_that_names_its_components(pipeline: str, gold: Path):
    with pytest.raises(ValueError, match=r"E911.*sentencizer.*rng_refiner"):
        refinement(pipeline, gold)


def test_gold_needs_complete_trees(folder: str, tmp_path: Path):
    (tmp_path / "gold.conllu").write_text(row("1") + row("2", head="_"))
    with pytest.raises(ValueError, match=r"E304.*gold\.conllu, line 2"):
        refinement(folder, tmp_path / "gold.conllu")


def test_command_prints_tables_and_writes_json(folder: str, gold: Path, tmp_path: Path):
    output = tmp_path / "new" / "figures.json"
    printed = run("refinement", folder, gold, "--output", output)
    analysis = refinement(folder, gold)
    assert json.loads(output.read_text(encoding="utf8")) == json.loads(json.dumps(analysis.to_dict()))
    table = first_cells(printed)
    assert table["0"][:2] == [f"{100 * score(analysis, 0, metric):.2f}" for metric in ("UAS", "LAS")]
    assert table["1"][3:6] == [str(counts[0]) for counts in find_changes(analysis).values()]
    assert table["UAS"][0] == str(analysis.n_words)
    for text in ("F1, nsubj", "universal part"):
        assert text in printed
    assert run("refinement", folder, gold, "--silent") == ""


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_command_draws_a_plot(folder: str, gold: Path, tmp_path: Path, suffix: str):
    pytest.importorskip("matplotlib")
    plot = tmp_path / f"figure.{suffix}"
    refinement(folder, gold, plot=plot)
    assert plot.read_bytes().startswith(b"\x89PNG" if suffix == "png" else b"<?xml")
    assert [path.name for path in tmp_path.iterdir()] == [plot.name]


def test_an_unknown_kind_of_plot_is_an_error_before_anything_runs(gold: Path):
    with pytest.raises(ValueError, match="E903"):
        refinement("no-pipeline", gold, plot=Path("a.gif"))


@pytest.mark.usefixtures("no_matplotlib")
def test_a_plot_without_matplotlib_is_an_error_before_anything_runs():
    printed = run("refinement", "no-pipeline", "no.conllu", "--plot", "a.png", status=1)
    assert "E611" in printed
    assert "plots" in printed


def test_matplotlib_is_not_imported_without_a_plot(folder: str, gold: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # an import of it would raise
    refinement(folder, gold)
