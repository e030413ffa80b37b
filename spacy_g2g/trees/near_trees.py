"""The k best trees of a sentence where the best head of each word is already a tree.

Another tree is worse by the sum of what its other arcs lose, be its root the same or not. So sets of other
arcs are tried in the order of these sums, which a heap gives, until k of them are trees. In most sentences
few sets are no trees. In theory almost all can be, so the number of sets that are tried is bounded.
"""

from __future__ import annotations

import heapq

import numpy as np

from ..arrays import DoubleArray

#: How many sets of arcs are tried, and how many more for each tree.
MIN_SETS, SETS_A_TREE = 50, 10


def near_trees(scores: DoubleArray, k: int) -> list[list[int]] | None:
    """Return the heads of the k best trees with one root, in order, or of all if there are fewer.

    scores: Scores of arcs, -inf for forbidden ones and for words as their own heads; float [n, n + 1].
    k: Number of trees.
    Returns None if the best heads are no tree, or if too many sets of arcs are no trees.
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
