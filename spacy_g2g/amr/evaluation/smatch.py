"""Smatch: how much of an AMR's triples another AMR has, under the best mapping of nodes.

Cai & Knight: Smatch: an evaluation metric for semantic feature structures (ACL 2013). The triples are those
of the package smatch 1.0.4: concepts, constants and edges, each graph's top as a constant, lower case, no
quotes, inverse roles turned around, and (a :mod b) as (b :domain a). As there, a constant under an inverse
role or :mod counts nowhere. Unlike there, a triple that is written twice matches no more than twice. The
search is its hill-climbing by moves and swaps, but with better first starts and seeded random ones.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import IntArray
from ...errors import Errors
from ..formats.amr_file import AmrTree, parse_penman
from ..parsing.graph import NOT_INVERSE, tree_edges

RESTARTS = 4
#: Of the starts that are not random: how many edges away neighbours count.
FIRST_ROUNDS = (0, 1, 6)
NO_NODE = -1


class Triples(NamedTuple):
    """What is compared of a graph, whose nodes are numbers.

    concepts (list[str]): Of each node.
    constants (Counter): Of (node, role, constant), the top among them.
    edges (Counter): Of (node, role, node).
    """

    concepts: list[str]
    constants: Counter[tuple[int, str, str]]
    edges: Counter[tuple[int, str, int]]

    @property
    def size(self) -> int:
        """How many triples there are."""
        return len(self.concepts) + self.constants.total() + self.edges.total()


@dataclass
class SmatchScore:
    """Counts of triples, which add up over sentences, and the scores of them.

    matched (int): Triples of the prediction that the gold graph has.
    predicted (int): Triples of the prediction.
    gold (int): Triples of the gold graph.
    ill_formed (int): Predictions that are no AMR and counted as empty graphs.
    """

    matched: int = 0
    predicted: int = 0
    gold: int = 0
    ill_formed: int = 0

    @property
    def precision(self) -> float:
        """Share of the predicted triples that match, from 0 to 1; 0 where there are none."""
        return self.matched / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold triples that match, from 0 to 1; 0 where there are none."""
        return self.matched / self.gold if self.gold else 0.0

    @property
    def f_score(self) -> float:
        """The harmonic mean of precision and recall, from 0 to 1."""
        total = self.predicted + self.gold
        return 2 * self.matched / total if self.predicted and self.gold else 0.0

    def __add__(self, other: "SmatchScore") -> "SmatchScore":
        return SmatchScore(
            self.matched + other.matched,
            self.predicted + other.predicted,
            self.gold + other.gold,
            self.ill_formed + other.ill_formed,
        )


def smatch(
    gold: Iterable[str],
    predicted: Iterable[str | None],
    *,
    restarts: int = RESTARTS,
    seed: int = 0,
    wiki: bool = False,
) -> SmatchScore:
    """Smatch of predicted AMRs, as text, over all sentences (micro average).

    gold, predicted (Iterable[str]): One graph a sentence, in the same order. A prediction that is None or no
        well-formed graph counts as an empty one.
    restarts (int): Random starts of the search, beside the first ones, which are by equal concepts.
    seed (int): Of the random starts; the same seed gives the same result.
    wiki (bool): Whether :wiki counts.
    RAISES (ValueError): For a gold graph that is not well-formed, and for different numbers of graphs.
    """
    return sum(
        smatch_scores(gold, predicted, restarts=restarts, seed=seed, wiki=wiki),
        start=SmatchScore(),
    )


def smatch_scores(
    gold: Iterable[str],
    predicted: Iterable[str | None],
    *,
    restarts: int = RESTARTS,
    seed: int = 0,
    wiki: bool = False,
) -> list[SmatchScore]:
    """As ``smatch``, but the score of each sentence."""
    if restarts < 0:
        raise ValueError(Errors.E241.format(restarts=restarts))
    return [
        SmatchScore(
            match(found, expected, restarts=restarts, seed=seed), found.size, expected.size, ill_formed
        )
        for expected, found, ill_formed in _pairs(gold, predicted, wiki)
    ]


