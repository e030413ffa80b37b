"""Trees as a page: for each sentence its graphs, of iterations or of systems, one under the other, as SVG.

Other figures of a sentence, made elsewhere, may follow them.

The page is self-contained HTML without scripts and without addresses. Whatever comes from words, labels
and titles is escaped. Lengths are in px.
"""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import Errors
from ..formats.graphs import MISSING, ROOT, Graph
from .page import escape, make_page, shorten, text_width

COMPARED = "Labels count with their subtypes, punctuation counts."

WORD_SIZE, LABEL_SIZE = 15.0, 11.0
WORD_GAP = 14.0
PORT_STEP = 6.0  # between the arcs that leave a word to one side
LEVEL_STEP = 19.0
FOOT = 4.0  # from the arrow tips to the level 0 of arcs
RADIUS = 7.0
MARGIN = 12.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """A sentence and its graphs.

    words: Words of the sentence, one or more.
    graphs: Graphs by name, the initial one first.
    gold: The right tree. Heads of -1 and labels of "" in it are not known.
    name: Name of the sentence, such as its "sent_id".
    text: Text of the sentence.
    are_steps: Whether each graph came from the one before. Then changes are shown, and gold comes last, to be
        opened. Otherwise gold is drawn first.
    more: Further figures as HTML, which follow the trees.
    """

    words: Sequence[str]
    graphs: Mapping[str, Graph]
    gold: Graph | None = None
    name: str = ""
    text: str = ""
    are_steps: bool = True
    more: Sequence[str] = ()


def draw_page(drawings: Iterable[Drawing], *, title: str) -> str:
    """The HTML page of these sentences, with a legend.

    RAISES (ValueError): for a graph that does not fit the words of its sentence.
    """
    return make_page(title, f"<h1>{escape(title)}</h1>\n{draw_sentences(drawings)}")


def draw_sentences(drawings: Iterable[Drawing], *, level: int = 2, compared: str = COMPARED) -> str:
    """The part of a page that shows these sentences, with a legend. Errors as for ``draw_page``.

    level: Of the headings. compared: What counts in labels and heads, for the legend.
    """
    drawings = list(drawings)
    sections = [_draw_sentence(number, drawing, level) for number, drawing in enumerate(drawings, start=1)]
    legend = _draw_legend(drawings, compared) if sections else "<p>No sentence to show.</p>"
    return "\n".join([legend, *sections])


# What an arc is like

#: By whether an arc changed, was right before, and is right now: class of its line and of its label.
_KINDS = {
    (False, False, False): "wrong",
    (False, True, True): "same",
    (True, False, False): "moved",
    (True, False, True): "fixed",
    (True, True, False): "broken",
    (True, True, True): "changed",
}
_WRONG = ("wrong", "broken", "moved")
_LEGEND_OF_BOTH = {"fixed": "wrong to right", "broken": "right to wrong", "moved": "wrong to wrong"}


def arc_kinds(word: int, graph: Graph, before: Graph | None, gold: Graph | None) -> tuple[str, str]:
    """Compare the head of a word, and its head and label together, with another graph and with gold.

    Each is "same" or "changed" if gold is not known. Otherwise it is "same" (right as before), "wrong" (as
    before), "fixed", "broken", "moved" (from wrong to wrong), or "changed" (right, with a new label that gold
    does not know).

    word: Number of the word, from 1.
    graph: The graph that has the arc.
    before: The graph of the iteration before, or None.
    gold: The right tree, or None.
    """
    arc = graph.arc(word)
    old_arc = arc if before is None else before.arc(word)
    if gold is None or gold.arc(word)[0] == MISSING:
        return "changed" if old_arc[0] != arc[0] else "same", "changed" if old_arc != arc else "same"
    right_head, right_dep = gold.arc(word)
    was_right, is_right = (a[0] == right_head and right_dep in ("", a[1]) for a in (old_arc, arc))
    of_head = _KINDS[old_arc[0] != arc[0], old_arc[0] == right_head, arc[0] == right_head]
    return of_head, _KINDS[old_arc != arc, was_right, is_right]


