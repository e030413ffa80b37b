"""From gold trees to the steps of an oracle, and from parser states to parses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import BoolArray, IntArray
from ...models.types import Arcs, Coverage, Parse, pad_trees
from ...trees.tree import ROOT_LABEL
from ..parsing import oracle
from ..parsing.action_table import ArcMachines
from ..parsing.oracle_states import Step, oracle_steps


def are_learnable(gold: Sequence[Arcs], *, swap: bool, needs_labels: bool) -> BoolArray:
    """Return which gold trees the oracle can build, bool [trees].

    Such trees are complete and, without SWAP, projective. With ``needs_labels``, each arc except the root's
    has a label.
    """
    heads, labels = pad_trees(gold, max((len(tree.heads) for tree in gold), default=0))
    lengths = np.array([len(tree.heads) for tree in gold], dtype=np.int64)
    learnable = (lengths > 0) & oracle.can_learn(heads, n_words=lengths, swap=swap)
    if needs_labels:
        learnable &= ((heads <= 0) | (labels > ROOT_LABEL)).all(axis=1)
    return learnable


def gold_steps(gold: Sequence[Arcs], n_words: IntArray, *, swap: bool) -> list[Step]:
    """Return the oracle's steps for gold trees that ``are_learnable``.

    n_words: Number of words of each sentence, int [sentences].
    """
    heads, labels = pad_trees(gold, int(n_words.max()))
    actions = oracle.oracle_actions(heads, n_words=n_words, swap=swap)
    return list(oracle_steps(actions, labels=labels, n_words=n_words))


def to_parses(machines: ArcMachines, coverages: Sequence[Coverage]) -> list[Parse]:
    """Return the parses of final states, one for each sentence."""
    states, probs = machines.states, machines.probs
    return [
        Parse(Arcs(states.heads[i, :n], states.labels[i, :n]), probs[i, :n, 0], probs[i, :n, 1], coverage)
        for i, (n, coverage) in enumerate(zip(states.n_words.tolist(), coverages, strict=True))
    ]
