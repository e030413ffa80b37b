"""Sentences of Docs as the input of a model, their vectors, and the parses of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from ..data.docs import TREEBANK_KEY
from ..data.segmentation import Segmentation, word_attributes
from ..errors import Errors

if TYPE_CHECKING:
    from ..models.types import Sentence


@dataclass(frozen=True)
class ParsedBatch:
    """Parses of a batch of Docs.

    segmentation: Where the sentences of the Docs are.
    parses: Parses of the sentences that have words, in order.
    """

    segmentation: Segmentation
    parses: Sequence[Any]

    def by_doc(self) -> list[list[Any]]:
        """Return the parses of each Doc."""
        parses: list[list[Any]] = [[] for _ in self.segmentation.doc_starts[1:]]
        for doc, parse in zip(
            self.segmentation.doc_of[self.segmentation.n_words > 0], self.parses, strict=True
        ):
            parses[doc].append(parse)
        return parses


def make_sentences(
    docs: Sequence[Doc], segmentation: Segmentation, tag_attr: str | None, treebanks: Sequence[str] = ()
) -> list[Sentence]:
    """Return the sentences that have words, in order.

    docs: The Docs.
    segmentation: Where their sentences are.
    tag_attr: Attribute of tokens that becomes the sentences' tags, "treebank", or None.
    treebanks: Names of treebanks. Words of Docs of no or another treebank have the first name as their tag.
    """
    from ..models.types import Sentence

    words = word_attributes(docs, segmentation, "ORTH")
    tags = None
    if tag_attr == TREEBANK_KEY:
        first = next(iter(treebanks), "")
        found = [str(doc.user_data.get(TREEBANK_KEY)) for doc in docs]
        names = np.array([name if name in treebanks else first for name in found], dtype=np.str_)
        tags = np.repeat(names, np.diff(segmentation.doc_starts))[segmentation.words].tolist()
    elif tag_attr is not None:
        tags = word_attributes(docs, segmentation, tag_attr)
    return [Sentence(words[at], None if tags is None else tags[at]) for at in segmentation.sentence_slices]


def add_vectors(
    sentences: Sequence[Sentence],
    tok2vec: Model[Any, Any],
    docs: Sequence[Doc],
    segmentation: Segmentation,
    is_train: bool,
) -> tuple[list[Sentence], Callable[[dict[int, Any]], None]]:
    """Add word vectors to the sentences that have words.

    sentences: The sentences.
    tok2vec: Layer that computes vectors of tokens.
    docs: The Docs of the sentences.
    segmentation: Where the sentences are.
    is_train: Whether gradients will come back.
    Returns the sentences with vectors, and a callback that hands gradients to the layer. It takes those of
        some sentences, float [words, width], by index of the sentence.
    Raises ValueError if tokens have no vectors.
    """
    outputs, backprop_docs = tok2vec(list(docs), is_train)
    found, expected = [len(output) for output in outputs], [len(doc) for doc in docs]
    if found != expected:
        raise ValueError(Errors.E809.format(layer=tok2vec.name, found=sum(found), expected=sum(expected)))
    xp = tok2vec.ops.xp
    # Empty Docs may have vectors of another width.
    tokens = xp.concatenate([output for output in outputs if len(output)] or [outputs[0]])
    words = xp.asarray(segmentation.words)
    ends = np.cumsum(segmentation.n_words[segmentation.n_words > 0])
    parts = xp.split(tokens[words], ends[:-1].tolist())[: len(sentences)]
    with_vectors = [replace(s, vectors=part) for s, part in zip(sentences, parts, strict=True)]

    def backprop(gradients: dict[int, Any]) -> None:
        d_tokens = xp.zeros_like(tokens)
        if gradients:
            d_words = [gradients.get(i, xp.zeros_like(part)) for i, part in enumerate(parts)]
            d_tokens[words] = xp.concatenate(d_words)
        backprop_docs(xp.split(d_tokens, segmentation.doc_starts[1:-1].tolist()))

    return with_vectors, backprop
