"""Hill-climbing for the mapping of one graph's nodes to another's under which they share the most triples."""

import numpy as np

from ...arrays import IntArray
from .triples import Triples

#: Number of random starts of the search.
RESTARTS = 4
#: For each start that is not random, the distance in edges up to which neighbors count.
FIRST_ROUNDS = (0, 1, 6)
NO_NODE = -1


def best_mapping(a: Triples, *, b: Triples, restarts: int = RESTARTS, seed: int = 0) -> tuple[int, list[int]]:
    """Return the largest number of shared triples that the search finds, and the mapping that shares them.

    The mapping has a node of b, or NO_NODE, for each node of a.

    a: A graph.
    b: The other graph.
    restarts: Number of random starts, after the first ones from equal concepts.
    seed: Seed of the random starts.
    """
    best_count, best_nodes = 0, [NO_NODE] * len(a.concepts)
    if not a.concepts or not b.concepts:
        return best_count, best_nodes
    search = _MappingSearch(a, b)
    rng = np.random.default_rng(seed)
    for start in range(len(FIRST_ROUNDS) + restarts):
        is_random = start >= len(FIRST_ROUNDS)
        mapping = search.random_mapping(rng) if is_random else search.first_mapping(FIRST_ROUNDS[start])
        n_matched, mapping = search.climb(mapping)
        if n_matched > best_count:
            best_count, best_nodes = n_matched, mapping.tolist()
        # No mapping can match more.
        if best_count == min(a.size, b.size):
            break
    return best_count, best_nodes


class _MappingSearch:
    """Hill-climbing over mappings of the A nodes of one graph to the B nodes of another, or to no node.

    single: Triples that each pair of nodes shares by itself, float [A, B + 1]; the last column is "no node".
    pairs: Pairs of nodes i -> j and k -> l that share an edge, int [4, P].
    weights: Number of edges that each of these shares, float [P].
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
        """Return the greedy mapping: the pairs that share the most triples, neighbors' triples included.

        rounds: Distance up to which neighbors count, in edges (similarity flooding: Melnik et al. 2002).
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
        """Map each node, in random order, to a random free node that shares a triple with it."""
        mapping = np.full(self.shape[0], NO_NODE, dtype=np.int64)
        free = np.ones(self.shape[1], dtype=bool)
        for i in rng.permutation(self.shape[0]):
            choices = np.flatnonzero(self._candidates[i] & free)
            if len(choices):
                mapping[i] = rng.choice(choices)
                free[mapping[i]] = False
        return mapping

    def climb(self, mapping: IntArray) -> tuple[int, IntArray]:
        """Take the best move or swap while one helps. Return the number of shared triples and the mapping."""
        value = self._value(mapping)
        while True:
            following = self._best_step(mapping)
            new_value = self._value(following)
            if new_value <= value:
                return round(value), mapping
            mapping, value = following, new_value

    def _value(self, mapping: IntArray) -> float:
        i, j, k, m = self.pairs
        both = (mapping[i] == j) & (mapping[k] == m)
        return float(self.single[np.arange(len(mapping)), mapping].sum() + self.weights[both].sum())

    def _best_step(self, mapping: IntArray) -> IntArray:
        """Return the mapping after the move or swap that gains the most."""
        i, j, k, m = self.pairs
        left, right = mapping[i] == j, mapping[k] == m
        # Triples that each pair shares while the other nodes stay where they are.
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
