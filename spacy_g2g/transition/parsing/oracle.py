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
from ...trees.tree import are_trees, ends, is_projective, projective_order
from .arc_standard import NO_ACTION, Action, apply
from .state import NO_WORD, States

# The head of ROOT and of padding. It differs from every word and from NO_WORD.
NO_HEAD = -2


def oracle_actions(heads: IntArray, *, n_words: IntArray, swap: bool = True) -> IntArray:
    """Return the actions that build each tree of a batch.

    heads: Head of each word, int [sentences, words]; padding is ignored. The heads form trees with one root,
        which are projective if there is no SWAP (see `can_learn`).
    n_words: Number of words of each sentence, int [sentences].
    swap: Whether the system has SWAP.
    Returns int [sentences, steps]; NO_ACTION after the last action of a sentence.
    """
    assert are_trees(heads, lengths=n_words).all()
    return _StaticOracle(heads, n_words, swap).actions()


def can_learn(heads: IntArray, *, n_words: IntArray, swap: bool) -> BoolArray:
    """Return whether actions can build the tree of each sentence.

    heads: Head of each word, -1 if unknown; int [sentences, words]; padding is ignored.
    n_words: Number of words of each sentence, int [sentences].
    swap: Whether the system has SWAP.
    Returns bool [sentences], True if all heads are known, they form a tree with one root, and the tree is
    projective or the system has SWAP.
    """
    is_word: BoolArray = np.arange(heads.shape[1]) < n_words[:, None]
    is_known = ~is_word | (heads >= 0)
    learnable: BoolArray = are_trees(np.where(is_known, heads, 0), lengths=n_words) & is_known.all(axis=1)
    if not swap:
        for row in np.flatnonzero(learnable).tolist():
            learnable[row] = is_projective(heads[row, : n_words[row]])
    return learnable


class _StaticOracle:
    """Static oracle for a batch of trees; see `oracle_actions`."""

    def __init__(self, heads: IntArray, n_words: IntArray, swap: bool) -> None:
        self.n_words = n_words
        numbers = np.arange(n_words.max(initial=1) + 1)
        self.heads = np.full((len(n_words), len(numbers)), NO_HEAD, dtype=np.int64)
        copied = heads[:, : len(numbers) - 1]
        self.heads[:, 1 : copied.shape[1] + 1] = copied
        self.heads[(numbers == 0) | (numbers > n_words[:, None])] = NO_HEAD
        # While words are in the order of the sentence, nothing is swapped.
        self.order = np.tile(numbers, (len(n_words), 1))
        self.components = self.order
        built = States.begin(n_words)
        self._build(built)
        assert swap or built.is_final.all()
        self.components = _components(built)
        for row in np.flatnonzero(~built.is_final).tolist():
            n = int(n_words[row])
            self.order[row, 1 : n + 1] = projective_order(self.heads[row, 1 : n + 1])

    def actions(self) -> IntArray:
        """Return all actions of each sentence, int [sentences, steps]; NO_ACTION after the last action."""
        return self._build(States.begin(self.n_words))

    def _build(self, states: States) -> IntArray:
        """Take the next actions until there are none. Returns them as ``actions`` does."""
        steps: list[IntArray] = []
        while ((actions := self._next(states)) != NO_ACTION).any():
            apply(states, actions)
            steps.append(actions)
        return np.stack(steps, axis=1) if steps else np.empty((len(self.n_words), 0), dtype=np.int64)

    def _next(self, states: States) -> IntArray:
        """Return the next action of each sentence, int [sentences]; NO_ACTION for final states."""
        rows = np.arange(len(self.n_words))
        s2, s1, b1 = states.slots().T
        # An empty slot is looked up as ROOT, which has no head and comes before every word.
        below, top, front = np.maximum(s2, 0), s1, np.maximum(b1, 0)
        left = self.heads[rows, below] == s1
        right = self.heads[rows, top] == s2
        dependents = np.where(left, s2, s1)
        needs_more = ((self.heads[:, 1:] == dependents[:, None]) & ~states.deleted()).any(axis=1)
        arc = (left | right) & ~needs_more
        swap = (s2 > 0) & (self.order[rows, below] > self.order[rows, top])
        swap &= (b1 == NO_WORD) | (self.components[rows, top] != self.components[rows, front])
        actions = np.where(b1 == NO_WORD, NO_ACTION, int(Action.SHIFT))
        actions[swap] = Action.SWAP
        actions[arc & left] = Action.LEFT_ARC
        actions[arc & right] = Action.RIGHT_ARC
        return actions


def _components(built: States) -> IntArray:
    """Return the top word of each word's maximal projective component, int [sentences, words + 1] with ROOT.

    built: States after all actions that are possible without SWAP. These actions built the components.
    """
    numbers = np.arange(1, built.heads.shape[1] + 1)
    above = np.zeros((len(built.heads), len(numbers) + 1), dtype=np.int64)
    above[:, 1:] = np.where(built.deleted(), built.heads, numbers)
    return ends(above)
