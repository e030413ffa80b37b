"""Types of the protocol between components and models: sentences in, parses out.

A parser is a Thinc model. ``model.predict(sentences)`` returns a ``Parse`` for each ``Sentence``.
``model.begin_update((sentences, trees))`` returns the summed loss and a callback that runs autograd.
``docs/code.md`` lists all calls.
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
from ..trees.constraints import Constraint

#: How a sentence fits into the encoder: "whole"; "truncated", with words cut to their first pieces; in
#: overlapping "windows" of words; by "nearest_words", in encoders of parser states that read only the words
#: nearest to the current action; or "chunked", cut into chunks that are parsed one by one.
Coverage = Literal["whole", "truncated", "windows", "nearest_words", "chunked"]
#: Scores of a parse: none; those of all arcs, and of the labels of arcs in the "tree"; or those of all arcs
#: and of "all" labels.
ScoresOf = Literal["none", "tree", "all"]


@dataclass(frozen=True)
class Arcs:
    """Heads and labels of a sentence of n words. As the input of a refiner, they may form any graph.

    heads: int [n]. Word i, counted from 1, has its head in ``heads[i - 1]``; 0 is ROOT, -1 is missing.
    labels: int [n], label ids; 0 is the root label, -1 is missing.
    """

    heads: IntArray
    labels: IntArray


@dataclass(frozen=True)
class ArcScores:
    """Log-probabilities of the arcs of a sentence of n words, and of their labels but the root label.

    arcs: Log-probability of each head of each word, -inf for the word itself; float32 [n, n + 1].
    labels: Log-probabilities of the labels of all arcs between words, float32 [n, n, labels - 1]. With
        ``heads``, only of the arcs from these heads, float32 [n, labels - 1].
    heads: The only head of each word whose arc has scores of labels, int [n]; None for all heads. Scores of
        words with the head 0 or -1 are arbitrary.
    """

    arcs: FloatArray
    labels: FloatArray
    heads: IntArray | None = None

    @property
    def n_labels(self) -> int:
        """Number of labels of the parser, the root label included."""
        return int(self.labels.shape[-1]) + 1

    def for_heads(self, heads: IntArray) -> ArcScores:
        """Return the scores with labels only for the arcs from some heads, int [n]."""
        return ArcScores(self.arcs, self.labels[np.arange(len(heads)), np.maximum(heads - 1, 0)], heads)


@dataclass(frozen=True, kw_only=True)
class Request:
    """Requirements for the parse of a sentence, beside a tree.

    constraints: Constraints on the tree; only for models with the attribute ``meets_constraints``.
    scores: Scores of the parse; only for models with the attribute ``scores_arcs``.
    prior: Scores of the parser whose tree is refined, with the labels of the arcs of its tree; or None.
        Models with the attribute ``reads_prior`` decode with them.
    subjects: Label ids of subjects. Models with the attribute ``meets_constraints`` give a word one
        dependent with such a label at most. A less probable one gets its best other label, as Universal
        Dependencies demand.
    """

    constraints: tuple[Constraint, ...] = ()
    scores: ScoresOf = "none"
    prior: ArcScores | None = None
    subjects: tuple[int, ...] = ()


#: The request for nothing but a tree.
TREE_ALONE = Request()


@dataclass(frozen=True)
class Sentence:
    """The input of a parser: n words, and further inputs of some parsers.

    words: The n words.
    tags: The n tags, "" for a missing tag; None if the parser does not read tags.
    graph: The initial graph of a refiner; None for an empty graph. Label ids are those of the parser,
        followed by those of the further labels of initial graphs; -1 for any other label.
    vectors: float [n, width], the words' vectors, NumPy or CuPy; None if the parser has its own encoder.
    request: Requirements for the parse.
    """

    words: Sequence[str]
    tags: Sequence[str] | None = None
    graph: Arcs | None = None
    vectors: Floats2d | None = None
    request: Request = TREE_ALONE


@dataclass(frozen=True, kw_only=True)
class Start:
    """The start of training: input of ``initialize`` besides the sentences.

    labels: The component's labels, the root label first; empty for a parser without labels.
    n_initial_labels: Number of further labels that only the initial graphs of a refiner have.
    encoder: Makes the encoder that training starts from (see ``sources.EncoderSource``). None trains an
        encoder from scratch, or reads the vectors of a shared encoder.
    vector_width: Width of the vectors of a shared encoder; 0 if the parser has its own encoder.
    shared_encoder: Sizes of the shared encoder, an ``EncoderConfig``; None for one of another library.
    """

    labels: tuple[str, ...] = ()
    n_initial_labels: int = 0
    encoder: Callable[[Iterable[str]], Any] | None = None
    vector_width: int = 0
    shared_encoder: Any = None

    @property
    def built_for(self) -> dict[str, int]:
        """Sizes that a saved model and its component must agree on."""
        return {"n_labels": len(self.labels), "n_initial_labels": self.n_initial_labels}


@dataclass(frozen=True)
class Parse:
    """A tree with one root, and the probability of each head and of each label.

    tree: The tree.
    head_probs: float [n], the probability of each head.
    label_probs: float [n], the probability of each label, given the head.
    coverage: How the sentence was fitted into the encoder.
    scores: The requested scores, if the model gives any.
    earlier: The graphs of the passes of a refiner before the last one, whose graph is the tree. They have
        arg-max heads, which need not be a tree. None for a tree without a pass of a refiner.
    """

    tree: Arcs
    head_probs: FloatArray
    label_probs: FloatArray
    coverage: Coverage = "whole"
    scores: ArcScores | None = None
    earlier: tuple[Parse, ...] | None = None

    @property
    def iterations(self) -> tuple[Parse, ...]:
        """The graph of each pass of a refiner, this one last; empty for other parsers."""
        return () if self.earlier is None else (*self.earlier, self)

    @property
    def n_words(self) -> int:
        """Number of words in the sentence."""
        return len(self.tree.heads)


def pad_trees(trees: Sequence[Arcs | None], width: int) -> tuple[IntArray, IntArray]:
    """Pad heads and labels, int [sentences, width] each, with -1; a missing tree is all -1."""
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
