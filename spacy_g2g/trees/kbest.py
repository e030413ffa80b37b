"""The k best dependency trees with exactly one root, in order.

The search splits the set of all trees, as Murty (1968) and Lawler (1972) do. First it chooses the root, and
the top word of each subtree that must be whole. After that, any tree is a solution, and Edmonds' algorithm
finds the best one. The other trees are split by the first word whose head differs, with dependents before
their heads. The slack of Edmonds' dual solution gives the best other head of each word in one step. It also
tells whether the tree with this one change is the best of its part. If not, Edmonds' algorithm runs again,
once the part is next. Zmigrod, Vieira and Cotterell ("On finding the K-best non-projective dependency
trees", 2021) run it for each tree. ``near_trees`` is quicker where the best heads are a tree already: another
tree is worse by the sum of what its other arcs lose, be its root the same or not. So sets of other arcs are
tried in the order of these sums. Usually nearly every set is a tree. In the worst case hardly any is, so the
number of tries is bounded.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..arrays import BoolArray, DoubleArray, IntArray
from .mst import contract_cycles

LARGEST = float(np.finfo(np.float64).max)
#: How many sets of arcs ``near_trees`` tries, and how many more for each tree.
MIN_SETS, SETS_A_TREE = 50, 10


def best_trees(
    scores: DoubleArray, k: int, subtrees: Sequence[BoolArray] = ()
) -> tuple[IntArray, DoubleArray]:
    """Return the k best trees with one root, best first. Trees with the same score are in a fixed order.

    scores: Score of word j as the head of word i + 1 at [i, j], with ROOT in column 0; float [n, n + 1]. -inf
        forbids an arc. The score of a word as its own head is ignored.
    k: Number of trees.
    subtrees: Sets of words, bool [n + 1] each, that have to be the word and all its descendants, for some
        word. Two of them may not overlap, unless one contains the other.
    Returns the heads, int [trees, n], and the sum of the scores of each tree, float [trees]. There are fewer
    than k trees if no more are possible.
    """
    n = len(scores)
    if n == 0:
        return np.zeros((1, 0), dtype=np.int64), np.zeros(1)
    allowed = np.array(scores, dtype=np.float64)
    allowed[np.arange(n), np.arange(1, n + 1)] = -np.inf
    for words in subtrees:
        allowed[np.ix_(~words[1:], words)] = -np.inf
    found = None if subtrees else near_trees(allowed, k)
    if found is None:
        sentence = np.arange(n + 1) > 0
        found = _Search(allowed, k, [sentence, *subtrees]).run()
    heads = np.array(found, dtype=np.int64).reshape(-1, n)
    totals: DoubleArray = allowed[np.arange(n), heads].sum(axis=1)
    order = np.argsort(-totals, kind="stable")
    return heads[order], totals[order]


def near_trees(scores: DoubleArray, k: int) -> list[list[int]] | None:
    """Return the heads of the k best trees with one root, in order, or of all if there are fewer.

    scores: Scores of arcs, -inf for forbidden ones and for words as their own heads; float [n, n + 1].
    k: Number of trees.
    Returns None if the best heads are not a tree, or if too many sets of arcs are not trees.
    """
    n = len(scores)
    best = scores.argmax(axis=1)
    heads = best.tolist()
    above = [0, *heads]
    of_best = scores[np.arange(n), best]
    if heads.count(0) != 1 or of_best.min() == -np.inf:
        return None
    if not all(_reaches_root(word, above, n) for word in range(1, n + 1)):
        return None
    found = [heads]
    if k == 1:
        return found
    losses = of_best[:, None] - scores
    losses[np.arange(n), best] = np.inf
    order = losses.ravel().argsort(kind="stable")[: np.isfinite(losses).sum()]
    sums: list[float] = losses.ravel()[order].tolist()
    arcs = [divmod(arc, n + 1) for arc in order.tolist()]
    queue: list[tuple[float, tuple[int, ...]]] = [(sums[0], (0,))] if sums else []
    for _ in range(MIN_SETS + SETS_A_TREE * k):
        if not queue or len(found) == k:
            return found
        loss, chosen = heapq.heappop(queue)
        last = chosen[-1]
        is_set = _change([arcs[i] for i in chosen], heads, found)
        if last + 1 < len(arcs):
            more = loss + sums[last + 1]
            heapq.heappush(queue, (more - sums[last], (*chosen[:-1], last + 1)))
            if is_set:
                heapq.heappush(queue, (more, (*chosen, last + 1)))
    return found if not queue or len(found) == k else None


def _change(arcs: list[tuple[int, int]], heads: list[int], found: list[list[int]]) -> bool:
    """Add the tree with other arcs to those that are found, if it is one. Returns False if a word has two."""
    words = {word for word, _ in arcs}
    if len(words) < len(arcs):
        return False
    changed = heads.copy()
    for word, head in arcs:
        changed[word] = head
    above = [0, *changed]
    if changed.count(0) == 1 and all(_reaches_root(word + 1, above, len(heads)) for word in words):
        found.append(changed)
    return True


def _reaches_root(word: int, above: list[int], n: int) -> bool:
    """Return whether heads lead from a word to ROOT.

    above: Head of each word, with ROOT in front.
    n: Number of words.
    """
    for _ in range(n):
        word = above[word]
        if not word:
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Problem:
    """Trees whose arcs have scores above -inf. ``n_tops`` sets of words have got their top words."""

    scores: DoubleArray
    n_tops: int


@dataclass(frozen=True, slots=True)
class _Top:
    """The trees of a problem in which a word is the top of the next set of words."""

    problem: _Problem
    word: int


@dataclass(frozen=True, slots=True)
class _Part:
    """A set of trees, and the best of them.

    heads: The best tree, int [n].
    total: Its score.
    slack: As in ``Contraction.slack``; float [n, n + 1].
    cycles: Contracted cycles, bool [cycles, n + 1].
    is_free: Words whose heads may differ from the best tree's, bool [n].
    """

    heads: IntArray
    total: float
    slack: DoubleArray
    cycles: BoolArray
    is_free: BoolArray


@dataclass(frozen=True, slots=True)
class _Change:
    """The trees of a part in which a word has another head, and the words before it in the order have not.

    slack: Slack of the heads that the word may have, float [n + 1].
    is_free: Words whose heads may differ from those of the part's best tree, bool [n].
    head: Head with the least slack.
    is_best: Whether the part's best tree with this one change is the best.
    """

    part: _Part
    word: int
    slack: DoubleArray
    is_free: BoolArray
    head: int
    is_best: bool


_Task: TypeAlias = _Problem | _Top | _Part | _Change


class _Search:
    """Best-first search. Each set of trees waits in the queue with an upper bound of their scores."""

    def __init__(self, scores: DoubleArray, k: int, sets: Sequence[BoolArray]) -> None:
        self.scores = scores
        self.k = k
        self.sets = sets
        self.words = np.arange(len(scores))
        self.queue: list[tuple[float, int, _Task]] = []
        self.n_queued = 0
        #: Scores of trees that are found or next to be found, the best first, with a minus sign.
        self.known: list[float] = []
        self._add(np.inf, _Problem(scores, 0))

    def run(self) -> list[list[int]]:
        """Return the heads of the k best trees."""
        found: list[list[int]] = []
        while self.queue and len(found) < self.k:
            _, _, task = heapq.heappop(self.queue)
            if isinstance(task, _Change) and task.is_best:
                task = self._changed(task)
            if isinstance(task, _Part):
                found.append(task.heads.tolist())
                if len(found) < self.k:
                    self._split(task)
            elif isinstance(task, _Change):
                self._solve(_Problem(self._allowed(task), len(self.sets)))
            elif isinstance(task, _Top):
                self._branch(self._topped(task))
            else:
                self._branch(task)
        return found

    def _add(self, bound: float, task: _Task) -> None:
        """Add trees to the queue. Among equal bounds the last one is next, so that a tree is found soon."""
        self.n_queued += 1
        heapq.heappush(self.queue, (-bound, -self.n_queued, task))

    @property
    def _limit(self) -> float:
        """Least score that a tree must have to be among the k best, as far as is known."""
        return -self.known[self.k - 1] if len(self.known) >= self.k else -np.inf

    def _branch(self, problem: _Problem) -> None:
        """Choose the top word of the next set of words, which alone has its head outside the set."""
        if problem.n_tops == len(self.sets):
            self._solve(problem)
            return
        members = self.sets[problem.n_tops]
        words = np.flatnonzero(members[1:])
        inside = np.where(members, problem.scores, -np.inf).max(axis=1)
        outside = np.where(members, -np.inf, problem.scores).max(axis=1)
        best = np.where(members[1:], inside, outside)
        bounds = np.where(words[:, None] == self.words, outside, best).sum(axis=1)
        for i in np.flatnonzero(bounds >= max(self._limit, -LARGEST)).tolist():
            self._add(float(bounds[i]), _Top(problem, int(words[i])))

    def _topped(self, task: _Top) -> _Problem:
        """Return a problem in which the word is the top of its set."""
        members = self.sets[task.problem.n_tops]
        scores = task.problem.scores.copy()
        scores[np.ix_(members[1:], ~members)] = -np.inf
        scores[task.word] = np.where(members, -np.inf, task.problem.scores[task.word])
        return _Problem(scores, task.problem.n_tops + 1)

    def _solve(self, problem: _Problem) -> None:
        """Find the best tree of a problem in which all tops are chosen, and add it to the queue."""
        scores = problem.scores
        heads = scores.argmax(axis=1)
        best = scores[self.words, heads]
        if not np.isfinite(best).all():
            return
        cycles: BoolArray = np.zeros((0, len(scores) + 1), dtype=np.bool_)
        slack = best[:, None] - scores
        if len(_preorder(heads)[0]) <= len(scores):
            contraction = contract_cycles(scores)
            if contraction is None:
                return
            cycles, slack = np.array(contraction.cycles), contraction.slack()
            heads = contraction.expand()
        slack[self.words, heads] = 0.0
        total = float(self.scores[self.words, heads].sum())
        insort(self.known, -total)
        is_free = np.isfinite(slack).sum(axis=1) > 1
        self._add(total, _Part(heads, total, slack, cycles, is_free))

    def _split(self, part: _Part) -> None:
        """Split the trees of a part, except its best one, by the first word whose head differs.

        The words come in reversed preorder. So all descendants of a word keep their heads, and none of them
        can be its head.
        """
        slack = np.where(part.is_free[:, None], part.slack, np.inf)
        slack[self.words, part.heads] = np.inf
        if slack.min() > part.total - self._limit:
            return
        order, sizes = _preorder(part.heads)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        first = place[1:, None]
        slack[(place >= first) & (place < first + sizes[1:, None])] = np.inf
        losses = slack.min(axis=1)
        for word in losses.argsort().tolist():
            if losses[word] > min(part.total - self._limit, LARGEST):
                break
            head, old = int(slack[word].argmin()), int(part.heads[word])
            enters = part.cycles[:, word + 1] & part.cycles[:, old] & ~part.cycles[:, head]
            is_free = part.is_free & (place[1:] <= place[word + 1])
            change = _Change(part, word, slack[word], is_free, head, not enters.any())
            bound = part.total - float(losses[word])
            if change.is_best:
                bound = part.total - float(self.scores[word, old] - self.scores[word, head])
                insort(self.known, -bound)
            self._add(bound, change)

    def _changed(self, change: _Change) -> _Part:
        """Return the part whose best tree is another part's with one change."""
        part, word = change.part, change.word
        heads, slack = part.heads.copy(), part.slack.copy()
        heads[word] = change.head
        slack[word] = change.slack - change.slack[change.head]
        total = part.total - float(self.scores[word, part.heads[word]] - self.scores[word, change.head])
        return _Part(heads, total, slack, part.cycles, change.is_free)

    def _allowed(self, change: _Change) -> DoubleArray:
        """Return the scores of the arcs that the trees of a change may have, -inf for others."""
        part = change.part
        slack = np.where(change.is_free[:, None], part.slack, np.inf)
        slack[self.words, part.heads] = 0.0
        slack[change.word] = change.slack
        return np.where(np.isfinite(slack), self.scores, -np.inf)


def _preorder(heads: IntArray) -> tuple[list[int], IntArray]:
    """Return ROOT and the words that descend from it in preorder, and the size of each one's subtree.

    heads: Head of each word, int [n]. Words on cycles, and below them, are left out.
    """
    dependents: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    above = [0, *heads.tolist()]
    for word, head in enumerate(above[1:], start=1):
        dependents[head].append(word)
    order, stack = [], [0]
    while stack:
        word = stack.pop()
        order.append(word)
        stack += dependents[word]
    sizes = [1] * len(above)
    for word in reversed(order[1:]):
        sizes[above[word]] += sizes[word]
    return order, np.array(sizes)
