"""``evaluate``: the CoNLL 2018 metrics of a pipeline on a treebank."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.cli._util import setup_gpu
from wasabi import msg

from ..evaluation.conll18 import Score, evaluate_sentences
from ..formats.conllu import read_conllu, read_paragraphs
from ..training.docs import ALL_COLUMNS, TOKEN_ANNOTATIONS, doc_to_sentences, sentences_to_docs
from .common import (
    BatchSize,
    GoldTags,
    GpuId,
    Initial,
    Pipeline,
    Silent,
    atomic_path,
    check_suffix,
    progress,
    user_errors,
    with_graphs,
)


def evaluate_cli(
    pipeline: Pipeline,
    gold: Annotated[Path, typer.Argument(help="CoNLL-U file with gold annotation")],
    raw: Annotated[
        bool, typer.Option("--raw", help="Start from the text, not from gold words and sentences")
    ] = False,
    gold_tags: GoldTags = False,
    initial: Initial = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file for the metrics")] = None,
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    silent: Silent = False,
) -> None:
    """Score a pipeline by the metrics of the CoNLL 2018 shared task: punctuation counts, subtypes do not.

    Columns that the pipeline does not annotate count as wrong.
    """
    with user_errors():
        if raw and gold_tags:
            raise typer.BadParameter("--gold-tags needs gold words: expected it without --raw")
        if raw and initial is not None:
            raise typer.BadParameter("--initial needs gold words: expected it without --raw")
        setup_gpu(gpu_id, silent=silent)
        scores = evaluate(
            pipeline,
            gold,
            raw=raw,
            gold_tags=gold_tags,
            initial=initial,
            batch_size=batch_size,
            silent=silent,
        )
        if output is not None:
            write_scores(scores, output)
    if not silent:
        print_scores(scores, "text" if raw else "gold words and sentences")


def evaluate(
    pipeline: str,
    gold: Path,
    *,
    raw: bool = False,
    gold_tags: bool = False,
    initial: Path | None = None,
    batch_size: int | None = None,
    silent: bool = True,
) -> dict[str, Score]:
    """Score a pipeline on a CoNLL-U file.

    pipeline: Folder or name of a pipeline.
    raw: Let the pipeline find words and sentences in the text, instead of giving it the gold ones.
    gold_tags: Give it gold UPOS, XPOS, features and lemmas too; for parsers that read tags.
    initial: A file with the same sentences, whose trees a refiner begins with.
    RETURNS (Dict[str, Score]): By metric, as ``evaluation.conll18.evaluate_sentences``.
    RAISES (ValueError): for a gold file that is not CoNLL-U with complete trees.
    """
    check_suffix(gold, [".conllu"])
    sentences = list(read_conllu(gold, trees="full"))
    nlp = spacy.load(pipeline)
    if raw:
        docs = nlp.pipe(read_paragraphs(sentences), batch_size=batch_size)
    else:
        annotations = TOKEN_ANNOTATIONS if gold_tags else ("SENT_START",)
        gold_docs = sentences_to_docs(sentences, nlp.vocab, annotations=annotations)
        docs = nlp.pipe(with_graphs(gold_docs, initial, gold), batch_size=batch_size)
    system = (sentence for doc in docs for sentence in doc_to_sentences(doc, columns=ALL_COLUMNS))
    return evaluate_sentences(sentences, progress(system, unit="sentences", silent=silent))


def write_scores(scores: Mapping[str, Score], path: Path) -> None:
    """Write counts and rates (between 0 and 1) as JSON."""
    table = {
        name: {
            "precision": score.precision,
            "recall": score.recall,
            "f1": score.f1,
            "aligned_accuracy": score.aligned_accuracy,
            "correct": score.correct,
            "gold": score.gold,
            "system": score.system,
            "aligned": score.aligned,
        }
        for name, score in scores.items()
    }
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(table, indent=2) + "\n", encoding="utf8")


def print_scores(scores: Mapping[str, Score], source: str) -> None:
    """Print a table of percentages."""
    rows = []
    for name, score in scores.items():
        rates = (score.precision, score.recall, score.f1, score.aligned_accuracy)
        rows.append((name, *("" if rate is None else f"{100 * rate:.2f}" for rate in rates)))
    msg.divider(f"CoNLL 2018 metrics, from {source}")
    msg.table(rows, header=("Metric", "Precision", "Recall", "F1", "Aligned"), aligns=("l", *"rrrr"))
