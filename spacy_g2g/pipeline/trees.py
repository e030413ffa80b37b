"""Write trees of a batch of Docs, as arrays, to the Docs, and read them.

White-space tokens are not words. In a parsed sentence, such a token depends on the word before it, or on the
first word at the beginning of the sentence. It is never a head, except in a sentence of nothing but white
space, whose first token is the root.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from spacy.tokens import Doc

from ..arrays import HashArray, IntArray
from ..data.doc_graphs import TokenGraph, empty_tokens, initial_arrays, to_tokens, tree_of
from ..data.docs import write_tree
from ..data.segmentation import Segmentation
from ..formats.graph import Graph
from ..models.types import Arcs, Parse
from .sentence_inputs import ParsedBatch

#: Label of white-space tokens.
SPACE_LABEL = "dep"


def make_trees(segmentation: Segmentation, *, heads: IntArray, labels: IntArray) -> list[Arcs]:
    """Cut heads and labels of all words into a tree for each sentence that has words.

    segmentation: Where the sentences are.
    heads: Number of each head in its sentence; int [words].
    labels: Label ids; int [words].
    """
    return [Arcs(heads[at], labels[at]) for at in segmentation.sentence_slices]


def write_trees(
    docs: Sequence[Doc],
    segmentation: Segmentation,
    *,
    heads: IntArray,
    labels: IntArray,
    label_hashes: HashArray,
    space: int,
) -> None:
    """Write heads, labels and sentence boundaries to Docs.

    docs: The Docs.
    segmentation: Where their sentences are.
    heads: Number of each head in its sentence, from 1, or 0 for ROOT; int [words].
    labels: Indices in ``label_hashes``; int [words].
    label_hashes: Hashes of the labels, the root label first; uint64 [labels].
    space: Hash of the label of white-space tokens.
    """
    n_tokens = int(segmentation.doc_starts[-1])
    tokens = np.arange(n_tokens)
    absolute, deps = _attach_spaces(segmentation, tokens, np.uint64(space), label_hashes[0])
    first = segmentation.first_word[segmentation.sentence_of[segmentation.words]]
    head_tokens = segmentation.words[first + np.maximum(heads, 1) - 1]
    absolute[segmentation.words] = np.where(heads == 0, segmentation.words, head_tokens)
    deps[segmentation.words] = label_hashes[labels]
    parse: Any = np.stack([(absolute - tokens).astype(np.int64).view(np.uint64), deps], axis=1)
    sent_starts: Any = np.where(segmentation.starts, 1, -1).astype(np.int64).view(np.uint64)
    for doc, start, end in zip(docs, segmentation.doc_starts[:-1], segmentation.doc_starts[1:], strict=True):
        write_tree(doc, parse[start:end], starts=sent_starts[start:end])


def _attach_spaces(
    segmentation: Segmentation, tokens: IntArray, space: np.uint64, root: np.uint64
) -> tuple[IntArray, HashArray]:
    """Return heads (token indices) and labels of all tokens, valid only for white space."""
    first_tokens = np.flatnonzero(segmentation.starts)
    deps = np.full(len(tokens), space, dtype=np.uint64)
    if len(segmentation.words) == len(tokens):
        return tokens.copy(), deps
    sentence = segmentation.sentence_of
    is_split = segmentation.n_words[sentence] > 0
    before = np.searchsorted(segmentation.words, tokens, side="right") - 1
    word = np.maximum(before, segmentation.first_word[sentence])
    absolute = first_tokens[sentence]
    absolute[is_split] = segmentation.words[word[is_split]]
    deps[~is_split & segmentation.starts] = root
    return absolute, deps


def initial_graphs(
    docs: Sequence[Doc], segmentation: Segmentation, label_ids: Mapping[int, int]
) -> tuple[IntArray, IntArray]:
    """Return the initial graphs of a refiner: ``doc._.g2g_initial``, or the Docs' own trees.

    docs: The Docs.
    segmentation: Where their sentences are.
    label_ids: Label ids by the labels' hashes.
    Returns the number of each head in its sentence, int [words]; see ``heads_in_sentences``. Also returns
        label ids, int [words], -1 for unknown labels and missing heads.
    """
    graphs = [initial_arrays(doc) for doc in docs]
    heads = heads_in_sentences(segmentation, [heads for heads, _ in graphs])
    hashes = np.array(sorted(label_ids), dtype=np.uint64)
    ids = np.array([label_ids[int(value)] for value in hashes], dtype=np.int64)
    deps = concatenate([deps for _, deps in graphs], np.uint64)[segmentation.words]
    if not len(hashes):
        return heads, np.full(len(deps), -1, dtype=np.int64)
    places = np.minimum(np.searchsorted(hashes, deps), len(hashes) - 1)
    labels = np.where((hashes[places] == deps) & (heads >= 0), ids[places], -1)
    return heads, labels


def join_heads(segmentation: Segmentation, heads: Sequence[IntArray]) -> IntArray:
    """Return heads as token indices over the whole batch, -1 if missing; int [tokens].

    segmentation: Where the sentences are.
    heads: For each Doc, indices in the Doc, -1 if missing; int [tokens of the Doc].
    """
    starts = segmentation.doc_starts[:-1]
    joined = [np.where(own < 0, -1, own + start) for own, start in zip(heads, starts, strict=True)]
    return concatenate(joined, np.int64)


def heads_in_sentences(segmentation: Segmentation, heads: Sequence[IntArray]) -> IntArray:
    """Return heads as numbers within sentences.

    segmentation: Where the sentences are.
    heads: For each Doc, indices in the Doc, a root's its own, -1 if missing; int [tokens of the Doc].
    Returns numbers from 1, 0 for ROOT, and -1 if the head is missing, in another sentence or white space;
    int [words].
    """
    number = np.zeros(len(segmentation.sentence_of), dtype=np.int64)
    sentence = segmentation.sentence_of[segmentation.words]
    number[segmentation.words] = np.arange(len(segmentation.words)) - segmentation.first_word[sentence] + 1
    head = join_heads(segmentation, heads)[segmentation.words]
    inside = (head >= 0) & (segmentation.sentence_of[head] == sentence) & (number[head] > 0)
    return np.where(head == segmentation.words, 0, np.where(inside, number[head], -1))


def concatenate(arrays: Sequence[npt.NDArray[Any]], dtype: Any) -> npt.NDArray[Any]:
    """Join arrays end to end. Without arrays, return an empty one."""
    joined: npt.NDArray[Any] = np.concatenate([np.zeros(0, dtype=dtype), *arrays])
    return joined.astype(dtype, copy=False)


def graphs_of_passes(
    docs: Sequence[Doc], batch: ParsedBatch, labels: Sequence[str]
) -> Iterator[list[TokenGraph]]:
    """Yield for each Doc the graph of each pass. White space has a head only in the last one, the tree.

    docs: Docs, to which the trees are already written.
    batch: Their parses, with all passes. A sentence with fewer passes than others keeps its last graph. One
        without passes has its tree in all graphs.
    labels: Names of the labels.
    """
    words: list[list[list[int]]] = [[] for _ in docs]
    for i, places in batch.segmentation.word_places():
        words[i].append(places)
    for doc, own_words, parses in zip(docs, words, batch.by_doc(), strict=True):
        n_passes = max((len(parse.iterations) for parse in parses), default=0)
        graphs = []
        for i in range(n_passes):
            base = empty_tokens(len(doc)) | (tree_of(doc) if i == n_passes - 1 else {})
            sentences = [_graph((parse.iterations or (parse,))[: i + 1][-1], labels) for parse in parses]
            graphs.append(to_tokens(zip(own_words, sentences, strict=True), base))
        yield graphs


def _graph(parse: Parse, labels: Sequence[str]) -> Graph:
    """Return the graph of a pass over the words of its sentence."""
    deps = [labels[label] for label in parse.tree.labels.tolist()]
    return Graph(parse.tree.heads.tolist(), deps, parse.head_probs.tolist(), parse.label_probs.tolist())
