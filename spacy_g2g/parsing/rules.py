"""Rules of Universal Dependencies that trees can be made to follow, and the best trees that follow them.

The rules are tests of syntax (level 3) of UD's validator, by its names. A rule that also depends on features,
on UPOS or on spaces is taken without these: what they may allow is allowed.

A tree with labels is worth the scores of its arcs, less what its labels lose against the best labels of these
arcs. So rules change nothing if the best tree follows them anyway. The search is best-first branch and bound.
A set of trees waits in the queue with its best tree, labels included, without regard to rules that relate two
arcs. If this tree breaks such a rule, the set is split in two, in neither of which it can be broken in this
way again. Else it is the best one of all. For the next best trees, the set is split as Lawler (1972) does.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import BoolArray, DoubleArray, IntArray
from .constraints import Constraint
from .kbest import best_trees
from .tree import ROOT_LABEL


class Rule(NamedTuple):
    """A rule about relations without their subtypes.

    kind: "one" if a word may have at most one dependent with these relations; "after" if such dependents come
        after their heads; "leaf" if they may have no dependents but some.
    relations: The relations.
    others: Relations that dependents of such words may have; for "leaf" alone.
    """

    kind: str
    relations: str
    others: str = ""


_FEW = "goeswith reparandum conj punct"
#: Relations that fillers and parentheses have under a determiner, and those that a possessive one may have.
_OF_DETERMINERS = "det case obl clf fixed flat compound discourse parataxis cc appos acl nmod"
#: What negation has. It may modify most function words.
_NEGATION = "advmod"
RULES = {
    "too-many-subjects": Rule("one", "nsubj csubj"),
    "too-many-objects": Rule("one", "obj"),
    "right-to-left": Rule("after", "conj fixed flat goeswith appos"),
    "leaf-mark-case": Rule("leaf", "mark case", f"{_FEW} {_NEGATION} obl fixed cc"),
    "leaf-aux-cop": Rule("leaf", "aux cop", f"{_FEW} {_NEGATION} fixed cc"),
    "leaf-det": Rule("leaf", "det", f"{_FEW} {_NEGATION} {_OF_DETERMINERS}"),
    "leaf-clf": Rule("leaf", "clf", f"{_FEW} {_NEGATION} obl fixed cc"),
    "leaf-cc": Rule("leaf", "cc", f"{_FEW} {_NEGATION}"),
    "leaf-fixed": Rule("leaf", "fixed", f"{_FEW} {_NEGATION}"),
    "leaf-goeswith": Rule("leaf", "goeswith", _NEGATION),
    "leaf-punct": Rule("leaf", "punct", "punct"),
}
#: Label that is no subject in the sense of "too-many-subjects".
OUTER = "outer"
#: How many scores of labels all sets of a search may have, and how many sets there may be in any case.
MAX_SCORES, MIN_SETS = 3 * 10**7, 100


def rule_constraint(name: str, labels: Sequence[str]) -> Constraint:
    """Return a rule as a constraint on the labels of a parser.

    name: Name of the rule, a key of ``RULES``.
    labels: Labels of the parser, the root label first.
    """
    kind, relations, others = RULES[name]
    inner = [(i, label.split(":")) for i, label in enumerate(labels) if i != ROOT_LABEL]
    chosen = [i for i, parts in inner if parts[0] in relations.split()]
    if kind == "one":
        chosen = [i for i in chosen if labels[i].split(":")[1:] != [OUTER]]
    forbidden = [i for i, parts in inner if kind == "leaf" and parts[0] not in others.split()]
    return Constraint("rule", value=[*RULES].index(name), labels=tuple(chosen), others=tuple(forbidden))


def rule_name(constraint: Constraint) -> str:
    """Return the name of the rule that a constraint is."""
    return [*RULES][constraint.value]


def best_ruled_trees(
    arcs: DoubleArray,
    labels: DoubleArray,
    k: int,
    rules: Sequence[Constraint],
    subtrees: Sequence[BoolArray] = (),
) -> tuple[IntArray, IntArray, DoubleArray] | None:
    """Return the k best trees with one root and different heads that follow rules, or fewer.

    There are fewer if no more are possible, or if the search ends after too many steps.

    arcs: Scores of arcs, as in ``best_trees``; float [n, n + 1].
    labels: Scores of the labels but the root label, for heads that are words; float [n, n, labels - 1]. -inf
        forbids a label of an arc.
    k: Number of trees.
    rules: The rules.
    subtrees: As in ``best_trees``.
    Returns heads and labels, int [trees, n], and what the trees are worth, float [trees], best first; or None
    if the search ends without a tree.
    """
    found = []
    try:
        for tree in _search(arcs, labels, k, rules, subtrees):
            found.append(tree)
    except TimeoutError:
        if not found:
            return None
    n = len(arcs)
    heads = np.array([heads for _, heads, _ in found], dtype=np.int64).reshape(-1, n)
    ids = np.array([ids for _, _, ids in found], dtype=np.int64).reshape(-1, n)
    return heads, ids, np.array([score for score, _, _ in found])


class _Set(NamedTuple):
    """A set of trees, and the best of them without regard to rules that relate two arcs.

    arcs: Scores of arcs, -inf for those that no tree of the set has; float [n, n + 1].
    regrets: What each label loses against the best one of its arc, -inf if no tree has it; float [n, n,
        labels - 1].
    heads: The best tree, int [n].
    labels: Its labels, int [n].
    """

    arcs: DoubleArray
    regrets: DoubleArray
    heads: IntArray
    labels: IntArray


def _search(
    arcs: DoubleArray, labels: DoubleArray, k: int, rules: Sequence[Constraint], subtrees: Sequence[BoolArray]
) -> Iterator[tuple[float, IntArray, IntArray]]:
    """Yield the score, the heads and the labels of the k best trees."""
    queue: list[tuple[float, int, _Set]] = []
    n_added = 0
    words = np.arange(len(arcs))
    # Sets without one tree share the labels' scores with it.
    max_sets = max(MIN_SETS, MAX_SCORES // max(1, labels.size)) + (k - 1) * len(arcs)
    best = labels.max(axis=2, keepdims=True)
    regrets = np.where(np.isfinite(labels), labels - np.where(np.isfinite(best), best, 0.0), -np.inf)
    for rule in rules:
        if RULES[rule_name(rule)].kind == "after":
            dependents, heads = np.nonzero(words > words[:, None])
            regrets[dependents[:, None], heads[:, None], np.array(rule.labels, dtype=np.int64) - 1] = -np.inf

    def add(arcs: DoubleArray, regrets: DoubleArray) -> None:
        nonlocal n_added
        if n_added == max_sets:
            raise TimeoutError
        best = regrets.max(axis=2)
        scores = np.concatenate([arcs[:, :1], arcs[:, 1:] + best], axis=1)
        heads, totals = best_trees(scores, 1, subtrees)
        if len(heads):
            of_words = regrets[words, heads[0] - 1].argmax(axis=1) + 1
            ids = np.where(heads[0] == 0, ROOT_LABEL, of_words)
            n_added += 1
            heapq.heappush(queue, (-float(totals[0]), -n_added, _Set(arcs, regrets, heads[0], ids)))

    add(arcs, regrets)
    seen: set[bytes] = set()
    while queue and len(seen) < k:
        total, _, trees = heapq.heappop(queue)
        parts: Iterable[tuple[DoubleArray, DoubleArray]] = ()
        parts = next((parts for rule in rules if (parts := _split(trees, rule))), ())
        if not parts:
            if trees.heads.tobytes() not in seen:
                seen.add(trees.heads.tobytes())
                yield -total, trees.heads, trees.labels
            parts = _without(trees) if len(seen) < k else ()
        for part in parts:
            add(*part)


def _split(trees: _Set, rule: Constraint) -> list[tuple[DoubleArray, DoubleArray]]:
    """Split a set of trees whose best one breaks a rule; return nothing if it follows the rule."""
    kind = RULES[rule_name(rule)].kind
    has_label = np.isin(trees.labels, rule.labels)
    chosen = np.array(rule.labels, dtype=np.int64) - 1
    if kind == "one":
        counts = np.bincount(trees.heads[has_label], minlength=len(trees.heads) + 1)
        if counts.max() < 2:
            return []
        head = int(counts.argmax())
        word = int(np.flatnonzero(has_label & (trees.heads == head))[0])
        return [_not_at(trees, word, head, chosen), _alone_at(trees, word, head, chosen)]
    if kind == "leaf":
        is_wrong = np.isin(trees.labels, rule.others) & (trees.heads > 0)
        is_wrong[is_wrong] = has_label[trees.heads[is_wrong] - 1]
        if not is_wrong.any():
            return []
        head = int(trees.heads[is_wrong][0])
        forbidden = np.array(rule.others, dtype=np.int64) - 1
        arcs, regrets = trees.arcs.copy(), trees.regrets.copy()
        regrets[head - 1][:, chosen] = -np.inf
        leaf_arcs, leaf_regrets = trees.arcs.copy(), trees.regrets.copy()
        others = np.setdiff1d(np.arange(regrets.shape[2]), chosen)
        leaf_arcs[head - 1, 0] = -np.inf
        leaf_regrets[head - 1][:, others] = -np.inf
        leaf_regrets[:, head - 1][:, forbidden] = -np.inf
        return [(arcs, regrets), (leaf_arcs, leaf_regrets)]
    return []


def _not_at(trees: _Set, word: int, head: int, labels: IntArray) -> tuple[DoubleArray, DoubleArray]:
    """Return the scores of the trees in which a word has none of some labels under a head."""
    regrets = trees.regrets.copy()
    regrets[word, head - 1, labels] = -np.inf
    return trees.arcs, regrets


def _alone_at(trees: _Set, word: int, head: int, labels: IntArray) -> tuple[DoubleArray, DoubleArray]:
    """Return the scores of the trees in which a word, and no other, has one of some labels under a head."""
    arcs, regrets = trees.arcs.copy(), trees.regrets.copy()
    arcs[word, np.arange(arcs.shape[1]) != head] = -np.inf
    kept = regrets[word, head - 1, labels]
    regrets[:, head - 1, labels] = -np.inf
    regrets[word] = -np.inf
    regrets[word, head - 1, labels] = kept
    return arcs, regrets


def _without(trees: _Set) -> Iterator[tuple[DoubleArray, DoubleArray]]:
    """Split the trees with other heads than the best one's, by the first word whose head differs."""
    arcs = trees.arcs
    for word, head in enumerate(trees.heads.tolist()):
        others, arcs = arcs.copy(), arcs.copy()
        others[word, head] = -np.inf
        arcs[word, np.arange(arcs.shape[1]) != head] = -np.inf
        yield others, trees.regrets