def _facts(words: Sequence[str], graph: Graph, before: Graph | None, gold: Graph | None) -> list[str]:
    """Return what the caption of a graph says after its name."""
    if graph.is_empty:
        return ["no arcs"]
    facts = []
    n = len(words)
    kinds = [arc_kinds(word, graph, before, gold)[1] for word in range(1, n + 1)]
    if before is not None:
        n_changed = n - kinds.count("same") - kinds.count("wrong")
        facts.append(f"{_count(n_changed, 'arc')} changed" if n_changed else "nothing changed")
        facts += [f"{kinds.count(kind)} {text}" for kind, text in _LEGEND_OF_BOTH.items() if kind in kinds]
    if gold is not None:
        n_known = sum(head != MISSING for head in gold.heads)
        n_wrong = sum(kinds.count(kind) for kind in _WRONG)
        facts.append(f"{n_known - n_wrong} of {n_known} right")
    n_roots, n_headless = list(graph.heads).count(ROOT), list(graph.heads).count(MISSING)
    if n_headless:
        facts.append(f"{_count(n_headless, 'word')} without head")
    if n_roots != 1:
        facts.append(_count(n_roots, "root"))
    if cycle := graph.find_cycle():
        facts.append("cycle: " + " ← ".join(words[word - 1] for word in (*cycle, cycle[0])))
    return facts


def _count(n: int, noun: str) -> str:
    return f"{n or 'no'} {noun}{'' if n == 1 else 's'}"


def _describe(words: Sequence[str], word: int, graph: Graph, before: Graph | None, gold: Graph | None) -> str:
    """Return the text that a word's arc shows under the pointer."""
    lines = [_arc_text(words, word, graph)]
    if graph.arc(word)[0] != MISSING and graph.head_probs:
        dep_prob = f", label {graph.dep_probs[word - 1]:.1%}" if graph.dep_probs else ""
        lines.append(f"head {graph.head_probs[word - 1]:.1%}{dep_prob}")
    if before is not None and before.arc(word) != graph.arc(word):
        lines.append(f"before: {_arc_text(words, word, before)}")
    if gold is not None and arc_kinds(word, graph, before, gold)[1] in _WRONG:
        lines.append(f"gold: {_arc_text(words, word, gold)}")
    return "\n".join(lines)


def _arc_text(words: Sequence[str], word: int, graph: Graph) -> str:
    head, dep = graph.arc(word)
    if head == MISSING:
        return f"{words[word - 1]}: no head"
    return f"{words[word - 1]} ← {words[head - 1] if head else 'ROOT'}: {dep or 'no label'}"


# Where things are


@dataclass(frozen=True, slots=True)
class _Columns:
    """The places of the words from left to right, the same for all graphs of a sentence."""

    centres: list[float]
    width: float
    right_to_left: bool

    def x(self, word: int, offset: float = 0.0) -> float:
        """Return the place that is ``offset`` px towards later words from a word, counted from 1."""
        x = self.centres[word - 1] + offset
        return round(self.width - x if self.right_to_left else x, 1)


def _place_words(words: Sequence[str], graphs: Iterable[Graph]) -> _Columns:
    """Columns so wide that no words touch and that each label fits over its arc."""
    widths = [max(20.0, text_width(shorten(word), WORD_SIZE)) for word in words]
    room: list[dict[int, float]] = [{} for _ in words]  # by the right end and the left end of an arc
    for graph in graphs:
        for i, ports in enumerate(_ports(graph.heads)):
            n_ports = max((abs(port) for port in ports.values()), default=0)
            widths[i] = max(widths[i], 2 * PORT_STEP * (n_ports + 0.5))
        for i, (head, dep) in enumerate(zip(graph.heads, graph.deps, strict=True)):
            needed = text_width(dep, LABEL_SIZE)
            if head in (ROOT, i + 1):
                widths[i] = max(widths[i], needed)
            elif head != MISSING:
                left, right = sorted((i, head - 1))
                room[right][left] = max(room[right].get(left, 0.0), needed + 2 * PORT_STEP)
    centres: list[float] = []
    for word, width in enumerate(widths):
        x = centres[-1] + (widths[word - 1] + width) / 2 + WORD_GAP if word else MARGIN + width / 2
        centres.append(max([x, *(centres[left] + needed for left, needed in room[word].items())]))
    right_to_left = sum(map(_is_right_to_left, words)) > len(words) / 2
    return _Columns(centres, centres[-1] + widths[-1] / 2 + MARGIN, right_to_left)