def concept_scores(
    gold: Iterable[str], predicted: Iterable[str | None], *, wiki: bool = False
) -> SmatchScore:
    """The concepts alone, as bags, which needs no search. Arguments and errors as for ``smatch``."""
    total = SmatchScore()
    for expected, found, ill_formed in _pairs(gold, predicted, wiki):
        shared = (Counter(found.concepts) & Counter(expected.concepts)).total()
        total += SmatchScore(shared, len(found.concepts), len(expected.concepts), ill_formed)
    return total


def to_triples(tree: AmrTree, *, wiki: bool = False) -> Triples:
    """The triples of a well-formed tree.

    wiki (bool): Whether to keep :wiki.
    """
    edges = [edge for edge in tree_edges(tree) if wiki or edge.role != "wiki"]
    concepts = {edge.variable: edge.target for edge in edges if edge.role == "/"}
    numbers = {variable: number for number, variable in enumerate(concepts)}
    found = Triples([_normal(concept) for concept in concepts.values()], Counter(), Counter())
    found.constants[numbers[tree[0]], "top", "top"] += 1
    for variable, role, target, _ in edges:
        if role == "/":
            continue
        source, other = numbers[variable], numbers.get(target)
        is_inverse = role.endswith("-of") and role not in NOT_INVERSE
        if other is None:
            if not is_inverse and role != "mod":
                found.constants[source, _normal(role), _normal(target)] += 1
        elif is_inverse:
            found.edges[other, _normal(role.removesuffix("-of")), source] += 1
        elif role == "mod":
            found.edges[other, "domain", source] += 1
        else:
            found.edges[source, _normal(role), other] += 1
    return found


def match(a: Triples, b: Triples, *, restarts: int = RESTARTS, seed: int = 0) -> int:
    """The most triples that two graphs share under a mapping of nodes that hill-climbing finds."""
    if not a.concepts or not b.concepts:
        return 0
    search = _Search(a, b)
    rng = np.random.default_rng(seed)
    # No mapping can match more.
    bound = min(a.size, b.size)
    best = 0
    for start in range(len(FIRST_ROUNDS) + restarts):
        is_random = start >= len(FIRST_ROUNDS)
        mapping = search.random_mapping(rng) if is_random else search.first_mapping(FIRST_ROUNDS[start])
        best = max(best, search.climb(mapping))
        if best == bound:
            break
    return best


