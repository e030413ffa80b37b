"""What the tree of a sentence must have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ..arrays import BoolArray
from .tree import ROOT_LABEL

Kind: TypeAlias = Literal["head", "label", "not head", "not label", "subtree"]


class Constraint(NamedTuple):
    """One demand on the tree of a sentence. Words count from 1, and 0 is ROOT.

    kind: "head" or "label" if a word must have it; "not head" or "not label" if it may not; "subtree" if some
        words must be one of them and all its descendants.
    words: The word, or the words of the subtree.
    value: The head, or the label's id; 0 for a subtree.
    """

    kind: Kind
    words: tuple[int, ...]
    value: int = 0


def allowed_labels(constraints: Sequence[Constraint], n: int, n_labels: int) -> BoolArray:
    """Return which labels each word may have, bool [n, labels].

    constraints: Demands on the sentence.
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


def allowed_arcs(constraints: Sequence[Constraint], n: int, n_labels: int) -> BoolArray:
    """Return which heads each word may have by all demands but "subtree", bool [n, n + 1].

    Only the arc from ROOT has the root label, so labels may exclude heads.

    constraints: Demands on the sentence.
    n: Number of words.
    n_labels: Number of labels.
    """
    labels = allowed_labels(constraints, n, n_labels)
    has_other: BoolArray = labels[:, ROOT_LABEL + 1 :].any(axis=1) | np.array(n_labels == 1)
    allowed: BoolArray = np.repeat(has_other[:, None], n + 1, axis=1)
    allowed[:, 0] = labels[:, ROOT_LABEL]
    allowed[np.arange(n), np.arange(1, n + 1)] = False
    for kind, words, head in constraints:
        if kind == "head":
            allowed[words[0] - 1] &= np.arange(n + 1) == head
        elif kind == "not head":
            allowed[words[0] - 1, head] = False
    return allowed


def subtree_words(constraints: Sequence[Constraint], n: int) -> list[BoolArray]:
    """Return the words of each demand "subtree", bool [n + 1] each, ROOT in front."""
    return [np.isin(np.arange(n + 1), words) for kind, words, _ in constraints if kind == "subtree"]


def forbid_arcs_into(subtrees: Sequence[BoolArray], arcs: BoolArray) -> BoolArray:
    """Return the arcs without those whose head alone is in a subtree, bool [n, n + 1].

    subtrees: See ``subtree_words``.
    arcs: Whether each word may have each head, bool [n, n + 1].
    """
    arcs = arcs.copy()
    for members in subtrees:
        arcs[np.ix_(~members[1:], members)] = False
    return arcs
