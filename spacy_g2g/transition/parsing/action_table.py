"""Numbered arc-standard actions with labels, and the state machines that take them."""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...trees.tree import ROOT_LABEL
from .arc_standard import NO_ACTION, Action, apply, is_arc, valid_actions
from .oracle_states import Step
from .search import ActionMachines
from .state import B1, S2, States


class ArcActions:
    """Numbered actions of the arc-standard system with labels.

    Their order is: SHIFT, SHIFT of each frequent word, SWAP, RIGHT-ARC from ROOT, and LEFT-ARC and RIGHT-ARC
    for each other label. So labels that are added later come last.

    n_labels: Number of labels, including the root label (0).
    swap: Whether SWAP is ever valid.
    n_shifts: Number of frequent words that have a SHIFT of their own.

    types: Type of each action, a value of ``Action``; int [actions].
    labels: Label of each action, -1 unless it makes an arc; int [actions].
    """

    def __init__(self, n_labels: int, *, swap: bool, n_shifts: int = 0) -> None:
        self.swap, self.n_shifts = swap, n_shifts
        self.root, self.first_arc = n_shifts + 2, n_shifts + 3
        arc_types = np.tile([int(Action.LEFT_ARC), int(Action.RIGHT_ARC)], n_labels - 1)
        shifts = np.full(n_shifts + 1, int(Action.SHIFT))
        self.types = np.concatenate([shifts, [Action.SWAP, Action.RIGHT_ARC], arc_types]).astype(np.int64)
        none = np.full(n_shifts + 2, -1)
        self.labels = np.concatenate([none, [ROOT_LABEL], np.repeat(np.arange(1, n_labels), 2)])

    def __len__(self) -> int:
        return len(self.types)

    def encode(self, types: IntArray, *, labels: IntArray, shifts: IntArray | int = 0) -> IntArray:
        """Return the numbers of actions.

        types: Type of each action, a value of ``Action``, or -1 for no action; int [...].
        labels: Label of each arc, ignored for other actions; int [...].
        shifts: For SHIFT, the number of the frequent word, or 0 for other words; int [...].
        Returns int [...], with NO_ACTION for a type of -1.
        """
        arcs = self.first_arc + 2 * (labels - 1) + (types == Action.RIGHT_ARC)
        arcs = np.where(labels == ROOT_LABEL, self.root, arcs)
        ids = np.where(is_arc(types), arcs, np.where(types == Action.SHIFT, shifts, self.root - 1))
        return np.where(types < 0, NO_ACTION, ids)

    def valid(self, states: States, shifts: IntArray) -> BoolArray:
        """Return whether each action is valid in each state, bool [states, actions].

        states: States of the parser.
        shifts: Number of each word among the frequent words, 0 for other words; int [states, words + 1].
        """
        types, slots = valid_actions(states, self.swap), states.slots()
        valid = types[:, self.types]
        from_root = slots[:, S2] == 0
        valid[:, self.root] &= from_root
        valid[:, self.first_arc :] &= ~from_root[:, None]
        valid[:, : self.n_shifts + 1] = False
        rows = np.flatnonzero((slots[:, B1] > 0) & types[:, Action.SHIFT])
        valid[rows, shifts[rows, slots[rows, B1]]] = True
        return valid


class ArcMachines(ActionMachines):
    """Arc-standard states of a beam, with the probabilities of their arcs.

    actions: The numbered actions.
    states: One state for each hypothesis.
    shifts: Number of each word as in ``ArcActions.valid``, int [rows, words + 1]; None if no word has a SHIFT
        of its own.
    probs: Probabilities of each word's head and label, float [rows, words, 2].
    step: The last actions taken.
    """

    step: Step

    def __init__(self, actions: ArcActions, states: States, shifts: IntArray | None = None) -> None:
        self.actions, self.states = actions, states
        self.shifts = np.zeros_like(states.stack) if shifts is None else shifts
        self.probs: FloatArray = np.ones((*states.heads.shape, 2), dtype=np.float32)

    @property
    def is_final(self) -> BoolArray:
        """Whether each state is final, bool [rows]."""
        return self.states.is_final

    def valid(self, rows: IntArray) -> BoolArray:
        """Return whether each action is valid in these rows, bool [n, actions]."""
        return self.actions.valid(self.states.take(rows), self.shifts[rows])

    def positions(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Return the positions of ROOT and the words in these rows; see ``state_positions``."""
        return state_positions(self.states.take(rows))

    def apply(self, actions: IntArray, probs: FloatArray) -> None:
        """Take an action in each state, and store the probabilities of new arcs."""
        is_none = actions < 0
        types = np.where(is_none, NO_ACTION, self.actions.types[actions])
        labels = np.where(is_none, -1, self.actions.labels[actions])
        self.step = Step(self.states, self.states.slots(), types, labels)
        words = self.step.dependents - 1
        rows = np.flatnonzero(words >= 0)
        self.probs[rows, words[rows]] = probs[rows]
        apply(self.states, types, labels)

    def take(self, order: IntArray) -> ArcMachines:
        """Return copies of the states in these rows, which may repeat."""
        taken = ArcMachines(self.actions, self.states.take(order), self.shifts[order])
        taken.probs = self.probs[order]
        return taken


def state_positions(states: States) -> tuple[IntArray, IntArray]:
    """Find ROOT and the words in the stack and in the buffer.

    states: States of the parser.
    Returns the positions in the stack and in the buffer, int [states, words + 1] each, as in
    ``layers.state_attention.Positions``.
    """
    columns = np.arange(states.stack.shape[1])
    positions = np.full((2, *states.stack.shape), -1)
    parts = (states.stack, states.stack_sizes), (states.buffer, states.buffer_sizes)
    for part_positions, (words, sizes) in zip(positions, parts, strict=True):
        depths = sizes[:, None] - 1 - columns[: words.shape[1]]
        rows, cells = np.nonzero(depths >= 0)
        part_positions[rows, words[rows, cells]] = depths[rows, cells]
    return positions[0], positions[1]
