"""Measure a shared encoder that reads windows: accuracy and time with given and with found sentences.

    python -m experiments.windows PIPELINE TREEBANK [--windows 0 64 128 256] [--runs 3]

PIPELINE is trained by configs/pipeline.cfg, or by a config like it. Each Doc is a whole document (`# newdoc`,
`# newpar`) of TREEBANK, with gold words. All rows have the weights of PIPELINE and differ in the window that
the encoder reads; 0 stands for each sentence by itself, so its sentences must be given. All rows are timed in
turns by processor time on one thread, and the best run counts. Shares of time are of the first row.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc

from project.markdown import markdown_table
from spacy_g2g.cli.kbest import last_parser
from spacy_g2g.data.docs import doc_to_sentences, sentences_to_doc
from spacy_g2g.evaluation.conll18 import evaluate_sentences
from spacy_g2g.formats.conllu import read_conllu
from spacy_g2g.formats.paragraphs import paragraphs
from spacy_g2g.models.shared_encoder import get_encoder_shim

METRICS = ("Sentences", "UAS", "LAS")


def main(argv: Sequence[str] | None = None) -> None:
    """Run the measurement, and print a table."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline", type=Path, help="trained pipeline")
    cli.add_argument("treebank", type=Path, help="treebank to parse, .conllu")
    cli.add_argument("--windows", type=int, nargs="+", default=[0, 64, 128, 256], help="numbers of words")
    cli.add_argument("--runs", type=int, default=3, help="number of runs, of which the best counts")
    args = cli.parse_args(argv)
    torch.set_num_threads(1)
    print(markdown(measure(spacy.load(args.pipeline), args.treebank, args.windows, args.runs)))


def measure(nlp: Language, treebank: Path, windows: Iterable[int], runs: int) -> dict[Any, list[float]]:
    """Return the scores and the seconds by window and by whether sentences are given."""
    gold = list(read_conllu(treebank))
    encoder: Any = nlp.get_pipe("g2g_encoder")
    shim, parser = get_encoder_shim(encoder.model), last_parser(nlp)
    rows = [(window, given) for window in windows for given in (True, False) if window or given]
    found: dict[Any, list[float]] = {}
    for _ in range(runs):
        for window, given in rows:
            shim.window, parser.sentences = window or None, "given" if given else "predicted"
            annotations = ["SENT_START"] if given else []
            docs = [
                sentences_to_doc(paragraph, nlp.vocab, annotations=annotations, keep_source=False)
                for paragraph in paragraphs(gold)
            ]
            start = time.process_time()
            parsed = list(nlp.pipe(docs))
            seconds = time.process_time() - start
            if (window, given) not in found:
                found[window, given] = [*scores(parsed, gold), seconds]
            found[window, given][-1] = min(found[window, given][-1], seconds)
    return found


def scores(docs: Iterable[Doc], gold: Sequence[Any]) -> list[float]:
    """Return the metrics of parsed Docs in percent."""
    of = evaluate_sentences(gold, (sentence for doc in docs for sentence in doc_to_sentences(doc)))
    return [100 * of[metric].f1 for metric in METRICS]


def markdown(found: dict[Any, list[float]]) -> str:
    """Return a table."""
    first = next(iter(found.values()))[-1]
    rows = [("window", "sentences", *METRICS, "seconds", "share")]
    for (window, given), (*of_row, seconds) in found.items():
        cells = [f"{score:.2f}" for score in of_row]
        name = str(window or "one sentence")
        rows.append((name, "given" if given else "found", *cells, f"{seconds:.2f}", f"{seconds / first:.2f}"))
    return markdown_table(rows)


if __name__ == "__main__":
    main()
