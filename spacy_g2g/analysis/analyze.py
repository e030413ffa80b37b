"""``analyze``: error analysis of parsers on one treebank."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, fields
from io import StringIO
from pathlib import Path
from typing import Annotated

import typer

from ..data.input_files import read_gold
from ..errors import Errors
from ..evaluation.alignment import check_same_words
from ..evaluation.punctuation import warn_of_no_punctuation
from ..files import write_text
from ..formats.conllx import TREEBANK_SUFFIXES
from ..terminal.common import check_distinct, check_suffix, write_json
from ..terminal.messages import msg
from ..terminal.options import Silent
from .error_analysis import WORST_BY, Analysis, analyze_errors, check_order
from .error_rows import Row
from .plots import check_matplotlib
from .report import OVERALL_HEADER, SIGNIFICANCE_HEADER, make_report, overall_rows, significance_rows

COLUMNS = tuple(field.name for field in fields(Row))


def analyze(
    gold: Annotated[Path, typer.Argument(help="CoNLL-U or CoNLL-X file with gold trees")],
    systems: Annotated[
        list[Path], typer.Argument(help="Files with the same words and sentences and the trees of a parser")
    ],
    *,
    names: Annotated[
        str,
        typer.Option(
            "--names", "-n", help="Names of the parsers, separated by commas  [default: the files']"
        ),
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="HTML page with tables, plots and trees")
    ] = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="JSON file with all figures")] = None,
    csv_path: Annotated[
        Path | None, typer.Option("--csv", help=f"CSV file with the columns {', '.join(COLUMNS)}")
    ] = None,
    subtypes: Annotated[
        bool,
        typer.Option("--subtypes", help="Compare labels with subtypes: nmod:poss differs from nmod"),
    ] = False,
    exclude_punct: Annotated[
        str,
        typer.Option("--exclude-punct", help="Leave out punctuation: ptb, ctb, ud, conllx (see `evaluate`)"),
    ] = "",
    worst: Annotated[int, typer.Option("--worst", min=0, help="Number of worst sentences to draw")] = 20,
    worst_by: Annotated[
        str,
        typer.Option("--worst-by", help="; ".join(f"{name}: {text}" for name, text in WORST_BY.items())),
    ] = "errors",
    resamples: Annotated[
        int, typer.Option("--resamples", min=1, help="Resamples of the paired bootstrap")
    ] = 10_000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the paired bootstrap")] = 0,
    silent: Silent = False,
) -> Analysis:
    """Compare parsers by dependency length, depth, sentence length and label, and test for significance.

    The page also shows label confusions and draws the worst sentences.
    """
    parsers = [name.strip() for name in names.split(",")] if names else unique_names(systems)
    if len(set(parsers)) != len(systems) or len(parsers) != len(systems) or not all(parsers):
        raise ValueError(Errors.E912.format(names=parsers, n=len(systems)))
    check_order(worst_by)
    check_distinct([path for path in (output, json_path, csv_path) if path is not None])
    if output is not None:
        check_suffix(output, [".html"])
        check_matplotlib()
    for path in (gold, *systems):
        check_suffix(path, TREEBANK_SUFFIXES)
    sentences, graphs = read_gold(gold), {}
    for name, path in zip(parsers, systems, strict=True):
        parsed = read_gold(path)
        check_same_words(sentences, system=parsed, name=name)
        graphs[name] = [sentence.graph(subtypes=subtypes) for sentence in parsed]
    analysis = analyze_errors(
        sentences, graphs, subtypes=subtypes, exclude_punct=exclude_punct, resamples=resamples, seed=seed
    )
    if exclude_punct:
        warn_of_no_punctuation(sentences, gold, exclude_punct)
    if output is not None:
        title = f"Errors on {gold.name}"
        write_text(output, make_report(analysis, title=title, worst=worst, worst_by=worst_by))
    if json_path is not None:
        write_json(json_path, analysis.to_dict())
    if csv_path is not None:
        write_text(csv_path, _csv_table(analysis.rows))
    if not silent:
        _print_analysis(analysis)
    return analysis


def _csv_table(rows: Iterable[Row]) -> str:
    """Write rows as CSV with a header."""
    table = StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(map(_escape_formula, astuple(row)))
    return table.getvalue()


def _escape_formula(cell: object) -> object:
    """Put a quote before a text that a spreadsheet would compute as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def unique_names(paths: Sequence[Path]) -> list[str]:
    """Return file names without suffix, with enough parent folders to make them different."""
    parts = [path.resolve().with_suffix("").parts for path in paths]
    for n in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(folders[-n:]) for folders in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{path.stem} ({number})" for number, path in enumerate(paths, start=1)]


def _print_analysis(analysis: Analysis) -> None:
    """Print the scores of all systems and the significance of their differences."""
    msg.divider(f"Errors on {len(analysis.gold)} sentences, {analysis.n_words} words")
    msg.text(f"Compared: {analysis.compared}. UD: the CoNLL 2018 metrics.")
    msg.table(list(overall_rows(analysis)), header=OVERALL_HEADER, divider=True, aligns=("l", *"r" * 9))
    if len(analysis.names) > 1:
        rows = list(significance_rows(analysis))
        msg.table(rows, header=SIGNIFICANCE_HEADER, divider=True, aligns=("l", *"r" * 9))
