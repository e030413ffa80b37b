"""Which demands on a tree can't hold together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ..arrays import BoolArray
from .constraints import Constraint, allowed_arcs, forbid_arcs_into, subtree_words


def find_conflict(constraints: Sequence[Constraint], n: int, n_labels: int) -> list[Constraint]:
    """Return demands that no tree with one root meets together, or nothing if there is such a tree.

    Without any one of the demands that are returned, there is a tree that meets the others. They are found by
    bisection (Junker, "QuickXplain", 2004), so that few of many demands are found soon.

    constraints: Demands on the sentence.
    n: Number of words.
    n_labels: Number of labels.
    """

    def search(known: list[Constraint], others: list[Constraint], is_new: bool) -> list[Constraint]:
        """Return the demands that are in conflict only together with known ones.

        is_new: Whether the last known demands have not been tried without the others.
        """
        if is_new and not _can_hold(known, n, n_labels):
            return []
        if len(others) == 1:
            return others
        middle = len(others) // 2
        last = search([*known, *others[:middle]], others[middle:], True)
        return [*search([*known, *last], others[:middle], bool(last)), *last]

    return [] if _can_hold(constraints, n, n_labels) else search([], [*constraints], False)


def _can_hold(constraints: Sequence[Constraint], n: int, n_labels: int) -> bool:
    """Return whether a tree with one root meets all demands.

    Each subtree, the innermost ones first, shrinks to one node. Its heads are those that a possible top word
    may have: a word from which arcs inside lead to all other nodes inside.
    """
    subtrees = subtree_words(constraints, n)
    arcs = forbid_arcs_into(subtrees, allowed_arcs(constraints, n, n_labels))
    for a, b in combinations(subtrees, 2):
        if (a & b).any() and (a & ~b).any() and (b & ~a).any():
            return False
    is_node = np.arange(n + 1) > 0
    for members in [*sorted(subtrees, key=np.count_nonzero), is_node.copy()]:
        nodes = np.flatnonzero(members & is_node)
        reaches = arcs[np.ix_(nodes - 1, nodes)].T | np.eye(len(nodes), dtype=np.bool_)
        for _ in range(len(nodes).bit_length()):
            reaches = matches(reaches, reaches)
        heads = arcs[nodes[reaches.all(axis=1)] - 1].any(axis=0) & ~members
        if not heads.any():
            return False
        is_node[nodes[1:]] = False
        arcs[nodes[0] - 1] = heads
    return True


def matches(left: BoolArray, right: BoolArray) -> BoolArray:
    """Return the matrix product of truth values, which NumPy computes much faster with numbers."""
    product: BoolArray = left.astype(np.float32) @ right.astype(np.float32) > 0
    return product
