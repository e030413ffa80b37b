import csv
import json
import sys
from pathlib import Path

import pytest

from spacy_g2g.analysis.analyze import analyze, unique_names
from spacy_g2g.analysis.error_rows import Row

from ..formats.samples import row
from .util import run

GOLD = [[("she", "2", "nsubj"), ("slept", "0", "root"), (".", "2", "punct")], [("no", "0", "root")]]
WRONG = [[("she", "2", "obj"), ("slept", "0", "root"), (".", "1", "punct")], [("no", "0", "root")]]


def write(path: Path, sentences: list[list[tuple[str, str, str]]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    blocks = [
        "".join(row(str(i), *word) for i, word in enumerate(sentence, start=1)) for sentence in sentences
    ]
    path.write_text("\n".join(blocks) + "\n", encoding="utf8")
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path / "gold.conllu", GOLD)


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    return write(tmp_path / "wrong.conllu", WRONG)


def test_command_prints_scores_and_writes_page_json_and_csv(gold: Path, wrong: Path, tmp_path: Path):
    pytest.importorskip("matplotlib")
    page, figures, table = (tmp_path / "new" / f"out.{suffix}" for suffix in ("html", "json", "csv"))
    output = run(
        "analyze", gold, wrong, gold, "--names", "A, B", "-o", page, "--json", figures, "--csv", table
    )
    lines = [line.split() for line in output.splitlines()]
    assert ["A", "75.00", "50.00"] in [line[:3] for line in lines]
    assert ["B", "100.00", "100.00", "+100.00"] in [line[:4] for line in lines]
    assert ["A", "/", "B", "LAS", "50.00", "100.00", "+50.00"] in [line[:7] for line in lines]
    assert "<title>Errors on gold.conllu</title>" in page.read_text(encoding="utf8")
    analysis = analyze(gold, [wrong, gold], names="A,B")
    assert json.loads(figures.read_text(encoding="utf8")) == analysis.to_dict()
    with table.open(encoding="utf8", newline="") as file_:
        rows = list(csv.reader(file_))
    assert rows[0] == ["system", "quantity", "bin", "metric", "value", "count"]
    assert analysis.rows == [
        Row(*cells[:4], float(cells[4]) if cells[4] else None, int(cells[5])) for cells in rows[1:]
    ]
    assert {path.name for path in page.parent.iterdir()} == {"out.html", "out.json", "out.csv"}


def test_systems_are_named_by_their_files_and_the_folders_that_tell_them_apart(tmp_path: Path):
    paths = [tmp_path / folder / "dev.conllu" for folder in ("a/x", "b/x", "b/y")]
    assert unique_names(paths) == ["a/x/dev", "b/x/dev", "b/y/dev"]
    assert unique_names(paths[1:]) == ["x/dev", "y/dev"]
    assert unique_names(paths[:1] * 2) == ["dev (1)", "dev (2)"]


def test_subtypes_and_punctuation_are_options(gold: Path, tmp_path: Path):
    other = [[("she", "2", "nsubj:x"), *GOLD[0][1:2], (".", "1", "punct")], GOLD[1]]
    system = write(tmp_path / "other.conllu", other)
    found = tmp_path / "a.json"
    run("analyze", gold, system, "--json", found, "--subtypes", "--exclude-punct", "conllx")
    figures = json.loads(found.read_text(encoding="utf8"))
    assert (figures["words"], figures["compared_words"]) == (4, 3)
    overall = figures["systems"]["other"]["overall"]
    assert overall["compared"]["LAS"] == {"value": pytest.approx(2 / 3), "count": 3}
    assert overall["conll18"]["LAS"] == {"value": 0.75, "count": 4}


def test_punctuation_that_is_not_found_is_a_warning(gold: Path, wrong: Path):
    with pytest.warns(UserWarning, match=r"W901.*4 words of .*gold.conllu.*'ud'"):
        analyze(gold, [wrong], exclude_punct="ud")


def test_resamples_and_seed_are_the_bootstraps(gold: Path, wrong: Path, tmp_path: Path):
    found = tmp_path / "a.json"
    assert run("analyze", gold, wrong, gold, "--resamples", 7, "--seed", 3, "--json", found, "--silent") == ""
    analysis = analyze(gold, [wrong, gold], resamples=7, seed=3)
    p = analysis["gold", "LAS_change", "wrong", "p_value"].value
    assert round(p * 8, 9).is_integer()
    figures = json.loads(found.read_text(encoding="utf8"))
    assert figures["systems"]["gold"]["LAS_change"]["wrong"]["p_value"]["value"] == p


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--names", "A,B"], r"E912"),
        (["--names", "A,"], r"E912"),
        (["--worst-by", "length"], r"E603"),
        (["--exclude-punct", "all"], r"E615"),
        (["--output", "a.pdf"], r"E903"),
        (["{folder}/none.conllu"], r"E906"),
        (["{folder}/none.txt"], r"E903"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_arguments_are_errors_of_one_line(gold: Path, wrong: Path, tmp_path: Path, arguments, message):
    filled = [argument.format(folder=tmp_path) for argument in arguments]
    output = run("analyze", gold, wrong, *filled, status=1)
    assert message in output
    assert "Traceback" not in output


def test_other_words_are_an_error_that_names_file_and_line(gold: Path, tmp_path: Path):
    other = write(tmp_path / "other.conllu", [GOLD[0], [("yes", "0", "root")]])
    output = " ".join(run("analyze", gold, other, status=1).split())
    assert "E601" in output
    for part in ("'no'", "gold.conllu, line 5", "'yes'", "other.conllu, line 5"):
        assert part in output


def test_trees_must_be_complete_and_nothing_is_written_on_an_error(gold: Path, tmp_path: Path):
    other = write(tmp_path / "other.conllu", [[*GOLD[0][:2], (".", "_", "_")], GOLD[1]])
    outputs = ["--json", tmp_path / "a.json", "--csv", tmp_path / "a.csv"]
    assert "E304" in run("analyze", gold, other, *outputs, status=1)
    assert {path.name for path in tmp_path.iterdir()} == {"gold.conllu", "other.conllu"}


@pytest.mark.usefixtures("no_matplotlib")
def test_a_page_without_matplotlib_is_an_error_before_anything_runs():
    assert "E611" in run("analyze", "no.conllu", "no.conllu", "-o", "a.html", status=1)


def test_matplotlib_is_not_imported_without_a_page(
    gold: Path, wrong: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # an import of it would raise
    run("analyze", gold, wrong, "--json", tmp_path / "a.json", "--csv", tmp_path / "a.csv")


def test_outputs_in_one_file_are_an_error(gold: Path, wrong: Path, tmp_path: Path):
    outputs = ["--json", tmp_path / "out", "--csv", tmp_path / "x" / ".." / "out"]
    assert "E927" in run("analyze", gold, wrong, *outputs, status=1)
    assert not (tmp_path / "out").exists()


def test_labels_are_no_formulas_of_a_spreadsheet(gold: Path, wrong: Path, tmp_path: Path):
    for path in (gold, wrong):
        path.write_text(path.read_text("utf8").replace("nsubj", "=1+1"), "utf8")
    run("analyze", gold, wrong, "--csv", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf8", newline="") as file_:
        cells = {cell for row in csv.reader(file_) for cell in row}
    assert "'=1+1" in cells
    assert not [cell for cell in cells if cell.startswith("=")]
