"""``calibrate``: fit a parser's probabilities and sentences, and measure how far probabilities are off."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.cli._util import setup_gpu
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ..data.corpus import unparsed_copy
from ..data.docs import TOKEN_ANNOTATIONS, sentences_to_doc
from ..errors import Errors
from ..evaluation.calibration import Reliability, reliability
from ..formats.conllu import ConlluSentence
from ..formats.conllx import TREEBANK_SUFFIXES
from ..formats.paragraphs import paragraphs
from ..pipeline.final_parser import final_parser
from ..pipeline.g2g_parser import G2GParser
from ..pipeline.saved_pipe import BOUNDARIES_FILE, SavedPipe
from ..pipeline.scored_trees import SCORES
from .common import check_suffix, gold_docs, progress, read_gold, user_errors
from .messages import msg
from .options import BatchSize, GoldTags, GpuId, Initial, Silent


def calibrate_cli(
    pipeline: Annotated[Path, typer.Argument(help="Folder of a pipeline, whose parser is calibrated")],
    gold: Annotated[Path, typer.Argument(help="Treebank file with gold trees, not used in training")],
    gold_tags: GoldTags = False,
    initial: Initial = None,
    batch_size: BatchSize = None,
    gpu_id: GpuId = -1,
    silent: Silent = False,
) -> None:
    """Fit the temperatures of a parser's probabilities on a treebank. No tree of a given sentence changes.

    For a component that finds sentences, also fit the threshold of boundaries.
    """
    with user_errors():
        setup_gpu(gpu_id, silent=silent)
        calibrate(pipeline, gold, gold_tags=gold_tags, initial=initial, batch_size=batch_size, silent=silent)


def calibrate(
    pipeline: Path,
    gold: Path,
    *,
    gold_tags: bool = False,
    initial: Path | None = None,
    batch_size: int | None = None,
    silent: bool = True,
) -> None:
    """Fit temperatures, and how sentences are found, and save them.

    ``spacy g2g calibrate --help`` describes the arguments.

    Raises ValueError if there is no such folder, or if its parsers have nothing to fit.
    """
    if not pipeline.is_dir():
        raise ValueError(Errors.E935.format(path=pipeline))
    check_suffix(gold, TREEBANK_SUFFIXES)
    nlp = spacy.load(pipeline)
    if not sentence_finders(nlp):
        final_parser(nlp, keep_scores=True)  # an error if there is nothing to fit
    sentences = read_gold(gold)
    inputs = gold_docs(sentences, nlp.vocab, gold, gold_tags=gold_tags, initial=initial, keep_source=False)
    examples = [
        Example(doc, sentences_to_doc([sentence], nlp.vocab, keep_source=False))
        for doc, sentence in zip(inputs, sentences, strict=True)
    ]
    documents = list(_whole_documents(sentences, nlp.vocab, gold_tags))
    fit(nlp, pipeline, examples, documents, batch_size=batch_size, silent=silent)


def sentence_finders(nlp: Language) -> list[SavedPipe]:
    """Return the components of a pipeline that find sentences."""
    return [pipe for _, pipe in nlp.pipeline if isinstance(pipe, SavedPipe) and pipe.finder.trained]


def fit(
    nlp: Language,
    folder: Path,
    examples: Sequence[Example],
    documents: Sequence[Example],
    *,
    batch_size: int | None = None,
    silent: bool = True,
) -> None:
    """Fit what a pipeline can learn after training, and save it in the folder of the pipeline.

    This is the threshold of each component that finds sentences, and the temperatures of each parser that
    scores all arcs. Weights stay as they are, in half precision, too.

    nlp: The pipeline.
    folder: Folder that it was loaded from.
    examples: Examples that were not trained on. The pipeline parses their predicted Docs.
    documents: Examples of whole documents, which may be the same.
    batch_size: Number of Docs in a batch; None for the pipeline's own.
    silent: Do not tell what was found.
    """
    finders = sentence_finders(nlp)
    parsers = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, G2GParser) and pipe.scores_arcs]
    for finder in finders:
        threshold, f = finder.finder.fit(documents)
        if not silent:
            msg.good(f"Sentences of {finder.name}: F1 {100 * f:.2f} with the threshold {threshold:.2f}")
    for parser in parsers:
        # A refiner behind the parser would write its own trees.
        with nlp.select_pipes(enable=nlp.pipe_names[: nlp.pipe_names.index(parser.name) + 1]):
            kept, parser.keep_scores = parser.keep_scores, True
            parsed = nlp.pipe((example.predicted.copy() for example in examples), batch_size=batch_size)
            docs = progress(parsed, unit="Docs", silent=silent)
            heads, labels = parser.calibrate(_without_scores(docs, examples))
            parser.keep_scores = kept
        if not silent:
            msg.good(f"Temperatures of {parser.name}: heads {heads:.3f}, labels {labels:.3f}")
    for pipe in {*parsers, *finders}:
        pipe.to_disk(folder / pipe.name, exclude=["model", "vocab", BOUNDARIES_FILE])


def _without_scores(docs: Iterable[Doc], examples: Iterable[Example]) -> Iterator[Example]:
    """Yield Examples of parsed Docs. Their kept scores are removed after use, and so fill no memory."""
    for doc, example in zip(docs, examples, strict=True):
        yield Example(doc, example.reference)
        doc._.set(SCORES, None)


def _whole_documents(sentences: Iterable[ConlluSentence], vocab: Vocab, gold_tags: bool) -> Iterator[Example]:
    """Yield an Example of each paragraph. Its predicted Doc has no boundaries."""
    given = [name for name in TOKEN_ANNOTATIONS if gold_tags and name != "SENT_START"]
    for paragraph in paragraphs(sentences):
        doc = sentences_to_doc(paragraph, vocab, annotations=["SENT_START", *given], keep_source=False)
        yield Example(unparsed_copy(doc, given), doc)


class Observer:
    """Compares the probabilities of arcs, labelled arcs and trees with gold trees, subtypes included.

    The final parser of the pipeline keeps its scores from now on.

    nlp: Pipeline.
    seen: Probabilities of each kind of prediction, and which predictions are right.
    Raises ValueError if its final parser gives no scores.
    """

    def __init__(self, nlp: Language) -> None:
        self.parser = final_parser(nlp, keep_scores=True)
        self.seen: dict[str, tuple[list[float], list[bool]]]
        self.seen = {"arcs": ([], []), "labelled arcs": ([], []), "trees": ([], [])}

    def watch(self, docs: Iterable[Doc], gold: Iterable[ConlluSentence]) -> Iterator[Doc]:
        """Yield parsed Docs, of a sentence each, after they were compared with the gold sentences."""
        for doc, sentence in zip(docs, gold, strict=True):
            self.see(doc, sentence)
            doc._.set(SCORES, None)
            yield doc

    def see(self, doc: Doc, sentence: ConlluSentence) -> None:
        """Compare a parsed Doc of a sentence with the gold sentence."""
        (found,) = self.parser.confidence(doc)
        heads = [0 if token.head.i == token.i else token.head.i + 1 for token in doc]
        pairs = list(zip(doc, heads, sentence.words, strict=True))
        right = [head == word.head for _, head, word in pairs]
        labelled = [head == word.head and token.dep_ == word.deprel for token, head, word in pairs]
        for name, probs, are_right in (
            ("arcs", found.arcs, right),
            ("labelled arcs", found.labelled, labelled),
            ("trees", [found.tree], [all(right)]),
        ):
            self.seen[name][0].extend(probs)
            self.seen[name][1].extend(are_right)

    def result(self) -> dict[str, Reliability]:
        """Return how reliable the probabilities of each kind are."""
        return {name: reliability(*columns) for name, columns in self.seen.items()}


def print_calibration(found: Mapping[str, Reliability]) -> None:
    """Print the expected calibration error of each kind of prediction as a percentage."""
    rows = [(name, f"{100 * of.error:.2f}", str(of.counts.sum())) for name, of in found.items()]
    msg.divider("Expected calibration error, with subtypes of labels")
    msg.table(rows, header=("Probabilities of", "Error %", "Predictions"), aligns=("l", "r", "r"))
