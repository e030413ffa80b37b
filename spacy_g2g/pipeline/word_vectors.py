"""Hand the vectors of tokens to the words of sentences, and gradients back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from ..data.layout import Layout
from ..errors import Errors

if TYPE_CHECKING:
    from ..models.types import Sentence


def get_tok2vec(model: Model[Any, Any]) -> Model[Any, Any] | None:
    """Return the layer that gives a parser its word vectors, or None if the parser has its own encoder."""
    return model.maybe_get_ref("tok2vec")


def find_width(tok2vec: Model[Any, Any], docs: Sequence[Doc]) -> int:
    """Initialise the layer with Docs that have tokens, and return the width of its vectors."""
    tok2vec.initialize(X=docs)
    return int(tok2vec.predict(docs)[0].shape[1])


def add_vectors(
    sentences: Sequence[Sentence],
    tok2vec: Model[Any, Any],
    docs: Sequence[Doc],
    layout: Layout,
    is_train: bool,
) -> tuple[list[Sentence], Callable[[dict[int, Any]], None]]:
    """Add word vectors to the sentences that have words.

    sentences: The sentences.
    tok2vec: Layer that computes vectors of tokens.
    docs: The Docs of the sentences.
    layout: Where the sentences are.
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
    words = xp.asarray(layout.words)
    ends = np.cumsum(layout.n_words[layout.n_words > 0])
    parts = xp.split(tokens[words], ends[:-1].tolist())[: len(sentences)]
    with_vectors = [replace(s, vectors=part) for s, part in zip(sentences, parts, strict=True)]

    def backprop(gradients: dict[int, Any]) -> None:
        d_tokens = xp.zeros_like(tokens)
        if gradients:
            d_words = [gradients.get(i, xp.zeros_like(part)) for i, part in enumerate(parts)]
            d_tokens[words] = xp.concatenate(d_words)
        backprop_docs(xp.split(d_tokens, layout.doc_starts[1:-1].tolist()))

    return with_vectors, backprop
