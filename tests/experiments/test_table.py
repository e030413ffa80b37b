"""`experiments.table`: rows are trained as they say, and systems are scored as `g2g evaluate` does."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.util import load_config

from experiments.table import __main__ as table
from experiments.table.configs import write_part
from experiments.table.scores import watch_encoders
from project import train as training
from spacy_g2g.analysis.evaluate import evaluate
from spacy_g2g.conversion.convert import convert
from spacy_g2g.evaluation.bootstrap import paired_bootstrap
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.models.shim import get_shim

from ..models.test_sources import make_checkpoint
from ..util import read_treebank
from .util import CONFIGS, refinement, transition, write_conllu, write_corpora

pytestmark = pytest.mark.slow

SENTENCE_ROWS = ["SentTr", "SentTr+G2GTr"]


@pytest.fixture(scope="module")
def refined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with corpora, and with parser and refiner of seed 0 trained and scored."""
    folder = tmp_path_factory.mktemp("refinement")
    write_corpora(folder)
    write_conllu(folder / "test.conllu", read_treebank()[:4], det="det:x", punct="dep")
    convert([folder / "train.conllu"], folder / "train.spacy", lang="en")
    make_checkpoint(folder / "bert")
    table.main(refinement(folder, "--rows", "rngtr"))
    return folder


@pytest.fixture(scope="module")
def parsers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with corpora, and with two transition-based parsers trained and scored."""
    folder = tmp_path_factory.mktemp("transition")
    write_corpora(folder)
    table.main(transition(folder, "--rows", *SENTENCE_ROWS))
    return folder


@pytest.fixture
def copied(refined: Path, tmp_path: Path) -> Path:
    """The first folder, free to be changed."""
    return Path(shutil.copytree(refined, tmp_path / "copy"))


@pytest.fixture
def copied_parsers(parsers: Path, tmp_path: Path) -> Path:
    """The second folder, free to be changed."""
    return Path(shutil.copytree(parsers, tmp_path / "copy"))


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Seed and name of the rows that are trained from now on."""
    rows: list[str] = []
    original = training.spacy_train

    def spy(config: Path, output: Path, **kwargs: Any) -> None:
        rows.append("/".join(output.parts[-2:]).removesuffix(".unfinished"))
        original(config, output, **kwargs)

    monkeypatch.setattr(training, "spacy_train", spy)
    return rows


def table_of(folder: Path, file: str = "dev.conllu") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out" / "table.json").read_text(encoding="utf8"))[file]
    return found


def text_of(folder: Path) -> str:
    return (folder / "out" / "table.md").read_text(encoding="utf8")


def markdown_rows(folder: Path) -> dict[str, dict[str, str]]:
    """Cells by system and heading, of the first table."""
    lines = text_of(folder).split("\n## ")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {row[0]: dict(zip(cells[0], row, strict=True)) for row in cells[2:]}


def counts_of(folder: Path, row: str) -> dict[str, Any]:
    path = folder / "out" / "0" / row / f"{row}.dev.json"
    counts: dict[str, Any] = json.loads(path.read_text(encoding="utf8"))
    return counts


# Scores


@pytest.mark.parametrize("name", ["syntr", "rngtr"])
def test_scores_are_those_of_evaluate(refined: Path, name: str):
    expected = evaluate(str(refined / "out" / "0" / name / "model-best"), refined / "dev.conllu")
    entry = table_of(refined)[name]
    assert 0.1 < entry["las"]["mean"] < entry["uas"]["mean"] <= 1
    for metric in ("UAS", "LAS"):
        score = expected[metric].f1
        assert entry[metric.lower()] == {"mean": score, "values": [score]}
        assert markdown_rows(refined)[name][metric] == f"{100 * score:.2f}"


def test_other_files_have_tables_of_their_own(copied: Path):
    shutil.rmtree(copied / "out" / "0" / "rngtr")
    files = ["dev.conllu", "test.conllu", "other.conllu"]
    shutil.copy(copied / "test.conllu", copied / "other.conllu")
    table.main(refinement(copied, "--rows", "--also", *(str(copied / file) for file in files[1:])))
    for file in files:
        expected = evaluate(str(copied / "out" / "0" / "syntr" / "model-best"), copied / file)
        assert table_of(copied, file)["syntr"]["las"]["mean"] == expected["LAS"].f1
    titles = [line for line in text_of(copied).splitlines() if line.startswith("#")]
    assert titles == [f"## {file}" for file in files]


