"""Docs to sentences and trees back to Docs, for a whole batch of Docs as arrays.

White-space tokens are no words: they take no part in parsing, are attached afterwards to the word
before them (the first ones of a sentence to the first word) and are never heads, except in a sentence
of nothing but white space, whose first token is its root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc

from ..arrays import BoolArray, HashArray, IntArray
from ..data.docs import write_tree
from ..data.initial_graph import get_initial_graph

if TYPE_CHECKING:
    from ..models.types import Sentence

#: The label of white-space tokens.
SPACE_LABEL = "dep"


@dataclass(frozen=True)
class Layout:
    """The tokens of Docs laid end to end, and the words of their sentences.

    doc_starts: int [docs + 1], first token of each Doc.
    starts: bool [tokens], whether a sentence starts.
    sentence_of: int [tokens].
    words: int [words], the tokens that are no white space.
    first_word: int [sentences + 1], first of each sentence's words in ``words``.
    unset: bool [docs], Docs of several tokens in which no boundary is set or ruled out.
    """

    doc_starts: IntArray
    starts: BoolArray
    sentence_of: IntArray
    words: IntArray
    first_word: IntArray
    unset: BoolArray

    @property
    def n_words(self) -> IntArray:
        """Words of each sentence, int [sentences]."""
        return np.diff(self.first_word)

    @property
    def doc_of(self) -> IntArray:
        """The Doc of each sentence, int [sentences]."""
        return np.searchsorted(self.doc_starts, np.flatnonzero(self.starts), side="right") - 1


def lay_out(docs: Sequence[Doc], starts: Sequence[BoolArray | None] | None = None) -> Layout:
    """Find the sentences of Docs: at the boundaries that are set, else the whole Doc.

    starts: for each Doc, sentence starts to use in place of its own, or None.
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
    n_sentences = int(is_start.sum())
    first_word = np.searchsorted(sentence_of[words], np.arange(n_sentences + 1))
    return Layout(doc_starts, is_start, sentence_of, words, first_word, (lengths > 1) & (n_known == 0))


def make_sentences(docs: Sequence[Doc], layout: Layout, tag_attr: str | None) -> list[Sentence]:
    """The sentences that have words, in order."""
    from ..models.types import Sentence

    words = _of_words(docs, layout, "ORTH")
    tags = None if tag_attr is None else _of_words(docs, layout, tag_attr)
    spans = list(zip(layout.first_word[:-1], layout.first_word[1:], strict=True))
    return [Sentence(words[a:b], None if tags is None else tags[a:b]) for a, b in spans if b > a]


def _of_words(docs: Sequence[Doc], layout: Layout, attr: str) -> list[str]:
    """A string attribute of all words; by hashes, which spares making a Token for each."""
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

    heads: int [words], the head's number in the sentence from 1, or 0 for ROOT.
    labels: int [words], places in label_hashes.
    label_hashes: uint64 [labels]. space: hash of the label of white-space tokens.
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
    """Heads (token numbers) and labels of white-space tokens; those of words are still to be written."""
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
    """The heads and labels that Docs have, or those of ``doc._.g2g_initial``, as graphs within sentences.

    label_ids: ids of labels, by their hashes.
    Returns int [words], heads from 1, 0 for ROOT, -1 where missing, outside the sentence or white space; and
    int [words], label ids, -1 for unknown labels and missing heads.
    """
    graphs = [_initial_graph(doc) for doc in docs]
    starts = layout.doc_starts[:-1]
    absolute = [
        np.where(heads < 0, -1, heads + start) for (heads, _), start in zip(graphs, starts, strict=True)
    ]
    heads = heads_in_sentences(layout, concatenate(absolute, np.int64))
    hashes = np.array(sorted(label_ids), dtype=np.uint64)
    ids = np.array([label_ids[int(value)] for value in hashes], dtype=np.int64)
    deps = concatenate([deps for _, deps in graphs], np.uint64)[layout.words]
    if not len(hashes):
        return heads, np.full(len(deps), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(hashes, deps), len(hashes) - 1)
    labels = np.where((hashes[places] == deps) & (heads >= 0), ids[places], -1)
    return heads, labels


def _initial_graph(doc: Doc) -> tuple[IntArray, HashArray]:
    """Heads as numbers of tokens, -1 where missing, and hashes of labels."""
    graph = get_initial_graph(doc)
    if graph is not None:
        hashes = [doc.vocab.strings.add(dep) if dep else 0 for dep in graph["deps"]]
        return np.array(graph["heads"], dtype=np.int64), np.array(hashes, dtype=np.uint64)
    table = doc.to_array(["HEAD", "DEP"])
    heads = np.arange(len(table)) + table[:, 0].astype(np.int64)
    deps = np.ascontiguousarray(table[:, 1], dtype=np.uint64)
    return np.where(deps == 0, -1, heads), deps


def heads_in_sentences(layout: Layout, heads: IntArray) -> IntArray:
    """Heads as numbers within sentences.

    heads: int [tokens], token numbers over all Docs, of a root its own, -1 where missing.
    Returns int [words], from 1, 0 for ROOT; -1 also where the head is outside the sentence or white space.
    """
    number = np.zeros(len(layout.sentence_of), dtype=np.int64)
    sentence = layout.sentence_of[layout.words]
    number[layout.words] = np.arange(len(layout.words)) - layout.first_word[sentence] + 1
    head = heads[layout.words]
    inside = (head >= 0) & (layout.sentence_of[head] == sentence) & (number[head] > 0)
    return np.where(head == layout.words, 0, np.where(inside, number[head], -1))


def word_slices(layout: Layout) -> Iterator[slice]:
    """The words of each sentence that has words, as slices of arrays over words."""
    for start, end in zip(layout.first_word[:-1], layout.first_word[1:], strict=True):
        if end > start:
            yield slice(int(start), int(end))


def concatenate(arrays: Sequence[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
    """Arrays end to end; none give an empty one."""
    joined: npt.NDArray[Any] = np.concatenate([np.zeros(0, dtype=dtype), *arrays])
    return joined.astype(dtype, copy=False)
