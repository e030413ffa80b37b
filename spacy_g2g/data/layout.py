"""Split a batch of Docs into sentences and words. White-space tokens are not words and are not parsed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from spacy.tokens import Doc

from ..arrays import BoolArray, IntArray


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Positions of the sentences and words in a batch of Docs, whose tokens are laid end to end.

    doc_starts: Index of the first token of each Doc, and the number of tokens; int [docs + 1].
    starts: Whether each token starts a sentence; bool [tokens].
    sentence_of: Index of each token's sentence; int [tokens].
    words: Indices of the tokens that are not white space; int [words].
    first_word: Index in ``words`` of each sentence's first word, and the number of words;
        int [sentences + 1].
    unset: Whether a Doc of several tokens has no sentence boundary set or ruled out; bool [docs].
    """

    doc_starts: IntArray
    starts: BoolArray
    sentence_of: IntArray
    words: IntArray
    first_word: IntArray
    unset: BoolArray

    @property
    def n_words(self) -> IntArray:
        """Number of words in each sentence; int [sentences]."""
        return np.diff(self.first_word)

    @property
    def doc_of(self) -> IntArray:
        """Index of each sentence's Doc; int [sentences]."""
        return np.searchsorted(self.doc_starts, np.flatnonzero(self.starts), side="right") - 1

    @property
    def sentence_slices(self) -> list[slice]:
        """Slices of arrays over words, one for each sentence that has words."""
        edges = self.first_word.tolist()
        return [slice(start, end) for start, end in pairwise(edges) if end > start]

    def word_places(self) -> list[tuple[int, list[int]]]:
        """Return the index of the Doc and the words' indices in it, for each sentence that has words."""
        docs = self.doc_of[self.n_words > 0]
        return [
            (doc, (self.words[words] - self.doc_starts[doc]).tolist())
            for doc, words in zip(docs.tolist(), self.sentence_slices, strict=True)
        ]


def lay_out(docs: Sequence[Doc], starts: Sequence[BoolArray | None] | None = None) -> Layout:
    """Find the sentences of Docs by the boundaries that are set. A Doc without any is one sentence.

    docs: The Docs.
    starts: For each Doc, sentence starts that replace its own, or None; bool [tokens of the Doc].
    """
    doc_starts = np.cumsum([0, *map(len, docs)])
    arrays = [doc.to_array(["SENT_START", "IS_SPACE"]) for doc in docs]
    table = np.concatenate([*arrays, np.zeros((0, 2), dtype=np.uint64)])
    sent_start = table[:, 0].astype(np.int64)
    is_start = sent_start == 1
    for i, given in enumerate(starts or ()):
        if given is not None:
            is_start[doc_starts[i] : doc_starts[i + 1]] = given
    lengths = np.diff(doc_starts)
    firsts = doc_starts[:-1][lengths > 0]
    is_start[firsts] = True
    # Whether a token's boundary is known, counted over each Doc without its first token.
    known = np.concatenate([[0], np.cumsum(sent_start != 0)])
    n_known = known[doc_starts[1:]] - known[np.minimum(doc_starts[:-1] + 1, doc_starts[1:])]
    sentence_of = np.cumsum(is_start) - 1
    words = np.flatnonzero(table[:, 1] == 0)
    return Layout(
        doc_starts=doc_starts,
        starts=is_start,
        sentence_of=sentence_of,
        words=words,
        first_word=np.searchsorted(sentence_of[words], np.arange(int(is_start.sum()) + 1)),
        unset=(lengths > 1) & (n_known == 0),
    )


def word_attributes(docs: Sequence[Doc], layout: Layout, attr: str) -> list[str]:
    """Return a string attribute of all words. Going by hashes avoids making a Token for each."""
    flat: list[str] = []
    texts: dict[int, str] = {}
    for doc in docs:
        hashes: list[int] = np.asarray(doc.to_array(attr)).tolist()
        strings = doc.vocab.strings
        texts |= {value: strings[value] for value in hashes if value not in texts}
        flat += [texts[value] for value in hashes]
    return flat if len(flat) == len(layout.words) else [flat[i] for i in layout.words]
