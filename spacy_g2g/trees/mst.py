"""Chu-Liu/Edmonds algorithm: the best dependency tree with exactly one root.

A single arg-max over the whole batch finds the best head of each word. Where these heads already form a tree,
the work is done. The other sentences go through Edmonds' contractions, in the path-growing order of Tarjan
(1977).

To get a single root, the algorithm compares trees by their number of roots first and by their score second.
Stanojevic and Cohen ("A root of a problem", 2021) do this by subtracting a large constant from the scores of
all arcs from ROOT, which loses precision. Such arcs are never on a cycle. So it is enough to choose ROOT as
the head of a contracted node only if no other arc enters the node.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import BoolArray, DoubleArray, IntArray
from ..errors import Errors
from .tree import are_trees


def decode(scores: ArrayLike, *, lengths: ArrayLike) -> IntArray:
    """Return, for each sentence, the tree with exactly one root and the highest sum of scores.

    Ties are always broken in the same way.

    scores: Score of word j as the head of word i + 1 at [sentence, i, j], with ROOT in column 0; float
        [sentences, width, width + 1]. -inf forbids an arc. The score of a word as its own head (j = i + 1)
        and the padding are ignored.
    lengths: Number of words of each sentence, int [sentences].
    Returns int [sentences, width], the head of each word; 0 in the padding.
    Raises ValueError if a score is NaN or +inf, or if every tree with one root has a forbidden arc.
    """
    arcs, n_words = np.asarray(scores, dtype=np.float64), np.asarray(lengths)
    width = arcs.shape[1]
    is_word = np.arange(width) < n_words[:, None]
    is_head = np.arange(width + 1) <= n_words[:, None]
    arcs = np.where(is_head[:, None], arcs, -np.inf)
    arcs[:, np.arange(width), np.arange(1, width + 1)] = -np.inf
    heads = np.where(is_word, arcs.argmax(axis=2), 0)
    best = np.take_along_axis(arcs, heads[..., None], axis=2)[..., 0]
    # NaN and +inf are the maximum of their row.
    if len(wrong := np.argwhere(is_word & ~np.isfinite(best))):
        raise ValueError(Errors.E107.format(sentence=wrong[0, 0]))
    for sentence in np.flatnonzero(~are_trees(heads, lengths=n_words)).tolist():
        n = int(n_words[sentence])
        contraction = contract_cycles(arcs[sentence, :n, : n + 1])
        if contraction is None:
            raise ValueError(Errors.E107.format(sentence=sentence))
        heads[sentence, :n] = contraction.expand()
    return heads


def contract_cycles(scores: DoubleArray) -> Contraction | None:
    """Contract the cycles of one sentence, so that ``expand`` gives its best tree with a single root.

    scores: float [n, n + 1], with -inf for each word as its own head.
    Returns None if no tree with a single root is possible.
    """
    graph = Contraction(scores)
    n_roots = 0
    for start in range(1, len(scores) + 1):
        path: list[int] = []
        node = graph.node_of(start)
        while not graph.is_attached[node]:
            path.append(node)
            head = graph.choose_head(node)
            if head is None:
                return None
            n_roots += head == 0
            node = graph.node_of(head)
            if node in path:
                cycle = path[path.index(node) :]
                del path[-len(cycle) :]
                node = graph.contract(cycle)
        graph.is_attached[path] = True
    return graph if n_roots == 1 else None


class Contraction:
    """Graph in which cycles are contracted to nodes.

    Nodes are ROOT (0), words (1 to n) and contracted cycles (from n + 1). Each row is a node as a dependent.
    Each column is still a word as a head; ``_node_of`` gives the node that the word currently belongs to.
    """

    def __init__(self, scores: DoubleArray):
        n = len(scores)
        self._scores = np.full((2 * n, n + 1), -np.inf)
        self._scores[1 : n + 1] = scores
        # The word that an arc into a node enters, by node and head.
        self._entered = np.repeat(np.arange(2 * n)[:, None], n + 1, axis=1)
        self._arc_head = np.zeros(2 * n, dtype=np.int64)
        self._arc_word = np.arange(2 * n)
        self._node_of = np.arange(n + 1)
        self._node_of_before: list[IntArray] = []
        #: Words of each contracted cycle, bool [n + 1] each.
        self.cycles: list[BoolArray] = []
        self.is_attached = np.zeros(2 * n, dtype=bool)
        self.is_attached[0] = True

    def node_of(self, word: int) -> int:
        """Return the node that a word currently belongs to."""
        return int(self._node_of[word])

    def choose_head(self, node: int) -> int | None:
        """Choose the best arc into a node, from ROOT only if there is no other. Return its head, or None."""
        scores = self._scores[node]
        head = int(scores[1:].argmax()) + 1
        if scores[head] == -np.inf:
            head = 0
        if scores[head] == -np.inf:
            return None
        self._arc_head[node] = head
        self._arc_word[node] = self._entered[node, head]
        return head

    def contract(self, cycle: list[int]) -> int:
        """Contract a cycle to a node. The score of an arc into it is the gain of breaking the cycle there."""
        node = len(self._node_of) + len(self._node_of_before)
        self._node_of_before.append(self._node_of.copy())
        cycle_scores = self._scores[cycle, self._arc_head[cycle]]
        gains = self._scores[cycle] - cycle_scores[:, None]
        broken = gains.argmax(axis=0)
        columns = np.arange(gains.shape[1])
        in_cycle = np.zeros(len(self._scores), dtype=bool)
        in_cycle[cycle] = True
        inside = in_cycle[self._node_of]
        self._scores[node] = np.where(inside, -np.inf, gains[broken, columns])
        self._entered[node] = self._entered[cycle][broken, columns]
        self._node_of[inside] = node
        self.cycles.append(inside)
        return node

    def slack(self) -> DoubleArray:
        """Return the slack of each arc in the dual of Edmonds' linear program. Call ``expand`` later.

        A tree is worse than the best one by at least the sum of the slack of its arcs, and by exactly this
        sum if it enters each cycle once.

        Returns float [n, n + 1], inf for forbidden arcs and 0 for arcs of the best tree.
        """
        n = len(self._node_of) - 1
        chosen = np.take_along_axis(self._scores, self._arc_head[:, None], axis=1)
        slack: DoubleArray = chosen[1 : n + 1] - self._scores[1 : n + 1]
        for cycle, gain in zip(self.cycles, chosen[n + 1 :, 0], strict=False):
            slack[np.ix_(cycle[1:], ~cycle)] += gain
        slack[slack < 0.0] = 0.0
        return slack

    def expand(self) -> IntArray:
        """Undo the contractions, last one first. A node's arc replaces the arc of the part that it enters."""
        first = len(self._node_of)
        for i in reversed(range(len(self._node_of_before))):
            word = self._arc_word[first + i]
            part = self._node_of_before[i][word]
            self._arc_word[part] = word
            self._arc_head[part] = self._arc_head[first + i]
        return self._arc_head[1:first]
