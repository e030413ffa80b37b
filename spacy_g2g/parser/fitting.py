"""Fit the probabilities and the sentences of a trained pipeline, and judge the probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from tqdm import tqdm

from ..data.source import cell_value
from ..formats.conllu import ConlluSentence
from ..scored.reliability import Prediction
from ..scored.score_record import SCORES
from ..sentences.finder import BOUNDARIES_FILE, SentencePipe
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
    """Fit what a pipeline can learn after training, and save it in the folder of the pipeline.

    This is the threshold of each component that finds sentences, and the temperatures of each parser that
    scores all arcs. Weights stay as they are, in half precision, too.

    nlp: The pipeline.
    folder: Folder that it was loaded from.
    examples: Examples that were not trained on. The pipeline parses their predicted Docs.
    documents: Examples of whole documents, which may be the same.
    batch_size: Number of Docs in a batch; None for the pipeline's own.
    silent: Show no progress bar.
    Returns a line on what was fitted for each component.
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
                shown = tqdm(docs, unit=" Docs", disable=silent or None)
                heads, labels = parser.calibrate(_without_scores(shown, examples))
            finally:
                parser.keep_scores = keeps_scores
        lines.append(f"Temperatures of {parser.name}: heads {heads:.3f}, labels {labels:.3f}")
    for pipe in {*parsers, *finders}:
        pipe.to_disk(folder / pipe.name, exclude=["model", "vocab", BOUNDARIES_FILE])
    return lines


def _without_scores(docs: Iterable[Doc], examples: Iterable[Example]) -> Iterator[Example]:
    """Yield Examples of parsed Docs. Their kept scores are removed after use, and so fill no memory."""
    for doc, example in zip(docs, examples, strict=True):
        yield Example(doc, example.reference)
        doc._.set(SCORES, None)


def judge_probabilities(
    docs: Iterable[Doc], gold: Iterable[ConlluSentence], parser: G2GParser, predictions: list[Prediction]
) -> Iterator[Doc]:
    """Yield parsed Docs of a sentence each, after their probabilities were compared with the gold trees.

    The scores that a Doc keeps are removed. Labels are compared with their subtypes, where gold has a label.

    docs: Docs of the parser, which kept its scores.
    gold: Gold sentence with the same words for each Doc.
    parser: The parser.
    predictions: Gets each arc, each labeled arc and each tree.
    """
    for doc, sentence in zip(docs, gold, strict=True):
        for confidence in parser.confidence(doc):
            right = []
            for i, arc, labeled in zip(confidence.tokens, confidence.arcs, confidence.labeled, strict=True):
                head, word = doc[i].head.i, sentence.words[i]
                right.append(word.head == (0 if head == i else head + 1))
                predictions.append(("arcs", arc, right[-1]))
                if cell_value(word.deprel):
                    predictions.append(("labeled arcs", labeled, right[-1] and doc[i].dep_ == word.deprel))
            predictions.append(("trees", confidence.tree, all(right)))
        doc._.set(SCORES, None)
        yield doc
