"""Batches of sentences whose words come as vectors, from an encoder that the components share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from thinc.api import get_array_module, torch2xp, xp2torch
from torch import Tensor

from ..arrays import IntArray
from .batch import Batch, WordBatch
from .types import Sentence
from .wordpieces import WordPieces


class WordVectors:
    """Makes batches of sentences whose words come as vectors, as ``WordPieces`` does for pieces.

    The attribute ``vectors``, float32 [words, width], collects the gradient of all words.

    sentences: The sentences, each with vectors.
    device: Device of the network.
    wordpieces: Table of pieces of the shared encoder, for a network that runs it again; None for batches
        without pieces.
    """

    def __init__(
        self, sentences: Sequence[Sentence], device: torch.device, wordpieces: WordPieces | None = None
    ) -> None:
        arrays: list[Any] = [sentence.vectors for sentence in sentences]
        xp: Any = get_array_module(arrays[0])  # type: ignore[no-untyped-call]
        self.vectors: Tensor = xp2torch(xp.concatenate(arrays), device=device).detach().requires_grad_()
        self.lengths = np.array([len(sentence.words) for sentence in sentences], dtype=np.int64)
        self.wordpieces = wordpieces

    def batches(
        self, sentences: Sequence[Sentence], max_padded: int, unknown: Collection[str] = ()
    ) -> Iterator[tuple[list[int], Batch]]:
        """Batch sentences of similar lengths, the longest first; see ``WordPieces.batches``."""
        if self.wordpieces is not None:
            for numbers, batch in self.wordpieces.batches(sentences, max_padded, unknown):
                yield numbers, replace(batch, vectors=self.take(np.array(numbers)))
            return
        order = np.argsort(-self.lengths, kind="stable")
        while len(order):
            # Networks add a vector for ROOT to each sentence.
            n_rows = max(1, max_padded // int(self.lengths[order[0]] + 1))
            members, order = order[:n_rows], order[n_rows:]
            yield (
                members.tolist(),
                WordBatch(
                    vectors=self.take(members),
                    n_words=self.lengths[members],
                    coverages=["whole"] * len(members),
                    sentences=[sentences[i] for i in members],
                ),
            )

    def take(self, members: IntArray) -> Tensor:
        """Return the vectors of some sentences, float [members, words, width]; padding is arbitrary.

        members: Numbers of the sentences, int [members].
        """
        n_words, firsts = self.lengths[members], (np.cumsum(self.lengths) - self.lengths)[members]
        places = np.arange(int(n_words.max()))
        rows = np.where(places < n_words[:, None], firsts[:, None] + places, 0)
        return self.vectors[torch.from_numpy(rows).to(self.vectors.device, non_blocking=True)]

    def gradients(self) -> list[Any]:
        """Return the gradient of the vectors of each sentence, an array on their device."""
        gradient = torch.zeros_like(self.vectors) if self.vectors.grad is None else self.vectors.grad
        array = torch2xp(gradient)
        xp: Any = get_array_module(array)  # type: ignore[no-untyped-call]
        return list(xp.split(array, np.cumsum(self.lengths)[:-1].tolist()))
