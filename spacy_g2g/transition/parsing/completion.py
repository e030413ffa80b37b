"""Which actions of the arc-standard system lead to a tree that meets constraints.

Without SWAP, an action is possible if and only if some projective tree that meets the constraints has all
arcs so far, and can be built from the state after the action. A chart over the words that are left finds out.

With SWAP, trees are not projective, and the words that are left may be in another order than in the sentence.
An action is possible if such a tree exists and one of these ways to build it is known:

- The stack is in the order of the sentence, and so is everything below its top together with the buffer. Then
  any tree can be built: SWAP puts the top below all other words, which are still in order.
- A plan: a tree, and an order of the words in which it is projective. Arcs are made as soon as they can be,
  and SWAP brings words into this order. A plan is kept until another action is taken.

So some action is always possible, and where no word is swapped, each action that leads to a tree is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...arrays import BoolArray, IntArray
from ...trees.constraints import Constraint, allowed_arcs, allowed_labels, forbid_arcs_into, subtree_words
from ...trees.kbest import best_trees
from ...trees.tree import ends
from .arc_standard import Action
from .state import States


@dataclass(frozen=True)
class Demands:
    """What the tree of a sentence of n words must have.

    arcs: Whether each word may have each head, bool [n, n + 1].
    labels: Whether each word may have each label, bool [n, labels].
    subtrees: Words that must be one subtree, ROOT in front; bool [n + 1] each.
    """

    arcs: BoolArray
    labels: BoolArray
    subtrees: list[BoolArray]

    @classmethod
    def of(cls, constraints: Sequence[Constraint], n: int, n_labels: int) -> Demands:
        """Return the demands of constraints that can hold together."""
        subtrees = subtree_words(constraints, n)
        arcs = forbid_arcs_into(subtrees, allowed_arcs(constraints, n, n_labels))
        return cls(arcs, allowed_labels(constraints, n, n_labels), subtrees)


@dataclass(frozen=True)
class PlainState:
    """A parser state of one sentence.

    stack: Words on the stack without ROOT, the top last.
    buffer: Words in the buffer, the front first.
    heads: Head of each word, -1 for none; int [n].
    """

    stack: list[int]
    buffer: list[int]
    heads: IntArray

    @classmethod
    def of(cls, states: States, row: int) -> PlainState:
        """Return one of the states of a batch."""
        n, size = int(states.n_words[row]), int(states.buffer_sizes[row])
        stack = states.stack[row, 1 : states.stack_sizes[row]].tolist()
        return cls(stack, states.buffer[row, :size][::-1].tolist(), states.heads[row, :n])

    @property
    def sequence(self) -> list[int]:
        """Words without a head."""
        return self.stack + self.buffer

    def after(self, action: int) -> PlainState:
        """Return the state after a valid action."""
        *below, top = self.stack or [0]
        if action == Action.SHIFT:
            return PlainState([*self.stack, self.buffer[0]], self.buffer[1:], self.heads)
        if action == Action.SWAP:
            return PlainState([*below[:-1], top], [below[-1], *self.buffer], self.heads)
        second = below[-1] if below else 0
        head, dependent = (top, second) if action == Action.LEFT_ARC else (second, top)
        heads = self.heads.copy()
        heads[dependent - 1] = head
        stack = below if dependent == top else [*below[:-1], top]
        return PlainState(stack, self.buffer, heads)


@dataclass(frozen=True)
class Plan:
    """A tree, and an order in which it is projective.

    heads: Head of each word, int [n].
    order: Place of each word in the order, ROOT in front; int [n + 1].
    """

    heads: IntArray
    order: IntArray

    def next_action(self, state: PlainState) -> int | None:
        """Return the next action from a state, None at the end or if there is none."""
        if state.stack:
            second, top = [0, *state.stack][-2:]
            for action, head, dependent in (
                (Action.LEFT_ARC, top, second),
                (Action.RIGHT_ARC, second, top),
            ):
                is_arc = dependent > 0 and self.heads[dependent - 1] == head
                if is_arc and not ((self.heads == dependent) & (state.heads < 0)).any():
                    return int(action)
            if second and self.order[second] > self.order[top]:
                return int(Action.SWAP) if second < top else None
        return int(Action.SHIFT) if state.buffer else None

    def succeeds(self, state: PlainState) -> bool:
        """Return whether the tree is built from a state."""
        while (action := self.next_action(state)) is not None:
            state = state.after(action)
        return not state.sequence


@dataclass(frozen=True)
class Guide:
    """What a hypothesis must respect to end in a tree that meets demands.

    demands: What the tree must have.
    swap: Whether the system has SWAP.
    plan: The plan of the present state, None if it needs none.
    plans: Plan of the state after each possible action, set by ``possible``.
    """

    demands: Demands
    swap: bool
    plan: Plan | None = None
    plans: dict[int, Plan | None] = field(default_factory=dict)

    def possible(self, state: PlainState, valid: BoolArray) -> BoolArray:
        """Return which actions lead to a tree that meets the demands, bool [N_ACTIONS].

        state: The present state, from which there is such a tree.
        valid: Whether each action is valid, bool [N_ACTIONS].
        """
        self.plans.clear()
        planned = None if self.plan is None else self.plan.next_action(state)
        possible = np.zeros_like(valid)
        for action in np.flatnonzero(valid).tolist():
            plan = self.plan
            possible[action] = action == planned
            if action != planned:
                possible[action], plan = self._try(state, state.after(action))
            self.plans[action] = plan
        return possible

    def _try(self, before: PlainState, state: PlainState) -> tuple[bool, Plan | None]:
        """Return whether a state leads to a tree that meets the demands, and the plan that it needs."""
        new = np.flatnonzero(state.heads != before.heads)
        if not self.demands.arcs[new, state.heads[new]].all():
            return False, None
        if not self.swap:
            return has_projective_tree(self.demands, state), None
        if is_in_order(state) and not len(new):
            return True, None  # only an arc changes which trees there are
        tree = find_tree(self.demands, state)
        if tree is None or is_in_order(state):
            return tree is not None, None
        plan = find_plan(tree, state)
        return plan is not None, plan

    def after(self, action: int) -> Guide:
        """Return the guide after a possible action, or the same one after no action."""
        return self if action not in self.plans else Guide(self.demands, self.swap, self.plans[action])


def is_in_order(state: PlainState) -> bool:
    """Return whether the stack is in the sentence's order, and so is the rest without the top."""
    others = [*state.stack[:-1], *state.buffer]
    return state.stack == sorted(state.stack) and others == sorted(others)


