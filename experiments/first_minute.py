"""Measure pipelines as one meets them first: time, memory, size, and scores from raw text, beside each other.

    python -m experiments.first_minute FILE PIPELINE ... [--without NAME] [--gold DEV] [--rounds 2]

FILE has the texts to time (project/timing.py). With `--without rng_refiner`, each pipeline that has this
component is also measured without it. Pipelines are timed in turns, each time in a new process, and the best
round counts. With `--gold`, all read the raw text of a treebank (.conllu), as in `g2g evaluate --raw`, and
scores with all components are told. The output is a table in Markdown.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spacy.util import load_config

from project.markdown import Table, markdown_table
from project.timing import measure
from project.up_to_date import read_json
from spacy_g2g.analysis.evaluate import evaluate

#: Columns of the table: title, name in the output of project/timing.py, digits after the point.
COLUMNS = (
    ("import, s", "import_s", 1),
    ("load, s", "load_s", 1),
    ("first text, ms", "first_ms", 0),
    ("sentence, ms: median", "p50_ms", 1),
    ("95 %", "p95_ms", 1),
    ("words/s: short texts", "short_wps", 0),
    ("documents", "document_wps", 0),
    ("memory, MB", "memory_mb", 0),
    ("disk, MB", "disk_mb", 0),
)
#: Values of which more is better; of all others, the least counts.
MORE_IS_BETTER = ("short_wps", "document_wps")
SCORES = ("Sentences", "UPOS", "Lemmas", "LAS")


def variants(pipelines: Sequence[str], without: str) -> dict[str, tuple[str, list[str]]]:
    """Return pipelines and components to leave out, by the titles of their rows."""
    found: dict[str, tuple[str, list[str]]] = {}
    for pipeline in pipelines:
        found[pipeline] = pipeline, []
        if without and without in components_of(pipeline):
            found[f"{pipeline} without {without}"] = pipeline, [without]
    return found


def components_of(pipeline: str) -> list[str]:
    """Return the names of a pipeline's components, without loading it."""
    folder = Path(pipeline)
    if not folder.is_dir():
        spec = find_spec(pipeline)
        if spec is None or spec.origin is None:
            raise SystemExit(f"There is no pipeline {pipeline}. Expected a folder or an installed package.")
        (folder,) = (path.parent for path in Path(spec.origin).parent.rglob("config.cfg"))
    names: list[str] = load_config(folder / "config.cfg")["nlp"]["pipeline"]
    return names


def time_all(
    rows: Mapping[str, tuple[str, list[str]]], file: Path, rounds: int
) -> dict[str, dict[str, float]]:
    """Return the best values of all rounds, by row."""
    best: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for title, (pipeline, disable) in rows.items():
            own = best.setdefault(title, {})
            for key, value in measure(pipeline, file, disable).items():
                choose = max if key in MORE_IS_BETTER else min
                own[key] = choose(value, own.get(key, value))
    return best


def score_all(pipelines: Sequence[str], gold: Path) -> dict[str, dict[str, float]]:
    """Return F1 from raw text in percent, by pipeline."""
    scores: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for i, pipeline in enumerate(pipelines):
            output = Path(folder) / f"{i}.json"
            with redirect_stdout(sys.stderr):
                evaluate(pipeline, gold, output=output, raw=True)
            found = read_json(output)
            scores[pipeline] = {name: 100 * found[name]["f1"] for name in SCORES}
    return scores


def table(times: Mapping[str, Mapping[str, float]], *, scores: Mapping[str, Mapping[str, float]]) -> Table:
    """Return rows of cells. A pipeline that was not scored has dashes."""
    shown = SCORES if scores else ()
    rows: list[tuple[str, ...]] = [("", *(title for title, _, _ in COLUMNS), *shown)]
    for title, own in times.items():
        cells = [f"{own[key]:,.{digits}f}" for _, key, digits in COLUMNS]
        known = scores.get(title, {})
        rows.append((title, *cells, *(f"{known[name]:.1f}" if known else "-" for name in shown)))
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    """Run the measurement, and print a table."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("file", type=Path, help="texts to time: a treebank (.conllu) or a text")
    cli.add_argument("pipelines", nargs="+", help="folders of pipelines, or names of packages")
    cli.add_argument("--without", default="", help="component without which pipelines are measured as well")
    cli.add_argument("--rounds", type=int, default=2, help="number of rounds, of which the best counts")
    cli.add_argument("--gold", type=Path, help="treebank for scores from raw text, .conllu")
    cli.add_argument("--json", type=Path, help="file for all values")
    args = cli.parse_args(argv)
    times = time_all(variants(args.pipelines, args.without), args.file, args.rounds)
    scores = score_all(args.pipelines, args.gold) if args.gold else {}
    if args.json is not None:
        found: dict[str, Any] = {"times": times, "scores": scores}
        args.json.write_text(json.dumps(found, indent=2), encoding="utf8")
    print(markdown_table(table(times, scores=scores)))


if __name__ == "__main__":
    main()
