"""Score trained AMR parsers on a file by beam width, and compare them.

python -m experiments.amr_parsing test.txt --systems c=c.0/model-best,c.1/model-best a=a.0/model-best \
    [--beam-widths 1 10] [--length-penalty 1.0] [--against a] [--threads 2] [--output amr_parsing]

A system has a name and a pipeline for each seed. Smatch is the micro average over the file, without :wiki, as
the mean over seeds. "nodes" and "edges" are their numbers as shares of the gold numbers. A comparison is a
paired bootstrap over sentences of the mean over seeds, with 10,000 resamples.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import spacy
import torch
from spacy.scorer import PRFScore
from spacy.training import Example

from project.markdown import markdown_table
from spacy_g2g.amr.data.corpus import make_amr_corpus
from spacy_g2g.amr.data.docs import get_amrs
from spacy_g2g.amr.evaluation.smatch import smatch_scores
from spacy_g2g.amr.evaluation.triples import to_triples
from spacy_g2g.amr.formats.penman_text import parse_penman

HEAD = ("system", "beam", "P", "R", "Smatch", "seeds", "concepts", "nodes", "edges", "seconds")
N_WARM_UP = 8
N_RESAMPLES = 10_000

#: Numbers of matched, predicted and gold triples, int [sentences, 3].
Counts = npt.NDArray[np.int64]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("gold", type=Path, help="a file of AMRs")
    parser.add_argument("--systems", nargs="+", required=True, metavar="NAME=PIPELINE[,PIPELINE...]")
    parser.add_argument("--component", default="amr_parser")
    parser.add_argument("--beam-widths", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--length-penalty", type=float, help="in place of the pipelines'")
    parser.add_argument("--against", help="the system that others are compared with")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, help="write OUTPUT.json and OUTPUT.md, too")
    args = parser.parse_args(arguments)
    torch.set_num_threads(args.threads)
    systems = dict(system.split("=", 1) for system in args.systems)
    rows: list[dict[str, Any]] = []
    counts: dict[tuple[str, int], Counts] = {}
    for beam_width in args.beam_widths:
        for name, pipelines in systems.items():
            found = [measure(pipeline, beam_width, args) for pipeline in pipelines.split(",")]
            counts[name, beam_width] = sum(one.pop("counts") for one in found)
            rows.append({"system": name, "beam": beam_width, "seeds": found})
            print(table(rows[-1:])[-1] if len(rows) > 1 else "\n".join(table(rows)), flush=True)
    lines = table(rows)
    if args.against:
        for beam_width in args.beam_widths:
            lines += ["", *compare(counts, beam_width, args.against)]
        print("\n".join(lines[len(rows) + 2 :]))
    if args.output:
        args.output.with_suffix(".json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf8")
        args.output.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf8")


def measure(pipeline: str, beam_width: int, args: argparse.Namespace) -> dict[str, Any]:
    """Return the scores of one pipeline on the file, and its counts."""
    settings: dict[str, Any] = {"beam_width": beam_width}
    if args.length_penalty is not None:
        settings["length_penalty"] = args.length_penalty
    nlp = spacy.load(pipeline, config={"components": {args.component: {"model": settings}}})
    examples: list[Example] = list(make_amr_corpus(args.gold)(nlp))
    list(nlp.pipe(example.predicted.copy() for example in examples[:N_WARM_UP]))
    start = time.perf_counter()
    docs = list(nlp.pipe([example.predicted for example in examples]))
    seconds = time.perf_counter() - start
    gold = [amr for example in examples for amr in get_amrs(example.reference) or ()]
    predicted = [amr for doc in docs for amr in get_amrs(doc) or ()]
    scores = list(smatch_scores(gold, predicted))
    total, concepts = (sum(of_kind, PRFScore()) for of_kind in zip(*scores, strict=True))
    sizes = [np.sum([_sizes(text) for text in texts], axis=0) for texts in (predicted, gold)]
    nodes, edges = (sizes[0] / sizes[1]).tolist()
    return {
        "P": total.precision,
        "R": total.recall,
        "Smatch": total.fscore,
        "concepts": concepts.fscore,
        "nodes": nodes,
        "edges": edges,
        "seconds": seconds,
        "counts": np.array([(score.tp, score.tp + score.fp, score.tp + score.fn) for score, _ in scores]),
    }


def _sizes(text: str) -> tuple[int, int]:
    triples = to_triples(parse_penman(text))
    return len(triples.concepts), triples.edges.total()


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    cells: list[list[str]] = []
    for row in rows:
        seeds = row["seeds"]
        means = {key: float(np.mean([seed[key] for seed in seeds])) for key in seeds[0]}
        percents = {key: f"{100 * means[key]:.1f}" for key in means if key != "seconds"}
        values = [percents["P"], percents["R"], f"{100 * means['Smatch']:.2f}"]
        values.append(", ".join(f"{100 * seed['Smatch']:.2f}" for seed in seeds))
        values += [percents["concepts"], percents["nodes"], percents["edges"], f"{means['seconds']:.1f}"]
        cells.append([row["system"], str(row["beam"]), *values])
    return markdown_table([HEAD, *cells]).splitlines()


def compare(counts: Mapping[tuple[str, int], Counts], beam_width: int, against: str) -> list[str]:
    """Return the differences in Smatch to one system, with 95% intervals, as a list in Markdown.

    counts: Counts by system and beam width.
    beam_width: Beam width of the compared systems.
    against: Name of the system.
    """
    base = counts[against, beam_width]
    draws = np.random.default_rng(0).integers(len(base), size=(N_RESAMPLES, len(base)))
    weights = np.stack([np.bincount(draw, minlength=len(base)) for draw in draws])
    lines = []
    for (name, width), system in counts.items():
        if width == beam_width and name != against:
            gain = _f_scores(system.sum(0)) - _f_scores(base.sum(0))
            gains = _f_scores(weights @ system) - _f_scores(weights @ base)
            low, high = np.quantile(gains, (0.025, 0.975))
            interval = f"95% interval {100 * low:+.2f} to {100 * high:+.2f}"
            lines.append(f"- {name} to {against}, beam {width}: {100 * gain:+.2f} Smatch, {interval}")
    return lines


def _f_scores(counts: Counts) -> Any:
    matched, predicted, gold = np.moveaxis(counts, -1, 0)
    return 2 * matched / (predicted + gold)


if __name__ == "__main__":
    main()
