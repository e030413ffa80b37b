"""``analyze``: where parsers err, by their trees of one treebank."""

import csv
import json
import warnings
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from ..errors import Errors, Warnings
from ..evaluation.error_analysis import DEFAULT, WORST_BY, Analysis, Compared, analyse_errors, check_order
from ..evaluation.punctuation import punctuation_rule
from ..evaluation.report import (
    OVERALL_HEADER,
    SIGNIFICANCE_HEADER,
    make_report,
    overall_rows,
    significance_rows,
)
from ..formats.conllx import TREEBANK_SUFFIXES, read_treebank
from .common import Silent, atomic_path, check_can_plot, check_suffix, user_errors

CSV_HEADER = ("system", "quantity", "bin", "metric", "value", "count")


def analyze_cli(
    gold: Annotated[Path, typer.Argument(help="CoNLL-U or CoNLL-X file with gold trees")],
    systems: Annotated[
        list[Path], typer.Argument(help="Files with the same sentences and words and the trees of parsers")
    ],
    names: Annotated[
        str,
        typer.Option("--names", "-n", help="Names of the systems, with commas between  [default: files']"),
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="HTML page with tables, plots and trees")
    ] = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="JSON file for all figures")] = None,
    csv_path: Annotated[
        Path | None, typer.Option("--csv", help=f"CSV file for the tables: {', '.join(CSV_HEADER)}")
    ] = None,
    subtypes: Annotated[
        bool, typer.Option("--subtypes", help="Compare labels with their subtypes: nmod:poss is not nmod")
    ] = False,
    exclude_punct: Annotated[
        str,
        typer.Option("--exclude-punct", help="Leave out punctuation: ptb, ctb, ud or conllx, as `evaluate`"),
    ] = "",
    worst: Annotated[int, typer.Option("--worst", min=0, help="Worst sentences to draw; 0 for none")] = 20,
    worst_by: Annotated[
        str,
        typer.Option("--worst-by", help="; ".join(f"{name}: {text}" for name, text in WORST_BY.items())),
    ] = "errors",
    resamples: Annotated[int, typer.Option("--resamples", help="Of the paired bootstrap")] = 10_000,
    seed: Annotated[int, typer.Option("--seed", help="Of the paired bootstrap")] = 0,
    silent: Silent = False,
) -> None:
    """Compare parsers: scores by dependency length, depth, sentence length and label, and their significance.

    A page shows them, with the labels that are confused and the worst sentences drawn gold over system.
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
            compared=Compared(subtypes, exclude_punct),
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
    compared: Compared = DEFAULT,
    worst: int = 20,
    worst_by: str = "errors",
    resamples: int = 10_000,
    seed: int = 0,
) -> Analysis:
    """Analyse the trees of systems, and write what was found.

    gold: CoNLL-U or CoNLL-X file with complete trees. systems: Files with the same sentences and words.
    names: One for each system; or none, to make them of the files' names.
    output: HTML page. json_path: All figures. csv_path: A row for each figure of the tables.
    compared, resamples, seed: As for ``analyse_errors``. worst, worst_by: As for ``make_report``.
    RAISES (ValueError): for files or trees that do not fit, and names that are not one for each system.
    """
    names = list(names) or unique_names(systems)
    if len(set(names)) != len(systems) or len(names) != len(systems) or not all(names):
        raise ValueError(Errors.E388.format(names=names, n=len(systems)))
    check_order(worst_by)
    for path in (gold, *systems):
        check_suffix(path, TREEBANK_SUFFIXES)
    gold_sentences = list(read_treebank(gold, trees="full"))
    trees = {name: list(read_treebank(path, trees="full")) for name, path in zip(names, systems, strict=True)}
    analysis = analyse_errors(gold_sentences, trees, compared=compared, resamples=resamples, seed=seed)
    if compared.exclude_punct and analysis.n_compared == analysis.n_words:
        name, rule = compared.exclude_punct, punctuation_rule(compared.exclude_punct)
        warnings.warn(
            Warnings.W506.format(n=analysis.n_words, path=gold, name=name, rule=rule.text), stacklevel=2
        )
    if output is not None:
        page = make_report(
            analysis, gold_sentences, trees, title=f"Errors on {gold.name}", worst=worst, worst_by=worst_by
        )
        _write(output, page)
    if json_path is not None:
        _write(json_path, json.dumps(analysis.to_dict(), indent=2, ensure_ascii=False) + "\n")
    if csv_path is not None:
        rows = StringIO()
        csv.writer(rows, lineterminator="\n").writerows([CSV_HEADER, *analysis.tidy()])
        _write(csv_path, rows.getvalue())
    return analysis


def unique_names(paths: Sequence[Path]) -> list[str]:
    """Names of files without suffix, and with as many of their folders as it takes to tell them apart."""
    parts = [path.resolve().with_suffix("").parts for path in paths]
    for n in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(own[-n:]) for own in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{path.stem} ({number})" for number, path in enumerate(paths, start=1)]


def print_analysis(analysis: Analysis) -> None:
    """Print the scores of all systems, and whether these differ."""
    msg.divider(f"Errors on {analysis.n_sentences} sentences, {analysis.n_words} words")
    msg.text(f"Compared: {analysis.compared}. UD: the CoNLL 2018 metrics.")
    msg.table(list(overall_rows(analysis)), header=OVERALL_HEADER, divider=True, aligns=("l", *"r" * 9))
    if analysis.significance:
        msg.table(
            list(significance_rows(analysis)),
            header=SIGNIFICANCE_HEADER,
            divider=True,
            aligns=("l", *"r" * 9),
        )


def _write(path: Path, text: str) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf8", newline="\n")
