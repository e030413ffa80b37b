"""Sentences whose words come as vectors, from an encoder that the pipeline's components share, as batches."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from thinc.api import get_array_module, torch2xp, xp2torch
from torch import Tensor

from ..arrays import IntArray
from .types import Sentence
from .wordpieces import PieceBatch


def stack_vectors(sentences: Sequence[Sentence], device: torch.device) -> Tensor:
    """The vectors of all words of all sentences, float32 [words, width], which keep their gradient."""
    arrays: list[Any] = [sentence.vectors for sentence in sentences]
    xp: Any = get_array_module(arrays[0])  # type: ignore[no-untyped-call]
    stacked = xp.concatenate(arrays)
    return xp2torch(stacked, device=device).detach().requires_grad_()


def split_gradients(vectors: Tensor, sentences: Sequence[Sentence]) -> list[Any]:
    """The gradient of stacked vectors, an array for each sentence."""
    gradient = torch.zeros_like(vectors) if vectors.grad is None else vectors.grad
    ends = np.cumsum([len(sentence.words) for sentence in sentences])
    array = torch2xp(gradient)
    xp: Any = get_array_module(array)  # type: ignore[no-untyped-call]
    return list(xp.split(array, ends[:-1].tolist()))


class WordVectors:
    """Makes batches as ``WordPieces`` does: a row is ROOT and a sentence's words.

    vectors: of all words, as ``stack_vectors`` gives them.
    """

    def __init__(self, vectors: Tensor) -> None:
        self.vectors = vectors

    def batches(
        self,
        sentences: Sequence[Sentence],
        max_padded: int,
        unknown: Collection[str] = (),  # noqa: ARG002
    ) -> Iterator[tuple[list[int], PieceBatch]]:
        """Sentences of about the same length together, the longest first; see ``WordPieces.batches``."""
        lengths = np.array([len(sentence.words) for sentence in sentences], dtype=np.int64)
        firsts = np.cumsum(lengths) - lengths + 1
        order = np.argsort(-lengths, kind="stable")
        while len(order):
            n_rows = max(1, max_padded // int(lengths[order[0]] + 1))
            members, order = order[:n_rows], order[n_rows:]
            inputs = [sentences[i] for i in members]
            yield members.tolist(), self._batch(firsts[members], lengths[members], inputs)

    def _batch(self, firsts: IntArray, n_words: IntArray, inputs: Sequence[Sentence]) -> PieceBatch:
        """One batch; firsts: int [sentences], the ids of first words."""
        places = np.arange(int(n_words.max()) + 1)
        is_word = (places > 0) & (places <= n_words[:, None])
        rows = np.arange(len(n_words))
        return PieceBatch(
            piece_ids=np.where(is_word, firsts[:, None] + places - 1, 0),
            lengths=n_words + 1,
            word_index=np.where(places <= n_words[:, None], rows[:, None] * len(places) + places, 0),
            n_words=n_words,
            tag_ids=None,
            fits=["whole"] * len(n_words),
            sentences=rows,
            words=np.where(places <= n_words[:, None], places, -1),
            vectors=self.vectors,
            inputs=inputs,
        )
