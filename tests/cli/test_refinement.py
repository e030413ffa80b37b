import json
import sys
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_g2g.cli import app
from spacy_g2g.cli.evaluate import evaluate
from spacy_g2g.cli.refinement import refined_sentence, refinement
from spacy_g2g.evaluation.refinement import RefinedSentence
from spacy_g2g.formats.conllu import ConlluSentence, parse_sentence
from spacy_g2g.formats.graph import Graph
from spacy_g2g.pipeline.rng_refiner import GRAPHS, ITERATIONS

from ..formats.samples import row
from ..util import initialised_nlp, model_config, randomise, read_treebank, tiny_encoder, treebank_examples

REFINER = {"@architectures": "spacy_g2g.RNGTr.v1", "iterations": 3}
STORED = {
    "heads": [[1, 0, -1], [1, 1, 1]],
    "deps": [["nsubj", "obj:x", ""], ["nsubj", "ROOT", "punct"]],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A pipeline of a parser and a refiner with random weights, which change their minds often."""
    nlp = initialised_nlp()
    refiner = nlp.add_pipe("rng_refiner", config={"model": {**model_config(), **REFINER}})
    refiner.initialize(lambda: treebank_examples(nlp), nlp=nlp, encoder=tiny_encoder())
    randomise(refiner.model, scale=0.3)
    path = tmp_path_factory.mktemp("refined") / "pipeline"
    nlp.to_disk(path)
    return str(path)


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ten sentences of ``tests.util``, with a subtype that is not compared."""
    path = tmp_path_factory.mktemp("gold") / "gold.conllu"
    blocks = [
        "".join(
            row(str(i), form, str(head), label.replace("nsubj", "nsubj:x"))
            for i, (form, _, head, label) in enumerate(sentence, 1)
        )
        for sentence in read_treebank()
    ]
    path.write_text("\n".join(blocks) + "\n", encoding="utf8")
    return path


def gold_sentence(*forms: str) -> ConlluSentence:
    rows = [row(str(i), form, str((0, 1, 1)[i - 1])) for i, form in enumerate(forms, 1)]
    return parse_sentence([*rows, "\n"])


def doc_of(*words: str) -> Doc:
    for extension in (GRAPHS, ITERATIONS):
        Doc.set_extension(extension, default=None, force=True)
    doc = Doc(Vocab(), words=list(words))
    graphs = zip(STORED["heads"], STORED["deps"], strict=True)
    doc._.set(GRAPHS, [{"heads": heads, "deps": deps} for heads, deps in graphs])
    doc._.set(ITERATIONS, [1])
    return doc


def test_stored_graphs_of_tokens_become_graphs_of_words():
    assert refined_sentence(doc_of("a", "b", "c"), gold_sentence("a", "b", "c")) == RefinedSentence(
        gold=Graph([0, 1, 1], ["dep", "dep", "dep"]),
        graphs=[Graph([2, 1, -1], ["nsubj", "obj:x", ""]), Graph([2, 0, 2], ["nsubj", "root", "punct"])],
        passes=1,
    )


def test_tokens_that_are_not_the_gold_words_are_an_error():
    with pytest.raises(ValueError, match=r"E504.*\['a', 'b', 'c'\]"):
        refined_sentence(doc_of("a", "b", "c"), gold_sentence("a", "b", "d"))


def test_scores_of_the_last_graph_are_those_of_evaluate(folder: str, gold: Path):
    analysis, scores = refinement(folder, gold), evaluate(folder, gold)
    assert analysis.n_words == scores["Words"].gold
    assert analysis.uas.scores[-1] == scores["UAS"].f1
    assert analysis.las.scores[-1] == scores["LAS"].f1


def test_scores_of_the_initial_graph_are_those_of_the_parser(folder: str, gold: Path, tmp_path: Path):
    nlp = spacy.load(folder)
    nlp.remove_pipe("rng_refiner")
    nlp.to_disk(tmp_path / "parser")
    analysis, scores = refinement(folder, gold), evaluate(str(tmp_path / "parser"), gold)
    assert analysis.uas.scores[0] == scores["UAS"].f1
    assert analysis.las.scores[0] == scores["LAS"].f1
    assert analysis.uas.scores[0] != analysis.uas.scores[-1]


def test_trees_of_a_file_are_the_initial_graphs(folder: str, gold: Path, tmp_path: Path):
    nlp = spacy.load(folder)
    nlp.remove_pipe("g2g_parser")
    nlp.to_disk(tmp_path / "refiner")
    alone = str(tmp_path / "refiner")
    assert refinement(alone, gold).las.scores[0] == 0
    analysis = refinement(alone, gold, initial=gold)
    assert analysis.las.scores[0] == analysis.uas.scores[0] == 1
    assert analysis.las.scores[-1] == evaluate(alone, gold, initial=gold)["LAS"].f1 < 1
    output = tmp_path / "figures.json"
    arguments = ["refinement", alone, str(gold), "--initial", str(gold), "--output", str(output)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert json.loads(output.read_text(encoding="utf8"))["las"]["scores"][0] == 1


def test_passes_are_those_that_the_refiner_made(folder: str, gold: Path):
    nlp: Language = spacy.load(folder)
    passes = [
        nlp(Doc(nlp.vocab, [w[0] for w in s], sent_starts=[True] + [False] * (len(s) - 1)))._.g2g_iterations
        for s in read_treebank()
    ]
    analysis = refinement(folder, gold)
    assert analysis.n_iterations == max(max(p) for p in passes)
    assert [s.n_sentences for s in analysis.stopped] == [
        passes.count([t]) for t in range(len(analysis.stopped))
    ]


def test_a_pipeline_without_a_refiner_is_an_error_that_names_its_components(
    pipeline: str, gold: Path, tmp_path: Path
):
    with pytest.raises(ValueError, match=r"E911.*sentencizer.*rng_refiner"):
        refinement(pipeline, gold)
    result = CliRunner().invoke(app, ["refinement", pipeline, str(gold)])
    assert result.exit_code == 1
    assert "E911" in result.output


def test_gold_needs_complete_trees(folder: str, tmp_path: Path):
    (tmp_path / "gold.conllu").write_text(row("1") + row("2", head="_"))
    with pytest.raises(ValueError, match=r"E304.*gold\.conllu, line 2"):
        refinement(folder, tmp_path / "gold.conllu")


def test_command_prints_tables_and_writes_json(folder: str, gold: Path, tmp_path: Path):
    output = tmp_path / "new" / "figures.json"
    result = CliRunner().invoke(app, ["refinement", folder, str(gold), "--output", str(output)])
    assert result.exit_code == 0, result.output
    analysis = refinement(folder, gold)
    assert json.loads(output.read_text(encoding="utf8")) == json.loads(json.dumps(analysis.to_dict()))
    table = {line.split()[0]: line.split()[1:] for line in result.output.splitlines() if line.strip()}
    assert table["0"][:2] == [f"{100 * curve.scores[0]:.2f}" for curve in (analysis.uas, analysis.las)]
    changes = analysis.changes[0]
    assert table["1"][3:6] == [str(n) for n in vars(changes).values()]
    assert table["UAS"][0] == str(analysis.n_words)
    assert f"F1, {next(iter(analysis.labels))}" in result.output
    assert "universal part" in result.output


def test_silent_command_prints_nothing(folder: str, gold: Path):
    result = CliRunner().invoke(app, ["refinement", folder, str(gold), "--silent"])
    assert (result.exit_code, result.output) == (0, "")


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_command_draws_a_plot(folder: str, gold: Path, tmp_path: Path, suffix: str):
    pytest.importorskip("matplotlib")
    plot = tmp_path / f"figure.{suffix}"
    result = CliRunner().invoke(app, ["refinement", folder, str(gold), "--plot", str(plot)])
    assert result.exit_code == 0, result.output
    content = plot.read_bytes()
    assert content.startswith(b"\x89PNG" if suffix == "png" else b"<?xml")
    assert [path.name for path in tmp_path.iterdir()] == [plot.name]


def test_an_unknown_kind_of_plot_is_an_error_before_anything_runs(tmp_path: Path):
    result = CliRunner().invoke(app, ["refinement", "no-pipeline", "no.conllu", "--plot", "a.gif"])
    assert result.exit_code == 1
    assert "E903" in result.output


@pytest.mark.usefixtures("no_matplotlib")
def test_a_plot_without_matplotlib_is_an_error_before_anything_runs():
    result = CliRunner().invoke(app, ["refinement", "no-pipeline", "no.conllu", "--plot", "a.png"])
    assert result.exit_code == 1
    assert "E611" in result.output
    assert "plots" in result.output


def test_matplotlib_is_not_imported_without_a_plot(folder: str, gold: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # an import of it would raise
    result = CliRunner().invoke(app, ["refinement", folder, str(gold)])
    assert result.exit_code == 0, result.output
