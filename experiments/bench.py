"""Measure what must not get worse: scores, speed, latency, memory, sizes; compare them with an earlier run.

    python -m experiments.bench PIPELINE --json bench.json --page bench.md [--against experiments/bench.json]

PIPELINE is that of `make demo`. It is scored on both files of our English treebank that it has not learned
from, and timed on them by processor time on one thread, in float32. With `--against`, the command fails where
a score of trees is lower by 0.3 or a ratio by 3 %. Times are not compared, since they depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import torch

from project.markdown import markdown_table
from project.timing import measure
from project.up_to_date import read_json
from spacy_g2g.analysis.evaluate import evaluate
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.formats.paragraphs import paragraphs

from .speed import BARE, FOUND, GIVEN, time_all

ROOT = Path(__file__).parent.parent
GOLD = ROOT / "assets" / "english"
#: What a run may be worse by: points of a score, and the share of a ratio.
SCORE_LOSS, RATIO_LOSS = 0.3, 0.03
#: What the build of the library's wheel reads.
SOURCES = ("pyproject.toml", "MANIFEST.in", "README.md", "LICENSE")
#: Titles of what is measured, by its group and its name in bench.json.
TITLES = {
    ("scores", "LAS"): "LAS, gold words and sentences",
    ("scores", "LAS from text"): "LAS from text",
    ("ratios", GIVEN): "speed with given sentences, relative to the bare encoder",
    ("ratios", FOUND): "speed with found sentences, relative to the bare encoder",
    ("times", "words_given"): "words per CPU second, sentences given",
    ("times", "words_found"): "words per CPU second, sentences found",
    ("times", "document_wps"): "words per CPU second from text, documents",
    ("times", "p50_ms"): "one sentence, median, ms",
    ("times", "p95_ms"): "one sentence, 95 %, ms",
    ("times", "import_s"): "import of spaCy with the library, s",
    ("times", "load_s"): "loading the pipeline, s",
    ("sizes", "memory_mb"): "peak memory, MB",
    ("sizes", "disk_mb"): "the pipeline's folder, MB",
    ("sizes", "wheel_mb"): "the library's wheel, MB",
}
PAGE = """# What is measured each night

`make bench` measures the pipeline of `make demo`, and trains it first if there is none. The workflow
`night.yml` runs it each night. It fails where LAS is {score} lower than here, or a ratio {ratio} lower. We
don't compare times, since they depend on the machine. Ratios depend on it less: another kind of processor may
need a `bench.json` of its own, which the workflow keeps as an artifact.

The texts are `dev.conllu` and `test.conllu` of `assets/english`. Times are CPU time of one thread, in
float32. Each ratio compares two runs that follow one another, and we take the median of nine ratios. Words
per CPU second from gold words are the best of nine runs; speed from text is the best of two.
`python -m project.timing` measures latency, memory and loading, in a process of its own.

{table}

Measured on: {about}.

```bash
make bench
python -m experiments.bench training/open/model-best --json experiments/bench.json \\
    --page docs/results/bench.md
```
"""
Bench = dict[str, dict[str, Any]]


def scores_of(pipeline: Path, *, gold: Path) -> dict[str, float]:
    """Return LAS in percent, with gold words and sentences and from raw text."""
    scores = {}
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(sys.stderr):
        for name, raw in (("LAS", False), ("LAS from text", True)):
            evaluate(str(pipeline), gold, output=Path(folder) / "scores.json", raw=raw)
            scores[name] = 100 * read_json(Path(folder) / "scores.json")["LAS"]["f1"]
    return scores


def speeds_of(pipeline: Path, *, gold: Path, runs: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return ratios to the bare encoder, and words per CPU second."""
    torch.set_num_threads(1)
    documents = list(paragraphs(read_conllu(gold)))
    n_words = sum(len(sentence.words) for sentence in chain.from_iterable(documents))
    times = time_all({"": spacy.load(pipeline)}, documents, runs, precisions=("float32",))
    seconds = {row: np.array(values) for (_, row, _), values in times.items()}
    # The runs of one turn are near in time, so what else the machine does slows both.
    ratios = {row: float(np.median(seconds[BARE] / seconds[row])) for row in (GIVEN, FOUND)}
    least = {row: float(values.min()) for row, values in seconds.items()}
    return ratios, {"words_given": n_words / least[GIVEN], "words_found": n_words / least[FOUND]}


