"""The k best dependency trees with exactly one root, in order.

The search splits the set of all trees into parts, as Murty (1968) and Lawler (1972) do. First it chooses the
root, and the top word of each subtree that must be whole. After that, any tree is a solution, and Edmonds'
algorithm finds the best one. The search then splits the other trees by the first word whose head differs,
with dependents before their heads. The slack of Edmonds' dual solution gives the best other head of each word
in one step. It also shows whether the tree with this one change is the best of its part. If not, Edmonds'
algorithm runs again, once the part is next. Zmigrod, Vieira and Cotterell ("On finding the K-best
non-projective dependency trees", 2021) run it for each tree.

``near_trees`` is quicker if the best heads already form a tree. Any other tree loses the score differences of
its changed arcs. So sets of changed arcs are tried in the order of their losses. Usually nearly every set
gives a tree. In the worst case hardly any does, so the number of tries is bounded.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..arrays import BoolArray, DoubleArray, IntArray
from .mst import contract_cycles

MAX_FLOAT = float(np.finfo(np.float64).max)
#: ``near_trees`` tries this many sets of arcs, and this many more for each tree.
MIN_SETS, SETS_PER_TREE = 50, 10


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
    trees = None if subtrees else near_trees(allowed, k)
    if trees is None:
        sentence = np.arange(n + 1) > 0
        trees = _TreeSearch(allowed, k, [sentence, *subtrees]).run()
    heads = np.array(trees, dtype=np.int64).reshape(-1, n)
    totals: DoubleArray = allowed[np.arange(n), heads].sum(axis=1)
    order = np.argsort(-totals, kind="stable")
    return heads[order], totals[order]


def near_trees(scores: DoubleArray, k: int) -> list[list[int]] | None:
    """Return the heads of the k best trees with one root, in order, or of all trees if there are fewer.

    scores: Scores of arcs, -inf for forbidden ones and for words as their own heads; float [n, n + 1].
    k: Number of trees.
    Returns None if the best heads do not form a tree, or if too few sets of arcs do.
    """
    n = len(scores)
    best = scores.argmax(axis=1)
    heads = best.tolist()
    above = [0, *heads]
    best_scores = scores[np.arange(n), best]
    if heads.count(0) != 1 or best_scores.min() == -np.inf:
        return None
    if not all(_reaches_root(word, above, n) for word in range(1, n + 1)):
        return None
    trees = [heads]
    if k == 1:
        return trees
    losses = best_scores[:, None] - scores
    losses[np.arange(n), best] = np.inf
    order = losses.ravel().argsort(kind="stable")[: np.isfinite(losses).sum()]
    sums: list[float] = losses.ravel()[order].tolist()
    arcs = [divmod(arc, n + 1) for arc in order.tolist()]
    queue: list[tuple[float, tuple[int, ...]]] = [(sums[0], (0,))] if sums else []
    for _ in range(MIN_SETS + SETS_PER_TREE * k):
        if not queue or len(trees) == k:
            return trees
        loss, chosen = heapq.heappop(queue)
        last = chosen[-1]
        is_set = _add_changed([arcs[i] for i in chosen], heads, trees)
        if last + 1 < len(arcs):
            more = loss + sums[last + 1]
            heapq.heappush(queue, (more - sums[last], (*chosen[:-1], last + 1)))
            if is_set:
                heapq.heappush(queue, (more, (*chosen, last + 1)))
    return trees if not queue or len(trees) == k else None


def _add_changed(arcs: list[tuple[int, int]], heads: list[int], trees: list[list[int]]) -> bool:
    """Change arcs, and add the result to the trees if it is one. Return False if a word gets two heads."""
    words = {word for word, _ in arcs}
    if len(words) < len(arcs):
        return False
    changed = heads.copy()
    for word, head in arcs:
        changed[word] = head
    above = [0, *changed]
    if changed.count(0) == 1 and all(_reaches_root(word + 1, above, len(heads)) for word in words):
        trees.append(changed)
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


class _TreeSearch:
    """Best-first search over sets of trees.

    Each set waits in the queue with an upper bound of its scores and a task: find its best tree, or take that
    tree and split the others.
    """

    def __init__(self, scores: DoubleArray, k: int, sets: Sequence[BoolArray]) -> None:
        self.scores = scores
        self.k = k
        self.sets = sets
        self.words = np.arange(len(scores))
        self.queue: list[tuple[float, int, Callable[[], None]]] = []
        self.n_queued = 0
        self.trees: list[list[int]] = []
        #: Scores of the trees found so far and of those in the queue, the best first, with a minus sign.
        self.negated_totals: list[float] = []

    def run(self) -> list[list[int]]:
        """Return the heads of the k best trees."""
        self._branch(self.scores, 0)
        while self.queue and len(self.trees) < self.k:
            heapq.heappop(self.queue)[2]()
        return self.trees

    def _add(self, bound: float, task: Callable[[], None]) -> None:
        """Add trees to the queue. Among equal bounds the last one is next, to find a first tree early."""
        self.n_queued += 1
        heapq.heappush(self.queue, (-bound, -self.n_queued, task))

    @property
    def _limit(self) -> float:
        """Minimum score of the k best trees, as far as the search has come."""
        return -self.negated_totals[self.k - 1] if len(self.negated_totals) >= self.k else -np.inf

    def _branch(self, scores: DoubleArray, n_tops: int) -> None:
        """Choose the top word of the next set of words, the only one with its head outside the set.

        scores: Scores above -inf for the arcs that trees may have.
        n_tops: Number of sets that already have their top words.
        """
        if n_tops == len(self.sets):
            self._solve(scores)
            return
        members = self.sets[n_tops]
        words = np.flatnonzero(members[1:])
        inside = np.where(members, scores, -np.inf).max(axis=1)
        outside = np.where(members, -np.inf, scores).max(axis=1)
        best = np.where(members[1:], inside, outside)
        bounds = np.where(words[:, None] == self.words, outside, best).sum(axis=1)
        for i in np.flatnonzero(bounds >= max(self._limit, -MAX_FLOAT)).tolist():
            self._add(float(bounds[i]), partial(self._choose_top, scores, n_tops, int(words[i])))

    def _choose_top(self, scores: DoubleArray, n_tops: int, word: int) -> None:
        """Continue with the trees in which a word is the top of the next set of words."""
        members, inside = self.sets[n_tops], scores.copy()
        inside[np.ix_(members[1:], ~members)] = -np.inf
        inside[word] = np.where(members, -np.inf, scores[word])
        self._branch(inside, n_tops + 1)

    def _solve(self, scores: DoubleArray) -> None:
        """Find the best tree for the chosen tops, and add it to the queue.

        scores: As for ``_branch``; each word has a score above -inf.
        """
        heads = scores.argmax(axis=1)
        best = scores[self.words, heads]
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
        insort(self.negated_totals, -total)
        is_free = np.isfinite(slack).sum(axis=1) > 1
        self._add(total, partial(self._take, _Part(heads, total, slack, cycles, is_free)))

    def _take(self, part: _Part) -> None:
        """Take the best tree of a part, and split the others by the first word whose head differs.

        The words come in reversed preorder. So a word's descendants keep their heads, and none of them can be
        its head.
        """
        self.trees.append(part.heads.tolist())
        if len(self.trees) == self.k:
            return
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
            if losses[word] > min(part.total - self._limit, MAX_FLOAT):
                break
            head, old = int(slack[word].argmin()), int(part.heads[word])
            enters = part.cycles[:, word + 1] & part.cycles[:, old] & ~part.cycles[:, head]
            rest = replace(part, is_free=part.is_free & (place[1:] <= place[word + 1]))
            if enters.any():
                task = partial(self._solve_rest, rest, word, slack[word])
                self._add(part.total - float(losses[word]), task)
            else:
                # The part's best tree with this one change is the best of its own part.
                total = part.total - float(self.scores[word, old] - self.scores[word, head])
                insort(self.negated_totals, -total)
                self._add(total, partial(self._change, rest, word, head, slack[word]))

    def _change(self, part: _Part, word: int, head: int, slack: DoubleArray) -> None:
        """Take the best tree of a part with another head of a word.

        slack: Slack of the heads that the word may have, float [n + 1].
        """
        heads, slacks = part.heads.copy(), part.slack.copy()
        heads[word], slacks[word] = head, slack - slack[head]
        total = part.total - float(self.scores[word, part.heads[word]] - self.scores[word, head])
        self._take(replace(part, heads=heads, total=total, slack=slacks))

    def _solve_rest(self, part: _Part, word: int, slack: DoubleArray) -> None:
        """Find the best tree of a part in which a word has another head; see ``_change``."""
        slacks = np.where(part.is_free[:, None], part.slack, np.inf)
        slacks[self.words, part.heads] = 0.0
        slacks[word] = slack
        self._solve(np.where(np.isfinite(slacks), self.scores, -np.inf))


def _preorder(heads: IntArray) -> tuple[list[int], IntArray]:
    """Return ROOT and its descendants in preorder, and the size of each node's subtree.

    heads: Head of each word, int [n]. The order leaves out words on cycles and below them.
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
