"""``debug-data``: show figures and problems of the data in a training config, with advice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.cli._util import import_code, parse_config_overrides, show_validation_error
from spacy.util import load_config

from ..terminal.common import progress, write_json
from ..terminal.messages import msg
from .findings import COMPONENT_ROWS, CORPUS_ROWS, Figures, Finding, find_problems, show_figure
from .statistics import read_figures

CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}


def debug_data(
    context: typer.Context,
    config: Annotated[Path, typer.Argument(help="Training config", exists=True, dir_okay=False)],
    limit: Annotated[int, typer.Option(min=0, help="Number of Docs to read from each corpus; 0 for all")] = 0,
    output: Annotated[Path | None, typer.Option("--json", help="JSON file with figures and findings")] = None,
    code: Annotated[
        Path | None, typer.Option("--code", "-c", help="Python file with registered functions")
    ] = None,
) -> None:
    """Show figures and problems of the data in a training config.

    Settings of the config can be overridden as in spacy train (--paths.train FILE). The exit status is 1 if
    training on the data is impossible.
    """
    overrides = parse_config_overrides(context.args)
    import_code(code)
    with show_validation_error(config):
        loaded = load_config(config, overrides=overrides)
        report = read_figures(
            loaded, limit=limit, watch=lambda docs: progress(docs, unit="Docs", silent=False)
        )
    findings = find_problems(report)
    if output is not None:
        write_json(output, {**report, "findings": [asdict(finding) for finding in findings]})
    print_figures(report)
    print_findings(findings)
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)


def print_figures(report: dict[str, Any]) -> None:
    """Print the figures of the corpora and of each component as tables."""
    corpora = [report["train"], report["dev"]]
    msg.divider("Corpora")
    _print_figures(CORPUS_ROWS, corpora)
    duplicates, n_long = report["duplicates"], report["long_duplicates"]
    msg.text(f"{duplicates} sentences of dev are also in train; {n_long} of them have 5 words or more")
    msg.divider("Labels")
    train, dev = (figures["labels"] for figures in corpora)
    _print_table([(name, f"{train.get(name, 0):,}", f"{dev.get(name, 0):,}") for name in train | dev])
    for name, component in report["components"].items():
        msg.divider(name)
        msg.text(f"Model {component['architecture']}")
        if component["initial_from"]:
            msg.text(f"Starts from the trees of {', '.join(component['initial_from'])}")
        figures = [{**report[corpus], **component[corpus]} for corpus in ("train", "dev")]
        _print_figures([row for row in COMPONENT_ROWS if row[1] in figures[0]], figures)


def print_findings(findings: Sequence[Finding]) -> None:
    """Print the findings."""
    msg.divider("Findings")
    for finding in findings:
        title = f"{finding.where}: {finding.name}"
        if finding.level == "error":
            msg.fail(title, finding.text)
        else:
            msg.warn(title, finding.text)
    if not findings:
        msg.good("No problems found")


def _print_figures(rows: Iterable[tuple[str, str, str]], corpora: Sequence[Figures]) -> None:
    """Print some figures of both corpora."""
    table = []
    for title, key, how in rows:
        table.append((title, *(show_figure(figures, key, how=how) for figures in corpora)))
    _print_table(table)


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    # Cells longer than max_col would push the columns after them out of line.
    msg.table(rows, header=("", "train", "dev"), divider=True, aligns=("l", "r", "r"), max_col=100)
