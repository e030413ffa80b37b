"""Chunks of text without white space, and how a tokenizer of spaCy cuts them.

spaCy's tokenizer cuts a text at white space first, then each chunk by itself. So the chunks of a treebank and
their counts have all that a tokenizer can learn from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.attrs import IDX, LENGTH
from spacy.tokenizer import Tokenizer

from ..arrays import IntArray
from ..formats.conllu import ConlluSentence

#: Tokens of a chunk, in their order.
Chunk = tuple[str, ...]


@dataclass(frozen=True)
class TokenCounts:
    """Agreement of a tokenizer with the tokens of a treebank.

    correct: Number of tokens with the right start and end.
    gold: Number of tokens in the treebank.
    system: Number of the tokenizer's tokens.
    disagreements: Number of times that each chunk is cut in another way, with the treebank's tokens and the
        tokenizer's, most frequent first.
    """

    correct: int
    gold: int
    system: int
    disagreements: list[tuple[Chunk, Chunk, int]]

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, between 0 and 1."""
        return 2 * self.correct / max(self.gold + self.system, 1)

    def named(self, n: int) -> dict[str, int]:
        """Return the most frequent disagreements, up to n, as texts such as "e-mail / e - mail"."""
        first = self.disagreements[:n]
        return {f"{' '.join(gold)} / {' '.join(system)}": times for gold, system, times in first}


def read_chunks(sentences: Iterable[ConlluSentence]) -> Counter[Chunk]:
    """Count the chunks of a treebank by their tokens. A multiword token is one token.

    Sentences without white space between them share a chunk. A token with inner white space is left out with
    the chunks that it touches, since tokens of spaCy have none.
    """
    return Counter(chunk for chunk in _cut(sentences) if not any(map(str.isspace, "".join(chunk))))


class ChunkTable:
    """Distinct chunks with their counts, made to be cut again and again.

    chunks: Counts by the tokens of a chunk.
    """

    def __init__(self, chunks: Counter[Chunk]) -> None:
        self.chunks = list(chunks)
        self.counts: IntArray = np.fromiter(chunks.values(), np.int64, len(chunks))
        self.texts = ["".join(chunk) for chunk in self.chunks]

    def errors(self, tokenizer: Tokenizer, rows: Sequence[int] | IntArray) -> IntArray:
        """Count the wrong tokens of chunks, on both sides, each chunk as often as it occurs.

        tokenizer: The tokenizer.
        rows: Indices of the chunks to cut.
        Returns int [rows].
        """
        correct, gold, system = self._compare(tokenizer, rows)
        wrong: IntArray = (gold + system - 2 * correct) * self.counts[rows]
        return wrong

    def score(self, tokenizer: Tokenizer) -> TokenCounts:
        """Compare a tokenizer with all chunks."""
        rows = np.arange(len(self.chunks))
        correct, gold, system = self._compare(tokenizer, rows)
        wrong = np.flatnonzero((correct < gold) | (correct < system))
        order = sorted(wrong.tolist(), key=lambda row: (-self.counts[row], self.texts[row]))
        total = [int((counts * self.counts).sum()) for counts in (correct, gold, system)]
        found = [(self.chunks[row], cut(tokenizer, self.texts[row]), int(self.counts[row])) for row in order]
        return TokenCounts(total[0], total[1], total[2], found)

    def _compare(
        self, tokenizer: Tokenizer, rows: Sequence[int] | IntArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Return the numbers of correct, gold and system tokens of chunks, each int [rows]."""
        if not len(rows):
            return (np.zeros(0, np.int64),) * 3
        offsets = np.cumsum([0, *(len(self.texts[row]) + 1 for row in rows)])
        doc = tokenizer(" ".join(self.texts[row] for row in rows))
        names: list[Any] = [IDX, LENGTH]
        spans = doc.to_array(names).astype(np.int64)
        system = spans[:, 0] * offsets[-1] + spans[:, 0] + spans[:, 1]
        starts, ends = [], []
        for row, offset in zip(rows, offsets.tolist(), strict=False):
            for token in self.chunks[row]:
                starts.append(offset)
                offset += len(token)
                ends.append(offset)
        gold = np.array(starts) * offsets[-1] + ends
        correct = np.intersect1d(gold, system, assume_unique=True)
        return (  # the start of a span tells its chunk
            np.histogram(correct // offsets[-1], offsets)[0],
            np.histogram(gold // offsets[-1], offsets)[0],
            np.histogram(spans[:, 0], offsets)[0],
        )


def cut(tokenizer: Tokenizer, text: str) -> Chunk:
    """Return the tokens of a chunk."""
    return tuple(token.text for token in tokenizer(text))


def _cut(sentences: Iterable[ConlluSentence]) -> Iterator[Chunk]:
    chunk: list[str] = []
    for sentence in sentences:
        for token in sentence.tokens:
            chunk.append(token.form)
            if token.space_after:
                yield tuple(chunk)
                chunk = []
    if chunk:
        yield tuple(chunk)