def _is_right_to_left(word: str) -> bool:
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in word)


def _ports(heads: Sequence[int]) -> list[dict[int, int]]:
    """Return for each word, by dependent, the place on the word from which the arc leaves.

    Places count from the middle of the word, 1, 2, ... to later words and -1, -2, ... to earlier ones. The
    longest arc is the innermost, so that arcs of a projective tree do not cross.
    """
    ports: list[dict[int, int]] = [{} for _ in heads]
    for word, head in sorted(_arcs(heads), key=lambda arc: -abs(arc[0] - arc[1])):
        side = 1 if word > head else -1
        taken = ports[head - 1]
        taken[word] = side * (1 + sum((place > 0) == (side > 0) for place in taken.values()))
    return ports


def arc_levels(heads: Sequence[int]) -> list[int]:
    """Return the height of each word's arc, 1 for the lowest, and 0 for roots and words without a head.

    An arc lies above each shorter arc with which it shares a gap between words. If both are as long, the arc
    of the later word is above.
    """
    levels, tops = [0] * len(heads), [0] * (len(heads) + 1)  # tops[i]: over the gap after word i
    for word, head in sorted(_arcs(heads), key=lambda arc: abs(arc[0] - arc[1])):
        left, right = sorted((word, head))
        levels[word - 1] = 1 + max(tops[left:right])
        tops[left:right] = [levels[word - 1]] * (right - left)
    return levels


def _arcs(heads: Sequence[int]) -> list[tuple[int, int]]:
    """Return dependent and head of each arc between words."""
    return [(word, head) for word, head in enumerate(heads, start=1) if head not in (MISSING, ROOT, word)]


# SVG and HTML


def _draw_sentence(number: int, drawing: Drawing, level: int) -> str:
    gold = drawing.gold
    named = [*drawing.graphs.items(), *([("gold", gold)] if gold else [])]
    for name, graph in named:
        _check(drawing.words, name, graph)
    columns = _place_words(drawing.words, [graph for _, graph in named])
    figures = []
    before: Graph | None = None
    for name, graph in drawing.graphs.items():
        figures.append(_draw_figure(name, drawing.words, graph, before, gold, columns))
        # All would be new beside a graph without arcs.
        before = graph if drawing.are_steps and not graph.is_empty else None
    if gold is not None:
        figure = _draw_figure("gold", drawing.words, gold, None, None, columns)
        folded = f"<details><summary>gold</summary>{figure}</details>"
        figures = [*figures, folded] if drawing.are_steps else [figure, *figures]
    shown = "trees" if figures else "graphs"
    figures += drawing.more
    name = f"{number}" + (f" · {drawing.name}" if drawing.name else "")
    return (
        f'<section>\n<h{level}>{escape(name)}</h{level}>\n<p dir="auto">{escape(drawing.text)}</p>\n'
        f'<div class="box" tabindex="0" role="region" aria-label="{shown} of sentence {number}"'
        f' dir="{"rtl" if columns.right_to_left else "ltr"}">\n' + "\n".join(figures) + "\n</div>\n</section>"
    )


def _check(words: Sequence[str], name: str, graph: Graph) -> None:
    n = len(words)
    lengths = {len(graph.heads), len(graph.deps)}
    lengths |= {len(probs) for probs in (graph.head_probs, graph.dep_probs) if probs}
    if lengths != {n}:
        raise ValueError(Errors.E370.format(name=name, found=sorted(lengths), expected=n))
    bad = [head for head in graph.heads if not MISSING <= head <= n]
    if bad:
        raise ValueError(Errors.E371.format(name=name, heads=bad, last=n))