class _Search:
    """Hill-climbing over mappings: of each node of a (A of them) to a node of b (B), or to none.

    Attributes:
        single (DoubleArray): Triples that each pair of nodes shares by itself, shape [A + 1, B + 1]. The last
            column is for no node, the last row is never used; both are 0.
        pairs (IntArray): Nodes i -> j and k -> l that share an edge, shape [4, P].
        weights (DoubleArray): How many edges those share, shape [P].
    """

    def __init__(self, a: Triples, b: Triples) -> None:
        self.shape = len(a.concepts), len(b.concepts)
        self.single = np.zeros((self.shape[0], self.shape[1] + 1))
        for i, concept in enumerate(a.concepts):
            for j, other in enumerate(b.concepts):
                self.single[i, j] += concept == other
        for (i, role, constant), n in a.constants.items():
            for (j, other_role, other_constant), m in b.constants.items():
                if (role, constant) == (other_role, other_constant):
                    self.single[i, j] += min(n, m)
        pairs: list[tuple[int, int, int, int, int]] = []
        for (i, role, k), n in a.edges.items():
            for (j, other_role, m), n_other in b.edges.items():
                if role != other_role or (i == k) != (j == m):
                    continue
                if i == k:
                    self.single[i, j] += min(n, n_other)
                else:
                    pairs.append((i, j, k, m, min(n, n_other)))
        table = np.array(pairs, dtype=np.int64).reshape(-1, 5).T
        self.pairs, self.weights = table[:4], table[4].astype(np.float64)
        self._candidates = self.single[:, :-1] > 0
        self._candidates[self.pairs[0], self.pairs[1]] = True
        self._candidates[self.pairs[2], self.pairs[3]] = True

    def first_mapping(self, rounds: int) -> IntArray:
        """Greedy: the pairs that share the most, with what their neighbours share.

        rounds (int): How far neighbours count: each round takes in those one edge further (similarity
            flooding: Melnik et al. 2002).
        """
        worth = self.single
        for _ in range(rounds):
            scaled = worth / max(worth.max(initial=0.0), 1.0)
            worth = self.single.copy()
            np.add.at(
                worth, (self.pairs[0], self.pairs[1]), self.weights * scaled[self.pairs[2], self.pairs[3]]
            )
            np.add.at(
                worth, (self.pairs[2], self.pairs[3]), self.weights * scaled[self.pairs[0], self.pairs[1]]
            )
        left = worth[:, :-1].copy()
        mapping = np.full(self.shape[0], NO_NODE, dtype=np.int64)
        for _ in range(min(self.shape)):
            i, j = divmod(int(left.argmax()), self.shape[1])
            if left[i, j] <= 0:
                break
            mapping[i] = j
            left[i] = left[:, j] = -1
        return mapping

    def random_mapping(self, rng: np.random.Generator) -> IntArray:
        """Nodes in a random order, each with a random one of the free nodes that share something with it."""
        mapping = np.full(self.shape[0], NO_NODE, dtype=np.int64)
        free = np.ones(self.shape[1], dtype=bool)
        for i in rng.permutation(self.shape[0]):
            choices = np.flatnonzero(self._candidates[i] & free)
            if len(choices):
                mapping[i] = rng.choice(choices)
                free[mapping[i]] = False
        return mapping

    def climb(self, mapping: IntArray) -> int:
        """Take the best move or swap while one helps; how many triples match in the end."""
        value = self._value(mapping)
        while True:
            following = self._best_step(mapping)
            new_value = self._value(following)
            if new_value <= value:
                return round(value)
            mapping, value = following, new_value

    def _value(self, mapping: IntArray) -> float:
        i, j, k, m = self.pairs
        both = (mapping[i] == j) & (mapping[k] == m)
        return float(self.single[np.arange(len(mapping)), mapping].sum() + self.weights[both].sum())

    def _best_step(self, mapping: IntArray) -> IntArray:
        """The mapping after the move or swap that gains the most."""
        i, j, k, m = self.pairs
        left, right = mapping[i] == j, mapping[k] == m
        # What each pair shares with the other nodes where they are.
        gains = self.single.copy()
        np.add.at(gains, (i[right], j[right]), self.weights[right])
        np.add.at(gains, (k[left], m[left]), self.weights[left])
        nodes = np.arange(len(mapping))
        now = gains[nodes, mapping]
        moves = gains - now[:, None]
        moves[:, mapping[mapping != NO_NODE]] = -np.inf
        swaps = gains[:, mapping]
        swaps = swaps + swaps.T - now[:, None] - now
        # Edges between the two nodes: lost once, not twice; or there only after the swap.
        both, crossed = left & right, (mapping[k] == j) & (mapping[i] == m)
        for chosen in (both, crossed):
            np.add.at(swaps, (i[chosen], k[chosen]), self.weights[chosen])
            np.add.at(swaps, (k[chosen], i[chosen]), self.weights[chosen])
        following: IntArray = mapping.copy()
        node, target = divmod(int(moves.argmax()), moves.shape[1])
        first, second = divmod(int(swaps.argmax()), swaps.shape[1])
        if moves[node, target] >= swaps[first, second]:
            following[node] = target if target < self.shape[1] else NO_NODE
        else:
            following[[first, second]] = mapping[[second, first]]
        return following


def _pairs(
    gold: Iterable[str], predicted: Iterable[str | None], wiki: bool
) -> Iterator[tuple[Triples, Triples, int]]:
    """Triples of each gold graph and of its prediction, and 1 for an ill-formed prediction, else 0."""
    golds, predictions = list(gold), list(predicted)
    if len(golds) != len(predictions):
        raise ValueError(Errors.E240.format(gold=len(golds), predicted=len(predictions)))
    for number, (gold_text, text) in enumerate(zip(golds, predictions, strict=True), start=1):
        expected = to_triples(parse_penman(gold_text, f"gold AMR {number}"), wiki=wiki)
        try:
            found, ill_formed = to_triples(parse_penman(text or ""), wiki=wiki), 0
        except ValueError:
            found, ill_formed = Triples([], Counter(), Counter()), 1
        yield expected, found, ill_formed


def _normal(text: str) -> str:
    """Lower case, without quotes."""
    return text.removeprefix('"').removesuffix('"').lower().rstrip("_")
