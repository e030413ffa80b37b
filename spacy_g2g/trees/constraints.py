"""Constraints on the tree of a sentence, and conflicts between constraints."""

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
    """Constraint on the tree of a sentence. Words count from 1, and 0 is ROOT.

    kind: "head" or "label" that a word must have; "not head" or "not label" that it may not have; "subtree"
        if some words must be one of them and all its descendants.
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
    """Return which heads each word may have under all constraints but "subtree", bool [n, n + 1].

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
    """Return conflicting constraints, which no tree with one root meets together; none without a conflict.

    The set is minimal: without any one of its constraints, some tree meets the rest. Bisection (Junker,
    "QuickXplain", 2004) quickly finds a few constraints among many. Results are cached, since each call about
    the same parse checks the same constraints.

    constraints: Constraints of the sentence.
    n: Number of words.
    n_labels: Number of labels.
    """

    def search(base: list[Constraint], *, others: list[Constraint], is_new: bool) -> list[Constraint]:
        """Return the fewest of the others that conflict with the base.

        is_new: Whether the base has grown since it was last tried on its own.
        """
        if is_new and not _can_hold(base, n, n_labels):
            return []
        if len(others) == 1:
            return others
        middle = len(others) // 2
        last = search([*base, *others[:middle]], others=others[middle:], is_new=True)
        return [*search([*base, *last], others=others[:middle], is_new=bool(last)), *last]

    if _can_hold(constraints, n, n_labels):
        return ()
    return tuple(search([], others=[*constraints], is_new=False))


def _can_hold(constraints: Sequence[Constraint], n: int, n_labels: int) -> bool:
    """Return whether a tree with one root meets all constraints.

    Each subtree shrinks to one node, the innermost subtrees first. A word can be its top if arcs inside lead
    from the word to all other nodes inside. The node may have all heads that such words may have.
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
