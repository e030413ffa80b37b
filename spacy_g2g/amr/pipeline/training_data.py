"""Sentences of Docs for the AMR parser, with their lemmas and gold AMRs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from ...data.layout import Layout, word_attributes
from ...errors import Errors, Warnings
from ...pipeline.gold import lay_out_examples
from ..data.docs import get_amrs, gold_amrs
from ..formats.penman_text import parse_penman
from ..parsing.graph import AmrGraph, Wiki
from ..parsing.scheme import TrainingGraph

LemmaSource = Literal["rules", "token"]

EXAMPLES_AT_ONCE = 500
#: Words of a sentence in a message.
SHOWN_WORDS = 8


@dataclass
class TrainingData:
    """All that is read before training.

    sentences: Words of each sentence that has words.
    graphs: Gold graphs, with the words and lemmas of their sentences.
    """

    sentences: list[list[str]] = field(default_factory=list)
    graphs: list[TrainingGraph] = field(default_factory=list)


def read_training_data(
    get_examples: Callable[[], Iterable[Example]],
    *,
    name: str,
    wiki: Wiki,
    lemma_source: LemmaSource,
    nlp: Language | None,
) -> TrainingData:
    """Read the sentences and gold graphs of Examples.

    get_examples: The training data.
    name: Name of the component.
    wiki: Whether to drop or keep `:wiki`.
    lemma_source: Whether to take the lemmas of tokens.
    nlp: The pipeline, whose components give lemmas; None to take those of the Docs.
    Raises ValueError for an ill-formed AMR, and if no sentence has an AMR.
    """
    data, n_graphs = TrainingData(), 0
    for batch in minibatch(get_examples(), size=EXAMPLES_AT_ONCE):  # type: ignore[no-untyped-call]
        layout = lay_out_examples(batch)
        docs = [example.predicted for example in batch]
        if lemma_source == "token" and nlp is not None:
            docs = annotate(docs, nlp, name)
        n_graphs += sum(len(get_amrs(example.reference) or ()) for example in batch)
        texts = gold_texts(batch, layout)
        for (words, lemmas), text in zip(read_words(docs, layout, lemma_source), texts, strict=True):
            data.sentences.append(words)
            if text is not None:
                data.graphs.append((gold_graph(text, words, name=name, wiki=wiki), words, lemmas))
    if not data.graphs:
        raise ValueError(Errors.E1028.format(name=name, n=len(data.sentences), amrs=n_graphs))
    if len(data.graphs) < n_graphs:
        n_left_out = n_graphs - len(data.graphs)
        warnings.warn(Warnings.W1003.format(name=name, n=n_left_out, of=n_graphs), stacklevel=3)
    return data


def annotate(docs: Sequence[Doc], nlp: Language, name: str) -> list[Doc]:
    """Return copies of Docs with the annotations that they will have in updates.

    They come from annotating components that training does not change. Components that are still to be
    trained are skipped: their output is not known yet.

    docs: The Docs.
    nlp: The pipeline.
    name: Name of the component before which annotations end.
    """
    settings = nlp.config["training"]
    docs = [doc.copy() for doc in docs]
    # Frozen components are disabled while others are initialised.
    for other, component in nlp.components:
        if other == name:
            break
        is_fixed = other in settings["frozen_components"] or not getattr(component, "is_trainable", False)
        if is_fixed and other in settings["annotating_components"]:
            docs = list(component.pipe(docs)) if hasattr(component, "pipe") else [*map(component, docs)]
    return docs


def read_words(
    docs: Sequence[Doc], layout: Layout, lemma_source: LemmaSource
) -> Iterator[tuple[list[str], list[str] | None]]:
    """Yield the words of each sentence that has words, and the lemmas of its tokens; None for "rules"."""
    words = word_attributes(docs, layout, "ORTH")
    lemmas = word_attributes(docs, layout, "LEMMA") if lemma_source == "token" else None
    for part in layout.sentence_slices:
        yield words[part], None if lemmas is None else lemmas[part]


def gold_texts(examples: Sequence[Example], layout: Layout) -> Iterator[str | None]:
    """Yield the gold AMR of each sentence that has words, or None."""
    starts = np.flatnonzero(layout.starts)
    ends = np.append(starts, len(layout.starts))[1:]
    owners = layout.doc_of
    for i, example in enumerate(examples):
        of_doc = np.flatnonzero((owners == i) & (layout.n_words > 0))
        first = layout.doc_starts[i]
        spans = [(int(starts[j] - first), int(ends[j] - first)) for j in of_doc]
        yield from gold_amrs(example, spans)


def gold_graph(text: str, words: Sequence[str], *, name: str, wiki: Wiki) -> AmrGraph:
    """Read a gold AMR.

    text: The AMR.
    words: Words of its sentence, for messages.
    name: Name of the component, for messages.
    wiki: Whether to drop or keep `:wiki`.
    Raises ValueError for an ill-formed AMR.
    """
    where = f"{name}, gold AMR of {' '.join(words[:SHOWN_WORDS])!r}"
    return AmrGraph.from_tree(parse_penman(text, where), wiki)
