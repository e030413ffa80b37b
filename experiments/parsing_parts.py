"""Where the time of parsing goes: encoder, scorers, tree decoding, pieces, and writing to Docs.

python -m experiments.parsing_parts PIPELINE DATA [--threads 2]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import spacy
import torch

import spacy_g2g.models.syntr as syntr
from spacy_g2g.data.corpus import make_corpus
from spacy_g2g.models.shim import get_shim
from spacy_g2g.pipeline import layout as layouts

from .stopwatch import Stopwatch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline")
    parser.add_argument("data", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    nlp = spacy.load(args.pipeline)
    docs = [example.predicted for example in make_corpus(args.data)(nlp)]
    stopwatch = Stopwatch()
    spent, timed = stopwatch.spent, stopwatch.timed

    shim = get_shim(nlp.get_pipe("g2g_parser").model)
    network: Any = shim.network
    network.encoder.forward = timed("encoder", network.encoder.forward)
    network.scorer.forward = timed("arc scorer", network.scorer.forward)
    network.scorer.labels = timed("label scorer", network.scorer.labels)
    syntr.decode = timed("tree decoding", syntr.decode)
    shim.wordpieces.split = timed("words to pieces", shim.wordpieces.split)
    shim.wordpieces.batch = timed("batches of pieces", shim.wordpieces.batch)
    layouts.make_sentences = timed("Docs to sentences", layouts.make_sentences)
    layouts.write_trees = timed("trees to Docs", layouts.write_trees)
    list(nlp.pipe([doc.copy() for doc in docs]))
    spent.clear()
    copies = [doc.copy() for doc in docs]
    start = time.perf_counter()
    list(nlp.pipe(copies))
    total = time.perf_counter() - start
    shares = {name: round(seconds / total, 4) for name, seconds in sorted(spent.items())}
    shares["the rest"] = round(1 - sum(shares.values()), 4)
    print(json.dumps({"seconds": round(total, 2), "shares": shares}, indent=2))


if __name__ == "__main__":
    main()
