"""Convert graphs over the words of sentences to graphs over the tokens of a Doc, and back.

Graphs of sentences count words from 1 (see ``formats.graph.Graph``). Graphs on a Doc count as spaCy does: a
graph over tokens is a dict with ``heads``, the index in the Doc of each token's head (a root's own
index, -1 if missing), and ``deps``, the labels ("" if missing). It may also have ``head_probs`` and
``dep_probs``. Such dicts travel with ``Doc.to_bytes`` and ``DocBin``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..arrays import HashArray, IntArray
from ..errors import Errors
from ..formats.graph import MISSING, ROOT, Graph
from .docs import write_tree
from .source import cell_value
from .token_check import read_checked, with_tokens

TokenGraph = dict[str, list[Any]]

#: Extension attribute of Docs for an initial graph that heads and labels of a Doc can't hold: spaCy takes
#: sentence boundaries from heads when it reads a Doc from bytes, and a word without a label has no head.
INITIAL_GRAPH = "g2g_initial"


def to_tokens(graphs: Iterable[tuple[Sequence[int], Graph]], base: TokenGraph) -> TokenGraph:
    """Return a graph over the tokens of a Doc with the arcs of sentences.

    graphs: For each sentence, the indices of its words in the Doc, and its graph.
    base: Graph over the tokens. Tokens in no sentence keep their arcs of this graph.
    """
    tokens = {key: [*values] for key, values in base.items()}
    for words, graph in graphs:
        for word, head, dep in zip(words, graph.heads, graph.deps, strict=True):
            tokens["heads"][word] = words[head - 1] if head > ROOT else word if head == ROOT else MISSING
            tokens["deps"][word] = dep
        for key, probs in (("head_probs", graph.head_probs), ("dep_probs", graph.dep_probs)):
            for word, prob in zip(words, probs, strict=False):
                tokens[key][word] = prob
    return tokens


def to_sentence(graph: Mapping[str, Sequence[Any]], words: Sequence[int], doc: Doc) -> Graph:
    """Return the arcs that a graph over the tokens of a Doc has between some words.

    A word whose head is white space gets the head of the white space. Other heads outside are missing.

    words: Indices of the words in the Doc.
    """
    heads_in_doc, numbers = graph["heads"], {word: number for number, word in enumerate(words, start=1)}
    heads = []
    for word in words:
        head = heads_in_doc[word]
        if head not in numbers and head >= 0 and not doc[head].text.strip():
            head = word if heads_in_doc[head] == head else heads_in_doc[head]
        heads.append(ROOT if head == word else numbers.get(head, MISSING))

    def values(key: str) -> list[Any]:
        return [graph[key][word] for word in words] if graph.get(key) else []

    return Graph(heads, values("deps"), values("head_probs"), values("dep_probs"))


def has_arcs(graph: Mapping[str, Sequence[Any]]) -> bool:
    """Return whether a graph over the tokens of a Doc has any head."""
    return any(head != MISSING for head in graph["heads"])


def empty_tokens(n: int) -> TokenGraph:
    """Return a graph over n tokens without arcs. All its probabilities are 1."""
    return {"heads": [MISSING] * n, "deps": [""] * n, "head_probs": [1.0] * n, "dep_probs": [1.0] * n}


def tree_of(doc: Doc) -> TokenGraph:
    """Return the heads and labels of a Doc."""
    heads = [token.head.i if token.has_head() else MISSING for token in doc]
    return {"heads": heads, "deps": [cell_value(token.dep_) for token in doc]}


def write_initial_graph(doc: Doc, graphs: Sequence[Graph]) -> None:
    """Write the graphs of all sentences, over all tokens, to a Doc, whose boundaries stay.

    Whole trees become heads and labels of the Doc. Any other graph goes to ``doc._.g2g_initial``.
    """
    ends = accumulate(len(graph.heads) for graph in graphs)
    words = [range(end - len(graph.heads), end) for end, graph in zip(ends, graphs, strict=True)]
    tokens = to_tokens(zip(words, graphs, strict=True), empty_tokens(len(doc)))
    write = write_heads if all(graph.is_whole for graph in graphs) else set_initial_graph
    write(doc, tokens["heads"], tokens["deps"])


def write_heads(doc: Doc, heads: Sequence[int], deps: Sequence[str]) -> None:
    """Write heads (indices in the Doc) and labels of all tokens to a Doc, whose boundaries stay."""
    offsets = np.array(heads, dtype=np.int64) - np.arange(len(heads))
    labels = np.array([doc.vocab.strings.add(dep) for dep in deps], dtype=np.uint64)
    parse = np.stack([offsets.view(np.uint64), labels], axis=1)
    write_tree(doc, parse, starts=doc.to_array("SENT_START"))


def set_initial_graph(doc: Doc, heads: Sequence[int], deps: Sequence[str]) -> None:
    """Write heads (indices in the Doc) and labels of all tokens to ``doc._.g2g_initial``."""
    Doc.set_extension(INITIAL_GRAPH, default=None, force=True)
    doc._.set(INITIAL_GRAPH, with_tokens(doc, {"heads": [*heads], "deps": [*deps]}))


def get_initial_graph(doc: Doc) -> dict[str, Any] | None:
    """Return the graph in ``doc._.g2g_initial``, or None. Raises ValueError if it does not fit the Doc."""
    graph: dict[str, Any] | None = read_checked(doc, INITIAL_GRAPH)
    if graph is None:
        return None
    n = len(doc)
    heads, deps = (graph.get("heads"), graph.get("deps")) if isinstance(graph, dict) else (None, None)
    if not _fits(heads, n, lambda head: isinstance(head, int) and MISSING <= head < n):
        raise ValueError(Errors.E511.format(name="heads", found=repr(heads)[:80], n=n))
    if not _fits(deps, n, lambda dep: isinstance(dep, str)):
        raise ValueError(Errors.E511.format(name="deps", found=repr(deps)[:80], n=n))
    return graph


def initial_tokens(doc: Doc) -> TokenGraph:
    """Return the initial graph of a refiner: ``doc._.g2g_initial``, or the Doc's own tree."""
    heads, labels = initial_arrays(doc)
    deps = [cell_value(doc.vocab.strings[label]) for label in labels.tolist()]
    return {"heads": heads.tolist(), "deps": deps, "head_probs": [], "dep_probs": []}


def initial_arrays(doc: Doc) -> tuple[IntArray, HashArray]:
    """Return the graph of ``initial_tokens`` as heads, int [tokens], and label hashes, uint64 [tokens]."""
    graph = get_initial_graph(doc)
    if graph is not None:
        hashes = [doc.vocab.strings.add(dep) if dep else 0 for dep in graph["deps"]]
        return np.array(graph["heads"], dtype=np.int64), np.array(hashes, dtype=np.uint64)
    table = doc.to_array(["HEAD", "DEP"])
    heads = np.arange(len(table)) + table[:, 0].astype(np.int64)
    deps = np.ascontiguousarray(table[:, 1], dtype=np.uint64)
    return np.where(deps == 0, MISSING, heads), deps


def _fits(values: Any, n: int, is_right: Callable[[Any], bool]) -> bool:
    return isinstance(values, list | tuple) and len(values) == n and all(map(is_right, values))
