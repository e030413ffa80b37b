"""AMR graphs: labelled nodes, labelled edges, a top; from the trees of PENMAN notation and back to its text.

Banarescu et al.: Abstract Meaning Representation for sembanking (LAW 2013).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ...errors import Errors
from .tree import INDENT, AmrTree, tree_edges

Wiki = Literal["drop", "keep"]

# Roles that end in -of and are not the inverse of another one.
NOT_INVERSE = frozenset(("consist-of", "prep-on-behalf-of", "prep-out-of"))
INVERSE = {"mod": "domain", "domain": "mod"}
# Deeper trees can't be read by recursive readers, as that of the penman package.
MAX_DEPTH = 200


class Edge(NamedTuple):
    """An edge in its forward direction: `source` and `target` are indices of nodes."""

    source: int
    role: str
    target: int


@dataclass
class AmrGraph:
    """An AMR; constants are nodes, too: leaves with one parent.

    Attributes:
        labels: Concept or constant of each node (quotes included), in the order of the text.
        edges: In the order of the text, in forward direction: (x :ARG0-of y) is the edge y ARG0 x.
        top: The node that the text begins with.
        constants: The nodes that are constants.
        markers: The words, counted from 0, that alignment markers (~e.5) give a node.
    """

    labels: list[str]
    edges: list[Edge]
    top: int = 0
    constants: frozenset[int] = frozenset()
    markers: dict[int, tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def from_tree(cls, tree: AmrTree, wiki: Wiki = "drop") -> AmrGraph:
        """The graph of a tree, which is well-formed (see `formats.amr.parse_penman`).

        Inverse roles are turned around, other ones stay as they are written. Of the edges that say the same
        the first is kept, see `canonical`.

        Args:
            tree: The tree.
            wiki: Whether to leave out `:wiki` or keep it.
        """
        variables = {edge.variable for edge in tree_edges(tree)}
        graph, nodes = cls([], []), dict[str, int]()
        constants = set[int]()
        again = dict[int, tuple[int, ...]]()
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
                node = graph._node(None, nodes, target)
                constants.add(node)
                graph.edges.append(Edge(source, role, node))
            if words and (role == "/" or node in constants):
                graph.markers[node] = words
            elif words:
                # Of a node that is named once more; its own marker goes first.
                again.setdefault(node, words)
        graph.edges = unique_edges(graph.edges)
        graph.constants = frozenset(constants)
        graph.markers = again | graph.markers
        return graph

    def to_penman(self) -> str:
        """The text of the graph in PENMAN notation, over several lines, without a line end at its end.

        Raises:
            ValueError: If the graph is not connected.
        """
        branches = self._branches()
        names = _variables(self.labels, {self.labels[node] for node in self.constants})
        pieces: list[str] = []
        agenda: list[str | tuple[int, int]] = [(self.top, 1)]
        while agenda:
            item = agenda.pop()
            if isinstance(item, str):
                pieces.append(item)
                continue
            node, depth = item
            pieces.append(f"({names[node]} / {self.labels[node]}")
            parts: list[str | tuple[int, int]] = []
            for role, target, is_new in branches[node]:
                parts.append(f"\n{INDENT * depth}:{role} ")
                if target in self.constants:
                    parts.append(self.labels[target])
                else:
                    parts.append((target, depth + 1) if is_new else names[target])
            agenda.append(")")
            agenda.extend(reversed(parts))
        return "".join(pieces)

    def distances(self) -> list[int | None]:
        """Steps from the top to each node, along edges of any direction; None where there is no way."""
        found: list[int | None] = [None] * len(self.labels)
        for node, (_, _, parent) in self._spanning_tree().items():
            found[node] = 0 if parent is None else (found[parent] or 0) + 1
        return found

    def parents(self) -> list[int]:
        """How many edges lead to each node."""
        return _count((edge.target for edge in self.edges), len(self.labels))

    def children(self) -> list[int]:
        """How many edges leave each node."""
        return _count((edge.source for edge in self.edges), len(self.labels))

    def neighbours(self) -> list[list[int]]:
        """The nodes that share an edge with each node, in the order of the edges."""
        found: list[list[int]] = [[] for _ in self.labels]
        for source, _, target in self.edges:
            found[source].append(target)
            found[target].append(source)
        return found

    def _node(self, variable: str | None, nodes: dict[str, int], label: str = "") -> int:
        """The node of a variable, or a new one for a constant."""
        if variable is not None and variable in nodes:
            return nodes[variable]
        self.labels.append(label)
        if variable is not None:
            nodes[variable] = len(self.labels) - 1
        return len(self.labels) - 1

    def _spanning_tree(self) -> dict[int, tuple[int | None, bool, int | None]]:
        """Of nodes that can be reached, breadth first: index of the edge to it, is it forward, parent."""
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
        """The branches of each node in the text: role, target, whether the target is introduced there."""
        tree = self._spanning_tree()
        if len(tree) < len(self.labels):
            raise ValueError(Errors.E130.format(n=len(self.labels) - len(tree), total=len(self.labels)))
        introduced = {index: is_forward for index, is_forward, _ in tree.values() if index is not None}
        branches: list[list[tuple[str, int, bool]]] = [[] for _ in self.labels]
        for index, (source, role, target) in enumerate(self.edges):
            if introduced.get(index, True):
                branches[source].append((role, target, index in introduced))
            else:
                branches[target].append((inverse_role(role), source, True))
        return branches


def forward_edge(source: int, role: str, target: int) -> Edge:
    """The edge that a written role stands for."""
    if role.endswith("-of") and role not in NOT_INVERSE:
        return Edge(target, role.removesuffix("-of"), source)
    return Edge(source, role, target)


def canonical(edge: Edge) -> Edge:
    """The one of the edges that say the same: a mod b for b domain a."""
    return Edge(edge.target, "mod", edge.source) if edge.role == "domain" else edge


def unique_edges(edges: Iterable[Edge]) -> list[Edge]:
    """The edges without those that say the same as one before."""
    found: dict[Edge, Edge] = {}
    for edge in edges:
        found.setdefault(canonical(edge), edge)
    return list(found.values())


def inverse_role(role: str) -> str:
    """The role that is written for an edge from its target's side."""
    return INVERSE.get(role, f"{role}-of")


def _variables(labels: list[str], constants: Collection[str]) -> list[str]:
    """A variable for each label: its first letter, with a number from the second such one on.

    None of them is a constant's text, which would be read as that variable.
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


def _count(nodes: Iterable[int], n: int) -> list[int]:
    counts = [0] * n
    for node in nodes:
        counts[node] += 1
    return counts