def find_tree(demands: Demands, state: PlainState) -> IntArray | None:
    """Return a tree that meets the demands and has all arcs so far, mostly with short arcs; None for no tree.

    Returns int [n].
    """
    n = len(state.heads)
    allowed = _open_arcs(demands, state)
    places = np.zeros(n + 1)
    places[state.sequence] = np.arange(1, len(state.sequence) + 1)
    scores = np.where(allowed, -np.abs(places[1:, None] - places), -np.inf)
    heads, _ = best_trees(scores, 1, demands.subtrees)
    return heads[0] if len(heads) else None


def _open_arcs(demands: Demands, state: PlainState) -> BoolArray:
    """Return the arcs that a tree with all arcs so far may have, bool [n, n + 1]."""
    heads = state.heads
    is_free = heads < 0
    allowed = demands.arcs & is_free[:, None]
    allowed[:, 1:] &= is_free
    taken = np.flatnonzero(~is_free)
    allowed[taken, heads[taken]] = True
    return allowed


def find_plan(heads: IntArray, state: PlainState) -> Plan | None:
    """Return a plan that builds a tree from a state, None if none is found.

    Words keep their present order where the tree allows it. Else the first word of the stack stays the first.

    heads: The tree, int [n].
    """
    for first in (0, *state.stack[:1]):
        plan = Plan(heads, _projective_places(heads, state.sequence, first))
        if plan.succeeds(state):
            return plan
    return None


