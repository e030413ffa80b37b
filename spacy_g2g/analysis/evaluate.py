"""``evaluate``: CoNLL 2018 metrics of a pipeline on a treebank."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import setup_gpu
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..data.docs import ALL_COLUMNS, TOKEN_ANNOTATIONS, doc_to_sentences, sentences_to_doc
from ..data.input_files import gold_docs, read_gold
from ..evaluation.conll18 import Score, evaluate_sentences
from ..evaluation.punctuation import punctuation_rule, warn_of_no_punctuation
from ..evaluation.rates import percent
from ..evaluation.tokenization import explain_tokens
from ..formats.conllu import ConlluSentence
from ..formats.conllx import TREEBANK_SUFFIXES
from ..formats.paragraphs import paragraphs, read_paragraphs
from ..parser.final_parser import final_parser, load_pipeline, treebank_parsers
from ..parser.fitting import judge_probabilities
from ..roles.role_labeler import RoleLabeler
from ..roles.role_scorer import METRICS, count_roles, pair_roles
from ..scored.reliability import Prediction, Reliability, reliability
from ..terminal.common import check_suffix, progress, write_json
from ..terminal.messages import msg
from ..terminal.options import AttachRoots, BatchSize, GoldTags, GpuId, Initial, Pipeline, Silent
from .plots import check_matplotlib, plot_reliability

PLOT_SUFFIXES = (".png", ".svg")


def evaluate(
    pipeline: Pipeline,
    gold: Annotated[
        Path, typer.Argument(help="CoNLL-U (.conllu) or CoNLL-X (.conllx, .conll) file with gold trees")
    ],
    *,
    raw: Annotated[
        bool, typer.Option("--raw", help="Give the pipeline raw text instead of gold words and sentences")
    ] = False,
    predict_sentences: Annotated[
        bool, typer.Option("--predict-sentences", help="Give the pipeline gold words without gold sentences")
    ] = False,
    gold_tags: GoldTags = False,
    initial: Initial = None,
    treebank: Annotated[
        str,
        typer.Option(
            "--treebank",
            help="Treebank whose guidelines the trees follow, if the parser learned several",
        ),
    ] = "",
    given_predicates: Annotated[
        bool,
        typer.Option("--given-predicates", help="Give role_labeler the gold predicates of the file"),
    ] = False,
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
    attach_roots: AttachRoots = False,
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    silent: Silent = False,
) -> dict[str, Score]:
    """Score a pipeline by the metrics of the CoNLL 2018 shared task: punctuation counts, subtypes do not.

    Columns that the pipeline does not annotate count as wrong. Those that the treebank lacks have no score.
    --exclude-punct adds UAS_nopunct and LAS_nopunct. Enhanced graphs on both sides add ELAS and EULAS, the
    metrics of IWPT 2021. A file with roles (Pred and Args in MISC) adds Predicates, Rolesets, Roles (by head)
    and RoleSpans for a pipeline with role_labeler.
    """
    needs_words: dict[str, object] = {"--gold-tags": gold_tags, "--predict-sentences": predict_sentences}
    needs_sentences: dict[str, object] = {"--initial": initial, "--calibration": calibration, "--plot": plot}
    needs_sentences["--given-predicates"] = given_predicates
    _refuse(needs_words | needs_sentences if raw else {}, "--raw")
    _refuse(needs_sentences if predict_sentences else {}, "--predict-sentences")
    check_suffix(gold, TREEBANK_SUFFIXES)
    if plot is not None:
        check_suffix(plot, PLOT_SUFFIXES)
        check_matplotlib()
    is_punctuation = punctuation_rule(exclude_punct).matches if exclude_punct else None
    setup_gpu(gpu_id, silent=silent)
    sentences = read_gold(gold, attach_roots=attach_roots)
    if exclude_punct:
        warn_of_no_punctuation(sentences, gold, exclude_punct)
    nlp = load_pipeline(pipeline, initial=initial, silent=silent)
    for parser in treebank_parsers(nlp) if treebank else ():
        parser.treebank = treebank
    inputs: Iterable[str] | Iterable[Doc]
    if raw:
        inputs = _texts(sentences, nlp, silent)
    elif predict_sentences:
        inputs = _unsplit_docs(sentences, nlp, gold_tags)
    else:
        inputs = gold_docs(sentences, nlp.vocab, gold, gold_tags=gold_tags, initial=initial)
    docs, predictions = nlp.pipe(inputs, batch_size=batch_size), list[Prediction]()
    if calibration or plot:
        docs = judge_probabilities(docs, sentences, final_parser(nlp, keep_scores=True), predictions)
    labelers = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, RoleLabeler)]
    examples = list[Example]()
    for labeler in labelers[-1:]:
        labeler.given_predicates = given_predicates
        units = paragraphs(sentences) if raw or predict_sentences else ([each] for each in sentences)
        docs = pair_roles(docs, units, examples)
    columns = (*ALL_COLUMNS, "deps")
    system = chain.from_iterable(doc_to_sentences(doc, columns=columns) for doc in docs)
    watched = progress(system, unit="sentences", silent=silent)
    scores = evaluate_sentences(sentences, system=watched, is_punctuation=is_punctuation)
    for name, score in count_roles(examples).items() if examples else ():
        scores[METRICS[name]] = Score(score.tp, gold=score.tp + score.fn, system=score.tp + score.fp)
    if output is not None:
        write_json(output, {name: {**_rates(score), **asdict(score)} for name, score in scores.items()})
    kinds = reliability(predictions)
    if plot is not None:
        plot_reliability(kinds, plot)
    if not silent:
        words = "gold words, predicted sentences" if predict_sentences else "gold words and sentences"
        _print_scores(scores, "text" if raw else words)
        _print_reliability(kinds)
    return scores


def _refuse(options: Mapping[str, object], other: str) -> None:
    """Raise BadParameter if one of the options is set together with another option, which excludes them."""
    wrong = [option for option, value in options.items() if value]
    if wrong:
        raise typer.BadParameter(f"{', '.join(wrong)} needs gold annotation: expected it without {other}")


def _texts(sentences: Sequence[ConlluSentence], nlp: Language, silent: bool) -> Iterator[str]:
    """Print where the tokenizer differs from the treebank, then yield the text of each paragraph."""
    texts = list(read_paragraphs(sentences))
    # A treebank without marked paragraphs is one long text.
    nlp.max_length = max(nlp.max_length, *map(len, texts))
    for line in [] if silent else explain_tokens(nlp.tokenizer, sentences):
        msg.text(line)
    yield from texts


def _unsplit_docs(sentences: Iterable[ConlluSentence], nlp: Language, gold_tags: bool) -> Iterator[Doc]:
    """Yield a Doc for each paragraph, without sentence boundaries."""
    annotations = [name for name in TOKEN_ANNOTATIONS if name != "SENT_START"] if gold_tags else []
    for paragraph in paragraphs(sentences):
        yield sentences_to_doc(paragraph, nlp.vocab, annotations=annotations, keep_source=False)


def _rates(score: Score) -> dict[str, float | None]:
    """Return the rates of a score, None where there is nothing to score."""
    names = ("precision", "recall", "f1", "aligned_accuracy")
    return {name: None if score.empty else getattr(score, name) for name in names}


def _print_scores(scores: Mapping[str, Score], source: str) -> None:
    """Print scores as a table of percentages. The source is the pipeline's input."""
    rows = []
    for name, score in scores.items():
        rates = _rates(score).values()
        # Tokens and sentences have no rate for aligned words, so their cell is empty.
        rows.append((name, *("" if rate is None is score.aligned else percent(rate) for rate in rates)))
    msg.divider(f"CoNLL 2018 metrics, from {source}")
    msg.table(rows, header=("Metric", "Precision", "Recall", "F1", "Aligned"), aligns=("l", *"rrrr"))


def _print_reliability(kinds: Mapping[str, Reliability]) -> None:
    """Print the expected calibration error of each kind of prediction as a percentage."""
    rows = [(name, percent(bins.error), str(bins.counts.sum())) for name, bins in kinds.items()]
    if rows:
        msg.divider("Expected calibration error, with subtypes of labels")
        msg.table(rows, header=("Probabilities of", "Error %", "Predictions"), aligns=("l", "r", "r"))