def test_limits_on_passes_are_set_in_the_trained_model_and_passes_averaged_over_words(refined: Path):
    passes = {name: entry and entry["iterations"] for name, entry in table_of(refined).items()}
    assert passes["syntr"] is None
    assert passes["rngtr, T = 1"]["mean"] == 1.0
    assert passes["rngtr, T = 3, no stop"]["mean"] == 3.0
    assert 1 < passes["rngtr, T = 2"]["mean"] <= passes["rngtr, T = 3"]["mean"] < 3
    shipped = load_config(CONFIGS / "rngtr.cfg")["components"]["rng_refiner"]["model"]["iterations"]
    found = table_of(refined)
    for metric in ("uas", "las", "iterations"):
        assert found["rngtr"][metric] == found[f"rngtr, T = {shipped}"][metric]
    counts = counts_of(refined, "rngtr")
    assert len(set(counts["iterations"])) > 1
    expected = np.repeat(counts["iterations"], counts["words"]).mean()
    assert passes["rngtr"]["mean"] == pytest.approx(expected)


def test_parameters_are_those_of_parser_and_refiner(refined: Path):
    nlp = spacy.load(refined / "out" / "0" / "rngtr" / "model-best")
    expected = {
        name: sum(p.numel() for p in get_shim(nlp.get_pipe(name).model).network.parameters())
        for name in ("g2g_parser", "rng_refiner")
    }
    assert table_of(refined)["rngtr"]["parameters"] == expected
    assert table_of(refined)["syntr"]["parameters"] == {"g2g_parser": expected["g2g_parser"]}
    assert markdown_rows(refined)["rngtr"]["parameters"] == f"{sum(expected.values()):,}"


def test_sent_tr_encodes_a_sentence_once_and_with_graph_input_once_an_arc(parsers: Path):
    counts = {name: counts_of(parsers, name) for name in SENTENCE_ROWS}
    lengths = [len(sentence) for sentence in read_treebank()]
    assert counts["SentTr"]["passes"] == len(lengths)
    assert counts["SentTr+G2GTr"]["passes"] == sum(lengths)
    # All sentences of a batch step together.
    assert counts["SentTr"]["calls"] < len(lengths)
    assert max(lengths) <= counts["SentTr+G2GTr"]["calls"] < sum(lengths)
    shown = {name: row["encoder passes per word"] for name, row in markdown_rows(parsers).items()}
    assert shown == {"SentTr": f"{len(lengths) / sum(lengths):.3f}", "SentTr+G2GTr": "1.000"}


@pytest.mark.parametrize("name", SENTENCE_ROWS)
def test_times_and_recall_on_non_projective_arcs_are_told(parsers: Path, name: str):
    counts, entry = counts_of(parsers, name), table_of(parsers)[name]
    assert 0 < counts["encoder_seconds"] < counts["seconds"]
    assert entry["outside_encoder"]["mean"] == 1 - counts["encoder_seconds"] / counts["seconds"]
    assert 0 < entry["minutes"]["mean"] < 1
    assert (counts["non_projective"], entry["non_projective"]) == (2, 2)
    for metric, heading in {"uas": "non-projective heads", "las": "and labels"}.items():
        recall = entry[f"non_projective_{metric}"]["mean"]
        assert recall == counts[f"non_projective_{metric}"] / 2
        assert markdown_rows(parsers)[name][heading] == f"{100 * recall:.2f}"


def test_a_watched_encoder_computes_the_same_and_is_left_as_it_was(parsers: Path):
    nlp = spacy.load(parsers / "out" / "0" / "SentTr" / "model-best")
    encoder = get_shim(nlp.get_pipe("g2g_parser").model).network.encoder.eval()
    before = dict(vars(encoder))
    x = encoder.embeddings.pieces.weight[None, :5]
    expected = encoder(x, None)
    with watch_encoders([encoder]) as watch:
        found = encoder(x, None)
    assert (found == expected).all()
    assert (watch.calls, watch.rows) == (1, 1)
    assert vars(encoder) == before


def test_systems_are_compared_by_the_paired_bootstrap(refined: Path):
    a, b = counts_of(refined, "syntr"), counts_of(refined, "rngtr")
    expected = paired_bootstrap(a["las"], correct_b=b["las"], totals=a["words"])
    found = table_of(refined)["rngtr"]["against"]
    assert found["control"] is None
    names = ("difference", "low", "high", "p_value")
    assert [found["syntr"][name] for name in names] == [getattr(expected, name) for name in names]
    start = f"- rngtr to syntr: {100 * expected.difference:+.2f} LAS, 95% interval "
    assert f"{start}{100 * expected.low:+.2f} to " in text_of(refined)
    assert f", p {expected.p_value:.4f}\n" in text_of(refined)


def test_rows_that_are_not_trained_are_missing(refined: Path):
    found = table_of(refined)
    assert list(found) == list(table.REFINEMENT.systems)
    missing = [name for name, entry in found.items() if entry is None]
    untrained = set(table.REFINEMENT.rows) - {"syntr", "rngtr"}
    systems = table.REFINEMENT.systems.items()
    assert missing == [name for name, system in systems if system.row in ("", *untrained)]
    assert f"\nNot trained yet: {', '.join(missing)}.\n" in text_of(refined)
    assert list(markdown_rows(refined)) == [name for name in found if name not in missing]


