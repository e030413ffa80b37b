"""The static oracle of the arc-standard system: the actions that lead to a given tree.

Nivre, Kuhlmann & Hall: An improved oracle for dependency parsing with online reordering (IWPT 2009).
A word gets its head as soon as it has all its dependents. SWAP brings words into the projective order
of the tree, but lazily: not while s1 and b1 are parts of one maximal projective component, a
subtree that can be built without SWAP, so that whole components are swapped in place of their words.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, IntArray
from ..errors import Errors
from .arc_standard import NO_ACTION, Action, apply
from .state import NO_WORD, States
from .tree import are_trees, checked_lengths, ends, is_projective, projective_order

# What ROOT and padding have as their head: no word, and not NO_WORD either.
NO_HEAD = -2


class Oracle:
    """The next action of each sentence of a batch towards its tree.

    heads: Head of each word, shape [B, W]; what stands in the padding is ignored.
    n_words: Words of each sentence, shape [B].
    swap: Whether the system has SWAP.
    Raises ValueError if the heads of a sentence are no tree with one root, or the tree is not
        projective and there is no SWAP.
    """

    def __init__(self, heads: IntArray, n_words: IntArray, swap: bool) -> None:
        is_tree = are_trees(heads, n_words)
        if not is_tree.all():
            raise ValueError(Errors.E110.format(sentence=int(np.argmin(is_tree))))
        self.n_words = np.array(n_words, dtype=np.int64)
        batch = len(self.n_words)
        numbers = np.arange(self.n_words.max(initial=1) + 1)
        self._heads = np.full((batch, len(numbers)), NO_HEAD, dtype=np.int64)
        copied = np.asarray(heads)[:, : len(numbers) - 1]
        self._heads[:, 1 : copied.shape[1] + 1] = copied
        self._heads[(numbers == 0) | (numbers > self.n_words[:, None])] = NO_HEAD
        # In the order of the sentence there is nothing to swap.
        self._order = np.tile(numbers, (batch, 1))
        self._components = self._order
        built = States.begin(self.n_words)
        self._replay(built)
        non_projective = np.flatnonzero(~built.is_final)
        if len(non_projective) and not swap:
            raise ValueError(Errors.E111.format(sentence=int(non_projective[0])))
        self._components = _components(built)
        for row in non_projective.tolist():
            n = int(self.n_words[row])
            self._order[row, 1 : n + 1] = projective_order(self._heads[row, 1 : n + 1])

    def begin(self) -> States:
        """The first states of the sentences."""
        return States.begin(self.n_words)

    def next_actions(self, states: States) -> IntArray:
        """The action for each state.

        states: States of the batch's sentences that the oracle's own actions led to.
        Returns shape [B]; NO_ACTION for final states.
        """
        rows = np.arange(len(self.n_words))
        s2, s1, b1 = states.slots().T
        # An empty slot is looked up as ROOT, which has no head and is before each word.
        below, top, front = np.maximum(s2, 0), s1, np.maximum(b1, 0)
        left = self._heads[rows, below] == s1
        right = self._heads[rows, top] == s2
        arc = (left | right) & ~self._lacks_dependents(states, np.where(left, s2, s1))
        swap = (s2 > 0) & (self._order[rows, below] > self._order[rows, top])
        swap &= (b1 == NO_WORD) | (self._components[rows, top] != self._components[rows, front])
        actions = np.where(b1 == NO_WORD, NO_ACTION, int(Action.SHIFT))
        actions[swap] = Action.SWAP
        actions[arc & left] = Action.LEFT_ARC
        actions[arc & right] = Action.RIGHT_ARC
        return actions

    def actions(self) -> IntArray:
        """All actions of each sentence, shape [B, T]; NO_ACTION after the last one."""
        return self._replay(self.begin())

    def _lacks_dependents(self, states: States, words: IntArray) -> BoolArray:
        """Whether a dependent of a word of each sentence, [B], has no head yet."""
        gold = self._heads[:, 1:]
        free = ~states.deleted()[:, : gold.shape[1]]
        lacks: BoolArray = np.any((gold == words[:, None]) & free, axis=1)
        return lacks

    def _replay(self, states: States) -> IntArray:
        steps: list[IntArray] = []
        while ((actions := self.next_actions(states)) != NO_ACTION).any():
            apply(states, actions)
            steps.append(actions)
        return np.stack(steps, axis=1) if steps else np.empty((len(self.n_words), 0), dtype=np.int64)


def oracle_actions(heads: IntArray, n_words: IntArray, swap: bool = True) -> IntArray:
    """The actions that build each tree of a batch.

    heads: Head of each word, shape [B, W]; what stands in the padding is ignored.
    n_words: Words of each sentence, shape [B].
    swap: Whether the system has SWAP.
    Returns shape [B, T]; NO_ACTION after the last action of a sentence.
    Raises ValueError if the heads of a sentence are no tree with one root, or the tree is not
        projective and there is no SWAP.
    """
    return Oracle(heads, n_words, swap).actions()


def can_learn(heads: IntArray, n_words: IntArray, swap: bool) -> BoolArray:
    """Whether there are actions that build the tree of each sentence.

    heads: Head of each word, shape [B, W]; -1 where it is not known. What stands in the
        padding is ignored.
    n_words: Words of each sentence, shape [B].
    swap: Whether the system has SWAP.
    Returns shape [B]: whether all heads are known, they are a tree with one root, and it is projective
        where there is no SWAP.
    """
    heads = np.asarray(heads)
    lengths = checked_lengths(n_words, *heads.shape)
    unknown = (heads == -1) & (np.arange(heads.shape[1]) < lengths[:, None])
    learnable: BoolArray = are_trees(np.where(unknown, 0, heads), lengths) & ~unknown.any(axis=1)
    if not swap:
        for row in np.flatnonzero(learnable).tolist():
            learnable[row] = is_projective(heads[row, : lengths[row]])
    return learnable


def _components(built: States) -> IntArray:
    """The top word of the maximal projective component of each word, with ROOT: [B, W + 1].

    built: States after a replay without SWAP; a component is what it joined.
    """
    numbers = np.arange(1, built.heads.shape[1] + 1)
    above = np.zeros((len(built.heads), len(numbers) + 1), dtype=np.int64)
    above[:, 1:] = np.where(built.deleted(), built.heads, numbers)
    return ends(above)
