"""AMR graphs: labeled nodes, labeled edges and a top, read from trees and turned into them.

Banarescu et al.: Abstract Meaning Representation for sembanking (LAW 2013).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from .tree import AmrTree, tree_edges

Wiki = Literal["drop", "keep"]

# Roles that end in -of without being the inverse of another role.
NOT_INVERSE = frozenset(("consist-of", "prep-on-behalf-of", "prep-out-of"))
INVERSE = {"mod": "domain", "domain": "mod"}
# Recursive readers, such as the penman package, cannot read deeper trees.
MAX_DEPTH = 200


class Edge(NamedTuple):
    """An edge in its forward direction; `source` and `target` are indices of nodes."""

    source: int
    role: str
    target: int


@dataclass
class AmrGraph:
    """An AMR. Its constants are also nodes: leaves with one parent.

    labels: Concept or constant of each node (quotes included), in the order of the text.
    edges: Edges in the order of the text, in forward direction: (x :ARG0-of y) is the edge y ARG0 x.
    top: The node that the text begins with.
    constants: The nodes that are constants.
    markers: Words, counted from 0, that alignment markers (~e.5) give a node.
    """

    labels: list[str]
    edges: list[Edge]
    top: int = 0
    constants: frozenset[int] = frozenset()
    markers: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def from_tree(cls, tree: AmrTree, wiki: Wiki = "drop") -> AmrGraph:
        """Return the graph of a well-formed tree.

        Inverse roles are turned around, other roles stay as written. Of equivalent edges (see `canonical`)
        the first is kept.

        tree: The tree.
        wiki: Whether to drop or keep `:wiki`.
        """
        variables = {edge.variable for edge in tree_edges(tree)}
        graph, nodes = cls([], []), dict[str, int]()
        constants = set[int]()
        reentrant = dict[int, tuple[int, ...]]()
        for variable, role, target, words in tree_edges(tree):
            if role == "wiki" and wiki == "drop":
                continue
            source = graph._node(variable, nodes)
            if role == "/":
                graph.labels[source] = target
                node = source
            elif target in variables:
                node = graph._node(target, nodes)
                graph.edges.append(forward_edge(source, role, node))
            else:
                node = len(graph.labels)
                graph.labels.append(target)
                constants.add(node)
                graph.edges.append(Edge(source, role, node))
            if words and (role == "/" or node in constants):
                graph.markers[node] = words
            elif words:
                # A reentrant mention of a node; the marker of its concept comes first.
                reentrant.setdefault(node, words)
        graph.edges = unique_edges(graph.edges)
        graph.constants = frozenset(constants)
        graph.markers = reentrant | graph.markers
        return graph

    def to_tree(self) -> AmrTree:
        """Return the tree of a connected graph: each node stands where the graph first reaches it."""
        names = _variables(self.labels, {self.labels[node] for node in self.constants})
        trees: list[AmrTree] = [
            (name, [("/", label)]) for name, label in zip(names, self.labels, strict=True)
        ]
        for node, branches in enumerate(self._branches()):
            for role, target, is_new in branches:
                leaf = self.labels[target] if target in self.constants else names[target]
                is_tree = is_new and target not in self.constants
                trees[node][1].append((f":{role}", trees[target] if is_tree else leaf))
        return trees[self.top]

    def distances(self) -> list[int | None]:
        """Return the number of edges, in any direction, from the top to each node; None if unreachable."""
        distances: list[int | None] = [None] * len(self.labels)
        for node, (_, _, parent) in self._spanning_tree().items():
            distances[node] = 0 if parent is None else (distances[parent] or 0) + 1
        return distances

    def neighbors(self) -> list[list[int]]:
        """Return the nodes that share an edge with each node, in the order of the edges."""
        neighbors: list[list[int]] = [[] for _ in self.labels]
        for source, _, target in self.edges:
            neighbors[source].append(target)
            neighbors[target].append(source)
        return neighbors

    def _node(self, variable: str, nodes: dict[str, int]) -> int:
        """Return the node of a variable, a new one at its first mention."""
        if variable not in nodes:
            nodes[variable] = len(self.labels)
            self.labels.append("")
        return nodes[variable]

    def _spanning_tree(self) -> dict[int, tuple[int | None, bool, int | None]]:
        """Return the edge of each reachable node, whether it is forward, and the parent, breadth first."""
        edges: list[list[tuple[bool, int]]] = [[] for _ in self.labels]
        for index, (source, _, target) in enumerate(self.edges):
            edges[source].append((False, index))
            edges[target].append((True, index))
        tree: dict[int, tuple[int | None, bool, int | None]] = {self.top: (None, True, None)}
        queue = [self.top]
        for node in queue:
            # Forward edges first.
            for is_inverse, index in sorted(edges[node]):
                edge = self.edges[index]
                other = edge.source if is_inverse else edge.target
                if other not in tree:
                    tree[other] = index, not is_inverse, node
                    queue.append(other)
        return tree

    def _branches(self) -> list[list[tuple[str, int, bool]]]:
        """Return each node's branches in the text: role, target, whether the branch introduces the target."""
        tree = self._spanning_tree()
        assert len(tree) == len(self.labels), "The graph is not connected."
        introduced = {index: is_forward for index, is_forward, _ in tree.values() if index is not None}
        branches: list[list[tuple[str, int, bool]]] = [[] for _ in self.labels]
        for index, (source, role, target) in enumerate(self.edges):
            if introduced.get(index, True):
                branches[source].append((role, target, index in introduced))
            else:
                branches[target].append((INVERSE.get(role, f"{role}-of"), source, True))
        return branches


def forward_edge(source: int, role: str, target: int) -> Edge:
    """Return the edge that a written role stands for."""
    if role.endswith("-of") and role not in NOT_INVERSE:
        return Edge(target, role.removesuffix("-of"), source)
    return Edge(source, role, target)


def canonical(edge: Edge) -> Edge:
    """Return the standard form among equivalent edges: a mod b for b domain a."""
    return Edge(edge.target, "mod", edge.source) if edge.role == "domain" else edge


def unique_edges(edges: Iterable[Edge]) -> list[Edge]:
    """Return the edges without those equivalent to an earlier edge."""
    unique: dict[Edge, Edge] = {}
    for edge in edges:
        unique.setdefault(canonical(edge), edge)
    return list(unique.values())


def _variables(labels: list[str], constants: Collection[str]) -> list[str]:
    """Return a variable for each label: its first letter, followed by a number from the second use on.

    No variable equals a constant, which would be read as the variable.
    """
    names: list[str] = []
    counts: Counter[str] = Counter()
    for label in labels:
        initial = next((c for c in label.lower() if "a" <= c <= "z"), "x")
        name = ""
        while not name or name in constants:
            counts[initial] += 1
            name = initial if counts[initial] == 1 else f"{initial}{counts[initial]}"
        names.append(name)
    return names
