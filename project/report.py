"""Make tables of all treebanks that were scored, beside the figures of the papers.

    python -m project.report METRICS TABLES.md TABLES.html

METRICS has a folder for each run, which project/score.py wrote. The papers' figures come from
`assets/papers.json`, which names the paper, table and column of each figure.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from pathlib import Path
from typing import Any

from spacy_g2g.analysis.page import escape, make_page, make_table
from spacy_g2g.files import files_in, write_text

from .markdown import Table, markdown_table
from .model_card import TOKEN_METRICS, treebank_name
from .score import KINDS
from .treebank_settings import read_table
from .up_to_date import FACTS, read_facts, read_json

PAPERS = Path(__file__).parent.parent / "assets" / "papers.json"
#: Names of the metrics without punctuation, by the metrics with it.
WITHOUT = {"UAS": "UAS_nopunct", "LAS": "LAS_nopunct"}
NONE = "-"
OURS = "this library"

Scores = Mapping[str, Mapping[str, Any]]


@dataclass
class Run:
    """Scores of a parser, its refiner and a whole pipeline, trained on one treebank.

    name: Name of the run.
    scores: Output of `g2g evaluate`, by kind of pipeline (see ``score.KINDS``) and set.
    facts: Facts about the scores, by kind.
    """

    name: str
    scores: dict[str, dict[str, Scores]] = field(default_factory=dict)
    facts: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def treebank(self) -> dict[str, Any]:
        """Facts about the treebank; an empty dictionary without any."""
        return next((f["treebank"] for f in self.facts.values() if f.get("treebank")), {})

    @property
    def title(self) -> str:
        """Name of the run, with the tag of the treebank's release."""
        tag = self.treebank.get("tag", "")
        return f"{self.name} {tag}".strip()

    @property
    def has_scores_without_punct(self) -> bool:
        return any(facts.get("exclude_punct") for facts in self.facts.values())

    @property
    def has_scores_from_text(self) -> bool:
        return any("test_raw" in scores for scores in self.scores.values())

    def percent(self, kind: str, *, split: str, metric: str) -> float | None:
        """Return a score in percent, or None if it is unknown.

        A score of 0 for tags or lemmas also counts as unknown: the pipeline or the treebank has none.
        """
        f1 = self.scores.get(kind, {}).get(split, {}).get(metric, {}).get("f1")
        return None if f1 is None or (metric in TOKEN_METRICS and not f1) else float(100 * f1)


@dataclass
class Section:
    """A table.

    title: Title of the section.
    note: Note below the title.
    rows: Rows of cells; the first is the head.
    groups: Titles of groups of columns, and the number of columns in each.
    """

    title: str
    note: str
    rows: Table
    groups: Sequence[tuple[str, int]]


def read_runs(metrics: Path) -> list[Run]:
    """Read runs, in the order of the table of treebanks and then by name."""
    runs: dict[str, Run] = {}
    top_folders = sorted(path for path in metrics.iterdir() if path.is_dir())
    folders = list(top_folders)
    # Joined treebanks have a folder each, inside the folder of their run.
    for folder in filter(read_facts, top_folders):
        folders += [path.parent for path in files_in(folder, FACTS) if path.parent != folder]
    for folder in folders:
        facts = read_facts(folder)
        files = [path for path in files_in(folder, "*.json", deep=False) if path.name != FACTS]
        scores: dict[str, Scores] = {path.stem: read_json(path) for path in files}
        if scores:
            run = runs.setdefault(facts.get("run", folder.name), Run(facts.get("run", folder.name)))
            kind = facts.get("kind", KINDS[0])
            run.scores[kind], run.facts[kind] = scores, facts
    order = {name: i for i, name in enumerate(read_table()["treebanks"])}
    return sorted(
        runs.values(), key=lambda run: (order.get(run.treebank.get("treebank"), len(order)), run.name)
    )