def test_the_papers_figures_stand_beside_ours(copied_parsers: Path):
    out = copied_parsers / "out"
    for name in ("StateTr+G2GTr", "G2GTr"):
        shutil.copytree(out / "0" / "SentTr", out / "0" / name)
        (out / "0" / name / "SentTr.dev.json").rename(out / "0" / name / f"{name}.dev.json")
    for start, expected in {
        # Figures for 7 layers that there are, and those for 6 in place of others.
        "checkpoint": {"StateTr+G2GTr": ("95.58", "93.74 (6)"), "G2GTr": ("95.64", "93.81 (7)")},
        "scratch": {"StateTr+G2GTr": ("93.07", "91.08 (6)"), "SentTr": ("-", "-")},
    }.items():
        table.main(transition(copied_parsers, "--rows", "--layers", "7", start=start))
        rows = markdown_rows(copied_parsers)
        shown = {name: (rows[name]["paper's UAS"], rows[name]["paper's LAS (layers)"]) for name in expected}
        assert shown == expected
        assert text_of(copied_parsers).startswith(f"## dev.conllu, {table.STARTS[start]}\n")


# Training


def test_what_is_trained_and_counted_is_kept(copied: Path, trained: list[str]):
    before = table_of(copied)
    table.main(refinement(copied, "--rows", "rngtr"))
    assert (trained, table_of(copied)) == ([], before)
    # The counts are enough for the table.
    shutil.rmtree(copied / "out" / "0" / "rngtr" / "model-best")
    table.main(refinement(copied, "--rows"))
    assert (trained, table_of(copied)) == ([], before)


def test_counts_of_another_machine_are_taken_where_there_are_none(copied_parsers: Path):
    before, out, kept = table_of(copied_parsers), copied_parsers / "out", copied_parsers / "kept"
    for row in SENTENCE_ROWS:
        (kept / "0" / row).mkdir(parents=True)
        shutil.copy(out / "0" / row / f"{row}.dev.json", kept / "0" / row)
    shutil.rmtree(out / "0" / "SentTr")
    wrong = kept / "0" / "SentTr+G2GTr" / "SentTr+G2GTr.dev.json"
    wrong.write_text(wrong.read_text(encoding="utf8").replace('"las":[', '"las":[-'), encoding="utf8")
    table.main(transition(copied_parsers, "--rows"))
    assert table_of(copied_parsers)["SentTr"] is None
    table.main(transition(copied_parsers, "--rows", "--kept", str(kept)))
    assert table_of(copied_parsers) == before


def test_counts_of_another_file_are_not_taken(copied_parsers: Path):
    write_conllu(copied_parsers / "dev.conllu", read_treebank()[:5])
    table.main(transition(copied_parsers, "--rows"))
    assert table_of(copied_parsers)["SentTr"]["words"] == sum(map(len, read_treebank()[:5]))


def test_an_interrupted_training_starts_again(
    copied: Path, trained: list[str], monkeypatch: pytest.MonkeyPatch
):
    shutil.rmtree(copied / "out" / "0" / "rngtr")
    before = table_of(copied)["rngtr"]["las"]
    with monkeypatch.context() as patch:

        def fail(config: Path, output: Path, **kwargs: Any) -> None:
            (output / "model-best").mkdir()
            raise KeyboardInterrupt

        patch.setattr(training, "spacy_train", fail)
        with pytest.raises(KeyboardInterrupt):
            table.main(refinement(copied, "--rows", "rngtr"))
    table.main(refinement(copied, "--rows"))
    assert table_of(copied)["syntr"] is not None
    assert table_of(copied)["rngtr"] is None
    table.main(refinement(copied, "--rows", "rngtr"))
    assert trained == ["0/rngtr"]
    assert table_of(copied)["rngtr"]["las"] == before


@pytest.mark.parametrize(
    "more", [["--steps", "11"], ["--sentences", "7"], ["--set", "components.g2g_parser.model.swap=false"]]
)
def test_other_settings_than_those_of_training_are_told(
    parsers: Path, capsys: pytest.CaptureFixture[str], more: list[str]
):
    table.main(transition(parsers, "--rows", "SentTr", "--dry-run"))
    assert "other settings" not in " ".join(capsys.readouterr().out.split())
    table.main(transition(parsers, "--rows", "SentTr", "--dry-run", *more))
    assert " ".join(capsys.readouterr().out.split()).count("other settings") == 1


