"""The protocol of all parsers: sentences in, parses out.

A parser is a Thinc model. ``model.predict(sentences)`` returns a ``Parse`` for each ``Sentence``.
``model.begin_update((sentences, gold))`` takes a gold ``Tree`` for each sentence. It returns the summed loss
and a callback that runs autograd. A parser with another ``output_kind`` has its own types of output and gold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..arrays import FloatArray, IntArray

#: How a sentence went through the encoder: as it is, with words shortened to their first pieces, in
#: overlapping windows of words, or state by state with the words nearest to the action alone.
Fit = Literal["whole", "shortened", "windows", "parts"]


@dataclass(frozen=True)
class Tree:
    """Heads and labels of a sentence of n words; as the input of a refiner, they may form any graph.

    heads: int [n]; word i (counting from 1) has its head in ``heads[i - 1]``, 0 is ROOT, -1 is missing.
    labels: int [n]; label ids, 0 is the root label, -1 is missing.
    """

    heads: IntArray
    labels: IntArray


@dataclass(frozen=True)
class Sentence:
    """The input of a parser: n words, and what else it reads.

    tags: n tags ("" is a missing tag), of a parser that reads tags.
    graph: of a refiner, the graph to begin with; None for an empty one. Its label ids are the parser's, then
        those of the other labels of initial graphs, and -1 for any other label; -1 is no head.
    vectors: float [n, width], the words' vectors, of a parser that shares an encoder; NumPy or CuPy.
    """

    words: Sequence[str]
    tags: Sequence[str] | None = None
    graph: Tree | None = None
    vectors: Floats2d | None = None


@dataclass(frozen=True, kw_only=True)
class Start:
    """What training starts from, beside the sentences.

    labels: The component's labels, of which the first is the root label; empty for a parser without labels.
    n_initial_labels: Number of further labels that only the initial graphs of a refiner have.
    encoder: Makes the encoder that training starts from (see ``sources.EncoderSource``); None to train one
        from scratch, and where words come as vectors.
    vector_width: Width of the words' vectors, from an encoder that the pipeline shares; 0 for a parser with
        an encoder of its own.
    """

    labels: tuple[str, ...] = ()
    n_initial_labels: int = 0
    encoder: Callable[[Iterable[str]], Any] | None = None
    vector_width: int = 0

    @property
    def built_for(self) -> dict[str, int]:
        """What a saved model and the component that uses it must have in common."""
        return {"n_labels": len(self.labels), "n_initial_labels": self.n_initial_labels}


@dataclass(frozen=True)
class Parse:
    """A tree (one root, no cycle) with the probability of each head and of each label at its head.

    head_probs, label_probs: float [n], between 0 and 1.
    fit: how the sentence went through the encoder.
    iterations: of a refiner, what each pass gave: arg-max heads, which need not be a tree, but for the last
        pass, which gave this tree.
    """

    tree: Tree
    head_probs: FloatArray
    label_probs: FloatArray
    fit: Fit = "whole"
    iterations: tuple[Parse, ...] = ()

    @property
    def n_words(self) -> int:
        """Number of words in the sentence."""
        return len(self.tree.heads)


def pad_trees(trees: Sequence[Tree | None], width: int) -> tuple[IntArray, IntArray]:
    """Heads and labels, int [sentences, width] each, -1 (missing) in padding and where there is no tree."""
    heads = np.full((len(trees), width), -1, dtype=np.int64)
    labels = np.full((len(trees), width), -1, dtype=np.int64)
    for i, tree in enumerate(trees):
        if tree is not None:
            heads[i, : len(tree.heads)] = tree.heads
            labels[i, : len(tree.labels)] = tree.labels
    return heads, labels


#: A parser. Its calls in training, ``begin_update`` and ``initialize``, take more: see ``docs/code.md``.
ParserModel = Model[list[Sentence], list[Parse]]
#: The words' vectors of each Doc, float [tokens, width]: a listener, or any ``tok2vec`` of spaCy.
WordVectorModel = Model[list[Doc], list[Floats2d]]
