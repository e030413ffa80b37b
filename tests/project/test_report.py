"""Tables of all treebanks, beside the papers' figures."""

import json
from pathlib import Path
from typing import Any

import pytest

from project import report

ROOT = Path(__file__).parents[2]
PAPERS = json.loads((ROOT / "assets" / "papers.json").read_text(encoding="utf8"))


def score(f1: float) -> dict[str, float]:
    return {"f1": f1}


def write_run(
    metrics: Path, folder: str, facts: dict[str, Any], **scores: dict[str, dict[str, float]]
) -> None:
    (metrics / folder).mkdir(parents=True)
    for split, values in scores.items():
        (metrics / folder / f"{split}.json").write_text(json.dumps(values), encoding="utf8")
    if facts:
        (metrics / folder / "facts.json").write_text(json.dumps(facts), encoding="utf8")


def facts_of(treebank: str, tag: str, kind: str = "parser", run: str = "", **others: Any) -> dict[str, Any]:
    return {"run": run or treebank, "kind": kind, "treebank": {"treebank": treebank, "tag": tag}, **others}


def row_of(section: Any, title: str) -> dict[str, str]:
    (row,) = (row for row in section.rows[1:] if row[0] == title)
    return dict(zip(section.rows[0], row, strict=True))


@pytest.fixture
def metrics(tmp_path: Path) -> Path:
    metrics = tmp_path / "metrics"

    def las(f1: float) -> dict[str, dict[str, float]]:
        return {"UAS": score(0.9), "LAS": score(f1), "CLAS": score(0.5), "LAS_nopunct": score(0.99)}

    write_run(metrics, "UD_Turkish-IMST", facts_of("UD_Turkish-IMST", "r2.3"), dev=las(0.7), test=las(0.71))
    refined = facts_of("UD_Turkish-IMST", "r2.3", "refined")
    write_run(metrics, "UD_Turkish-IMST-refined", refined, dev=las(0.72), test=las(0.725))
    write_run(metrics, "UD_Basque-BDT", facts_of("UD_Basque-BDT", "r2.3"), dev=las(0.8), test=las(0.81))
    newer = facts_of("UD_Turkish-IMST", "r2.15", run="UD_Turkish-IMST_new")
    write_run(metrics, "UD_Turkish-IMST_new", newer, test=las(0.9))
    write_run(metrics, "PTB", facts_of("PTB", "", exclude_punct="conllx"), test=las(0.94))
    write_run(metrics, "sample", {}, dev=las(0.3))
    return metrics


def test_figures_stand_beside_the_papers_of_the_same_treebank(metrics: Path):
    sections = {s.title: s for s in report.make_sections(report.read_runs(metrics), PAPERS)}
    las = sections["LAS, test sets"]
    row = row_of(las, "UD_Turkish-IMST r2.3")
    assert (row["parser"], row["refined"], row["SynTr"], row["BERT SentTr+G2GTr"]) == (
        "71.00", "72.50", "72.52", "67.77"
    )  # fmt: skip
    assert row_of(las, "UD_Turkish-IMST_new r2.15 *")["parser"] == "90.00"
    assert row_of(las, "PTB")["SynTr"] == "-"
    assert row_of(sections["UAS, test sets"], "UD_Basque-BDT r2.3")["SynTr+RNGTr"] == "90.90"
    assert row_of(sections["LAS without punctuation, test sets"], "PTB")["SynTr+RNGTr"] == "95.01"
    assert row_of(sections["LAS without punctuation, test sets"], "PTB")["parser"] == "99.00"


def test_averages_are_over_runs_on_the_papers_data_on_both_sides(metrics: Path):
    las = report.make_sections(report.read_runs(metrics), PAPERS)[0]
    row = row_of(las, "average of these 2 at r2.3")
    assert (row["parser"], row["refined"]) == ("76.00", "-")
    assert row["SynTr"] == f"{(87.49 + 72.52) / 2:.2f}"


def test_runs_of_a_suffix_have_an_average_of_their_own(metrics: Path):
    for name, f1 in (("UD_Turkish-IMST", 0.6), ("UD_Basque-BDT", 0.7)):
        facts = facts_of(name, "r2.3", run=f"{name}_modern")
        write_run(metrics, f"{name}_modern", facts, test={"LAS": score(f1)})
    las = report.make_sections(report.read_runs(metrics), PAPERS)[0]
    plain = row_of(las, "average of the unsuffixed 2 at r2.3")
    modern = row_of(las, "average of the _modern 2 at r2.3")
    assert (plain["parser"], modern["parser"]) == ("76.00", "65.00")
    assert plain["SynTr"] == modern["SynTr"] == f"{(87.49 + 72.52) / 2:.2f}"


def test_runs_without_facts_and_without_test_sets_are_told_too(metrics: Path):
    sections = {s.title: s for s in report.make_sections(report.read_runs(metrics), PAPERS)}
    dev = [row[0] for row in sections["Development sets"].rows[1:]]
    assert dev == ["UD_Basque-BDT r2.3", "UD_Turkish-IMST r2.3", "sample"]
    assert len(sections["Sources"].rows) == 7


def test_tags_that_no_component_writes_have_no_score(metrics: Path):
    facts = facts_of("UD_Basque-BDT", "r2.3", "pipeline")
    write_run(metrics, "light", facts, test_raw={"UPOS": score(0.0), "Lemmas": score(0.8), "LAS": score(0.0)})
    section = next(s for s in report.make_sections(report.read_runs(metrics), PAPERS) if "text" in s.title)
    row = row_of(section, "UD_Basque-BDT r2.3")
    assert (row["UPOS"], row["Lemmas"], row["LAS"]) == ("-", "80.00", "0.00")


def test_columns_that_a_treebank_lacks_have_no_score(metrics: Path):
    facts = facts_of("UD_Basque-BDT", "r2.3", "pipeline")
    found: Any = {"UPOS": {"f1": None}, "LAS": {"f1": None}}
    write_run(metrics, "light", facts, test_raw={**found, "Lemmas": score(0.8)})
    section = next(s for s in report.make_sections(report.read_runs(metrics), PAPERS) if "text" in s.title)
    row = row_of(section, "UD_Basque-BDT r2.3")
    assert (row["UPOS"], row["Lemmas"], row["LAS"]) == ("-", "80.00", "-")


def test_markdown_and_page_have_the_same_numbers(metrics: Path):
    sections = report.make_sections(report.read_runs(metrics), PAPERS)
    markdown = report.make_markdown(sections, "Intro.", ["Paper"])
    page = report.make_html(sections, "Intro.", ["Paper"])
    for section in sections:
        assert f"## {section.title}\n" in markdown
        for row in section.rows[1:]:
            assert "| " + " | ".join(row) + " |" in markdown
            assert "".join(f"<td>{cell}</td>" for cell in row[1:]) in page.replace("&#x27;", "'")
