"""Fit the probabilities and the sentence boundaries of a trained pipeline, and evaluate the probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from tqdm import tqdm

from ..data.source import cell_value
from ..formats.conllu import ConlluSentence
from ..pipeline.saved_pipe import new_settings
from ..scored.reliability import Prediction
from ..scored.score_record import SCORES
from ..sentences.finder import SentencePipe
from .g2g_parser import G2GParser


def sentence_finders(nlp: Language) -> list[SentencePipe]:
    """Return the components of a pipeline that find sentences."""
    return [pipe for _, pipe in nlp.pipeline if isinstance(pipe, SentencePipe) and pipe.finder.trained]


def fit(
    nlp: Language,
    folder: Path,
    *,
    examples: Sequence[Example],
    documents: Sequence[Example],
    batch_size: int | None = None,
    silent: bool = True,
) -> list[str]:
    """Fit the numbers that a pipeline learns after training, and save them in the folder of the pipeline.

    These are the threshold of each component that finds sentences, and the temperatures of each parser that
    scores all arcs. Weights stay as they are, even in half precision.

    nlp: The pipeline.
    folder: Folder that it was loaded from.
    examples: Examples that were not trained on. The pipeline parses their predicted Docs.
    documents: Examples of whole documents, which may be the same.
    batch_size: Number of Docs in a batch; None for that of the pipeline.
    silent: Do not show a progress bar.
    Returns a line about the result for each component.
    """
    finders = sentence_finders(nlp)
    parsers = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, G2GParser) and pipe.scores_arcs]
    lines = []
    for finder in finders:
        threshold, f = finder.finder.fit(documents)
        lines.append(f"Sentences of {finder.name}: F1 {100 * f:.2f} with the threshold {threshold:.2f}")
    for parser in parsers:
        # A refiner behind the parser would write its own trees.
        with nlp.select_pipes(enable=nlp.pipe_names[: nlp.pipe_names.index(parser.name) + 1]):
            keeps_scores, parser.keep_scores = parser.keep_scores, True
            try:
                docs = nlp.pipe((example.predicted.copy() for example in examples), batch_size=batch_size)
                progress = tqdm(docs, unit=" Docs", disable=silent or None)
                heads, labels = parser.calibrate(_without_scores(progress, examples))
            finally:
                parser.keep_scores = keeps_scores
        lines.append(f"Temperatures of {parser.name}: heads {heads:.3f}, labels {labels:.3f}")
    with ExitStack() as saved:  # Nothing changes before everything is written.
        for pipe in {*parsers, *finders}:
            saved.enter_context(new_settings(pipe, folder / pipe.name))
    return lines


def _without_scores(docs: Iterable[Doc], examples: Iterable[Example]) -> Iterator[Example]:
    """Yield Examples of parsed Docs. Remove the scores of each after use, to save memory."""
    for doc, example in zip(docs, examples, strict=True):
        yield Example(doc, example.reference)
        doc._.set(SCORES, None)


def judge_probabilities(
    docs: Iterable[Doc], gold: Iterable[ConlluSentence], parser: G2GParser, predictions: list[Prediction]
) -> Iterator[Doc]:
    """Compare the probabilities of parsed Docs with gold trees. Yield the Docs without their scores.

    Labels must agree in their subtypes. Arcs without a gold label count only as arcs.

    docs: Docs of one sentence each, with the scores of the parser.
    gold: Gold sentence with the same words for each Doc.
    parser: The parser.
    predictions: Gets each arc, each labeled arc and each tree.
    """
    for doc, sentence in zip(docs, gold, strict=True):
        for confidence in parser.confidence(doc):
            are_right = []
            for i, arc, labeled in zip(confidence.tokens, confidence.arcs, confidence.labeled, strict=True):
                head, word = doc[i].head.i, sentence.words[i]
                is_right = word.head == (0 if head == i else head + 1)
                are_right.append(is_right)
                predictions.append(("arcs", arc, is_right))
                if cell_value(word.deprel):
                    predictions.append(("labeled arcs", labeled, is_right and doc[i].dep_ == word.deprel))
            predictions.append(("trees", confidence.tree, all(are_right)))
        doc._.set(SCORES, None)
        yield doc