def _draw_figure(
    name: str,
    words: Sequence[str],
    graph: Graph,
    before: Graph | None,
    gold: Graph | None,
    columns: _Columns,
) -> str:
    facts = " · ".join(_facts(words, graph, before, gold))
    caption = f'<figcaption dir="ltr"><b>{escape(name)}</b> {escape(facts)}</figcaption>'
    picture = "" if graph.is_empty else _draw_graph(name, words, graph, before, gold, columns)
    return f"<figure>{caption}{picture}</figure>"


def _draw_graph(
    name: str,
    words: Sequence[str],
    graph: Graph,
    before: Graph | None,
    gold: Graph | None,
    columns: _Columns,
) -> str:
    levels, ports = arc_levels(graph.heads), _ports(graph.heads)
    top = max(levels) + 1
    base = FOOT + top * LEVEL_STEP + LABEL_SIZE + 4
    parts = []
    # Low arcs come last: their labels, and the pointer's places, are above the long lines that pass.
    for i in sorted(range(len(words)), key=lambda i: -(levels[i] or top)):
        word = i + 1
        head, dep = graph.arc(word)
        x, y = columns.x(word), base - FOOT - LEVEL_STEP * (levels[i] or top)
        label_x = x
        if head == MISSING:
            path = f"M{x - 4},{base - 7}a4,4 0 1 0 8,0a4,4 0 1 0 -8,0"
        elif head in (ROOT, word):
            path = f"M{x},{base}V{y}" + _arrow(x, base)
        else:
            start = columns.x(head, PORT_STEP * ports[head - 1][word])
            path = _arc(start, x, y, base) + _arrow(x, base)
            label_x = round((start + x) / 2, 1)
        line, label = arc_kinds(word, graph, before, gold)
        title = escape(_describe(words, word, graph, before, gold))
        text = f'<text class="{label}" x="{label_x}" y="{y - 3}">{escape(dep)}</text>' if dep else ""
        parts.append(
            f'<g class="arc"><title>{title}</title><path class="hit" d="{path}"/>'
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


def _arc(start: float, end: float, y: float, base: float) -> str:
    """A line up from the head, along at height ``y``, and down to the dependent."""
    turn = RADIUS if end > start else -RADIUS
    return (
        f"M{start},{base}V{y + RADIUS}Q{start},{y} {round(start + turn, 1)},{y}"
        f"H{round(end - turn, 1)}Q{end},{y} {end},{y + RADIUS}V{base}"
    )


def _arrow(x: float, base: float) -> str:
    return f"M{x},{base}l-3,-6M{x},{base}l3,-6"


def _draw_legend(drawings: Sequence[Drawing], compared: str) -> str:
    if not any(drawing.graphs or drawing.gold for drawing in drawings):
        return ""
    has_changes = any(drawing.are_steps and len(drawing.graphs) > 1 for drawing in drawings)
    has_gold = any(drawing.gold is not None for drawing in drawings)
    has_gaps = any(drawing.gold is None or MISSING in drawing.gold.heads for drawing in drawings)
    kinds = {"same": "not changed"}
    if has_gold:
        kinds = {"same": "right, or gold not known" if has_gaps else "right", "wrong": "wrong"}
        kinds |= _LEGEND_OF_BOTH if has_changes else {}
    if has_changes and has_gaps:
        kinds["changed"] = "changed, gold not known" if has_gold else "changed"
    items = [
        '<li><svg width="58" height="26" role="img" aria-hidden="true">'
        f'<path class="{kind}" d="{_arc(6, 52, 16, 25)}"/><text class="{kind}" x="29" y="12">label</text>'
        f"</svg> {text}</li>"
        for kind, text in kinds.items()
    ]
    note = "A line tells of the head, a label of head and label."
    if has_changes:
        note += " Thick: changed against the graph above."
    if has_gold:
        note += f" Dashed or italic: wrong. {compared}"
    note += " A ring is a word without head. Point at an arc for its words and probabilities."
    lines = f'<ul class="legend">{"".join(items)}</ul>\n' if len(kinds) > 1 else ""
    return f'{lines}<p class="note">{note}</p>'
