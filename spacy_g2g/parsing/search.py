"""Beam search over state machines: which hypotheses go on, and how.

Nothing here knows what an action does. A transition system says which actions are valid, a network scores
them, and the beam keeps the best hypotheses of each sentence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from ..arrays import BoolArray, DoubleArray, FloatArray, IntArray, RealArray
from .arc_standard import NO_ACTION

NO_CHOICE = -1


class Machines(ABC):
    """State machines of hypotheses, in rows, which advance together. Hypotheses of a sentence are neighbours.

    Any sequence of valid actions must come to an end, and a machine that is not final has a valid action.
    """

    @property
    @abstractmethod
    def is_final(self) -> BoolArray:
        """Whether each machine is done, bool [rows]."""

    @abstractmethod
    def apply(self, actions: IntArray, probs: FloatArray) -> None:
        """Take a valid action in each machine, in place.

        actions: int [rows]; NO_ACTION leaves a machine as it is.
        probs: float [rows, 2], as in ``Choices``.
        """

    @abstractmethod
    def take(self, order: IntArray) -> Machines:
        """Return the machines in these rows, which may repeat. These machines must not be used afterwards."""


class ActionMachines(Machines):
    """Machines that a decoder of action sequences follows."""

    @abstractmethod
    def valid(self, rows: IntArray) -> BoolArray:
        """Return the valid actions of some machines, bool [n, actions]. A final machine has none."""

    @abstractmethod
    def positions(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Return the positions of words in the stacks and buffers of some machines, int [n, words] each."""


AnyMachines = TypeVar("AnyMachines", bound=Machines)


class Sequences(NamedTuple):
    """Sequences of actions, and the state of the machine before each action.

    actions: int [sentences, steps], -1 after the last action.
    stack, buffer: int [sentences, steps, words], positions as in ``layers.state_attention.Positions``.
    valid: bool [all steps, actions], the valid actions of all steps but padding, sentence by sentence.
    """

    actions: IntArray
    stack: IntArray
    buffer: IntArray
    valid: BoolArray


class Choices(NamedTuple):
    """Actions that some machines may take next, [n, choices] each.

    actions: int.
    log_probs: float; -inf for an invalid action.
    probs: float [n, choices, 2], what ``Machines.apply`` is told of an action: the probability of its type,
        and of its label given the type.
    """

    actions: IntArray
    log_probs: FloatArray
    probs: FloatArray


class Beam(Generic[AnyMachines]):
    """The hypotheses of all sentences: one each at first, then up to ``max_width``.

    Hypotheses compete by the sum of their actions' log-probabilities, divided by a power of their number.

    machines: One for each sentence, before its first action.
    length_penalty: The power; 0 for the plain sum.
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
        """Number of hypotheses of a sentence."""
        return int(self.totals.shape[1])

    def _update_done(self) -> None:
        """Find the sentences whose best hypothesis is final and can't be overtaken, as totals never rise."""
        self._is_final = self.machines.is_final.reshape(self.totals.shape)
        self.is_done: BoolArray = (self._is_final | (self.totals == -np.inf)).all(axis=1)
        if not self.length_penalty:
            self.is_done |= self._is_final[:, 0]

    @property
    def is_open(self) -> BoolArray:
        """Whether each machine goes on, bool [rows]."""
        is_open: BoolArray = (~self._is_final & (self.totals > -np.inf)).ravel()
        return is_open

    @property
    def open_rows(self) -> IntArray:
        """Machines that go on, of sentences that are not done, int [n]."""
        return np.flatnonzero(self.is_open & ~np.repeat(self.is_done, self.width))

    def advance(self, rows: IntArray, choices: Choices) -> IntArray:
        """Let the best hypotheses take their actions.

        rows: int [n], the machines that have choices. Hypotheses in other rows go no further.
        Returns int [sentences, max_width], the parent of each new hypothesis.
        """
        n, width = self.totals.shape
        n_choices = choices.actions.shape[1]
        # The last choice is to stay, which final machines do.
        scores = np.full((n * width, n_choices + 1), -np.inf)
        scores[self._is_final.ravel(), n_choices] = 0.0
        is_open = self.is_open[rows]
        scores[rows[is_open], :n_choices] = choices.log_probs[is_open]
        totals = self.totals[:, :, None] + scores.reshape(n, width, -1)
        lengths = self.lengths[:, :, None] + (np.arange(n_choices + 1) < n_choices)
        keys = totals / np.maximum(lengths, 1) ** self.length_penalty
        parents, chosen, _ = select(keys, np.zeros((n, width)), self.max_width)
        is_way = chosen != NO_CHOICE
        index = np.arange(n)[:, None], parents, np.maximum(chosen, 0)
        order = np.arange(n)[:, None] * width + parents
        actions, probs = _chosen(rows, choices, order, np.where(is_way, chosen, n_choices), n * width)
        self.totals = np.where(is_way, totals[index], -np.inf)
        self.lengths = lengths[index]
        if self.max_width > 1:
            self.machines = self.machines.take(order.ravel())  # type: ignore[assignment]
        self.machines.apply(actions.ravel(), probs)
        self.previous = actions
        self._update_done()
        return parents

    def best(self) -> Found[AnyMachines]:
        """Return the best hypothesis of each sentence."""
        rows = np.arange(len(self.totals)) * self.width
        return Found(self.machines.take(rows), self.totals[:, 0], self.lengths[:, 0])  # type: ignore[arg-type]


