"""Sentences of Docs for the AMR parser, with their lemmas and gold AMRs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from ...data.gold import segment_examples
from ...data.segmentation import Segmentation, word_attributes
from ...errors import Errors, Warnings
from ..data.docs import get_amrs, gold_amrs
from ..formats.penman_text import parse_penman
from ..parsing.actions import AmrSentence
from ..parsing.graph import AmrGraph, Wiki
from ..parsing.table import Replay
from .scheme import AmrSettings, LemmaSource, TrainingGraph

#: Number of Examples that are read together.
BATCH_SIZE = 500
#: Maximum number of bytes of replays in the cache.
MAX_BYTES = 500_000_000
#: Number of words of a sentence in a message.
SHOWN_WORDS = 8


def read_training_data(
    get_examples: Callable[[], Iterable[Example]],
    *,
    name: str,
    settings: AmrSettings,
    nlp: Language | None,
) -> tuple[list[AmrSentence], list[TrainingGraph]]:
    """Return the sentences of Examples that have words, and the gold graphs with their sentences.

    get_examples: The training data.
    name: Name of the component.
    settings: Settings of the component.
    nlp: The pipeline, whose components give lemmas; None to take those of the Docs.
    Raises ValueError for an ill-formed AMR, and if no sentence has an AMR.
    """
    sentences: list[AmrSentence] = []
    graphs: list[TrainingGraph] = []
    n_graphs = 0
    for batch in minibatch(get_examples(), size=BATCH_SIZE):  # type: ignore[no-untyped-call]
        segmentation = segment_examples(batch)
        docs = [example.predicted for example in batch]
        if settings.lemma_source == "token" and nlp is not None:
            docs = annotate(docs, nlp, name)
        n_graphs += sum(len(get_amrs(example.reference) or ()) for example in batch)
        batch_sentences = read_amr_sentences(docs, segmentation, settings.lemma_source)
        sentences += batch_sentences
        for sentence, text in zip(batch_sentences, gold_texts(batch, segmentation), strict=True):
            if text is not None:
                graph = gold_graph(text, sentence.forms, name=name, wiki=settings.wiki)
                graphs.append((graph, sentence))
    if not graphs:
        raise ValueError(Errors.E1028.format(name=name, n=len(sentences), amrs=n_graphs))
    if len(graphs) < n_graphs:
        n_left_out = n_graphs - len(graphs)
        warnings.warn(Warnings.W1003.format(name=name, n=n_left_out, of=n_graphs), stacklevel=3)
    return sentences, graphs


def annotate(docs: Sequence[Doc], nlp: Language, name: str) -> list[Doc]:
    """Return copies of Docs with the annotations that they will have in updates.

    They come from annotating components that training does not change. Components that are still to be
    trained are skipped: their output is not known yet.

    docs: The Docs.
    nlp: The pipeline.
    name: Name of the component. Only components before it annotate.
    """
    settings = nlp.config["training"]
    docs = [doc.copy() for doc in docs]
    # Frozen components are disabled while others are initialized.
    for other, component in nlp.components:
        if other == name:
            break
        is_fixed = other in settings["frozen_components"] or not getattr(component, "is_trainable", False)
        if is_fixed and other in settings["annotating_components"]:
            docs = list(component.pipe(docs)) if hasattr(component, "pipe") else [*map(component, docs)]
    return docs


def read_amr_sentences(
    docs: Sequence[Doc], segmentation: Segmentation, lemma_source: LemmaSource
) -> list[AmrSentence]:
    """Return the sentences that have words. With "token", the lemmas come from the tokens."""
    words = word_attributes(docs, segmentation, "ORTH")
    lemmas = word_attributes(docs, segmentation, "LEMMA") if lemma_source == "token" else [""] * len(words)
    return [AmrSentence.of(words[part], lemmas[part]) for part in segmentation.sentence_slices]


def gold_texts(examples: Sequence[Example], segmentation: Segmentation) -> Iterator[str | None]:
    """Yield the gold AMR of each sentence that has words, or None."""
    spans: list[list[tuple[int, int]]] = [[] for _ in examples]
    for doc, words in segmentation.word_places():
        spans[doc].append((words[0], words[-1] + 1))
    for example, doc_spans in zip(examples, spans, strict=True):
        yield from gold_amrs(example, doc_spans)


def gold_graph(text: str, words: Sequence[str], *, name: str, wiki: Wiki) -> AmrGraph:
    """Read a gold AMR.

    text: The AMR.
    words: Words of its sentence, for messages.
    name: Name of the component, for messages.
    wiki: Whether to drop or keep `:wiki`.
    Raises ValueError for an ill-formed AMR.
    """
    where = f"{name}, gold AMR of {' '.join(words[:SHOWN_WORDS])!r}"
    return AmrGraph.from_tree(parse_penman(text, where=where), wiki)


class ReplayCache(dict[tuple[AmrSentence, str], Replay]):
    """Replays by sentence and text of the AMR. Computing a replay takes longer than training on it.

    A full cache takes no more replays. Copies and pickles start empty.
    """

    n_bytes = 0

    def __reduce__(self) -> tuple[type[ReplayCache], tuple[()]]:
        return ReplayCache, ()

    def __setitem__(self, key: tuple[AmrSentence, str], replay: Replay) -> None:
        self.n_bytes += sum(array.nbytes for array in replay)
        if self.n_bytes <= MAX_BYTES:
            super().__setitem__(key, replay)
