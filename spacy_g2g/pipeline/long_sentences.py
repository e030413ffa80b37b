"""Parse very long sentences in parts, and join the trees of the parts.

The scores of all arcs take memory in proportion to the square of a sentence's length. A line of 20 KB of
exclamation marks is a sentence of 20,000 words, and would take 23 GiB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ..models.types import Arcs, Parse, Sentence

#: Maximum number of words of a sentence that is parsed whole.
MAX_WORDS = 2000
#: Labels of the arcs that join parts, the best one first. The fallback is the label after the root label.
JOINING_LABELS = ("parataxis", "dep")


def cut_long(sentence: Sentence) -> list[Sentence]:
    """Cut a sentence into as few parts as possible, of about the same length. Most sentences stay whole."""
    n_words = len(sentence.words)
    n_parts = max(1, -(-n_words // MAX_WORDS))
    if n_parts == 1:
        return [sentence]
    return [_part(sentence, i * n_words // n_parts, (i + 1) * n_words // n_parts) for i in range(n_parts)]


def _part(sentence: Sentence, start: int, end: int) -> Sentence:
    """Return the words from start to end, with a request for nothing but a tree.

    The part lacks arcs of the initial graph that cross its edges.
    """
    graph = sentence.graph
    if graph is not None:
        heads, labels = graph.heads[start:end], graph.labels[start:end]
        outside = (heads > 0) & ((heads <= start) | (heads > end))
        heads = np.where(outside, -1, np.where(heads > 0, heads - start, heads))
        graph = replace(graph, heads=heads, labels=np.where(outside, -1, labels))
    return Sentence(
        sentence.words[start:end],
        tags=None if sentence.tags is None else sentence.tags[start:end],
        graph=graph,
        vectors=None if sentence.vectors is None else sentence.vectors[start:end],
    )


def join_parts(parts: Sequence[Parse], labels: Sequence[str]) -> Parse:
    """Join the parses of a sentence's parts. The roots of all other parts depend on the root of the first.

    The model does not score the arcs between parts. So these have the probability 0, and the joined parse has
    no scores.

    parts: The parses.
    labels: Labels of the parser, the root label first.
    """
    if len(parts) == 1:
        return parts[0]
    label = next((labels.index(name) for name in JOINING_LABELS if name in labels[1:]), 1)
    passes = [part.iterations for part in parts]
    n_passes = max(map(len, passes))
    if not n_passes:
        return _join(parts, label)
    # A part with fewer passes than others keeps its tree.
    earlier = []
    for i in range(n_passes - 1):
        earlier.append(_join([graphs[min(i, len(graphs) - 1)] for graphs in passes], label))
    return replace(_join(parts, label), earlier=tuple(earlier))


def _join(parts: Sequence[Parse], label: int) -> Parse:
    heads = np.concatenate([part.tree.heads for part in parts])
    labels = np.concatenate([part.tree.labels for part in parts])
    head_probs = np.concatenate([part.head_probs for part in parts])
    label_probs = np.concatenate([part.label_probs for part in parts])
    ends = np.cumsum([part.n_words for part in parts]).tolist()
    is_root = heads == 0
    for start, end in pairwise(ends):
        part = heads[start:end]
        part[part > 0] += start
    # The graphs of passes before the last need not have a root.
    roots = np.flatnonzero(is_root[: ends[0]])
    if len(roots):
        is_root[: ends[0]] = False
        heads[is_root], labels[is_root] = roots[0] + 1, label
        head_probs[is_root] = label_probs[is_root] = 0.0
    return Parse(Arcs(heads, labels), head_probs, label_probs, coverage="chunked")
