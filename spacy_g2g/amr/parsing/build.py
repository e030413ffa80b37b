"""From a state of the machine to a connected graph that can be written."""

from __future__ import annotations

from collections import Counter

from .actions import is_constant_label
from .graph import MAX_DEPTH, AmrGraph, Edge, unique_edges
from .machine import AmrState

# Concept of a sentence without any node.
EMPTY_LABEL = "amr-empty"
# Role of edges that connect parts of a graph.
REPAIR_ROLE = "mod"


def build_graph(state: AmrState) -> AmrGraph:
    """Return the graph of a state, final or not, repaired so that it is connected and can be written.

    Labeled items become nodes. If the machine chose no top, the top is the node with the most children, among
    nodes without a parent if there are any. Nodes without an edge are left out. Nodes that the top does not
    reach within MAX_DEPTH steps are attached to it by REPAIR_ROLE. A leaf with one parent is a constant if
    its label looks like one.
    """
    graph, nodes = _raw_graph(state)
    if not graph.labels:
        return AmrGraph([EMPTY_LABEL], [])
    parents, children = _count_edges(graph)
    # Of equal nodes, the first.
    best = max(range(len(graph.labels)), key=lambda node: (parents[node] == 0, children[node], -node))
    graph.top = best if state.root is None else nodes[state.root]
    _drop_lonely(graph)
    _attach(graph)
    parents, children = _count_edges(graph)
    graph.constants = frozenset(
        node
        for node, label in enumerate(graph.labels)
        if node != graph.top and parents[node] == 1 and not children[node] and is_constant_label(label)
    )
    return graph


def _raw_graph(state: AmrState) -> tuple[AmrGraph, dict[int, int]]:
    """Return the nodes by word with their edges, and the node of each item."""
    items = [item for item, label in enumerate(state.labels) if label is not None]
    items.sort(key=lambda item: (state.words[item], item))
    nodes = {item: node for node, item in enumerate(items)}
    graph = AmrGraph([state.labels[item] or "" for item in items], [])
    graph.edges = unique_edges(
        Edge(nodes[source], role, nodes[target]) for source, role, target in state.edges
    )
    for item, role, constant in state.constants:
        graph.edges.append(Edge(nodes[item], role, len(graph.labels)))
        graph.labels.append(constant)
    return graph, nodes


def _count_edges(graph: AmrGraph) -> tuple[Counter[int], Counter[int]]:
    """Return the number of edges that lead to each node, and of edges that leave it."""
    entering = Counter(edge.target for edge in graph.edges)
    return entering, Counter(edge.source for edge in graph.edges)


def _drop_lonely(graph: AmrGraph) -> None:
    """Remove nodes without an edge, except the top."""
    neighbors = graph.neighbors()
    nodes = [node for node in range(len(graph.labels)) if neighbors[node] or node == graph.top]
    new = {node: index for index, node in enumerate(nodes)}
    graph.labels = [graph.labels[node] for node in nodes]
    graph.edges = [Edge(new[source], role, new[target]) for source, role, target in graph.edges]
    graph.top = new[graph.top]


def _attach(graph: AmrGraph) -> None:
    """Attach to the top all nodes that it does not reach within MAX_DEPTH steps."""
    while True:
        steps = graph.distances()
        unreached = [node for node, n in enumerate(steps) if n is None]
        if unreached:
            parents, _ = _count_edges(graph)
            node = next((node for node in unreached if not parents[node]), unreached[0])
        else:
            node = next((node for node, n in enumerate(steps) if n == MAX_DEPTH + 1), -1)
        if node < 0:
            return
        graph.edges.append(Edge(graph.top, REPAIR_ROLE, node))
