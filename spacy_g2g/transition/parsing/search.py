"""Beam search over state machines.

A transition system tells which actions are valid, a network scores them, and the beam keeps the best
hypotheses of each sentence. Nothing here depends on what an action does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from ...arrays import BoolArray, DoubleArray, FloatArray, IntArray
from ...errors import Errors
from .arc_standard import NO_ACTION

NO_CHOICE = -1


class ActionMachines(ABC):
    """The state machines of hypotheses. They advance together.

    Each machine is a row, and the rows of a sentence are side by side. Every sequence of valid actions must
    end, and every machine that is not final must have a valid action.
    """

    @property
    @abstractmethod
    def is_final(self) -> BoolArray:
        """Whether each machine is final, bool [rows]."""

    @abstractmethod
    def apply(self, actions: IntArray, probs: FloatArray) -> None:
        """Take a valid action in each machine, in place.

        actions: Action of each machine, int [rows]; NO_ACTION leaves a machine unchanged.
        probs: Probabilities as in ``Choices``, float [rows, 2].
        """

    @abstractmethod
    def take(self, order: IntArray) -> ActionMachines:
        """Return the machines in these rows, which may repeat. Don't use ``self`` afterwards."""

    @abstractmethod
    def valid(self, rows: IntArray) -> BoolArray:
        """Return whether each action is valid in these rows, bool [n, actions]. Final machines have none."""

    @abstractmethod
    def positions(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Return the positions of words in the stacks and buffers of these rows, int [n, words] each."""


AnyMachines = TypeVar("AnyMachines", bound=ActionMachines)


class Sequences(NamedTuple):
    """Sequences of actions, and the state of the machine before each action.

    actions: Actions of each sentence, -1 after the last one; int [sentences, steps].
    stack: Positions of words in the stack as in ``layers.state_attention.Positions``; int [sentences, steps,
        words].
    buffer: Positions of words in the buffer, likewise.
    valid: Whether each action is valid at each step, without padding, sentence by sentence; bool [all steps,
        actions].
    """

    actions: IntArray
    stack: IntArray
    buffer: IntArray
    valid: BoolArray


class Choices(NamedTuple):
    """Actions that some machines may take next.

    actions: Number of each action, int [n, choices].
    log_probs: Log-probability of each action, -inf if it is invalid; float [n, choices].
    probs: Probability of each action's type, and of its label given the type; float [n, choices, 2].
    """

    actions: IntArray
    log_probs: FloatArray
    probs: FloatArray


class Beam(Generic[AnyMachines]):
    """Hypotheses of all sentences: one for each sentence at first, then up to ``max_width``.

    Hypotheses are ranked by the sum of their actions' log-probabilities, divided by a power of the number of
    actions.

    machines: One machine for each sentence, before its first action.
    max_width: Maximum number of hypotheses for a sentence.
    length_penalty: Exponent of the number of actions; 0 for the plain sum.
    """

    def __init__(self, machines: AnyMachines, max_width: int, length_penalty: float = 0.0) -> None:
        n = len(machines.is_final)
        self.machines = machines
        self.max_width = max_width
        self.length_penalty = length_penalty
        self.totals: DoubleArray = np.zeros((n, 1))
        self.lengths: IntArray = np.zeros((n, 1), dtype=np.int64)
        self.previous: IntArray = np.full((n, 1), NO_ACTION)
        self._update_done()

    @property
    def width(self) -> int:
        """Current number of hypotheses of each sentence."""
        return int(self.totals.shape[1])

    def _update_done(self) -> None:
        """Find the sentences that are done.

        All their hypotheses are final. Without a length penalty, the best one is enough: totals never rise.
        """
        self._is_final = self.machines.is_final.reshape(self.totals.shape)
        self.is_done: BoolArray = (self._is_final | (self.totals == -np.inf)).all(axis=1)
        if not self.length_penalty:
            self.is_done |= self._is_final[:, 0]

    @property
    def is_open(self) -> BoolArray:
        """Whether each machine can take another action, bool [rows]."""
        is_open: BoolArray = (~self._is_final & (self.totals > -np.inf)).ravel()
        return is_open

    @property
    def open_rows(self) -> IntArray:
        """Rows that can take another action and whose sentences are not done, int [n]."""
        return np.flatnonzero(self.is_open & ~np.repeat(self.is_done, self.width))

    def advance(self, rows: IntArray, choices: Choices) -> IntArray:
        """Extend the best hypotheses by their actions.

        rows: Rows that have choices, int [n]. Hypotheses in other rows are dropped unless they are final.
        choices: Actions that each of these rows may take.
        Returns int [sentences, max_width], the parent of each new hypothesis.
        Raises ValueError for probabilities that are not numbers.
        """
        n, width = self.totals.shape
        n_choices = choices.actions.shape[1]
        # The last choice does nothing. Only final machines take it.
        scores = np.full((n * width, n_choices + 1), -np.inf)
        scores[self._is_final.ravel(), n_choices] = 0.0
        is_open = self.is_open[rows]
        if np.isnan(choices.log_probs[is_open]).any() or np.isnan(choices.probs[is_open]).any():
            raise ValueError(Errors.E409)
        scores[rows[is_open], :n_choices] = choices.log_probs[is_open]
        totals = self.totals[:, :, None] + scores.reshape(n, width, -1)
        lengths = self.lengths[:, :, None] + (np.arange(n_choices + 1) < n_choices)
        keys = totals / np.maximum(lengths, 1) ** self.length_penalty
        parents, chosen = select(keys, self.max_width)
        is_possible = chosen != NO_CHOICE
        index = np.arange(n)[:, None], parents, np.maximum(chosen, 0)
        order = np.arange(n)[:, None] * width + parents
        actions, probs = _look_up(rows, choices, order, np.where(is_possible, chosen, n_choices), n * width)
        self.totals = np.where(is_possible, totals[index], -np.inf)
        self.lengths = lengths[index]
        if self.max_width > 1:
            self.machines = self.machines.take(order.ravel())  # type: ignore[assignment]
        self.machines.apply(actions.ravel(), probs)
        self.previous = actions
        self._update_done()
        return parents

    def best(self) -> SearchResult[AnyMachines]:
        """Return the best hypothesis of each sentence."""
        rows = np.arange(len(self.totals)) * self.width
        return SearchResult(self.machines.take(rows), self.totals[:, 0])  # type: ignore[arg-type]


@dataclass(frozen=True)
class SearchResult(Generic[AnyMachines]):
    """Result of a beam search.

    machines: One final machine for each sentence.
    totals: Sum of the log-probabilities of the actions taken, float [sentences].
    """

    machines: AnyMachines
    totals: DoubleArray


def _look_up(
    rows: IntArray, choices: Choices, order: IntArray, chosen: IntArray, n_machines: int
) -> tuple[IntArray, FloatArray]:
    """Return the chosen actions, int [sentences, max_width], and their probabilities."""
    n_choices = choices.actions.shape[1]
    actions = np.full((n_machines, n_choices + 1), NO_ACTION)
    probs = np.ones((n_machines, n_choices + 1, 2), dtype=np.float32)
    actions[rows, :n_choices] = choices.actions
    probs[rows, :n_choices] = choices.probs
    return actions[order, chosen], probs[order, chosen].reshape(-1, 2)


def select(keys: DoubleArray, width: int) -> tuple[IntArray, IntArray]:
    """Select the best extensions of the hypotheses of each sentence, the best one first.

    Among equal extensions, the lowest parent and then the lowest choice comes first. So a beam of one
    hypothesis takes the arg-max.

    keys: Number that ranks each extension, -inf if it is impossible; float [sentences, parents, choices].
    width: Number of hypotheses to keep.
    Returns the parents and choices of the new hypotheses, int [sentences, width] each. If there are fewer
    extensions than ``width``, the last rows have parent 0 and NO_CHOICE.
    """
    n, n_parents, n_choices = keys.shape
    left = keys.reshape(n, n_parents * n_choices).copy()
    best = np.full((n, width), NO_CHOICE)
    # Repeated arg-max: unlike a partial sort, it takes the first of equal values.
    for i in range(min(width, left.shape[1])):
        numbers = left.argmax(axis=1)
        best[:, i] = np.where(left[np.arange(n), numbers] > -np.inf, numbers, NO_CHOICE)
        left[np.arange(n), numbers] = -np.inf
    is_possible = best != NO_CHOICE
    return np.where(is_possible, best // n_choices, 0), np.where(is_possible, best % n_choices, NO_CHOICE)
