"""Split Docs into sentences, and write trees back to Docs, for a whole batch of Docs as arrays.

White-space tokens are not words and are not parsed. Once its sentence is parsed, such a token is attached to
the word before it (to the first word if it opens the sentence). It is never a head, except in a sentence of
white space alone, whose first token is the root.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc

from ..arrays import BoolArray, HashArray, IntArray
from ..data.docs import write_tree
from ..data.graphs import initial_arrays

if TYPE_CHECKING:
    from ..models.types import Sentence, Tree

#: Label of white-space tokens.
SPACE_LABEL = "dep"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where the sentences and words of a batch of Docs are. The tokens of the Docs are laid end to end.

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


@dataclass(frozen=True)
class ParsedBatch:
    """Parses of a batch of Docs.

    layout: Where the sentences of the Docs are.
    parses: Parses of the sentences that have words, in order.
    """

    layout: Layout
    parses: Sequence[Any]

    def by_doc(self) -> list[list[Any]]:
        """Return the parses of each Doc."""
        parses: list[list[Any]] = [[] for _ in self.layout.doc_starts[1:]]
        for doc, parse in zip(self.layout.doc_of[self.layout.n_words > 0], self.parses, strict=True):
            parses[doc].append(parse)
        return parses


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


def make_sentences(docs: Sequence[Doc], layout: Layout, tag_attr: str | None) -> list[Sentence]:
    """Return the sentences that have words, in order.

    docs: The Docs.
    layout: Where their sentences are.
    tag_attr: Attribute of tokens that becomes the sentences' tags, or None.
    """
    from ..models.types import Sentence

    words = word_attributes(docs, layout, "ORTH")
    tags = None if tag_attr is None else word_attributes(docs, layout, tag_attr)
    return [Sentence(words[at], None if tags is None else tags[at]) for at in layout.sentence_slices]


def make_trees(layout: Layout, heads: IntArray, labels: IntArray) -> list[Tree]:
    """Cut heads and labels of all words into a tree for each sentence that has words.

    layout: Where the sentences are.
    heads: Number of each head in its sentence; int [words].
    labels: Label ids; int [words].
    """
    from ..models.types import Tree

    return [Tree(heads[at], labels[at]) for at in layout.sentence_slices]


def word_attributes(docs: Sequence[Doc], layout: Layout, attr: str) -> list[str]:
    """Return a string attribute of all words. Going by hashes avoids making a Token for each."""
    flat = [doc.vocab.strings[value] for doc in docs for value in np.asarray(doc.to_array(attr)).tolist()]
    return flat if len(flat) == len(layout.words) else [flat[i] for i in layout.words]


def write_trees(
    docs: Sequence[Doc],
    layout: Layout,
    heads: IntArray,
    labels: IntArray,
    label_hashes: HashArray,
    space: int,
) -> None:
    """Write heads, labels and sentence boundaries to Docs.

    docs: The Docs.
    layout: Where their sentences are.
    heads: Number of each head in its sentence, from 1, or 0 for ROOT; int [words].
    labels: Indices in ``label_hashes``; int [words].
    label_hashes: Hashes of the labels, the root label first; uint64 [labels].
    space: Hash of the label of white-space tokens.
    """
    n_tokens = int(layout.doc_starts[-1])
    tokens = np.arange(n_tokens)
    absolute, deps = _attach_spaces(layout, tokens, np.uint64(space), label_hashes[0])
    first = layout.first_word[layout.sentence_of[layout.words]]
    head_tokens = layout.words[first + np.maximum(heads, 1) - 1]
    absolute[layout.words] = np.where(heads == 0, layout.words, head_tokens)
    deps[layout.words] = label_hashes[labels]
    parse: Any = np.stack([(absolute - tokens).astype(np.int64).view(np.uint64), deps], axis=1)
    sent_starts: Any = np.where(layout.starts, 1, -1).astype(np.int64).view(np.uint64)
    for doc, start, end in zip(docs, layout.doc_starts[:-1], layout.doc_starts[1:], strict=True):
        write_tree(doc, parse[start:end], sent_starts[start:end])


def _attach_spaces(
    layout: Layout, tokens: IntArray, space: np.uint64, root: np.uint64
) -> tuple[IntArray, HashArray]:
    """Return heads (token indices) and labels of all tokens, right for white space and not set for words."""
    first_tokens = np.flatnonzero(layout.starts)
    deps = np.full(len(tokens), space, dtype=np.uint64)
    if len(layout.words) == len(tokens):
        return tokens.copy(), deps
    sentence = layout.sentence_of
    has_words = layout.n_words[sentence] > 0
    before = np.searchsorted(layout.words, tokens, side="right") - 1
    word = np.maximum(before, layout.first_word[sentence])
    absolute = first_tokens[sentence]
    absolute[has_words] = layout.words[word[has_words]]
    deps[~has_words & layout.starts] = root
    return absolute, deps


def initial_graphs(
    docs: Sequence[Doc], layout: Layout, label_ids: Mapping[int, int]
) -> tuple[IntArray, IntArray]:
    """Return the graphs that a refiner begins with: those of ``doc._.g2g_initial``, or the Docs' own trees.

    docs: The Docs.
    layout: Where their sentences are.
    label_ids: Label ids by the labels' hashes.
    Returns the number of each head in its sentence (0 for ROOT; -1 if missing, in another sentence or white
    space), int [words], and label ids (-1 for unknown labels and missing heads), int [words].
    """
    graphs = [initial_arrays(doc) for doc in docs]
    heads = heads_in_sentences(layout, [heads for heads, _ in graphs])
    hashes = np.array(sorted(label_ids), dtype=np.uint64)
    ids = np.array([label_ids[int(value)] for value in hashes], dtype=np.int64)
    deps = concatenate([deps for _, deps in graphs], np.uint64)[layout.words]
    if not len(hashes):
        return heads, np.full(len(deps), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(hashes, deps), len(hashes) - 1)
    labels = np.where((hashes[places] == deps) & (heads >= 0), ids[places], -1)
    return heads, labels


def join_heads(layout: Layout, heads: Sequence[IntArray]) -> IntArray:
    """Return heads as token indices over the whole batch, -1 if missing; int [tokens].

    layout: Where the sentences are.
    heads: For each Doc, indices in the Doc, -1 if missing; int [tokens of the Doc].
    """
    starts = layout.doc_starts[:-1]
    joined = [np.where(of_doc < 0, -1, of_doc + start) for of_doc, start in zip(heads, starts, strict=True)]
    return concatenate(joined, np.int64)


def heads_in_sentences(layout: Layout, heads: Sequence[IntArray]) -> IntArray:
    """Return heads as numbers within sentences.

    layout: Where the sentences are.
    heads: For each Doc, indices in the Doc, a root's its own, -1 if missing; int [tokens of the Doc].
    Returns numbers from 1, 0 for ROOT, and -1 if the head is missing, in another sentence or white space;
    int [words].
    """
    number = np.zeros(len(layout.sentence_of), dtype=np.int64)
    sentence = layout.sentence_of[layout.words]
    number[layout.words] = np.arange(len(layout.words)) - layout.first_word[sentence] + 1
    head = join_heads(layout, heads)[layout.words]
    inside = (head >= 0) & (layout.sentence_of[head] == sentence) & (number[head] > 0)
    return np.where(head == layout.words, 0, np.where(inside, number[head], -1))


def concatenate(arrays: Sequence[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
    """Join arrays end to end. Joining no arrays gives an empty one."""
    joined: npt.NDArray[Any] = np.concatenate([np.zeros(0, dtype=dtype), *arrays])
    return joined.astype(dtype, copy=False)