def make_sections(runs: Sequence[Run], papers: Mapping[str, Any]) -> list[Section]:
    """Return the sections that have rows.

    runs: Runs to show.
    papers: Content of assets/papers.json.
    """
    ud, penn = papers["ud"], papers["penn"]
    scored = set(chain.from_iterable(run.scores for run in runs))
    kinds = [kind for kind in KINDS if kind in scored]
    sections = []
    for metric in ("LAS", "UAS"):
        tables = [table for table in ud["tables"] if table["metric"] == metric]
        note = f"Papers: {ud['data']}. A star marks a run on other data than theirs."
        sections.append(_beside_papers(f"{metric}, test sets", note, runs, kinds, metric, tables, ud["tag"]))
    rows = _own_rows(runs, kinds, "dev", ("UAS", "LAS", "CLAS"))
    sections.append(Section("Development sets", "Gold words and sentences.", *rows))
    without = [run for run in runs if run.has_scores_without_punct]
    for metric, name in WITHOUT.items() if without else ():
        tables = [table for table in penn["tables"] if table["metric"] == metric]
        note = f"The sources say what counts as punctuation. Papers: {penn['data']}."
        title = f"{metric} without punctuation, test sets"
        sections.append(_beside_papers(title, note, without, kinds, name, tables, None))
    raw = [run for run in runs if run.has_scores_from_text]
    if raw:
        metrics = ("Tokens", "Sentences", "Words", "UPOS", "Lemmas", "UAS", "LAS")
        rows = _own_rows(raw, [kind for kind in kinds if kind == "pipeline"], "test_raw", metrics)
        sections.append(Section("From text, test sets", "The pipeline finds words and sentences.", *rows))
    sections.append(Section("Sources", "What each number was made of.", _source_rows(runs), ()))
    return [section for section in sections if len(section.rows) > 1]


def _beside_papers(
    title: str,
    note: str,
    runs: Sequence[Run],
    kinds: Sequence[str],
    name: str,
    tables: Sequence[Mapping[str, Any]],
    tag: str | None,
) -> Section:
    """Return our figures and the papers' figures, with averages over the treebanks that both have.

    The name of a run may have a suffix after the treebank's name. Runs with the same suffix have an average.

    title: Title of the section.
    note: Note below the title.
    runs: Runs to show.
    kinds: Kinds of pipelines, a column each.
    name: Name of the metric in our scores.
    tables: Tables of the papers.
    tag: Release that the papers used; None if there are no releases.
    """
    head = ("treebank", *kinds, *chain.from_iterable(table["columns"] for table in tables))
    body: list[Sequence[str]] = []
    numbers: dict[str, list[list[float | None]]] = {}
    for run in runs:
        treebank = run.treebank.get("treebank", "")
        ours = [run.percent(kind, split="test", metric=name) for kind in kinds]
        theirs: list[float | None] = []
        for table in tables:
            theirs += table["rows"].get(treebank, [None] * len(table["columns"]))
        if all(value is None for value in ours):
            continue
        has_papers = any(value is not None for value in theirs)
        same = tag is None or run.treebank.get("tag") == tag
        body.append((run.title + ("" if same or not has_papers else " *"), *map(_number, [*ours, *theirs])))
        if has_papers and same:
            numbers.setdefault(run.name.removeprefix(treebank), []).append([*ours, *theirs])
    for suffix, rows in numbers.items():
        if len(rows) > 1:
            which = "these" if len(numbers) == 1 else f"the {suffix or 'unsuffixed'}"
            average = f"average of {which} {len(rows)}" + ("" if tag is None else f" at {tag}")
            body.append((average, *map(_number, map(_mean, zip(*rows, strict=True)))))
    groups = [(OURS, len(kinds))]
    groups += [(f"{table['short']}, table {table['table']}", len(table["columns"])) for table in tables]
    return Section(title, note, [head, *body], [("", 1), *groups])


