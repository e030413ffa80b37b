"""Split a batch of Docs into sentences and words. White-space tokens are not words and are not parsed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from spacy.tokens import Doc

from ..arrays import BoolArray, IntArray
from .multiword import attribute_hashes


@dataclass(frozen=True)
class Segmentation:
    """Positions of the sentences and words in a batch of Docs, whose tokens are laid end to end.

    A sentence starts where a boundary is set. A Doc without boundaries is one sentence.

    doc_starts: Index of the first token of each Doc, and the number of tokens; int [docs + 1].
    sent_start: 1 for a token that starts a sentence, -1 for one that does not, 0 for an unknown one; int
        [tokens].
    words: Indices of the tokens that are not white space; int [words].
    starts: Whether each token starts a sentence; bool [tokens].
    sentence_of: Index of each token's sentence; int [tokens].
    first_word: Index in ``words`` of each sentence's first word, and the number of words; int
        [sentences + 1].
    """

    doc_starts: IntArray
    sent_start: IntArray
    words: IntArray
    starts: BoolArray = field(init=False)
    sentence_of: IntArray = field(init=False)
    first_word: IntArray = field(init=False)

    def __post_init__(self) -> None:
        # `cached_property` has a lock in Python 3.10 and 3.11. A process that is forked while another thread
        # holds the lock would wait forever.
        starts = self.sent_start == 1
        starts[self.doc_starts[:-1][np.diff(self.doc_starts) > 0]] = True
        sentence_of = np.cumsum(starts) - 1
        first_word = np.searchsorted(sentence_of[self.words], np.arange(int(starts.sum()) + 1))
        for name, array in (("starts", starts), ("sentence_of", sentence_of), ("first_word", first_word)):
            object.__setattr__(self, name, array)

    def cut(self, starts: Sequence[BoolArray | None]) -> Segmentation:
        """Replace the sentence starts of each Doc, bool [tokens of the Doc]; None keeps them."""
        pairs = zip(self.by_doc(self.sent_start), starts, strict=True)
        arrays = [old if new is None else np.where(new, 1, -1) for old, new in pairs]
        return replace(self, sent_start=np.concatenate([*arrays, np.zeros(0, dtype=np.int64)]))

    @property
    def unset(self) -> BoolArray:
        """Whether a Doc of several tokens has only unknown boundaries; bool [docs]."""
        is_unset = [len(starts) > 1 and not starts[1:].any() for starts in self.by_doc(self.sent_start)]
        return np.array(is_unset, dtype=np.bool_)

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

    def by_doc(self, values: IntArray) -> list[IntArray]:
        """Cut an array over tokens into an array for each Doc."""
        return [values[start:end] for start, end in pairwise(self.doc_starts.tolist())]

    def word_places(self) -> list[tuple[int, list[int]]]:
        """Return the index of the Doc and the words' indices in it, for each sentence that has words."""
        docs = self.doc_of[self.n_words > 0]
        return [
            (doc, (self.words[words] - self.doc_starts[doc]).tolist())
            for doc, words in zip(docs.tolist(), self.sentence_slices, strict=True)
        ]


def segment(docs: Sequence[Doc]) -> Segmentation:
    """Find the sentences of Docs by the boundaries that are set."""
    arrays = [doc.to_array(["SENT_START", "IS_SPACE"]) for doc in docs]
    table = np.concatenate([*arrays, np.zeros((0, 2), dtype=np.uint64)])
    doc_starts = np.cumsum([0, *map(len, docs)])
    return Segmentation(doc_starts, table[:, 0].astype(np.int64), np.flatnonzero(table[:, 1] == 0))


def word_attributes(docs: Sequence[Doc], segmentation: Segmentation, attr: str) -> list[str]:
    """Return a string attribute of all words, for ORTH their forms. It creates no Token objects."""
    flat: list[str] = []
    texts: dict[int, str] = {}
    for doc in docs:
        hashes = attribute_hashes(doc, [attr])[:, 0] if attr == "ORTH" else np.asarray(doc.to_array(attr))
        strings = doc.vocab.strings
        values: list[int] = hashes.tolist()
        texts |= {value: strings[value] for value in values if value not in texts}
        flat += [texts[value] for value in values]
    return flat if len(flat) == len(segmentation.words) else [flat[i] for i in segmentation.words]
