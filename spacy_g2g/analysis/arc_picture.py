"""SVG pictures of graphs over words: arcs above the words of a sentence. Lengths are in px."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..formats.graph import MISSING, ROOT, Graph
from .compared_graph import ComparedGraph
from .page import escape, shorten, text_width

WORD_SIZE, LABEL_SIZE = 15.0, 11.0
WORD_GAP = 14.0
PORT_STEP = 6.0  # between arcs that leave a word on the same side
LEVEL_STEP = 19.0
FOOT = 4.0  # between the arrow tips and level 0 of the arcs
RADIUS = 7.0
MARGIN = 12.0


@dataclass(frozen=True, slots=True)
class Columns:
    """Horizontal positions of a sentence's words, shared by all its graphs.

    centers: Center of each word in px from the side of the first word.
    width: Width of the picture in px.
    right_to_left: Whether the first word is on the right.
    """

    centers: list[float]
    width: float
    right_to_left: bool

    def x(self, word: int, offset: float = 0.0) -> float:
        """Return the position ``offset`` px after the center of a word. Words count from 1."""
        x = self.centers[word - 1] + offset
        return round(self.width - x if self.right_to_left else x, 1)


def space_words(words: Sequence[str], graphs: Iterable[Graph]) -> Columns:
    """Choose positions at which words do not touch and each label fits above its arc."""
    widths = [max(20.0, text_width(shorten(word), WORD_SIZE)) for word in words]
    # Minimum distance between the ends of an arc, by the right end and the left end.
    distances: list[dict[int, float]] = [{} for _ in words]
    for graph in graphs:
        for i, ports in enumerate(_ports(graph)):
            n_ports = max((abs(port) for port in ports.values()), default=0)
            widths[i] = max(widths[i], 2 * PORT_STEP * (n_ports + 0.5))
        for word, head, dep in graph.links:
            needed = text_width(dep, LABEL_SIZE)
            if head in (ROOT, word):
                widths[word - 1] = max(widths[word - 1], needed)
            elif head != MISSING:
                left, right = sorted((word - 1, head - 1))
                distances[right][left] = max(distances[right].get(left, 0.0), needed + 2 * PORT_STEP)
    centers: list[float] = []
    for word, width in enumerate(widths):
        x = centers[-1] + (widths[word - 1] + width) / 2 + WORD_GAP if word else MARGIN + width / 2
        centers.append(max([x, *(centers[left] + needed for left, needed in distances[word].items())]))
    right_to_left = sum(map(_is_right_to_left, words)) > len(words) / 2
    return Columns(centers, centers[-1] + widths[-1] / 2 + MARGIN, right_to_left)


def _is_right_to_left(word: str) -> bool:
    """Return whether a word has a character that is written from right to left."""
    return not {"R", "AL"}.isdisjoint(map(unicodedata.bidirectional, word))


def _ports(graph: Graph) -> list[dict[int, int]]:
    """Return the ports of each word, from which arcs to its dependents leave, by index of the link.

    Ports count from the center of the word: 1, 2, ... towards later words and -1, -2, ... towards earlier
    words. The longest arc gets the innermost port, so that arcs of a projective tree do not cross.
    """
    ports: list[dict[int, int]] = [{} for _ in graph.heads]
    for link, word, head in sorted(_word_arcs(graph), key=lambda arc: -abs(arc[1] - arc[2])):
        side = 1 if word > head else -1
        head_ports = ports[head - 1]
        head_ports[link] = side * (1 + sum((port > 0) == (side > 0) for port in head_ports.values()))
    return ports


def arc_levels(graph: Graph) -> list[int]:
    """Return the level of each link, 1 for the lowest; 0 for roots and words without a head.

    An arc lies above each shorter arc with which it shares a gap between words. Of two equally long arcs, the
    arc of the later word lies above.
    """
    tops = [0] * (len(graph.heads) + 1)  # tops[i]: level above the gap after word i
    levels = [0] * len(graph.links)
    for link, word, head in sorted(_word_arcs(graph), key=lambda arc: abs(arc[1] - arc[2])):
        left, right = sorted((word, head))
        levels[link] = 1 + max(tops[left:right])
        tops[left:right] = [levels[link]] * (right - left)
    return levels


def _word_arcs(graph: Graph) -> list[tuple[int, int, int]]:
    """Return index, dependent and head of each link between words."""
    links = enumerate(graph.links)
    return [(i, word, head) for i, (word, head, _) in links if head not in (MISSING, ROOT, word)]


def draw_arcs(name: str, compared: ComparedGraph, columns: Columns) -> str:
    """Draw a graph as SVG."""
    words, graph = compared.words, compared.graph
    levels, ports, links = arc_levels(graph), _ports(graph), graph.links
    top = max(levels) + 1
    base = FOOT + top * LEVEL_STEP + LABEL_SIZE + 4
    parts = []
    # Low arcs are drawn last, so that their labels and hover areas are above the lines of long arcs.
    for i in sorted(range(len(links)), key=lambda i: -(levels[i] or top)):
        word, head, dep = links[i]
        if compared.is_partial and head == MISSING:
            continue
        x, y = columns.x(word), base - FOOT - LEVEL_STEP * (levels[i] or top)
        label_x = x
        if head == MISSING:
            path = f"M{x - 4},{base - 7}a4,4 0 1 0 8,0a4,4 0 1 0 -8,0"
        elif head in (ROOT, word):
            path = f"M{x},{base}V{y}" + _arrow(x, base)
        else:
            start = columns.x(head, PORT_STEP * ports[head - 1][i])
            path = arc_path(start, end=x, y=y, base=base) + _arrow(x, base)
            label_x = round((start + x) / 2, 1)
        line, label, title = "changed", "changed", compared.arc_text(word, (head, dep))
        if i < len(words):
            (line, label), title = compared.arc_kinds(word), compared.describe(word)
            if compared.is_doubtful(word):
                line, label = f"{line} doubtful", f"{label} doubtful"
        text = f'<text class="{label}" x="{label_x}" y="{y - 3}">{escape(dep)}</text>' if dep else ""
        parts.append(
            f'<g class="arc"><title>{escape(title)}</title><path class="hit" d="{path}"/>'
            f'<path class="{line}" d="{path}"/>{text}</g>'
        )
    for word, form in enumerate(words, start=1):
        whole = f"<title>{escape(form)}</title>" if shorten(form) != form else ""
        x, y = columns.x(word), base + WORD_SIZE
        parts.append(f'<text class="word" x="{x}" y="{y}">{whole}{escape(shorten(form))}</text>')
    width, height = round(columns.width), round(base + 1.5 * WORD_SIZE)
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(name)}">\n' + "\n".join(parts) + "\n</svg>"
    )


def arc_path(start: float, *, end: float, y: float, base: float) -> str:
    """Return the SVG path of an arc: up from the head, along at height ``y``, and down to the dependent."""
    turn = RADIUS if end > start else -RADIUS
    return (
        f"M{start},{base}V{y + RADIUS}Q{start},{y} {round(start + turn, 1)},{y}"
        f"H{round(end - turn, 1)}Q{end},{y} {end},{y + RADIUS}V{base}"
    )


def _arrow(x: float, base: float) -> str:
    return f"M{x},{base}l-3,-6M{x},{base}l3,-6"