def _own_rows(
    runs: Iterable[Run], kinds: Sequence[str], split: str, metrics: Sequence[str]
) -> tuple[Table, list[tuple[str, int]]]:
    columns = list(product(kinds, metrics))
    rows = [("treebank", *(metric for _, metric in columns))]
    for run in runs:
        values = [run.percent(kind, split=split, metric=metric) for kind, metric in columns]
        if any(value is not None for value in values):
            rows.append((run.title, *map(_number, values)))
    return rows, [("", 1), *((kind, len(metrics)) for kind in kinds)]


def _source_rows(runs: Iterable[Run]) -> Table:
    head = (
        "run",
        "kind",
        "treebank",
        "commit",
        "license",
        "encoder",
        "config",
        "steps at most",
        "epochs",
        "sentences",
    )
    rows: list[Sequence[str]] = [(*head, "device", "punctuation left out", "trained", "with", "scored", "by")]
    for run in runs:
        for kind, facts in run.facts.items():
            treebank, training = facts.get("treebank") or {}, facts.get("training") or {}
            versions = " ".join(f"{name} {value}" for name, value in training.get("versions", {}).items())
            config = training.get("config") or NONE
            values = [
                treebank
                and treebank_name(treebank) + (" (files)" if treebank.get("origin") == "files" else ""),
                treebank.get("commit", "")[:12],
                treebank.get("license"),
                training.get("encoder") or (training and "none"),
                config,
                *(training.get(key) for key in ("max_steps", "epochs", "sentences", "device")),
                facts.get("exclude_punct"),
                training.get("date"),
                versions,
                facts.get("date"),
                facts.get("scored_by"),
            ]
            rows.append((run.name, kind, *(str(value) if value else NONE for value in values)))
    return rows


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return sum(numbers) / len(numbers) if len(numbers) == len(values) else None


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.2f}"


def make_markdown(sections: Iterable[Section], intro: str, papers: Sequence[str]) -> str:
    """Return sections as Markdown, between an introduction and a list of papers."""
    parts = ["# Treebanks", intro]
    for section in sections:
        head, *rows = section.rows
        if section.groups:
            titles = list(chain.from_iterable([title] * n for title, n in section.groups))
            head = [f"{title}: {cell}" if title else cell for title, cell in zip(titles, head, strict=True)]
        parts += [f"## {section.title}", section.note, markdown_table([head, *rows])]
    parts += ["## Papers", "\n".join(f"- {paper}" for paper in papers)]
    return "\n\n".join(parts) + "\n"


def make_html(sections: Iterable[Section], intro: str, papers: Sequence[str]) -> str:
    """Return the same as an HTML page."""
    parts = [f"<h1>Treebanks</h1>\n<p>{escape(intro)}</p>"]
    for section in sections:
        head, *rows = section.rows
        table = make_table(section.note, head, rows, groups=section.groups)
        parts.append(f"<h2>{escape(section.title)}</h2>\n{table}")
    parts.append("<h2>Papers</h2>\n<ul>" + "".join(f"<li>{escape(paper)}</li>" for paper in papers) + "</ul>")
    return make_page("Treebanks", body="\n".join(parts))


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("metrics", type=Path, help="folder with a folder for each run")
    cli.add_argument("markdown", type=Path, help="Markdown file to write")
    cli.add_argument("html", type=Path, help="HTML page to write")
    args = cli.parse_args()
    runs = read_runs(args.metrics) if args.metrics.is_dir() else []
    if not runs:
        raise SystemExit(
            f"There are no scores in {args.metrics}. Expected scores of a workflow, such as all."
        )
    papers = read_json(PAPERS)
    sections = make_sections(runs, papers)
    intro = (
        f"Scores of {len(runs)} run(s) in percent, by the CoNLL 2018 metrics on gold words and sentences "
        "unless a table says otherwise: punctuation counts, label subtypes do not."
    )
    tables = chain.from_iterable(group["tables"] for group in papers.values())
    names = list(dict.fromkeys(f"{table['short']}: {table['paper']}" for table in tables))
    for path, make in ((args.markdown, make_markdown), (args.html, make_html)):
        write_text(path, make(sections, intro, names))
    print(f"{len(runs)} run(s): {args.markdown} and {args.html}")


if __name__ == "__main__":
    main()