def _projective_places(heads: IntArray, sequence: Sequence[int], first: int) -> IntArray:
    """Return the place of each word of a sequence in an order in which the tree is projective, int [n + 1].

    heads: The tree, int [n].
    sequence: Words whose order is kept where the tree allows it.
    first: Word that is to be the first; 0 for any.
    """
    above = set()
    word = first
    while word:
        above.add(word)
        word = int(heads[word - 1])
    position = {word: i for i, word in enumerate(sequence)}
    left: dict[int, list[int]] = {word: [] for word in [0, *sequence]}
    right: dict[int, list[int]] = {word: [] for word in [0, *sequence]}
    for word in sequence:
        head = int(heads[word - 1])
        goes_left = word in above if head in above else position[word] < position.get(head, -1)
        (left if goes_left else right)[head].append(word)
    places = np.zeros(len(heads) + 1, dtype=np.int64)
    place, stack = 0, [0]
    while stack:
        word = stack.pop()
        if word < 0 or not (left[word] or right[word]):
            place += 1
            places[abs(word)] = place
        else:
            stack += reversed(right[word])
            stack += [-word] if word else []
            stack += reversed(left[word])
    return places


def has_projective_tree(demands: Demands, state: PlainState) -> bool:
    """Return whether a projective tree that meets the demands can be built from a state without SWAP.

    A constituent is a word with all its descendants so far. Two neighbours become one when one word becomes
    the head of the other. On the stack, the top must be part of it.
    """
    words = np.array(state.sequence, dtype=np.int64)
    n, n_stack = len(words), len(state.stack)
    if not n:
        return True
    arcs = demands.arcs[np.ix_(words - 1, words)].T  # [head, dependent]
    starts, stops = _spans(state)
    left, right = np.arange(n)[:, None], np.arange(n)
    is_allowed: BoolArray = (left == right) | (left >= n_stack - 1) | (right >= n_stack - 1)
    for members in demands.subtrees:
        inside = np.flatnonzero(members)
        first, last = inside[0], inside[-1]
        if last - first >= len(inside):
            return False
        apart = (starts[:, None] > last) | (stops < first)
        within = (starts[:, None] >= first) & (stops <= last)
        around = (starts[:, None] <= first) & (stops >= last)
        is_allowed &= apart | within | around
    # Whether each word can be the top of a constituent, and the head of its top; [first, last, words].
    tops = np.zeros((n, n, n), dtype=np.bool_)
    heads = np.zeros_like(tops)
    singles = np.arange(n)
    tops[singles, singles, singles] = is_allowed[singles, singles]
    heads[singles, singles] = arcs.T & is_allowed[singles, singles, None]
    for size in range(1, n):
        first = np.arange(n - size)[:, None]
        last, middle = first + size, first + np.arange(size)
        new = (tops[first, middle] & heads[middle + 1, last]).any(axis=1)
        new |= (heads[first, middle] & tops[middle + 1, last]).any(axis=1)
        rows = first[:, 0]
        new &= is_allowed[rows, rows + size, None]
        tops[rows, rows + size] = new
        heads[rows, rows + size] = matches(new, arcs.T)
    return bool((tops[0, n - 1] & demands.arcs[words - 1, 0]).any())


def matches(left: BoolArray, right: BoolArray) -> BoolArray:
    """Return the matrix product of truth values, which NumPy computes much faster with numbers."""
    product: BoolArray = left.astype(np.float32) @ right.astype(np.float32) > 0
    return product


def make_guides(
    sentences: Sequence[Sequence[Constraint]], n_words: IntArray, n_labels: int, swap: bool
) -> dict[int, Guide]:
    """Return a guide for the first state of each sentence that has constraints, by number.

    sentences: Constraints of each sentence, which can hold together; empty if there are none.
    n_words: Number of words of each sentence, int [sentences].
    n_labels: Number of labels.
    swap: Whether the system has SWAP.
    """
    numbered = enumerate(zip(sentences, n_words.tolist(), strict=False))
    return {i: Guide(Demands.of(found, n, n_labels), swap) for i, (found, n) in numbered if found}


def _spans(state: PlainState) -> tuple[IntArray, IntArray]:
    """Return the first and the last descendant of each word without a head, int [words] each."""
    numbers = np.arange(1, len(state.heads) + 1)
    tops = ends(np.concatenate([[0], np.where(state.heads >= 0, state.heads, numbers)]))
    found = [np.flatnonzero(tops == word)[[0, -1]] for word in state.sequence]
    firsts, lasts = np.array(found).T
    return firsts, lasts
