"""Graphs of the passes of a refiner, over the tokens of Docs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spacy.tokens import Doc

from ..data.doc_graphs import TokenGraph, empty_tokens, to_tokens, tree_of
from ..formats.graph import Graph
from ..models.types import Parse
from .sentence_inputs import ParsedBatch


def graphs_of_passes(
    docs: Sequence[Doc], batch: ParsedBatch, labels: Sequence[str]
) -> Iterator[list[TokenGraph]]:
    """Yield for each Doc the graph of each pass. White space has a head only in the last one, the tree.

    docs: Docs, to which the trees are already written.
    batch: Their parses, with all passes. A sentence with fewer passes than others keeps its last graph,
        and one without any its tree.
    labels: Names of the labels.
    """
    words: list[list[list[int]]] = [[] for _ in docs]
    for i, of_sentence in batch.layout.word_places():
        words[i].append(of_sentence)
    for doc, of_doc, parses in zip(docs, words, batch.by_doc(), strict=True):
        n_passes = max((len(parse.iterations) for parse in parses), default=0)
        graphs = []
        for i in range(n_passes):
            base = empty_tokens(len(doc)) | (tree_of(doc) if i == n_passes - 1 else {})
            passes = [[parse, *parse.iterations][min(i + 1, len(parse.iterations))] for parse in parses]
            found = [_make_graph(parse, labels) for parse in passes]
            graphs.append(to_tokens(zip(of_doc, found, strict=True), base))
        yield graphs


def _make_graph(parse: Parse, labels: Sequence[str]) -> Graph:
    deps = [labels[label] for label in parse.tree.labels.tolist()]
    return Graph(parse.tree.heads.tolist(), deps, parse.head_probs.tolist(), parse.label_probs.tolist())
