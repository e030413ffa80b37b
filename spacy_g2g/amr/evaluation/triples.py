"""The triples of an AMR that Smatch compares."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from ..parsing.graph import NOT_INVERSE
from ..parsing.tree import AmrTree, TreeEdge, tree_edges

#: (node, role, node or constant); nodes are numbers.
Triple = tuple[int, str, int | str]


class Triples(NamedTuple):
    """The triples of a graph, whose nodes are numbered in the order of the text.

    concepts: Concept of each node.
    constants: Count of each (node, role, constant), including the top.
    edges: Count of each (node, role, node).
    """

    concepts: list[str]
    constants: Counter[tuple[int, str, str]]
    edges: Counter[tuple[int, str, int]]

    @property
    def size(self) -> int:
        """Number of triples."""
        return len(self.concepts) + self.constants.total() + self.edges.total()


def to_triples(tree: AmrTree, *, wiki: bool = False) -> Triples:
    """Return the triples of a well-formed tree.

    tree: The tree.
    wiki: Whether to keep :wiki.
    """
    edges = [edge for edge in tree_edges(tree) if wiki or edge.role != "wiki"]
    concepts = {edge.variable: edge.target for edge in edges if edge.role == "/"}
    nodes = {variable: node for node, variable in enumerate(concepts)}
    triples = Triples([_normal(concept) for concept in concepts.values()], Counter(), Counter())
    triples.constants[nodes[tree[0]], "top", "top"] += 1
    for edge in edges:
        triple = find_triple(edge, nodes) if edge.role != "/" else None
        if triple is None:
            continue
        source, role, target = triple
        if isinstance(target, int):
            triples.edges[source, role, target] += 1
        else:
            triples.constants[source, role, target] += 1
    return triples


def find_triple(edge: TreeEdge, nodes: Mapping[str, int]) -> Triple | None:
    """Return the triple of a branch; None for a constant under an inverse role or :mod, which does not count.

    edge: A branch that is not a concept.
    nodes: The node of each variable.
    """
    source, target = nodes[edge.variable], nodes.get(edge.target)
    is_inverse = edge.role.endswith("-of") and edge.role not in NOT_INVERSE
    if target is None:
        if is_inverse or edge.role == "mod":
            return None
        return source, _normal(edge.role), _normal(edge.target)
    if is_inverse:
        return target, _normal(edge.role.removesuffix("-of")), source
    return (target, "domain", source) if edge.role == "mod" else (source, _normal(edge.role), target)


def _normal(text: str) -> str:
    """Return the text in lower case, without quotes."""
    return text.removeprefix('"').removesuffix('"').lower().rstrip("_")
