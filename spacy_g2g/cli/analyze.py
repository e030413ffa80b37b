"""``analyze``: error analysis of parsers on one treebank."""

import csv
import warnings
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Annotated

import typer

from ..errors import Errors, Warnings
from ..evaluation.error_analysis import WORST_BY, Analysis, analyse_errors, check_order
from ..evaluation.punctuation import punctuation_rule
from ..evaluation.report import (
    OVERALL_HEADER,
    SIGNIFICANCE_HEADER,
    make_report,
    overall_rows,
    significance_rows,
)
from ..evaluation.scoring_options import DEFAULT_OPTIONS, ScoringOptions
from ..files import write_text
from ..formats.conllu import read_conllu
from ..formats.conllx import TREEBANK_SUFFIXES
from .common import check_can_plot, check_distinct, check_suffix, read_gold, user_errors, write_json
from .messages import msg
from .options import Silent

CSV_HEADER = ("system", "quantity", "bin", "metric", "value", "count")


def analyze_cli(
    gold: Annotated[Path, typer.Argument(help="CoNLL-U or CoNLL-X file with gold trees")],
    systems: Annotated[
        list[Path], typer.Argument(help="Files with the same words and sentences and the trees of a parser")
    ],
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
        Path | None, typer.Option("--csv", help=f"CSV file with the columns {', '.join(CSV_HEADER)}")
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
    resamples: Annotated[int, typer.Option("--resamples", help="Resamples of the paired bootstrap")] = 10_000,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the paired bootstrap")] = 0,
    silent: Silent = False,
) -> None:
    """Compare parsers by dependency length, depth, sentence length and label, and test for significance.

    The page also shows label confusions and draws the worst sentences.
    """
    with user_errors():
        if output is not None:
            check_suffix(output, [".html"])
            check_can_plot()
        analysis = analyze(
            gold,
            systems,
            names=[name.strip() for name in names.split(",")] if names else (),
            output=output,
            json_path=json_path,
            csv_path=csv_path,
            options=ScoringOptions(subtypes, exclude_punct),
            worst=worst,
            worst_by=worst_by,
            resamples=resamples,
            seed=seed,
        )
    if not silent:
        print_analysis(analysis)


def analyze(
    gold: Path,
    systems: Sequence[Path],
    *,
    names: Sequence[str] = (),
    output: Path | None = None,
    json_path: Path | None = None,
    csv_path: Path | None = None,
    options: ScoringOptions = DEFAULT_OPTIONS,
    worst: int = 20,
    worst_by: str = "errors",
    resamples: int = 10_000,
    seed: int = 0,
) -> Analysis:
    """Analyse trees of parsers and write the results. ``spacy g2g analyze --help`` describes the arguments.

    Raises ValueError if files or trees do not match, or if there is not one name for each parser.
    """
    names = list(names) or unique_names(systems)
    if len(set(names)) != len(systems) or len(names) != len(systems) or not all(names):
        raise ValueError(Errors.E912.format(names=names, n=len(systems)))
    check_order(worst_by)
    check_distinct([path for path in (output, json_path, csv_path) if path is not None])
    for path in (gold, *systems):
        check_suffix(path, TREEBANK_SUFFIXES)
    gold_sentences = read_gold(gold)
    trees = {name: list(read_conllu(path, trees="full")) for name, path in zip(names, systems, strict=True)}
    analysis = analyse_errors(gold_sentences, trees, options=options, resamples=resamples, seed=seed)
    if options.exclude_punct and analysis.n_compared == analysis.n_words:
        name, rule = options.exclude_punct, punctuation_rule(options.exclude_punct)
        warnings.warn(
            Warnings.W901.format(n=analysis.n_words, path=gold, name=name, rule=rule.text), stacklevel=2
        )
    if output is not None:
        page = make_report(
            analysis, gold_sentences, trees, title=f"Errors on {gold.name}", worst=worst, worst_by=worst_by
        )
        write_text(output, page)
    if json_path is not None:
        write_json(json_path, analysis.to_dict())
    if csv_path is not None:
        rows = StringIO()
        tidy = ([_no_formula(cell) for cell in row] for row in analysis.tidy())
        csv.writer(rows, lineterminator="\n").writerows([CSV_HEADER, *tidy])
        write_text(csv_path, rows.getvalue())
    return analysis


def _no_formula(cell: object) -> object:
    """Return a cell that no spreadsheet computes: a quote comes before a text that begins a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def unique_names(paths: Sequence[Path]) -> list[str]:
    """Return file names without suffix, with as many of their folders as make them distinct."""
    parts = [path.resolve().with_suffix("").parts for path in paths]
    for n in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(folders[-n:]) for folders in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{path.stem} ({number})" for number, path in enumerate(paths, start=1)]


def print_analysis(analysis: Analysis) -> None:
    """Print the scores of all systems and the significance of their differences."""
    msg.divider(f"Errors on {analysis.n_sentences} sentences, {analysis.n_words} words")
    msg.text(f"Compared: {analysis.options}. UD: the CoNLL 2018 metrics.")
    msg.table(list(overall_rows(analysis)), header=OVERALL_HEADER, divider=True, aligns=("l", *"r" * 9))
    if analysis.significance:
        rows = list(significance_rows(analysis))
        msg.table(rows, header=SIGNIFICANCE_HEADER, divider=True, aligns=("l", *"r" * 9))