def test_a_dry_run_writes_nothing(parsers: Path, trained: list[str], capsys: pytest.CaptureFixture[str]):
    before = sorted((parsers / "out").rglob("*"))
    table.main(transition(parsers, "--rows", "StateCLSTr", "--sentences", "3", "--dry-run"))
    assert 'output = "cls"' in capsys.readouterr().out
    assert (trained, sorted((parsers / "out").rglob("*"))) == ([], before)


def test_rows_train_from_the_first_layers_of_a_checkpoint_without_swap(tmp_path: Path, trained: list[str]):
    write_corpora(tmp_path)
    make_checkpoint(tmp_path / "bert")
    options = ["--encoder", str(tmp_path / "bert"), "--layers", "2", "--seeds", "4", "--rows", "DepTr"]
    with pytest.warns(UserWarning, match="W804"):
        table.main(transition(tmp_path, *options, start="checkpoint", steps=1))
    assert trained == ["4/DepTr"]
    nlp = spacy.load(tmp_path / "out" / "4" / "DepTr" / "model-best")
    assert len(get_shim(nlp.get_pipe("g2g_parser").model).network.encoder.layers) == 2


def test_sentences_are_spread_evenly(tmp_path: Path):
    write_conllu(tmp_path / "all.conllu", read_treebank())
    all_sentences = [str(sentence) for sentence in read_conllu(tmp_path / "all.conllu")]
    for n, expected in {1: [0], 3: [0, 3, 6], 10: list(range(10))}.items():
        write_part(tmp_path / "all.conllu", target=tmp_path / "part.conllu", n=n)
        found = [str(sentence) for sentence in read_conllu(tmp_path / "part.conllu")]
        assert found == [all_sentences[i] for i in expected]


def test_rows_train_on_the_chosen_sentences(copied_parsers: Path, trained: list[str]):
    folder = copied_parsers / "out" / "0" / "SentTr"
    shutil.rmtree(folder)
    options = ["--sentences", "5", "--check-sentences", "2", "--rows", "SentTr"]
    table.main(transition(copied_parsers, *options, steps=1))
    assert trained == ["0/SentTr"]
    paths = load_config(folder / "train.cfg")["paths"]
    assert [len(list(read_conllu(paths[name]))) for name in ("train", "dev")] == [5, 2]
    # All of DEV is scored.
    assert table_of(copied_parsers)["SentTr"]["words"] == sum(map(len, read_treebank()))


def test_a_stack_transformer_is_trained_and_scored(tmp_path: Path, trained: list[str]):
    write_corpora(tmp_path)
    small = {"width": 32, "n_attention_heads": 4, "hidden_width": 64, "n_encoder_layers": 1, "n_layers": 1}
    sizes = [f"components.g2g_parser.model.{name}={size}" for name, size in small.items()]
    table.main(transition(tmp_path, "--rows", "Stack-small-c", "--set", *sizes, steps=4))
    assert trained == ["0/Stack-small-c"]
    expected = evaluate(str(tmp_path / "out" / "0" / "Stack-small-c" / "model-best"), tmp_path / "dev.conllu")
    assert table_of(tmp_path)["Stack-small-c"]["las"]["mean"] == expected["LAS"].f1


# Bad input


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--rows", "StateTr+X"], f"StateTr+X: expected names out of {', '.join(table.TRANSITION.rows)}"),
        (["--start", "nowhere"], "'nowhere' (choose from"),
        (["--start", "checkpoint"], "needs --encoder"),
        (["--sentences", "-1"], "--sentences -1: expected 0 or more"),
        (["--set", "components.g2g_parser.model.depth=3"], "no config has the setting components.g2g_"),
        (["--lang", "ug"], "--lang ug: expected a language of spaCy"),
        (["--also", "none.conllu"], "none.conllu: expected a CoNLL-U file"),
        (["--also", "train.spacy"], "train.spacy: expected a CoNLL-U file"),
    ],
)  # fmt: skip
def test_bad_arguments_are_told_before_training(
    parsers: Path, trained: list[str], capsys: pytest.CaptureFixture[str], more: list[str], expected: str
):
    with pytest.raises(SystemExit):
        table.main(transition(parsers, "--seeds", "5", *more))
    assert expected in " ".join(capsys.readouterr().err.split())
    assert trained == []


def test_too_many_sentences_or_layers_are_told_before_training(tmp_path: Path, trained: list[str]):
    write_corpora(tmp_path)
    make_checkpoint(tmp_path / "bert")
    with pytest.raises(SystemExit, match=r"train\.conllu has 20 sentences: expected at least the 21"):
        table.main(transition(tmp_path, "--sentences", "21"))
    for layers in (["--layers", "4"], ["--rows", "SentTr"]):
        with pytest.raises(SystemExit, match="E214"):
            table.main(transition(tmp_path, "--encoder", str(tmp_path / "bert"), *layers, start="checkpoint"))
    assert trained == []
