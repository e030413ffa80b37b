"""Time a parser with several beam widths, and another pipeline for comparison.

python -m experiments.beam_time PIPELINE DATA --peer PIPELINE [--beam-widths 1 10] [--runs 2] [--threads 2]

The figures are the seconds of the fastest run, from Docs with words and sentences to parsed Docs. DATA is a
.conllu file.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import spacy
import torch
from spacy.language import Language

from spacy_g2g.data.corpus import make_corpus

N_WARM_UP = 20


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pipeline")
    parser.add_argument("data", type=Path)
    parser.add_argument("--peer", help="a pipeline to compare with")
    parser.add_argument("--component", default="g2g_parser")
    parser.add_argument("--beam-widths", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args(arguments)
    torch.set_num_threads(args.threads)
    seconds: dict[str, float] = {}
    if args.peer:
        seconds["peer"] = measure(spacy.load(args.peer), args)
    for width in args.beam_widths:
        settings: dict[str, Any] = {args.component: {"model": {"beam_width": width}}}
        seconds[f"beam {width}"] = measure(spacy.load(args.pipeline, config={"components": settings}), args)
    first = next(iter(seconds.values()))
    rows = {
        name: {"seconds": round(s, 4), "to the first": round(s / first, 2)} for name, s in seconds.items()
    }
    print(json.dumps(rows, indent=2))


def measure(nlp: Language, args: argparse.Namespace) -> float:
    docs = [example.predicted for example in make_corpus(args.data, annotations=["SENT_START"])(nlp)]
    list(nlp.pipe(doc.copy() for doc in docs[:N_WARM_UP]))
    times = []
    for _ in range(args.runs):
        copies = [doc.copy() for doc in docs]
        start = time.perf_counter()
        list(nlp.pipe(copies))
        times.append(time.perf_counter() - start)
    return min(times)


if __name__ == "__main__":
    main()
