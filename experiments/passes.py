"""Show what each pass of a refiner gains, by how good the trees are that it starts from: a table and a plot.

    python -m experiments.passes --output OUT --refiner NAME training/refined/model-last dev.conllu a.conllu

`--refiner` has a name for the table, a pipeline with a refiner, a treebank, and files with trees of its
sentences, which take the place of those of the pipeline's own parser. Repeat it for other refiners. The
output is passes.json, passes.md and passes.png. LAS is computed as in `g2g refinement`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from project.markdown import markdown_table
from spacy_g2g.analysis.iterations import PARTS, find_scores, find_stopped
from spacy_g2g.analysis.plots import SYSTEM_STYLES
from spacy_g2g.analysis.refinement import refinement


def measure(pipeline: str, *, gold: Path, first: Path) -> dict[str, Any]:
    """Return LAS in percent of the first trees and after each pass, and the share of sentences by passes."""
    analysis = refinement(pipeline, gold, initial=first, silent=True)
    las = [100 * (value or 0) for value in find_scores(analysis, PARTS["LAS"])]
    stopped = [100 * (share or 0) for share in find_stopped(analysis, "sentences")]
    return {"first": first.stem, "las": las, "stopped": stopped}


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a row for each refiner and file of trees: its LAS, and what each pass adds."""
    n_passes = max(len(row["las"]) for row in rows) - 1
    passes = [f"pass {t}" for t in range(1, n_passes + 1)]
    cells = [["refiner", "first trees", "their LAS", *passes, "LAS at the end", "passes per sentence"]]
    for row in rows:
        las = row["las"]
        gains = [f"{after - before:+.2f}" for before, after in pairwise(las)]
        gains += [""] * (n_passes - len(gains))
        mean = sum(t * share for t, share in enumerate(row["stopped"])) / 100
        cells.append([row["refiner"], row["first"], f"{las[0]:.2f}", *gains, f"{las[-1]:.2f}", f"{mean:.2f}"])
    return markdown_table(cells)


def plot(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw a line for each refiner: LAS at the end over LAS of the first trees; dashed, after one pass."""
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.subplots()
    for name, (color, marker) in zip(
        dict.fromkeys(row["refiner"] for row in rows), cycle(SYSTEM_STYLES), strict=False
    ):
        points = sorted(
            (row["las"][0], row["las"][1], row["las"][-1]) for row in rows if row["refiner"] == name
        )
        first, once, end = zip(*points, strict=True)
        axes.plot(first, end, color=color, marker=marker, label=f"{name}, last pass")
        axes.plot(
            first, once, color=color, marker=marker, alpha=0.5, linestyle="--", label=f"{name}, one pass"
        )
    low, high = min(axes.get_xlim()[0], axes.get_ylim()[0]), max(axes.get_xlim()[1], axes.get_ylim()[1])
    axes.axline((high, high), slope=1, color="#999999", linestyle=":", label="no change")
    axes.set(
        xlabel="LAS of the first trees", ylabel="LAS after refinement", xlim=(low, high), ylim=(low, high)
    )
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the measurement, and print the table."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    metavar = ("NAME", "PIPELINE")
    cli.add_argument("--refiner", nargs="+", action="append", required=True, metavar=metavar)
    cli.add_argument("--output", type=Path, required=True, help="folder for the table and the plot")
    args = cli.parse_args(argv)
    short = [" ".join(parts) for parts in args.refiner if len(parts) < 4]
    if short:
        cli.error(f"--refiner {short[0]}: expected a name, a pipeline, a treebank and files of trees")
    rows = []
    for name, pipeline, gold, *files in args.refiner:
        for first in map(Path, files):
            rows.append({"refiner": name, **measure(pipeline, gold=Path(gold), first=first)})
    args.output.mkdir(parents=True, exist_ok=True)
    (args.output / "passes.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf8")
    (args.output / "passes.md").write_text(table(rows) + "\n", encoding="utf8")
    plot(rows, args.output / "passes.png")
    print(table(rows))


if __name__ == "__main__":
    main()
