"""States of a transition-based parser, as arrays in which the sentences of a batch advance together.

Words are numbered from 1. ROOT is 0 and is always at the bottom of the stack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ...arrays import BoolArray, IntArray

NO_WORD = -1
# Slots of a parser state: the second word of the stack, the top of the stack, the front of the buffer.
S2, S1, B1 = 0, 1, 2


@dataclass(slots=True)
class States:
    """Parser states of a batch of sentences.

    Each word is on the stack or in the buffer until it gets a head.

    n_words: Number of words of each sentence, int [sentences].
    stack: ROOT and the words above it, int [sentences, words + 1]. Cells from `stack_sizes` on are unused.
    stack_sizes: Number of words on each stack, including ROOT; int [sentences].
    buffer: Words not yet on the stack, int [sentences, words]. The front of the buffer is the last word, so
        that the buffer grows and shrinks at the end of its array. Cells from `buffer_sizes` on are unused.
    buffer_sizes: Number of words in each buffer, int [sentences].
    heads: Head of each word, -1 if it has none, and in the padding; int [sentences, words].
    labels: Label of each word's arc, -1 if it has none, and in the padding; int [sentences, words].
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
        """Return initial states: ROOT is on the stack, all words are in the buffer, and there are no arcs.

        n_words: Number of words of each sentence, int [sentences].
        width: Minimum width of the arrays. A longer sentence makes them wider.
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
        """Return copies of the states at `rows`, which may repeat, in arrays of the same width."""
        rows = np.asarray(rows, dtype=np.int64)
        return States(*(getattr(self, field.name)[rows] for field in fields(self)))

    @classmethod
    def join(cls, parts: Sequence[States]) -> States:
        """Join batches of states whose arrays have the same width."""
        columns = []
        for field in fields(cls):
            columns.append(np.concatenate([getattr(part, field.name) for part in parts]))
        return cls(*columns)

    @property
    def is_final(self) -> BoolArray:
        """Whether the buffer is empty and only ROOT is on the stack, bool [sentences]."""
        final: BoolArray = (self.buffer_sizes == 0) & (self.stack_sizes == 1)
        return final

    @property
    def n_arcs(self) -> IntArray:
        """Number of words that have a head, int [sentences]."""
        count: IntArray = self.deleted().sum(axis=1)
        return count

    def slots(self) -> IntArray:
        """Return the second word of the stack, the top of the stack and the front of the buffer: s2, s1, b1.

        Returns int [sentences, 3]; NO_WORD for an empty slot.
        """
        rows = np.arange(len(self.n_words))
        slots = np.full((len(rows), 3), NO_WORD, dtype=np.int64)
        s1, b1 = self.stack_sizes - 1, self.buffer_sizes - 1
        slots[:, 0] = np.where(s1 > 0, self.stack[rows, s1 - 1], NO_WORD)
        slots[:, 1] = self.stack[rows, s1]
        slots[:, 2] = np.where(b1 >= 0, self.buffer[rows, b1], NO_WORD)
        return slots

    def deleted(self) -> BoolArray:
        """Return whether each word has a head, bool [sentences, words]."""
        return self.heads >= 0
