"""Sentences whose words come as vectors, from an encoder that the pipeline's components share, as batches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from thinc.api import get_array_module, torch2xp, xp2torch
from torch import Tensor

from ..arrays import IntArray
from ..errors import Errors
from .batch import PieceBatch, WordBatch
from .types import Sentence
from .wordpieces import WordPieces


def stack_vectors(sentences: Sequence[Sentence], device: torch.device) -> Tensor:
    """Stack the vectors of all words, float32 [words, width]. The result collects their gradient.

    Raises ValueError for a sentence without vectors.
    """
    arrays: list[Any] = [sentence.vectors for sentence in sentences]
    if any(array is None for array in arrays):
        raise ValueError(Errors.E433)
    xp: Any = get_array_module(arrays[0])  # type: ignore[no-untyped-call]
    stacked = xp.concatenate(arrays)
    return xp2torch(stacked, device=device).detach().requires_grad_()


def split_gradients(vectors: Tensor, sentences: Sequence[Sentence]) -> list[Any]:
    """Split the gradient of stacked vectors into an array for each sentence."""
    gradient = torch.zeros_like(vectors) if vectors.grad is None else vectors.grad
    ends = np.cumsum([len(sentence.words) for sentence in sentences])
    array = torch2xp(gradient)
    xp: Any = get_array_module(array)  # type: ignore[no-untyped-call]
    return list(xp.split(array, ends[:-1].tolist()))


class WordVectors:
    """Makes batches of sentences whose words come as vectors, as ``WordPieces`` does of pieces.

    vectors: Vectors of all words, as ``stack_vectors`` returns them, float [words, width].
    """

    def __init__(self, vectors: Tensor) -> None:
        self.vectors = vectors

    def batches(
        self,
        sentences: Sequence[Sentence],
        max_padded: int,
        unknown: Collection[str] = (),  # noqa: ARG002
    ) -> Iterator[tuple[list[int], WordBatch]]:
        """Batch sentences of similar lengths, the longest first; see ``WordPieces.batches``."""
        lengths = np.array([len(sentence.words) for sentence in sentences], dtype=np.int64)
        order = np.argsort(-lengths, kind="stable")
        while len(order):
            # Networks add a vector for ROOT to each sentence.
            n_rows = max(1, max_padded // int(lengths[order[0]] + 1))
            members, order = order[:n_rows], order[n_rows:]
            yield (
                members.tolist(),
                WordBatch(
                    vectors=self.of_sentences(lengths, members),
                    n_words=lengths[members],
                    coverages=["whole"] * len(members),
                    sentences=[sentences[i] for i in members],
                ),
            )

    def of_sentences(self, lengths: IntArray, members: IntArray) -> Tensor:
        """Return the vectors of some sentences, float [members, words, width]; padding has any values.

        lengths: Numbers of words in all sentences, int [sentences].
        members: Numbers of the sentences, int [members].
        """
        n_words, firsts = lengths[members], (np.cumsum(lengths) - lengths)[members]
        places = np.arange(int(n_words.max()))
        rows = np.where(places < n_words[:, None], firsts[:, None] + places, 0)
        return self.vectors[torch.from_numpy(rows).to(self.vectors.device, non_blocking=True)]


class PiecesWithVectors(WordVectors):
    """Makes batches of pieces, with the vectors that a shared encoder gave to their words.

    vectors: Vectors of all words, float [words, width].
    wordpieces: The encoder's table of pieces.
    """

    def __init__(self, vectors: Tensor, wordpieces: WordPieces) -> None:
        super().__init__(vectors)
        self.wordpieces = wordpieces

    def batches(  # type: ignore[override]
        self, sentences: Sequence[Sentence], max_padded: int, unknown: Collection[str] = ()
    ) -> Iterator[tuple[list[int], PieceBatch]]:
        """Batch sentences of similar numbers of pieces; see ``WordPieces.batches``."""
        lengths = np.array([len(sentence.words) for sentence in sentences], dtype=np.int64)
        for members, batch in self.wordpieces.batches(sentences, max_padded, unknown):
            yield members, replace(batch, vectors=self.of_sentences(lengths, np.array(members)))
