"""Batches: sentences whose words are pieces, and sentences whose words come as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from ..arrays import IntArray
from .types import Coverage, Sentence


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Sentences that go through a network together.

    n_words: Number of words in each sentence, int [sentences].
    coverages: How each sentence fits into the encoder.
    sentences: The sentences themselves, for networks that read more of them.
    """

    n_words: IntArray
    coverages: list[Coverage]
    sentences: Sequence[Sentence]


@dataclass(frozen=True, kw_only=True)
class WordBatch(Batch):
    """Sentences whose words come as vectors, from an encoder that the pipeline shares.

    vectors: Vectors of the words, without ROOT, float [sentences, words, width]; padding is arbitrary.
    """

    vectors: Tensor


@dataclass(frozen=True, kw_only=True)
class PieceBatch(Batch):
    """Padded rows of pieces, and where the words of each sentence are in them.

    piece_ids: Pieces of each row, padded on the right, int [rows, width].
    lengths: Number of pieces in each row, int [rows].
    word_index: Place of ROOT and of each word's first piece in the flattened rows, int [sentences,
        words + 1]; 0 in padding, and for ROOT in rows without it.
    tag_ids: Tag of each piece, int [rows, width], 0 at special pieces and padding; None without tags.
    sentence_of: Number of each row's sentence, int [rows].
    words: Word of each piece, int [rows, width]: 0 is ROOT, words count from 1, -1 is not a word.
    heads: Heads in the graphs that the sentences came with, int [sentences, words], -1 where missing; None if
        no sentence had a graph.
    labels: Labels in these graphs, in the same form.
    vectors: Vectors of the words without graphs, from an encoder that the pipeline shares, float [sentences,
        words, width]; None without such an encoder, and after the first pass.
    """

    piece_ids: IntArray
    lengths: IntArray
    word_index: IntArray
    tag_ids: IntArray | None
    sentence_of: IntArray
    words: IntArray
    heads: IntArray | None = None
    labels: IntArray | None = None
    vectors: Tensor | None = None

    def take(self, members: IntArray) -> PieceBatch:
        """Return the batch of some sentences, at least one.

        members: Numbers of the sentences, which may repeat, int [members].
        """
        starts = np.searchsorted(self.sentence_of, members)
        counts = np.searchsorted(self.sentence_of, members, side="right") - starts
        ends = np.cumsum(counts)
        new_starts = ends - counts
        rows = np.arange(ends[-1]) + np.repeat(starts - new_starts, counts)
        lengths, n_words = self.lengths[rows], self.n_words[members]
        old_width, width = self.piece_ids.shape[1], int(lengths.max())
        index = self.word_index[members, : n_words.max() + 1]
        is_word = np.arange(index.shape[1]) <= n_words[:, None]
        new_rows = index // old_width + (new_starts - starts)[:, None]
        coverages = [self.coverages[i] for i in members]
        return PieceBatch(
            piece_ids=self.piece_ids[rows, :width],
            lengths=lengths,
            word_index=np.where(is_word, new_rows * width + index % old_width, 0),
            n_words=n_words,
            tag_ids=None if self.tag_ids is None else self.tag_ids[rows, :width],
            coverages=coverages,
            sentence_of=np.repeat(np.arange(len(members)), counts),
            words=self.words[rows, :width],
            heads=None if self.heads is None else self.heads[members, : n_words.max()],
            labels=None if self.labels is None else self.labels[members, : n_words.max()],
            sentences=[self.sentences[i] for i in members],
        )
