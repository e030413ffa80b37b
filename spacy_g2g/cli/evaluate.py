"""``evaluate``: CoNLL 2018 metrics of a pipeline on a treebank."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.cli._util import setup_gpu
from spacy.language import Language
from spacy.tokens import Doc

from ..data.docs import ALL_COLUMNS, TOKEN_ANNOTATIONS, doc_to_sentences, sentences_to_doc
from ..errors import Errors, Warnings
from ..evaluation.calibration import Reliability
from ..evaluation.conll18 import Score, evaluate_sentences
from ..evaluation.plots import plot_reliability
from ..evaluation.punctuation import punctuation_rule
from ..evaluation.tokenization import explain_tokens
from ..files import atomic_path
from ..formats.conllu import ConlluSentence
from ..formats.conllx import TREEBANK_SUFFIXES
from ..formats.paragraphs import paragraphs, read_paragraphs
from .calibrate import Observer, print_calibration
from .common import check_can_plot, check_suffix, gold_docs, progress, read_gold, user_errors, write_json
from .messages import msg
from .options import BatchSize, GoldTags, GpuId, Initial, Pipeline, Silent


def evaluate_cli(
    pipeline: Pipeline,
    gold: Annotated[
        Path, typer.Argument(help="CoNLL-U (.conllu) or CoNLL-X (.conllx, .conll) file with gold trees")
    ],
    raw: Annotated[
        bool, typer.Option("--raw", help="Give the pipeline raw text instead of gold words and sentences")
    ] = False,
    predict_sentences: Annotated[
        bool, typer.Option("--predict-sentences", help="Give the pipeline gold words without gold sentences")
    ] = False,
    gold_tags: GoldTags = False,
    initial: Initial = None,
    exclude_punct: Annotated[
        str,
        typer.Option(
            "--exclude-punct",
            help="Also score without punctuation: ptb (gold tags `` '' : , .), ctb (gold tag PU), ud (gold "
            "UPOS PUNCT), or conllx (forms of Unicode punctuation)",
        ),
    ] = "",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file with the metrics")] = None,
    calibration: Annotated[
        bool,
        typer.Option("--calibration", help="Also report how far probabilities of arcs and trees are off"),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="PNG or SVG file with a reliability diagram")
    ] = None,
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    silent: Silent = False,
) -> None:
    """Score a pipeline by the metrics of the CoNLL 2018 shared task: punctuation counts, subtypes do not.

    Columns that the pipeline does not annotate count as wrong. --exclude-punct adds UAS_nopunct and
    LAS_nopunct.
    """
    with user_errors():
        if raw and gold_tags:
            raise typer.BadParameter("--gold-tags needs gold words: expected it without --raw")
        if (raw or predict_sentences) and initial is not None:
            raise typer.BadParameter(
                "--initial needs gold sentences: expected it without --raw and --predict-sentences"
            )
        if raw and predict_sentences:
            raise typer.BadParameter(
                "--raw already predicts sentences: expected it without --predict-sentences"
            )
        if (raw or predict_sentences) and (calibration or plot):
            raise typer.BadParameter(
                "--calibration and --plot need gold sentences: expected them without --raw and "
                "--predict-sentences"
            )
        if plot is not None:
            check_suffix(plot, (".png", ".svg"))
            check_can_plot()
        setup_gpu(gpu_id, silent=silent)
        found: dict[str, Reliability] | None = {} if calibration or plot else None
        scores = evaluate(
            pipeline,
            gold,
            raw=raw,
            predict_sentences=predict_sentences,
            gold_tags=gold_tags,
            initial=initial,
            exclude_punct=exclude_punct,
            reliabilities=found,
            batch_size=batch_size,
            silent=silent,
        )
        if output is not None:
            write_scores(scores, output)
    if plot and found:
        with atomic_path(plot) as path:
            plot_reliability(found, path, plot.suffix[1:])
    if not silent:
        given = "gold words, predicted sentences" if predict_sentences else "gold words and sentences"
        print_scores(scores, "text" if raw else given)
        if found:
            print_calibration(found)


def evaluate(
    pipeline: str,
    gold: Path,
    *,
    raw: bool = False,
    predict_sentences: bool = False,
    gold_tags: bool = False,
    initial: Path | None = None,
    exclude_punct: str = "",
    reliabilities: dict[str, Reliability] | None = None,
    batch_size: int | None = None,
    silent: bool = True,
) -> dict[str, Score]:
    """Score a pipeline on a treebank. ``spacy g2g evaluate --help`` describes the other arguments.

    reliabilities: Dict that gets the reliability of probabilities of each kind, from gold sentences; None if
        it is not wanted.

    Returns the scores of ``evaluation.conll18.evaluate_sentences`` by metric.
    Raises ValueError if the gold file has no complete trees, if the rule for punctuation is unknown, or if
        predict_sentences is used with multiword tokens.
    """
    check_suffix(gold, TREEBANK_SUFFIXES)
    rule = punctuation_rule(exclude_punct) if exclude_punct else None
    sentences = read_gold(gold)
    words = [word for sentence in sentences for word in sentence.words]
    if rule is not None and not any(map(rule.matches, words)):
        warnings.warn(
            Warnings.W901.format(n=len(words), path=gold, name=exclude_punct, rule=rule.text), stacklevel=2
        )
    nlp = spacy.load(pipeline)
    observer: Observer | None = None
    if raw:
        texts = list(read_paragraphs(sentences))
        # A treebank without marked paragraphs is one long text.
        nlp.max_length = max(nlp.max_length, *map(len, texts))
        docs = nlp.pipe(texts, batch_size=batch_size)
        if not silent:
            for line in explain_tokens(nlp.tokenizer, sentences):
                msg.text(line)
    elif predict_sentences:
        docs = nlp.pipe(_unsplit_docs(sentences, nlp, gold, gold_tags), batch_size=batch_size)
    else:
        inputs = gold_docs(sentences, nlp.vocab, gold, gold_tags=gold_tags, initial=initial)
        observer = None if reliabilities is None else Observer(nlp)
        docs = nlp.pipe(inputs, batch_size=batch_size)
        if observer is not None:
            docs = observer.watch(docs, sentences)
    system = (sentence for doc in docs for sentence in doc_to_sentences(doc, columns=ALL_COLUMNS))
    scores = evaluate_sentences(
        sentences,
        progress(system, unit="sentences", silent=silent),
        is_punctuation=rule.matches if rule else None,
    )
    if reliabilities is not None and observer is not None:
        reliabilities.update(observer.result())
    return scores


def _unsplit_docs(
    sentences: Iterable[ConlluSentence], nlp: Language, gold: Path, gold_tags: bool
) -> Iterator[Doc]:
    """Yield a Doc without sentence boundaries for each paragraph."""
    annotations = [name for name in TOKEN_ANNOTATIONS if name != "SENT_START"] if gold_tags else []
    for paragraph in paragraphs(sentences):
        if any(token.is_multiword for sentence in paragraph for token in sentence.tokens):
            raise ValueError(Errors.E913.format(path=gold))
        yield sentences_to_doc(paragraph, nlp.vocab, annotations=annotations, keep_source=False)


def write_scores(scores: Mapping[str, Score], path: Path) -> None:
    """Write counts and rates between 0 and 1 as JSON."""
    rates = ("precision", "recall", "f1", "aligned_accuracy")
    figures = {
        name: {**{rate: getattr(score, rate) for rate in rates}, **asdict(score)}
        for name, score in scores.items()
    }
    write_json(path, figures)


def print_scores(scores: Mapping[str, Score], source: str) -> None:
    """Print scores as a table of percentages.

    scores: Scores by metric.
    source: Description of the pipeline's input.
    """
    rows = []
    for name, score in scores.items():
        rates = (score.precision, score.recall, score.f1, score.aligned_accuracy)
        rows.append((name, *("" if rate is None else f"{100 * rate:.2f}" for rate in rates)))
    msg.divider(f"CoNLL 2018 metrics, from {source}")
    msg.table(rows, header=("Metric", "Precision", "Recall", "F1", "Aligned"), aligns=("l", *"rrrr"))
