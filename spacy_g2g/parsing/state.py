"""States of a transition-based parser: the sentences of a batch advance together, as arrays.

Words count from 1 and 0 is ROOT, which is at the bottom of each stack from the start.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ..arrays import BoolArray, IntArray

NO_WORD = -1
# Slots of a parser state: the second word of the stack, its top, the front of the buffer.
S2, S1, B1 = 0, 1, 2


@dataclass(slots=True)
class States:
    """Parser states of a batch of B sentences of at most W words.

    A word without a head is on the stack or in the buffer; one that has a head is on neither.

    n_words: Words of each sentence, shape [B].
    stack: ROOT and the words above it, shape [B, W + 1]. Cells from `stack_sizes` on mean nothing.
    stack_sizes: Shape [B], ROOT included.
    buffer: Words not yet on the stack, shape [B, W]: the front of the buffer comes last, so that it
        grows and shrinks at its end. Cells from `buffer_sizes` on mean nothing.
    buffer_sizes: Shape [B].
    heads: Head of each word, shape [B, W]; -1 for a word without one and in the padding.
    labels: Label of each word's arc, shape [B, W]; -1 likewise.
    """

    n_words: IntArray
    stack: IntArray
    stack_sizes: IntArray
    buffer: IntArray
    buffer_sizes: IntArray
    heads: IntArray
    labels: IntArray

    @classmethod
    def begin(cls, n_words: IntArray, width: int = 1) -> States:
        """ROOT on the stack, all words in the buffer, no arcs.

        n_words: Words of each sentence, shape [B].
        width: Least W of the states; W is the length of the longest sentence where that is more.
        """
        n_words = np.array(n_words, dtype=np.int64)
        width = int(n_words.max(initial=width))
        shape = len(n_words), width
        return cls(
            n_words=n_words,
            stack=np.zeros((shape[0], width + 1), dtype=np.int64),
            stack_sizes=np.ones_like(n_words),
            buffer=np.maximum(n_words[:, None] - np.arange(width), 0),
            buffer_sizes=n_words.copy(),
            heads=np.full(shape, -1, dtype=np.int64),
            labels=np.full(shape, -1, dtype=np.int64),
        )

    def take(self, rows: IntArray) -> States:
        """Copies of the states at `rows`, which may repeat, in their order; W stays."""
        rows = np.asarray(rows, dtype=np.int64)
        return States(*(getattr(self, field.name)[rows] for field in fields(self)))

    @property
    def is_final(self) -> BoolArray:
        """Whether the buffer is empty and only ROOT is on the stack, shape [B]."""
        final: BoolArray = (self.buffer_sizes == 0) & (self.stack_sizes == 1)
        return final

    @property
    def n_arcs(self) -> IntArray:
        """Words that have a head, shape [B]."""
        count: IntArray = self.deleted().sum(axis=1)
        return count

    def slots(self) -> IntArray:
        """The second word of the stack, its top and the front of the buffer: s2, s1, b1.

        Returns shape [B, 3]; NO_WORD where there is none.
        """
        rows = np.arange(len(self.n_words))
        slots = np.full((len(rows), 3), NO_WORD, dtype=np.int64)
        s1, b1 = self.stack_sizes - 1, self.buffer_sizes - 1
        slots[:, 0] = np.where(s1 > 0, self.stack[rows, s1 - 1], NO_WORD)
        slots[:, 1] = self.stack[rows, s1]
        slots[:, 2] = np.where(b1 >= 0, self.buffer[rows, b1], NO_WORD)
        return slots

    def deleted(self) -> BoolArray:
        """The words that have a head, shape [B, W]."""
        return self.heads >= 0
