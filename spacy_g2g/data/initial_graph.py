"""Initial graphs of a refiner, and where a Doc holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..errors import Errors
from ..formats.heads import find_cycle
from .docs import write_tree

#: Extension attribute of Docs for a graph that is not a tree, which the Doc's heads can't hold: spaCy takes
#: boundaries from them when it reads a Doc from bytes, and a word without a label for one without a head.
INITIAL_GRAPH = "g2g_initial"
#: How many characters of a value an error shows.
SHOWN = 80


@dataclass(frozen=True)
class InitialGraph:
    """At most one head for each token of a Doc; anything else is allowed: cycles, several roots, no arcs.

    heads: index in the Doc of each token's head, of a root its own, -1 where missing.
    deps: label of each token, "" where missing.
    is_tree: whether each sentence is a tree of one root, and no label is missing.
    """

    heads: list[int]
    deps: list[str]
    is_tree: bool

    @classmethod
    def of_sentences(cls, sentences: Iterable[tuple[Sequence[int | None], Sequence[str]]]) -> InitialGraph:
        """The graph of sentences, each given as heads (0 for the root, IDs from 1, None) and labels."""
        heads: list[int] = []
        deps: list[str] = []
        is_tree = True
        for ids, labels in sentences:
            offset = len(heads)
            is_tree = is_tree and ids.count(0) == 1 and None not in ids and "" not in labels
            is_tree = is_tree and not find_cycle(ids)
            for i, head in enumerate(ids):
                heads.append(-1 if head is None else offset + (head - 1 if head else i))
            deps += labels
        return cls(heads, deps, is_tree)

    def write(self, doc: Doc) -> None:
        """Write trees as heads and labels, any other graph to ``doc._.g2g_initial``; boundaries stay."""
        if self.is_tree:
            self._write_heads(doc)
            return
        if not Doc.has_extension(INITIAL_GRAPH):
            Doc.set_extension(INITIAL_GRAPH, default=None)
        doc._.set(INITIAL_GRAPH, {"heads": [*self.heads], "deps": [*self.deps]})

    def _write_heads(self, doc: Doc) -> None:
        offsets = np.array(self.heads, dtype=np.int64) - np.arange(len(self.heads))
        labels = np.array([doc.vocab.strings.add(dep) for dep in self.deps], dtype=np.uint64)
        parse = np.stack([offsets.view(np.uint64), labels], axis=1)
        write_tree(doc, parse, doc.to_array("SENT_START"))


def get_initial_graph(doc: Doc) -> dict[str, Any] | None:
    """The graph in ``doc._.g2g_initial``, as {"heads": [int], "deps": [str]}; None if there is none.

    Raises ValueError where it does not fit the Doc.
    """
    graph: dict[str, Any] | None = doc._.get(INITIAL_GRAPH) if Doc.has_extension(INITIAL_GRAPH) else None
    if graph is None:
        return None
    n = len(doc)
    heads, deps = (graph.get("heads"), graph.get("deps")) if isinstance(graph, dict) else (None, None)
    if not _fits(heads, n, lambda head: isinstance(head, int) and -1 <= head < n):
        raise ValueError(Errors.E339.format(name="heads", found=repr(heads)[:SHOWN], n=n))
    if not _fits(deps, n, lambda dep: isinstance(dep, str)):
        raise ValueError(Errors.E339.format(name="deps", found=repr(deps)[:SHOWN], n=n))
    return graph


def _fits(values: Any, n: int, is_right: Callable[[Any], bool]) -> bool:
    return isinstance(values, list | tuple) and len(values) == n and all(map(is_right, values))