def wheel_size() -> float:
    """Return the megabytes of the library's wheel, built in a copy of the source."""
    with tempfile.TemporaryDirectory() as folder:
        for name in SOURCES:
            shutil.copyfile(ROOT / name, Path(folder) / name)
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "spacy_g2g", Path(folder) / "spacy_g2g", ignore=ignored)
        options = ("--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir")
        command = [sys.executable, "-m", "pip", "wheel", *options, f"{folder}/dist", folder]
        subprocess.run(command, check=True, stdout=sys.stderr)
        (wheel,) = Path(folder, "dist").glob("*.whl")
        return wheel.stat().st_size / 1e6


def machine() -> dict[str, str]:
    """Return the processor, and versions."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf8").splitlines() if about.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    found = {"processor": names[0] if names else platform.processor()}
    found["instructions"] = torch.backends.cpu.get_cpu_capability()
    return {
        **found,
        "python": platform.python_version(),
        "spacy": version("spacy"),
        "torch": version("torch"),
    }


def run(pipeline: Path, *, gold: Path, runs: int) -> Bench:
    """Return all that is measured, by its group: scores, ratios, times and sizes."""
    scores = scores_of(pipeline, gold=gold)
    ratios, words = speeds_of(pipeline, gold=gold, runs=runs)
    found = measure(pipeline.absolute(), gold)
    sizes = {"memory_mb": found["memory_mb"], "disk_mb": found["disk_mb"], "wheel_mb": wheel_size()}
    values: Bench = {"scores": scores, "ratios": ratios, "times": {**words, **found}, "sizes": sizes}
    shown: Bench = {group: {} for group in values}
    for group, key in TITLES:
        shown[group][key] = round(values[group][key], 4)
    return {"machine": machine(), **shown}


def worse(now: Mapping[str, Any], *, before: Mapping[str, Any]) -> list[str]:
    """Return what is worse than before by more than may be."""
    losses = []
    for group, key in TITLES:
        old, new = before[group][key], now[group][key]
        least = {"scores": old - SCORE_LOSS, "ratios": old * (1 - RATIO_LOSS)}.get(group, new)
        if new < least:
            losses.append(f"{TITLES[group, key]}: {new:.4g}, expected {least:.4g} or more")
    return losses


def page(bench: Mapping[str, Any]) -> str:
    """Return the values as a page in Markdown."""
    rows = [(title, f"{bench[group][key]:,.4g}") for (group, key), title in TITLES.items()]
    about = "; ".join(f"{name} {text}" for name, text in bench["machine"].items())
    table = markdown_table([("", "value"), *rows])
    limits = {"score": f"{SCORE_LOSS}", "ratio": f"{100 * RATIO_LOSS:.0f} %"}
    return PAGE.format(table=table, about=about, **limits)


def main(argv: Sequence[str] | None = None) -> None:
    """Run the measurement, and print the page."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline", type=Path, help="folder of a trained pipeline")
    cli.add_argument("--json", type=Path, required=True, help="file for the values")
    cli.add_argument("--page", type=Path, required=True, help="file for the page, .md")
    cli.add_argument("--against", type=Path, help="values of an earlier run, which these must reach")
    cli.add_argument("--gold", type=Path, nargs="+", default=[GOLD / "dev.conllu", GOLD / "test.conllu"])
    cli.add_argument("--runs", type=int, default=9, help="number of runs")
    args = cli.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        gold = Path(folder) / "gold.conllu"
        gold.write_text("".join(path.read_text(encoding="utf8") for path in args.gold), encoding="utf8")
        bench = run(args.pipeline, gold=gold, runs=args.runs)
    for path, text in ((args.json, json.dumps(bench, indent=2) + "\n"), (args.page, page(bench))):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf8")
    print(page(bench))
    losses = worse(bench, before=read_json(args.against)) if args.against else []
    if losses:
        sys.exit("Worse than before:\n" + "\n".join(losses))


if __name__ == "__main__":
    main()
