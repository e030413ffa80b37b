"""Sentences of Docs as the input of a model, their vectors, and the parses of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..data.docs import TREEBANK_KEY
from ..data.segmentation import Segmentation, word_attributes
from ..errors import Errors

if TYPE_CHECKING:
    from ..models.types import Arcs, Request, Sentence


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
        docs = self.segmentation.doc_of[self.segmentation.n_words > 0]
        for doc, parse in zip(docs.tolist(), self.parses, strict=True):
            parses[doc].append(parse)
        return parses


def read_tags(
    docs: Sequence[Doc], segmentation: Segmentation, tag_attr: str | None, treebanks: Sequence[str] = ()
) -> list[str] | None:
    """Return the tag of each word, or None without tags.

    docs: The Docs.
    segmentation: Where their sentences are.
    tag_attr: Attribute of tokens that becomes the tag, "treebank", or None.
    treebanks: Names of treebanks. In Docs without a treebank, or of another one, the first name is the tag.
    """
    if tag_attr is None:
        return None
    if tag_attr != TREEBANK_KEY:
        return word_attributes(docs, segmentation, tag_attr)
    first = next(iter(treebanks), "")
    own_names = [str(doc.user_data.get(TREEBANK_KEY)) for doc in docs]
    names = np.array([name if name in treebanks else first for name in own_names], dtype=np.str_)
    tags: list[str] = np.repeat(names, np.diff(segmentation.doc_starts))[segmentation.words].tolist()
    return tags


def make_sentences(
    docs: Sequence[Doc],
    segmentation: Segmentation,
    tags: Sequence[str] | None = None,
    *,
    vectors: Sequence[Floats2d] | None = None,
    graphs: Sequence[Arcs | None] | None = None,
    requests: Sequence[Request] | None = None,
) -> list[Sentence]:
    """Return the sentences that have words, in order.

    docs: The Docs.
    segmentation: Where their sentences are.
    tags: Tag of each word, as ``read_tags`` returns it.
    vectors: Vectors of the words of each sentence; see ``word_vectors``.
    graphs: Initial graph of each sentence.
    requests: Requirements for the parse of each sentence; None for nothing but trees.
    """
    from ..models.types import TREE_ALONE, Sentence

    words = word_attributes(docs, segmentation, "ORTH")
    return [
        Sentence(
            words[at],
            tags=None if tags is None else tags[at],
            graph=None if graphs is None else graphs[i],
            vectors=None if vectors is None else vectors[i],
            request=TREE_ALONE if requests is None else requests[i],
        )
        for i, at in enumerate(segmentation.sentence_slices)
    ]


def word_vectors(
    tok2vec: Model[Any, Any], docs: Sequence[Doc], segmentation: Segmentation, *, is_train: bool = False
) -> tuple[list[Floats2d], Callable[[dict[int, Any]], None]]:
    """Return the vectors of the words of each sentence that has words, float [words, width].

    tok2vec: Layer that computes vectors of tokens.
    docs: The Docs.
    segmentation: Where their sentences are.
    is_train: Whether gradients will come back.
    Returns the vectors, and a callback that passes gradients to the layer. The callback takes gradients of
        some sentences, float [words, width], by index of the sentence.
    Raises ValueError if tokens have no vectors.
    """
    outputs, backprop_docs = tok2vec(list(docs), is_train)
    n_vectors, n_tokens = [*map(len, outputs)], [*map(len, docs)]
    if n_vectors != n_tokens:
        raise ValueError(Errors.E809.format(layer=tok2vec.name, found=sum(n_vectors), expected=sum(n_tokens)))
    xp = tok2vec.ops.xp
    # Empty Docs may have vectors of another width.
    tokens = xp.concatenate([output for output in outputs if len(output)] or [outputs[0]])
    words = xp.asarray(segmentation.words)
    lengths = segmentation.n_words[segmentation.n_words > 0]
    vectors = xp.split(tokens[words], np.cumsum(lengths)[:-1].tolist())[: len(lengths)]

    def backprop(gradients: dict[int, Any]) -> None:
        d_tokens = xp.zeros_like(tokens)
        if gradients:
            d_words = [gradients.get(i, xp.zeros_like(own)) for i, own in enumerate(vectors)]
            d_tokens[words] = xp.concatenate(d_words)
        backprop_docs(xp.split(d_tokens, segmentation.doc_starts[1:-1].tolist()))

    return vectors, backprop
