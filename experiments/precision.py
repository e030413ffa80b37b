"""Compare bfloat16 with float32 on a CPU: LAS, speed, arcs that differ, arcs that depend on the batch.

    python -m experiments.precision PIPELINE DATA [--limit 0] [--runs 3]

PIPELINE is a pipeline with a parser of this library, DATA a treebank in CoNLL-U. LAS ignores subtypes of
labels. Speeds are words per second of CPU time, with one thread; the best of the runs counts. Arcs depend on
the batch if a Doc that is parsed alone has others than in a batch of 1,000 Docs.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc

from spacy_g2g.data.corpus import make_corpus

from .parts import shims, time_parsing

Arcs = list[tuple[int, str]]
PRECISIONS: tuple[Literal["float32", "bfloat16"], ...] = ("float32", "bfloat16")


def arcs_of(docs: Sequence[Doc]) -> Arcs:
    """Return the distance of each word's head, and its label without its subtype."""
    return [(token.head.i - token.i, token.dep_.split(":")[0]) for doc in docs for token in doc]


def parsed(nlp: Language, docs: Sequence[Doc], batch_size: int) -> Arcs:
    """Parse copies of Docs, and return their arcs."""
    return arcs_of(list(nlp.pipe([doc.copy() for doc in docs], batch_size=batch_size)))


def differing(first: Arcs, second: Arcs) -> int:
    """Count the words whose arcs differ."""
    return sum(arc != other for arc, other in zip(first, second, strict=True))


def compare(nlp: Language, docs: Sequence[Doc], gold: Arcs, runs: int) -> dict[str, Any]:
    """Return the figures of each precision."""
    figures: dict[str, Any] = {"words": len(gold)}
    in_batches: dict[str, Arcs] = {}
    for precision in PRECISIONS:
        for shim in shims(nlp):
            shim.precision = precision
        arcs = in_batches[precision] = parsed(nlp, docs, 1000)
        timed = [time_parsing(nlp, docs, time.process_time) for _ in range(runs)]
        seconds, stopwatch = min(timed, key=lambda pair: pair[0])
        figures[precision] = {
            "las": 100 * (1 - differing(arcs, gold) / len(gold)),
            "words/s": len(gold) / seconds,
            "shares": stopwatch.shares(seconds),
            "arcs that depend on the batch": differing(arcs, parsed(nlp, docs, 1)),
        }
    figures["arcs that depend on the precision"] = differing(*in_batches.values())
    return figures


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline", help="folder or name of a trained pipeline")
    cli.add_argument("data", type=Path, help="CoNLL-U file")
    cli.add_argument("--limit", type=int, default=0, help="sentences of the data; 0 for all")
    cli.add_argument("--runs", type=int, default=3)
    args = cli.parse_args(arguments)
    torch.set_num_threads(1)
    nlp = spacy.load(args.pipeline)
    examples = list(make_corpus(args.data, limit=args.limit)(nlp))
    gold = arcs_of([example.reference for example in examples])
    print(json.dumps(compare(nlp, [example.predicted for example in examples], gold, args.runs), indent=2))


if __name__ == "__main__":
    main()
