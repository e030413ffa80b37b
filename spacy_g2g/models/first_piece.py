"""The layer ``spacy_g2g.first_piece.v1``: a word's vector is that of its first piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from thinc.api import Model
from thinc.types import Floats2d, Ragged


def make_first_piece() -> Model[Ragged, Floats2d]:
    """Make the layer ``spacy_g2g.first_piece.v1``, for the ``pooling`` of a transformer listener.

    The layer takes the vectors of words' pieces, float [pieces, width], with the number of pieces of each
    word, int [words]. It returns the vector of each word's first piece, float [words, width]. Words without
    pieces get zeros, whereas Thinc's ``reduce_first.v1`` raises an error for them.
    """
    return Model("first_piece", _forward)


def _forward(
    model: Model[Ragged, Floats2d],
    pieces: Ragged,
    is_train: bool,  # noqa: ARG001
) -> tuple[Floats2d, Callable[[Floats2d], Ragged]]:
    lengths = pieces.lengths
    has_pieces = lengths > 0
    firsts = (lengths.cumsum() - lengths)[has_pieces]
    vectors = cast(Floats2d, pieces.dataXd)
    words = model.ops.alloc2f(len(lengths), vectors.shape[1])
    words[has_pieces] = vectors[firsts]

    def backprop(d_words: Floats2d) -> Ragged:
        d_pieces = model.ops.alloc2f(*vectors.shape)
        d_pieces[firsts] = d_words[has_pieces]
        return Ragged(d_pieces, lengths)

    return words, backprop
