"""`experiments/refinement_table.py`: rows are trained as they say, and scored as `g2g evaluate` does."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.util import load_config

from experiments import refinement_table as script
from project import train as train_module
from spacy_g2g.cli.convert import convert
from spacy_g2g.cli.evaluate import evaluate
from spacy_g2g.cli.parse import parse
from spacy_g2g.data.corpus import read_docs
from spacy_g2g.evaluation.bootstrap import paired_bootstrap
from spacy_g2g.models.shim import get_shim

from ..formats.samples import row
from ..models.test_encoder import make_checkpoint
from ..util import read_treebank

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SETTINGS = {f"components.{name}.model.arc_width": 24 for name in ("g2g_parser", "rng_refiner")}
SETTINGS |= {f"components.{name}.model.label_width": 16 for name in ("g2g_parser", "rng_refiner")}
SETTINGS |= {"training.eval_frequency": 6, "training.optimizer.learn_rate.warmup_steps": 2}
SETTINGS |= {"training.optimizer.learn_rate.initial_rate": 0.01}
OPTIONS = {
    "--encoder-rate-factor": 1.0,
    "--copy-rate-factor": 1.0,
    "--parser-steps": 12,
    "--refiner-steps": 6,
    "--empty-steps": 4,
}


def write_conllu(path: Path, sentences: list[list[tuple[str, str, int, str]]], **labels: str) -> None:
    """Write sentences of ``tests.util`` as CoNLL-U, with other labels in place of those named."""
    blocks = [
        "".join(row(str(i), form, str(head), labels.get(label, label)) for i, (form, _, head, label) in rows)
        for rows in (list(enumerate(sentence, 1)) for sentence in sentences)
    ]
    path.write_text("".join(block + "\n" for block in blocks), encoding="utf8")


def arguments(folder: Path, *more: str, output: str = "out") -> list[str]:
    options = [str(item) for option in OPTIONS.items() for item in option]
    settings = [f"{name}={value}" for name, value in SETTINGS.items()]
    places = [str(folder / name) for name in ("train.spacy", "dev.conllu", output)]
    off = "training.logger.progress_bar=false"
    return [*places, "--encoder", str(folder / "bert"), *options, "--set", *settings, off, *more]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with corpora, and with parser and refiner of seed 0 trained and scored."""
    folder = tmp_path_factory.mktemp("table")
    sentences = read_treebank()
    write_conllu(folder / "train.conllu", sentences * 2)
    # Labels that the training set does not have: LAS with subtypes is below LAS, and LAS below UAS.
    write_conllu(folder / "dev.conllu", sentences, det="det:x", punct="dep")
    write_conllu(folder / "test.conllu", sentences[:4], det="det:x", punct="dep")
    convert([folder / "train.conllu"], folder / "train.spacy", lang="en")
    make_checkpoint(folder / "bert")
    script.main(arguments(folder, "--rows", "rngtr", "--seeds", "0"))
    return folder


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    """The same, free to be changed."""
    return Path(shutil.copytree(made, tmp_path / "copy"))


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The rows that are trained from now on."""
    rows: list[str] = []
    original = train_module.spacy_train

    def spy(config: Path, output: Path, **kwargs: Any) -> None:
        rows.append(f"{output.parent.name}/{output.name.removesuffix('.unfinished')}")
        original(config, output, **kwargs)

    monkeypatch.setattr(train_module, "spacy_train", spy)
    return rows


def table_of(folder: Path, file: str = "dev.conllu") -> dict[str, Any]:
    table: dict[str, Any] = json.loads((folder / "out" / "table.json").read_text(encoding="utf8"))[file]
    return table


def markdown_rows(folder: Path) -> dict[str, list[str]]:
    """Cells by system, of the first table."""
    text = (folder / "out" / "table.md").read_text(encoding="utf8").split("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line
    ]
    return {cells[0]: cells[1:] for cells in rows}


def counts_of(folder: Path, row_name: str, system: str, seed: int = 0) -> dict[str, Any]:
    path = folder / "out" / str(seed) / row_name / f"{system}.dev.json"
    counts: dict[str, Any] = json.loads(path.read_text(encoding="utf8"))
    return counts


# Scores


@pytest.mark.parametrize("name", ["syntr", "rngtr"])
def test_scores_are_those_of_evaluate(made: Path, name: str):
    expected = evaluate(str(made / "out" / "0" / name / "model-best"), made / "dev.conllu")
    entry = table_of(made)[name]
    assert 0.1 < entry["las"]["mean"] < entry["uas"]["mean"] <= 1
    assert entry["uas"] == {"mean": expected["UAS"].f1, "values": [expected["UAS"].f1]}
    assert entry["las"] == {"mean": expected["LAS"].f1, "values": [expected["LAS"].f1]}


def test_another_file_has_a_table_of_its_own(copied: Path):
    shutil.rmtree(copied / "out" / "0" / "rngtr")
    script.main(arguments(copied, "--rows", "--seeds", "0", "--also", str(copied / "test.conllu")))
    for file in ("dev.conllu", "test.conllu"):
        expected = evaluate(str(copied / "out" / "0" / "syntr" / "model-best"), copied / file)
        assert table_of(copied, file)["syntr"]["las"]["mean"] == expected["LAS"].f1
    text = (copied / "out" / "table.md").read_text(encoding="utf8")
    assert [line for line in text.splitlines() if line.startswith("#")] == ["## dev.conllu", "## test.conllu"]


def test_las_with_subtypes_counts_whole_labels(made: Path):
    model = made / "out" / "0" / "syntr" / "model-best"
    parse(str(model), made / "dev.conllu", made / "parsed.conllu")
    vocab = spacy.blank("en").vocab
    pairs = zip(
        read_docs([made / "parsed.conllu"], vocab), read_docs([made / "dev.conllu"], vocab), strict=True
    )
    right = [
        sum((a.head.i, a.dep) == (b.head.i, b.dep) for a, b in zip(system, gold, strict=True))
        for system, gold in pairs
    ]
    counts = counts_of(made, "syntr", "syntr")
    assert counts["las_subtypes"] == right
    entry = table_of(made)["syntr"]
    assert entry["las_subtypes"]["mean"] == sum(right) / sum(counts["words"]) < entry["las"]["mean"]


def test_limits_on_passes_are_set_in_the_trained_model(made: Path):
    table = table_of(made)
    assert table["syntr"]["passes"] is None
    assert table["rngtr, T = 1"]["passes"]["mean"] == 1.0
    assert table["rngtr, T = 3, no stop"]["passes"]["mean"] == 3.0
    assert 1 < table["rngtr, T = 2"]["passes"]["mean"] <= table["rngtr, T = 3"]["passes"]["mean"] < 3
    shipped = load_config(ROOT / "configs" / "rngtr.cfg")["components"]["rng_refiner"]["model"]["iterations"]
    assert table["rngtr"] == table[f"rngtr, T = {shipped}"] | {"against": table["rngtr"]["against"]}


def test_passes_are_averaged_over_words(made: Path):
    counts = counts_of(made, "rngtr", "rngtr")
    assert len(set(counts["passes"])) > 1
    assert table_of(made)["rngtr"]["passes"]["mean"] == pytest.approx(
        np.repeat(counts["passes"], counts["words"]).mean()
    )


def test_parameters_are_those_of_parser_and_refiner(made: Path):
    nlp = spacy.load(made / "out" / "0" / "rngtr" / "model-best")
    expected = {
        name: sum(p.numel() for p in get_shim(nlp.get_pipe(name).model).network.parameters())
        for name in ("g2g_parser", "rng_refiner")
    }
    table = table_of(made)
    assert table["rngtr"]["parameters"] == expected
    assert table["syntr"]["parameters"] == {"g2g_parser": expected["g2g_parser"]}
    assert markdown_rows(made)["rngtr"][-1] == f"{sum(expected.values()):,}"


# Comparisons


def test_systems_are_compared_by_the_paired_bootstrap(made: Path):
    a, b = counts_of(made, "syntr", "syntr"), counts_of(made, "rngtr", "rngtr")
    expected = paired_bootstrap(a["las"], b["las"], a["words"], 10_000)
    found = table_of(made)["rngtr"]["against"]
    assert found["control"] is None
    names = ("difference", "low", "high", "p_value")
    assert [found["syntr"][name] for name in names] == [getattr(expected, name) for name in names]
    shown = markdown_rows(made)["rngtr"][3:6]
    assert shown[0] == f"{100 * expected.difference:+.2f}"
    assert shown[2] == f"{expected.p_value:.4f}"


def test_seeds_are_compared_together_where_both_systems_have_them():
    def counts(*right: int) -> dict[str, Any]:
        return {"words": [4, 6], "las": list(right)}

    system = {0: counts(3, 5), 1: counts(4, 5), 2: counts(4, 6)}
    found = script.compare(system, {0: counts(2, 5), 1: counts(2, 6), 7: counts(0, 0)})
    expected = paired_bootstrap([4, 11], [7, 10], [8, 12])
    assert (found["seeds"], found["values"]) == ([0, 1], [0.1, 0.1])
    assert (found["difference"], found["p_value"]) == (0.1, expected.p_value)
    assert script.compare(system, {7: counts(0, 0)}) is None


def test_rows_that_are_not_trained_are_missing(made: Path):
    rows, table = markdown_rows(made), table_of(made)
    assert list(rows)[2:] == list(table) == list(script.SYSTEMS)
    missing = {name for name, entry in table.items() if entry is None}
    untrained = set(script.ROWS) - {"syntr", "rngtr"}
    assert missing == {name for name in rows if rows[name][0] == "missing"}
    assert missing == {name for name, system in script.SYSTEMS.items() if system.row in ("", *untrained)}


# Training


def test_what_is_trained_and_counted_is_kept(copied: Path, trained: list[str]):
    before = table_of(copied)
    more = ["--rows", "rngtr", "--seeds", "0"]
    script.main(arguments(copied, *more))
    assert (trained, table_of(copied)) == ([], before)
    # the counts are enough for the table
    shutil.rmtree(copied / "out" / "0" / "rngtr" / "model-best")
    script.main(arguments(copied, "--rows", "--seeds", "0"))
    assert (trained, table_of(copied)) == ([], before)


def test_an_interrupted_training_starts_again(
    copied: Path, trained: list[str], monkeypatch: pytest.MonkeyPatch
):
    shutil.rmtree(copied / "out" / "0" / "rngtr")
    before = table_of(copied)
    with monkeypatch.context() as patch:

        def fail(config: Path, output: Path, **kwargs: Any) -> None:
            (output / "model-best").mkdir()
            raise KeyboardInterrupt

        patch.setattr(train_module, "spacy_train", fail)
        with pytest.raises(KeyboardInterrupt):
            script.main(arguments(copied, "--rows", "rngtr", "--seeds", "0"))
    script.main(arguments(copied, "--rows", "--seeds", "0"))
    assert (table_of(copied)["syntr"], table_of(copied)["rngtr"]) == (before["syntr"], None)
    script.main(arguments(copied, "--rows", "rngtr", "--seeds", "0"))
    assert trained == ["0/rngtr"]
    assert table_of(copied) == before


def test_rows_from_trees_of_files_train(copied: Path, trained: list[str]):
    parsed = copied / "parsed.conllu"
    parse(str(copied / "out" / "0" / "syntr" / "model-best"), copied / "dev.conllu", parsed)
    options = ["--spacy-train-parsed", str(copied / "train.conllu"), "--spacy-dev-parsed", str(parsed)]
    options += ["--folds", "2", "--jackknife-steps", "2"]
    script.main(arguments(copied, *options, "--rows", "jackknife", "spacy", "--seeds", "0"))
    assert trained == ["0/jackknife", "0/spacy"]
    table = table_of(copied)
    assert table["spacy-parser"]["las"] == table["syntr"]["las"]
    assert set(table["spacy"]["against"]) == {"syntr", "spacy-parser", "rngtr"}
    assert None not in table["spacy"]["against"].values()
    assert "- spacy to spacy-parser: " in (copied / "out" / "table.md").read_text(encoding="utf8")
    assert list(table["spacy"]["parameters"]) == ["rng_refiner"]
    assert len(list((copied / "out" / "jackknife.folds").glob("*/predicted.spacy"))) == 2


def test_a_row_without_its_files_is_left_out(
    copied: Path, trained: list[str], capsys: pytest.CaptureFixture[str]
):
    script.main(arguments(copied, "--rows", "spacy", "--seeds", "0"))
    assert "needs --spacy-train-parsed" in capsys.readouterr().out
    assert (trained, table_of(copied)["spacy"]) == ([], None)


def test_other_settings_than_those_of_training_are_told(made: Path, capsys: pytest.CaptureFixture[str]):
    script.main(arguments(made, "--rows", "rngtr", "--seeds", "0", "--dry-run"))
    assert "other settings" not in " ".join(capsys.readouterr().out.split())
    script.main(arguments(made, "--rows", "rngtr", "--seeds", "0", "--dry-run", "--refiner-steps", "11"))
    assert " ".join(capsys.readouterr().out.split()).count("other settings") == 1


def test_a_dry_run_writes_nothing(made: Path, trained: list[str], capsys: pytest.CaptureFixture[str]):
    script.main(arguments(made, "--rows", "control", "--seeds", "5", "--dry-run", output="new"))
    assert "graph_input = false" in capsys.readouterr().out
    assert (trained, (made / "new").exists()) == ([], False)


def test_a_setting_of_no_config_is_an_error(made: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        script.main(arguments(made, "--set", "components.parser.model.width=3"))
    assert "components.parser.model.width" in capsys.readouterr().err


def test_files_to_score_on_are_looked_at_before_training(made: Path, trained: list[str]):
    for name in ("train.spacy", "none.conllu"):
        with pytest.raises(SystemExit, match=f"{name}: expected a CoNLL-U file"):
            script.main(arguments(made, "--seeds", "5", "--also", str(made / name)))
    assert trained == []


# Configs


def config_of(folder: Path, name: str, *more: str) -> dict[str, Any]:
    args = script.read_arguments(arguments(folder, *more))
    config: dict[str, Any] = script.make_config(script.ROWS[name], 3, args).interpolate()
    return config


def shipped_refiner(name: str = "rngtr.cfg") -> dict[str, Any]:
    refiner: dict[str, Any] = load_config(ROOT / "configs" / name)["components"]["rng_refiner"]
    small = {"arc_width": 24, "label_width": 16, "encoder_rate_factor": 1.0}
    return refiner | {"model": refiner["model"] | small}


def test_rows_differ_from_the_shipped_refiner_in_what_they_are_named_for(tmp_path: Path):
    refiners = {
        name: config_of(tmp_path, name)["components"]["rng_refiner"]
        for name in script.ROWS
        if name != "syntr"
    }
    shipped = shipped_refiner()
    corrupted = {"head_corruption": 0.12, "label_corruption": 0.06}
    assert refiners["rngtr"] == refiners["checkpoint"] == refiners["spacy"] == shipped
    assert refiners["jackknife"] == shipped
    assert refiners["corruption"] == shipped | corrupted != shipped
    assert refiners["control"] == shipped | {"model": shipped["model"] | {"graph_input": False}}
    assert refiners["empty"] == refiners["empty-checkpoint"] == shipped_refiner("rngtr_empty.cfg")


def test_encoders_come_from_where_the_row_says(tmp_path: Path):
    checkpoint = {"@callbacks": "spacy_g2g.EncoderFromCheckpoint.v1", "name": str(tmp_path / "bert")}
    parser = str(tmp_path / "out" / "3" / "syntr" / "model-best")
    for name in script.ROWS:
        config = config_of(tmp_path, name)
        (block,) = (component["encoder"] for component in config["initialize"]["components"].values())
        if name in ("syntr", "checkpoint", "empty-checkpoint"):
            assert block == checkpoint
        else:
            assert (block["@callbacks"], block["path"]) == ("spacy_g2g.EncoderFromPipeline.v1", parser)
        source = config["components"].get("g2g_parser", {}).get("source")
        assert source == (parser if "g2g_parser" in config["nlp"]["pipeline"] and name != "syntr" else None)


def test_initial_trees_come_from_where_the_row_says(tmp_path: Path):
    more = ["--spacy-train-parsed", "a.conllu", "--spacy-dev-parsed", "b.conllu"]
    predicted = {}
    for name in set(script.ROWS) - {"syntr"}:
        corpora = config_of(tmp_path, name, *more)["corpora"]
        predicted[name] = (corpora["train"]["predicted"], corpora["dev"].get("predicted"))
    assert predicted.pop("jackknife") == (str(tmp_path / "out" / "jackknife.spacy"), None)
    assert predicted.pop("spacy") == ("a.conllu", "b.conllu")
    assert set(predicted.values()) == {(None, None)}


def test_steps_and_seed_are_those_asked_for(tmp_path: Path):
    more = ["--parser-steps", "7", "--refiner-steps", "8", "--empty-steps", "0"]
    for name in script.ROWS:
        training = config_of(tmp_path, name, *more)["training"]
        shipped = load_config(ROOT / "configs" / "rngtr_empty.cfg")["training"]["max_steps"]
        steps = {"syntr": 7, "empty": shipped, "empty-checkpoint": shipped}.get(name, 8)
        assert (training["max_steps"], training["optimizer"]["learn_rate"]["total_steps"]) == (steps, steps)
        assert training["seed"] == 3


def test_own_settings_of_a_row_go_before_those_for_all(tmp_path: Path):
    more = ["--set", "components.rng_refiner.head_corruption=0.5"]
    refiners = {
        name: config_of(tmp_path, name, *more)["components"]["rng_refiner"]
        for name in ("corruption", "control")
    }
    assert [refiners[name]["head_corruption"] for name in ("corruption", "control")] == [0.12, 0.5]