@dataclass(frozen=True)
class Found(Generic[AnyMachines]):
    """The result of a search.

    machines: One final machine for each sentence.
    totals: float [sentences], sums of the log-probabilities of the actions taken.
    n_actions: int [sentences].
    """

    machines: AnyMachines
    totals: DoubleArray
    n_actions: IntArray


def _chosen(
    rows: IntArray, choices: Choices, order: IntArray, chosen: IntArray, n_machines: int
) -> tuple[IntArray, FloatArray]:
    """Look up chosen actions, int [sentences, max_width], and what ``Machines.apply`` is told of them."""
    n_choices = choices.actions.shape[1]
    actions = np.full((n_machines, n_choices + 1), NO_ACTION)
    probs = np.ones((n_machines, n_choices + 1, 2), dtype=np.float32)
    actions[rows, :n_choices] = choices.actions
    probs[rows, :n_choices] = choices.probs
    return actions[order, chosen], probs[order, chosen].reshape(-1, 2)


def select(
    scores: RealArray, totals: RealArray, width: int | None = None
) -> tuple[IntArray, IntArray, RealArray]:
    """Find the best ways to go on from the hypotheses of each sentence.

    A way is as good as the total of its hypothesis (its parent) plus the score of its choice. The best way
    comes first. Of equal ways, the one of the lowest parent and then of the lowest choice comes first, so
    that a beam of one hypothesis takes the arg-max.

    scores: float [sentences, parents, choices]; -inf for an impossible choice.
    totals: float [sentences, parents], the score of each hypothesis so far; -inf for an empty row.
    width: Number of hypotheses to keep; None keeps as many as there were.
    Returns parents, choices and totals of the new hypotheses, [sentences, width] each. A sentence with fewer
        ways than ``width`` ends with rows of parent 0, NO_CHOICE and total -inf.
    """
    batch, n_parents, n_choices = scores.shape
    width = n_parents if width is None else width
    left = (totals[:, :, None] + scores).reshape(batch, n_parents * n_choices)
    rows = np.arange(batch)
    best = np.zeros((batch, width), dtype=np.int64)
    new_totals = np.full((batch, width), -np.inf, dtype=left.dtype)
    # Repeated arg-max: unlike a partial sort, it takes the first of equal values.
    for i in range(min(width, left.shape[1])):
        best[:, i] = left.argmax(axis=1)
        new_totals[:, i] = left[rows, best[:, i]]
        left[rows, best[:, i]] = -np.inf
    is_way = new_totals > -np.inf
    parents = np.where(is_way, best // n_choices, 0)
    choices = np.where(is_way, best % n_choices, NO_CHOICE)
    return parents, choices, new_totals
