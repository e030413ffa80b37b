"""Static oracle of the arc-standard system: the actions that build a given tree.

Nivre, Kuhlmann & Hall: An improved oracle for dependency parsing with online reordering (IWPT 2009).
A word gets its head as soon as it has all its dependents. SWAP brings the words into the projective order of
the tree, but as late as possible. A maximal projective component is a subtree that can be built without SWAP:
while s1 and b1 belong to the same one, nothing is swapped. This way, whole components are swapped instead of
single words.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, IntArray
from ...errors import Errors
from ...trees.tree import are_trees, ends, is_projective, projective_order
from .arc_standard import NO_ACTION, Action, apply
from .state import NO_WORD, States

# The head of ROOT and of padding. It differs from every word and from NO_WORD.
NO_HEAD = -2


class Oracle:
    """Static oracle for a batch of sentences, which returns their actions step by step.

    heads: Head of each word, int [sentences, words]; padding is ignored.
    n_words: Number of words of each sentence, int [sentences].
    swap: Whether the system has SWAP.
    Raises ValueError if the heads of a sentence do not form a tree with one root, or if a tree is not
        projective and there is no SWAP.
    """

    def __init__(self, heads: IntArray, n_words: IntArray, swap: bool) -> None:
        is_tree = are_trees(heads, n_words)
        if not is_tree.all():
            raise ValueError(Errors.E109.format(sentence=int(np.argmin(is_tree))))
        self.n_words = np.array(n_words, dtype=np.int64)
        batch = len(self.n_words)
        numbers = np.arange(self.n_words.max(initial=1) + 1)
        self._heads = np.full((batch, len(numbers)), NO_HEAD, dtype=np.int64)
        copied = np.asarray(heads)[:, : len(numbers) - 1]
        self._heads[:, 1 : copied.shape[1] + 1] = copied
        self._heads[(numbers == 0) | (numbers > self.n_words[:, None])] = NO_HEAD
        # While each word is in its place in the sentence, nothing is swapped.
        self._order = np.tile(numbers, (batch, 1))
        self._components = self._order
        built = States.begin(self.n_words)
        self._replay(built)
        non_projective = np.flatnonzero(~built.is_final)
        if len(non_projective) and not swap:
            raise ValueError(Errors.E110.format(sentence=int(non_projective[0])))
        self._components = _components(built)
        for row in non_projective.tolist():
            n = int(self.n_words[row])
            self._order[row, 1 : n + 1] = projective_order(self._heads[row, 1 : n + 1])

    def begin(self) -> States:
        """Return the initial states of the sentences."""
        return States.begin(self.n_words)

    def next_actions(self, states: States) -> IntArray:
        """Return the next action of each sentence.

        states: One state for each sentence, reached by the oracle's own actions.
        Returns int [sentences], NO_ACTION for final states.
        """
        rows = np.arange(len(self.n_words))
        s2, s1, b1 = states.slots().T
        # An empty slot is looked up as ROOT, which has no head and comes before every word.
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
        """Return all actions of each sentence, int [sentences, steps]; NO_ACTION after the last action."""
        return self._replay(self.begin())

    def _lacks_dependents(self, states: States, words: IntArray) -> BoolArray:
        """Return whether some dependent of the given word has no head yet, bool [sentences].

        words: One word of each sentence, int [sentences].
        """
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
    """Return the actions that build each tree of a batch.

    heads: Head of each word, int [sentences, words]; padding is ignored.
    n_words: Number of words of each sentence, int [sentences].
    swap: Whether the system has SWAP.
    Returns int [sentences, steps]; NO_ACTION after the last action of a sentence.
    Raises ValueError if the heads of a sentence do not form a tree with one root, or if a tree is not
        projective and there is no SWAP.
    """
    return Oracle(heads, n_words, swap).actions()


def can_learn(heads: IntArray, n_words: IntArray, swap: bool) -> BoolArray:
    """Return whether there are actions that build the tree of each sentence.

    heads: Head of each word, -1 if unknown; int [sentences, words]; padding is ignored.
    n_words: Number of words of each sentence, int [sentences].
    swap: Whether the system has SWAP.
    Returns bool [sentences], True if all heads are known, they form a tree with one root, and the tree is
    projective or the system has SWAP.
    """
    learnable = are_trees(heads, n_words)
    if not swap:
        for row in np.flatnonzero(learnable).tolist():
            learnable[row] = is_projective(heads[row, : n_words[row]])
    return learnable


def _components(built: States) -> IntArray:
    """Return the top word of each word's maximal projective component, int [sentences, words + 1] with ROOT.

    built: States after a replay without SWAP. Each component is a subtree that the replay has built.
    """
    numbers = np.arange(1, built.heads.shape[1] + 1)
    above = np.zeros((len(built.heads), len(numbers) + 1), dtype=np.int64)
    above[:, 1:] = np.where(built.deleted(), built.heads, numbers)
    return ends(above)
