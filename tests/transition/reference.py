"""Slow and literal implementations for one sentence, which the batched ones are tested against."""

import numpy as np

from spacy_g2g.transition.parsing.arc_standard import NO_ACTION, Action, valid_actions
from spacy_g2g.transition.parsing.state import States
from spacy_g2g.trees.tree import IntArray, projective_order


class PlainState:
    """The state of one sentence, in lists.

    stack: Words, the top last; begins with ROOT.
    buffer: Words, the front first.
    heads: The head of each word that has one.
    labels: The label of each word that has a head.
    """

    def __init__(self, n_words: int) -> None:
        self.stack = [0]
        self.buffer = list(range(1, n_words + 1))
        self.heads: dict[int, int] = {}
        self.labels: dict[int, int] = {}

    @property
    def is_final(self) -> bool:
        return not self.buffer and self.stack == [0]

    def is_valid(self, action: Action, swap: bool) -> bool:
        if action == Action.SHIFT:
            return bool(self.buffer)
        if len(self.stack) < 2:
            return False
        s2, s1 = self.stack[-2:]
        if action == Action.LEFT_ARC:
            return s2 != 0
        if action == Action.RIGHT_ARC:
            return s2 != 0 or not self.buffer
        return swap and 0 < s2 < s1

    def apply(self, action: Action, label: int = -1) -> None:
        """Apply a valid action."""
        if action == Action.SHIFT:
            self.stack.append(self.buffer.pop(0))
        elif action == Action.LEFT_ARC:
            self._attach(self.stack.pop(-2), self.stack[-1], label)
        elif action == Action.RIGHT_ARC:
            self._attach(self.stack.pop(), self.stack[-1], label)
        else:
            self.buffer.insert(0, self.stack.pop(-2))

    def _attach(self, dependent: int, head: int, label: int) -> None:
        self.heads[dependent] = head
        self.labels[dependent] = label


def max_actions(n_words: int, swap: bool) -> int:
    """Return the most actions that a sentence can take.

    Each word is shifted once and gets one head. A SWAP inverts two words that were in order and never
    come into order again, and has the lower one shifted once more: n (n - 1) / 2 of them at most.
    """
    return n_words * (n_words + 1) if swap else 2 * n_words


def check_actions(states: States, actions: IntArray, swap: bool) -> None:
    """Check that each action, int [sentences], is valid in its state."""
    rows = np.flatnonzero(actions != NO_ACTION)
    assert valid_actions(states, swap)[rows, actions[rows]].all()


def plain_oracle(heads: list[int]) -> list[Action]:
    """Return the actions that build the tree of one sentence, by the definition."""
    order = [0, *projective_order(heads).tolist()]
    components = _components(heads)
    state = PlainState(len(heads))
    actions = []
    while not state.is_final:
        action = _arc(state, heads)
        if action is None:
            action = Action.SWAP if _is_swap(state, order, components) else Action.SHIFT
        state.apply(action)
        actions.append(action)
    return actions


def _arc(state: PlainState, heads: list[int]) -> Action | None:
    if len(state.stack) < 2:
        return None
    s2, s1 = state.stack[-2:]

    def is_arc(head: int, dependent: int) -> bool:
        dependents = [word for word, h in enumerate(heads, start=1) if h == dependent]
        return dependent > 0 and heads[dependent - 1] == head and all(w in state.heads for w in dependents)

    if is_arc(s1, s2):
        return Action.LEFT_ARC
    return Action.RIGHT_ARC if is_arc(s2, s1) else None


def _is_swap(state: PlainState, order: list[int], components: list[int]) -> bool:
    if len(state.stack) < 2:
        return False
    s2, s1 = state.stack[-2:]
    is_inverted = order[s2] > order[s1]
    return is_inverted and (not state.buffer or components[s1] != components[state.buffer[0]])


def _components(heads: list[int]) -> list[int]:
    """Return the top word of the maximal projective component of each word, ROOT first."""
    state = PlainState(len(heads))
    while (action := _arc(state, heads)) is not None or state.buffer:
        state.apply(Action.SHIFT if action is None else action)
    tops = list(range(len(heads) + 1))
    for word in tops[1:]:
        while tops[word] in state.heads:
            tops[word] = state.heads[tops[word]]
    return tops
