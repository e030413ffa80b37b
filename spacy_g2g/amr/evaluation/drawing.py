"""An AMR as SVG: concepts in boxes from the top downwards, roles on the lines between them.

A line goes down from where its role is written, so that roles read as in the text of the AMR. Lines of which
the text has only a variable (reentrant ones) are dashed; those that close a cycle go up. The style is that of
the page, and whatever comes from the AMR is escaped. Lengths are in px.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from ...evaluation.page import escape, shorten, text_width
from ..formats.amr_file import AmrTree, parse_penman
from ..parsing.graph import canonical, forward_edge, split_marker
from .layered import Item, Link, place_items

CONCEPT_SIZE, ROLE_SIZE = 13.0, 11.0
BOX_HEIGHT, ROLE_HEIGHT = 26.0, 14.0
PADDING = 8.0  # beside a concept, in its box
BOX_GAP, ROLE_GAP, LINE_GAP = 14.0, 8.0, 10.0
PORT_STEP = 9.0  # between the lines that leave a box
LEAST_DROP, MOST_DROP, SLOPE = 13.0, 34.0, 0.1  # of lines between ranks: px, px, and px a px sideways
MARGIN = 4.0
LOOP = 16.0  # how far a line from a node to itself goes beyond the box

_NEW, _AGAIN = 2.0, 0.7  # how much a line wants to be short: one to a new node, a reentrant one
_STRAIGHT = 16.0  # and one that passes a rank


NOTE = (
    "AMR: the box with a thick edge is the top, slanted text is a constant. A dashed line leads to a concept "
    "that the text introduces at another place."
)


class Relation(NamedTuple):
    """A role as it is written: nodes by number, and whether only a variable is written for the target."""

    source: int
    role: str
    target: int
    is_reentrant: bool


@dataclass
class WrittenAmr:
    """What the text of an AMR says, in its order.

    variables: Of each node, the first of which is the top; "" for a constant.
    labels: Concept or constant of each node.
    relations: Without those that say the same as one before.
    """

    variables: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)

    @property
    def facts(self) -> str:
        """How many of what there are."""
        n_constants = self.variables.count("")
        n_reentrant = sum(relation.is_reentrant for relation in self.relations)
        counts = {
            "concept": len(self.labels) - n_constants,
            "constant": n_constants,
            "relation": len(self.relations),
            "reentrant one": n_reentrant,
        }
        return ", ".join(f"{n} {noun}{'' if n == 1 else 's'}" for noun, n in counts.items() if n)


def draw_figure(name: str, text: str, fact: str = "") -> str:
    """A figure with an AMR in PENMAN notation and, to be opened, its text; of an ill-formed one the error.

    fact: What there is to say of it beside what it has.
    """
    try:
        written = read_written(text)
        facts, picture = written.facts, draw_written(written)
    except ValueError as error:
        facts, picture = f"can't be drawn: {error}", ""
    facts = f"{facts} · {fact}" if fact else facts
    return (
        f'<figure><figcaption dir="ltr"><b>{escape(name)}</b> {escape(facts)}</figcaption>{picture}'
        f'<details dir="ltr"><summary>PENMAN</summary><pre>{escape(text)}</pre></details></figure>'
    )


def read_written(amr: str) -> WrittenAmr:
    """Return what is drawn of an AMR. Alignment markers are left out, :wiki stays.

    amr: An AMR in PENMAN notation.
    Raises ValueError for a text that is not a well-formed AMR.
    """
    tree = parse_penman(amr)
    branches = _branches(tree)
    found = WrittenAmr()
    nodes: dict[str, int] = {}
    for variable, role, target in branches:
        if role == "/":
            nodes[variable] = len(found.labels)
            found.variables.append(variable)
            found.labels.append(split_marker(target)[0] if isinstance(target, str) else "")
    seen = set()
    for variable, role, target in branches:
        if role == "/":
            continue
        name = split_marker(target)[0] if isinstance(target, str) else target[0]
        if name in nodes:
            node = nodes[name]
            key = canonical(forward_edge(nodes[variable], role, node))
            if key in seen:
                continue
            seen.add(key)
        else:
            node = len(found.labels)
            found.variables.append("")
            found.labels.append(name)
        is_reentrant = isinstance(target, str) and name in nodes
        found.relations.append(Relation(nodes[variable], role, node, is_reentrant))
    return found


def _branches(tree: AmrTree) -> list[tuple[str, str, str | AmrTree]]:
    """The branches of a tree and of those in it in the order of the text, roles without colon and marker."""
    found: list[tuple[str, str, str | AmrTree]] = []
    agenda: list[tuple[str, str, str | AmrTree]] = [(tree[0], *branch) for branch in reversed(tree[1])]
    while agenda:
        variable, role, target = agenda.pop()
        found.append((variable, split_marker(role)[0].removeprefix(":"), target))
        if not isinstance(target, str):
            agenda.extend((target[0], *branch) for branch in reversed(target[1]))
    return found


# Where things are


def find_layers(n: int, relations: Sequence[Relation]) -> tuple[list[int], list[bool]]:
    """The layer of each of n nodes, 0 for the top, and which relations close a cycle, so that they go up.

    A node is one layer below the lowest one with a relation to it that does not go up. A relation from a
    node to itself does not count.
    """
    leaving: list[list[int]] = [[] for _ in range(n)]
    for index, relation in enumerate(relations):
        leaving[relation.source].append(index)
    goes_up = [False] * len(relations)
    is_open, done = [False] * n, list[int]()
    is_open[0] = True
    visited = {0}
    agenda = [(0, list(reversed(leaving[0])))]
    while agenda:
        node, rest = agenda[-1]
        if not rest:
            agenda.pop()
            is_open[node] = False
            done.append(node)
            continue
        index = rest.pop()
        target = relations[index].target
        goes_up[index] = is_open[target]
        if target not in visited:
            visited.add(target)
            is_open[target] = True
            agenda.append((target, list(reversed(leaving[target]))))
    layers = [0] * n
    for node in reversed(done):
        for index in leaving[node]:
            if not goes_up[index]:
                target = relations[index].target
                layers[target] = max(layers[target], layers[node] + 1)
    return layers, goes_up


@dataclass
class _Layout:
    """The items in their ranks: even ranks have the nodes of a layer, odd ones roles; lines pass both.

    items: Nodes come first, by their numbers.
    chains: For each relation the items from its upper node to its lower one; none where they are the same.
    roles: For each relation the item of its role.
    """

    items: list[Item]
    links: list[Link]
    chains: list[list[int]]
    roles: list[int]


def _items(amr: WrittenAmr, layers: Sequence[int], goes_up: Sequence[bool]) -> _Layout:
    layout = _Layout([], [], [], [])
    loops = [
        sum(_loop_room(r.role) for r in amr.relations if r.source == r.target == node)
        for node in range(len(amr.labels))
    ]
    for node, label in enumerate(amr.labels):
        half = _box_width(label, is_constant=not amr.variables[node]) / 2
        layout.items.append(Item(2 * layers[node], half + BOX_GAP / 2, half + BOX_GAP / 2 + loops[node]))
    for relation, is_up in zip(amr.relations, goes_up, strict=True):
        upper, lower = relation.source, relation.target
        if upper == lower:
            layout.chains.append([])
            layout.roles.append(-1)
            continue
        if is_up:
            upper, lower = lower, upper
        first, last = 2 * layers[upper] + 1, 2 * layers[lower] - 1
        role_rank = last if is_up else first
        chain = [upper]
        for rank in range(first, last + 1):
            half = LINE_GAP / 2
            if rank == role_rank:
                half = (text_width(relation.role, ROLE_SIZE) + ROLE_GAP) / 2
                layout.roles.append(len(layout.items))
            chain.append(len(layout.items))
            layout.items.append(Item(rank, half, half))
        chain.append(lower)
        weight = _AGAIN if relation.is_reentrant else _NEW
        for one, other in pairwise(chain):
            passes = one >= len(amr.labels) and other >= len(amr.labels)
            layout.links.append(Link(one, other, _STRAIGHT if passes else weight))
        layout.chains.append(chain)
    return layout


def _box_width(label: str, *, is_constant: bool) -> float:
    return text_width(shorten(label), CONCEPT_SIZE) + (PADDING if is_constant else 2 * PADDING)


def _loop_room(role: str) -> float:
    return LOOP + text_width(role, ROLE_SIZE) + ROLE_GAP


def _rank_tops(layout: _Layout, places: Sequence[float]) -> list[float]:
    """The upper edge of each rank; lines that go far sideways get more height."""
    n_ranks = 1 + max(item.rank for item in layout.items)
    widest = [0.0] * n_ranks
    for link in layout.links:
        rank = layout.items[link.upper].rank
        widest[rank] = max(widest[rank], abs(places[link.upper] - places[link.lower]))
    tops = [MARGIN]
    for rank in range(n_ranks - 1):
        drop = min(MOST_DROP, max(LEAST_DROP, SLOPE * widest[rank]))
        tops.append(round(tops[-1] + _rank_height(rank) + drop, 1))
    return tops


def _rank_height(rank: int) -> float:
    return ROLE_HEIGHT if rank % 2 else BOX_HEIGHT


def _ports(layout: _Layout, places: Sequence[float], n_nodes: int) -> dict[tuple[int, int], float]:
    """Where the line from a node to an item of the next or last rank leaves the box, from its middle."""
    sides: dict[tuple[int, bool], list[int]] = {}
    for upper, lower, _ in layout.links:
        if upper < n_nodes:
            sides.setdefault((upper, True), []).append(lower)
        if lower < n_nodes:
            sides.setdefault((lower, False), []).append(upper)
    ports = {}
    for (node, _), others in sides.items():
        item = layout.items[node]
        room = 2 * item.left - BOX_GAP - 2 * PADDING
        step = min(PORT_STEP, room / max(1, len(others) - 1))
        for number, other in enumerate(sorted(others, key=places.__getitem__)):
            ports[node, other] = step * (number - (len(others) - 1) / 2)
    return ports


# SVG


def draw_written(amr: WrittenAmr) -> str:
    """The SVG of what ``read_written`` gave."""
    n = len(amr.labels)
    layout = _items(amr, *find_layers(n, amr.relations))
    places = [round(place + MARGIN - BOX_GAP / 2, 1) for place in place_items(layout.items, layout.links)]
    tops = _rank_tops(layout, places)
    ports = _ports(layout, places, n)
    parts = []
    loops = [0.0] * n
    for relation, chain, role in zip(amr.relations, layout.chains, layout.roles, strict=True):
        if chain:
            x, y = places[role], tops[layout.items[role].rank] + ROLE_HEIGHT - 3
            path = _line(layout, chain, role, places, tops, ports, is_up=chain[0] != relation.source)
        else:
            node = relation.source
            start = places[node] + layout.items[node].left - BOX_GAP / 2
            path, x = _loop(start, loops[node], tops[layout.items[node].rank], relation.role)
            y = tops[layout.items[node].rank] + BOX_HEIGHT / 2 + 4
            loops[node] += _loop_room(relation.role)
        parts.append(_draw_relation(amr, relation, path, round(x, 1), round(y, 1)))
    for node in range(n):
        parts.append(_draw_node(amr, node, places[node], tops[layout.items[node].rank]))
    ends = (place + item.right for place, item in zip(places, layout.items, strict=True))
    width, height = (
        round(max(ends) - BOX_GAP / 2 + MARGIN),
        round(tops[-1] + _rank_height(len(tops) - 1) + MARGIN),
    )
    title = f"AMR of {shorten(amr.labels[0])}: {amr.facts}"
    return (
        f'<svg class="amr" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
        f"<title>{escape(title)}</title>\n" + "\n".join(parts) + "\n</svg>"
    )


def _draw_relation(amr: WrittenAmr, relation: Relation, path: str, x: float, y: float) -> str:
    source, target = _name(amr, relation.source), _name(amr, relation.target)
    line = "reentrant" if relation.is_reentrant else "new"
    return (
        f'<g class="arc"><title>{escape(f"{source} :{relation.role} {target}")}</title>'
        f'<path class="hit" d="{path}"/><path class="{line}" d="{path}"/>'
        f'<text class="role" x="{x}" y="{y}">{escape(relation.role)}</text></g>'
    )


def _name(amr: WrittenAmr, node: int) -> str:
    variable = amr.variables[node]
    return f"({variable} / {amr.labels[node]})" if variable else amr.labels[node]


def _draw_node(amr: WrittenAmr, node: int, x: float, top: float) -> str:
    label = amr.labels[node]
    class_ = "concept" if amr.variables[node] else "constant"
    width = round(_box_width(label, is_constant=class_ == "constant"), 1)
    y = round(top + BOX_HEIGHT / 2 + 4.5, 1)
    box = ""
    if class_ == "concept":
        top_class = ' class="top"' if node == 0 else ""
        box = (
            f'<rect{top_class} x="{round(x - width / 2, 1)}" y="{top}" width="{width}" '
            f'height="{BOX_HEIGHT:g}" rx="6"/>'
        )
    return (
        f'<g class="node"><title>{escape(_name(amr, node))}</title>{box}'
        f'<text class="{class_}" x="{x}" y="{y}">{escape(shorten(label))}</text></g>'
    )


def _line(
    layout: _Layout,
    chain: Sequence[int],
    role: int,
    places: Sequence[float],
    tops: Sequence[float],
    ports: dict[tuple[int, int], float],
    *,
    is_up: bool,
) -> str:
    """A line from the upper to the lower node of a relation, open where its role is, with its tip."""
    pieces = []
    x = start = round(places[chain[0]] + ports[chain[0], chain[1]], 1)
    y = foot = tops[layout.items[chain[0]].rank] + BOX_HEIGHT
    pieces.append(f"M{x},{y}")
    for before, item in pairwise(chain):
        rank = layout.items[item].rank
        end = round(places[item] + ports.get((item, before), 0.0), 1)
        top = tops[rank]
        middle = round((y + top) / 2, 1)
        pieces.append(f"V{top}" if end == x else f"C{x},{middle} {end},{middle} {end},{top}")
        x, y = end, top
        if item == chain[-1]:
            break
        y = round(top + _rank_height(rank), 1)
        pieces.append(f"M{x},{y}" if item == role else f"V{y}")
    tip = f"M{start},{foot}l-3,6M{start},{foot}l3,6" if is_up else f"M{x},{y}l-3,-6M{x},{y}l3,-6"
    return "".join(pieces) + tip


def _loop(edge: float, offset: float, top: float, role: str) -> tuple[str, float]:
    """A line from the right edge of a box back to it, and the middle of its role's place."""
    x, y = round(edge, 1), round(top + BOX_HEIGHT / 2 - 9, 1)
    reach = round((offset + LOOP - 3) / 0.75, 1)
    path = f"M{x},{y}c{reach},-4 {reach},22 0,18l4,-5m-4,5l7,2"
    return path, edge + offset + LOOP + text_width(role, ROLE_SIZE) / 2
