"""Measure how much slower a whole pipeline on one encoder is than the bare encoder.

    python -m experiments.whole_pipeline TRAIN DEV --encoder ENCODER [--sentences 300] [--runs 5]

TRAIN and DEV are .conllu files, ENCODER is a checkpoint. The pipeline is configs/pipeline.cfg without its
refiner, whose time depends on what it has learned. It is initialised with the labels of TRAIN and not trained
further, since that changes no product of matrices. Each Doc is a sentence of DEV with its boundaries, so the
senter has nothing to do. All are timed in turns by processor time on one thread: the encoder alone on the
pieces of all sentences, the component, and the whole pipeline, each in float32 and in bfloat16. The best run
counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_model_from_config

from project.markdown import markdown_table
from project.training_config import CONFIGS, load_config
from spacy_g2g.data.corpus import unparsed_copy
from spacy_g2g.data.docs import sentences_to_docs
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.models.network_shim import find_shims
from spacy_g2g.models.types import Sentence
from spacy_g2g.pipeline.saved_pipe import SavedPipe

PRECISIONS = ("float32", "bfloat16")
ROWS = ("bare encoder", "g2g_encoder", "whole pipeline")


def make_pipeline(train: Path, encoder: str) -> Language:
    """Return the pipeline with the labels of a treebank, not trained."""
    config = load_config(CONFIGS / "pipeline.cfg", overrides={"paths.encoder": encoder})
    config["nlp"]["pipeline"].remove("rng_refiner")
    nlp = load_model_from_config(config.interpolate(), auto_fill=True)
    docs = list(sentences_to_docs(read_conllu(train), nlp.vocab))
    nlp.initialize(lambda: [Example(unparsed_copy(doc, ["SENT_START"]), doc) for doc in docs])
    return nlp


def encode(shim: Any, sentences: Sequence[Sentence]) -> None:
    """Run the encoder alone, without vectors of words."""
    network = shim.network.eval()
    with torch.inference_mode(), shim.arithmetic():
        for _, batch in shim.wordpieces.batches(sentences, shim.max_padded):
            mask = torch.arange(batch.piece_ids.shape[1]) < torch.from_numpy(batch.lengths)[:, None]
            network.encoder(torch.from_numpy(batch.piece_ids), mask, mix=network.mix)


def processor_time(run: Callable[[], Any]) -> float:
    """Return the seconds of processor time that a call takes."""
    start = time.process_time()
    run()
    return time.process_time() - start


def main() -> None:
    """Run the measurement, and print a table."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("train", type=Path, help="treebank whose labels the pipeline has, .conllu")
    cli.add_argument("dev", type=Path, help="treebank to parse, .conllu")
    cli.add_argument("--encoder", required=True, help="checkpoint: a folder or a name on the hub")
    cli.add_argument("--sentences", type=int, default=300, help="number of sentences, evenly spread")
    cli.add_argument("--runs", type=int, default=5, help="number of runs, of which the best counts")
    args = cli.parse_args()
    torch.set_num_threads(1)
    nlp = make_pipeline(args.train, args.encoder)
    docs = list(sentences_to_docs(read_conllu(args.dev), nlp.vocab, annotations=["SENT_START"]))
    docs = docs[:: max(1, len(docs) // args.sentences)][: args.sentences]
    sentences = [Sentence([token.text for token in doc]) for doc in docs]
    n_words = sum(map(len, docs))
    encoder: Any = nlp.get_pipe("g2g_encoder")
    (shim,) = find_shims(encoder.model)
    best: dict[tuple[str, str], float] = {}
    for _ in range(args.runs + 1):  # the first run warms up
        for precision in PRECISIONS:
            for _, pipe in nlp.pipeline:
                if isinstance(pipe, SavedPipe):
                    pipe.precision = precision
            copies = [doc.copy() for doc in docs]
            runs = [
                lambda: encode(shim, sentences),
                lambda copies=copies: encoder.predict(copies),  # type: ignore[misc]
                lambda copies=copies: list(nlp.pipe(copies)),  # type: ignore[misc]
            ]
            for row, run in zip(ROWS, runs, strict=True):
                seconds = processor_time(run)
                best[row, precision] = min(seconds, best.get((row, precision), seconds))
    table = [
        [row, *(f"{n_words / best[row, p]:,.0f} ({best[ROWS[0], p] / best[row, p]:.2f})" for p in PRECISIONS)]
        for row in ROWS
    ]
    print(f"{len(docs)} sentences, {n_words} words; words/s (share of the bare encoder's)")
    print(markdown_table([["", *PRECISIONS], *table]))


if __name__ == "__main__":
    main()
