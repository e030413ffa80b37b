"""The arc-standard transition system, with SWAP for non-projective trees.

Nivre: Non-projective dependency parsing in expected linear time (ACL 2009). In this table, s1 is the top of
the stack, s2 the word below it, and b1 the front of the buffer:

===========  ==========================================================  =============================
action       precondition                                                effect
===========  ==========================================================  =============================
SHIFT        the buffer is not empty                                     b1 moves to the stack
LEFT-ARC     s2 is a word                                                s1 is the head of s2, which leaves
RIGHT-ARC    s2 is a word; or it is ROOT, and s1 is the last word left   s2 is the head of s1, which leaves
SWAP         s2 is a word, and before s1 in the sentence                 s2 moves to the front of the buffer
===========  ==========================================================  =============================

Every state that is not final has a valid action, and every sequence of valid actions ends in a tree with one
root.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ...arrays import BoolArray, IntArray
from .state import NO_WORD, States


class Action(IntEnum):
    """Type of an action. The label of an arc is not part of it."""

    SHIFT = 0
    LEFT_ARC = 1
    RIGHT_ARC = 2
    SWAP = 3


N_ACTIONS = len(Action)
NO_ACTION = -1


def is_arc(actions: IntArray) -> BoolArray:
    """Return whether each action makes an arc."""
    arcs: BoolArray = (actions == Action.LEFT_ARC) | (actions == Action.RIGHT_ARC)
    return arcs


def valid_actions(states: States, swap: bool) -> BoolArray:
    """Return whether each action is valid in each state.

    states: One state for each sentence.
    swap: Whether the system has SWAP.
    Returns bool [sentences, N_ACTIONS]. Every state but a final one has a valid action.
    """
    s2, s1, b1 = states.slots().T
    is_word = s2 > 0
    valid = np.empty((len(s1), N_ACTIONS), dtype=bool)
    valid[:, Action.SHIFT] = b1 != NO_WORD
    valid[:, Action.LEFT_ARC] = is_word
    valid[:, Action.RIGHT_ARC] = is_word | ((s2 == 0) & (b1 == NO_WORD))
    valid[:, Action.SWAP] = is_word & (s2 < s1) & swap
    return valid


def apply(states: States, actions: IntArray, labels: IntArray | None = None) -> None:
    """Apply an action to each state, in place.

    Actions must be valid; this is not checked here (see `valid_actions`).

    states: One state for each sentence. They are changed.
    actions: Action of each sentence, int [sentences]; NO_ACTION leaves a state unchanged.
    labels: Label of each new arc, int [sentences]; ignored for other actions. None labels all arcs -1.
    """
    s2, s1, b1 = states.slots().T
    shift = np.flatnonzero(actions == Action.SHIFT)
    states.stack[shift, states.stack_sizes[shift]] = b1[shift]
    states.stack_sizes[shift] += 1
    states.buffer_sizes[shift] -= 1

    swap = np.flatnonzero(actions == Action.SWAP)
    states.buffer[swap, states.buffer_sizes[swap]] = s2[swap]
    states.buffer_sizes[swap] += 1

    left = actions == Action.LEFT_ARC
    arcs = np.flatnonzero(left | (actions == Action.RIGHT_ARC))
    dependents = np.where(left, s2, s1)[arcs] - 1
    states.heads[arcs, dependents] = np.where(left, s1, s2)[arcs]
    if labels is not None:
        states.labels[arcs, dependents] = labels[arcs]

    # s1 takes the place of s2, which has left the stack.
    lower = np.concatenate([np.flatnonzero(left), swap])
    states.stack[lower, states.stack_sizes[lower] - 2] = s1[lower]
    states.stack_sizes[arcs] -= 1
    states.stack_sizes[swap] -= 1
