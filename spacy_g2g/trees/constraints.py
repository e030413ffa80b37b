"""What the tree of a sentence must have, and which constraints no tree meets together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ..arrays import BoolArray
from .tree import ROOT_LABEL

Kind: TypeAlias = Literal["head", "label", "not head", "not label", "subtree"]


class Constraint(NamedTuple):
    """Something that the tree of a sentence must have. Words count from 1, and 0 is ROOT.

    kind: "head" or "label" if a word must have it; "not head" or "not label" if it may not; "subtree" if some
        words must be one of them and all its descendants.
    words: The word, or the words of the subtree.
    value: The head, or the label's id; 0 for a subtree.
    """

    kind: Kind
    words: tuple[int, ...]
    value: int = 0


def allowed_labels(constraints: Sequence[Constraint], n: int, *, n_labels: int) -> BoolArray:
    """Return which labels each word may have, bool [n, labels].

    constraints: Constraints of the sentence.
    n: Number of words.
    n_labels: Number of labels, the root label first.
    """
    allowed = np.ones((n, n_labels), dtype=np.bool_)
    for kind, words, label in constraints:
        if kind == "label":
            allowed[words[0] - 1] &= np.arange(n_labels) == label
        elif kind == "not label":
            allowed[words[0] - 1, label] = False
    return allowed


def allowed_arcs(constraints: Sequence[Constraint], n: int, *, n_labels: int) -> BoolArray:
    """Return which heads each word may have by all constraints but "subtree", bool [n, n + 1].

    Only the arc from ROOT has the root label, so labels may exclude heads.

    constraints: Constraints of the sentence.
    n: Number of words.
    n_labels: Number of labels, at least 2.
    """
    labels = allowed_labels(constraints, n, n_labels=n_labels)
    allowed: BoolArray = np.repeat(labels[:, ROOT_LABEL + 1 :].any(axis=1, keepdims=True), n + 1, axis=1)
    allowed[:, 0] = labels[:, ROOT_LABEL]
    allowed[np.arange(n), np.arange(1, n + 1)] = False
    for kind, words, head in constraints:
        if kind == "head":
            allowed[words[0] - 1] &= np.arange(n + 1) == head
        elif kind == "not head":
            allowed[words[0] - 1, head] = False
    return allowed


def subtree_words(constraints: Sequence[Constraint], n: int) -> list[BoolArray]:
    """Return the words of each constraint "subtree", bool [n + 1] each, ROOT in front."""
    return [np.isin(np.arange(n + 1), words) for kind, words, _ in constraints if kind == "subtree"]


@lru_cache(maxsize=1024)
def find_conflict(constraints: tuple[Constraint, ...], n: int, *, n_labels: int) -> tuple[Constraint, ...]:
    """Return constraints that no tree with one root meets together, or nothing if there is such a tree.

    Without any one of those that are returned, there is a tree that meets the others. They are found by
    bisection (Junker, "QuickXplain", 2004), so that few of many constraints are found soon. Results are kept,
    since each call about the same parse checks the same constraints.

    constraints: Constraints of the sentence.
    n: Number of words.
    n_labels: Number of labels.
    """

    def search(known: list[Constraint], *, others: list[Constraint], is_new: bool) -> list[Constraint]:
        """Return the constraints that are in conflict only together with known ones.

        is_new: Whether the last known constraints have not been tried without the others.
        """
        if is_new and not _can_hold(known, n, n_labels):
            return []
        if len(others) == 1:
            return others
        middle = len(others) // 2
        last = search([*known, *others[:middle]], others=others[middle:], is_new=True)
        return [*search([*known, *last], others=others[:middle], is_new=bool(last)), *last]

    return (
        () if _can_hold(constraints, n, n_labels) else tuple(search([], others=[*constraints], is_new=False))
    )


def _can_hold(constraints: Sequence[Constraint], n: int, n_labels: int) -> bool:
    """Return whether a tree with one root meets all constraints.

    Each subtree, the innermost ones first, shrinks to one node. Its heads are those that a possible top word
    may have: a word from which arcs inside lead to all other nodes inside.
    """
    subtrees, arcs = subtree_words(constraints, n), allowed_arcs(constraints, n, n_labels=n_labels)
    for members in subtrees:
        arcs[np.ix_(~members[1:], members)] = False
    for a, b in combinations(subtrees, 2):
        if (a & b).any() and (a & ~b).any() and (b & ~a).any():
            return False
    is_node = np.arange(n + 1) > 0
    for members in [*sorted(subtrees, key=np.count_nonzero), is_node.copy()]:
        nodes = np.flatnonzero(members & is_node)
        reaches = arcs[np.ix_(nodes - 1, nodes)].T | np.eye(len(nodes), dtype=np.bool_)
        for _ in range(len(nodes).bit_length()):
            # NumPy multiplies numbers much faster than truth values.
            reaches = reaches.astype(np.float32) @ reaches.astype(np.float32) > 0
        heads = arcs[nodes[reaches.all(axis=1)] - 1].any(axis=0) & ~members
        if not heads.any():
            return False
        is_node[nodes[1:]] = False
        arcs[nodes[0] - 1] = heads
    return True
