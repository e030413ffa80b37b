"""HTML pages that show the graphs of sentences, from iterations or systems, one below the other.

Figures of plug-ins may follow the graphs of a sentence. The page is self-contained, without scripts and
addresses. All text from words, labels and titles is escaped.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..formats.graph import Graph
from .arc_picture import Columns, arc_path, draw_arcs, space_words
from .compared_graph import CHANGES_AND_ERRORS, ComparedGraph
from .page import escape, make_page

COMPARED = "Labels count with their subtypes, punctuation counts."


@dataclass(frozen=True, slots=True)
class Drawing:
    """Sentence and its graphs.

    words: Words of the sentence, one or more.
    graphs: Graphs by name, the initial one first.
    gold: Gold tree, or None. Heads of -1 and labels of "" in it are unknown.
    name: Name of the sentence, such as its "sent_id".
    are_steps: Whether each graph was made from the previous graph. If so, the drawing shows changes and
        folds gold at the end. Otherwise gold is drawn first.
    more: Further figures in HTML that follow the graphs.
    doubt: Probability below which an arc with its label is marked.
    enhanced: Enhanced graph, or None. It follows the graphs, with marks where it differs from the last one.
    roles: Graph of semantic roles, or None. Predicates depend on ROOT by their rolesets.
    """

    words: Sequence[str]
    graphs: Mapping[str, Graph]
    gold: Graph | None = None
    name: str = ""
    text: str = ""
    are_steps: bool = True
    more: Sequence[str] = ()
    doubt: float = 0.0
    enhanced: Graph | None = None
    roles: Graph | None = None


def draw_page(drawings: Iterable[Drawing], *, title: str) -> str:
    """Return an HTML page that shows sentences, with a legend."""
    return make_page(title, body=f"<h1>{escape(title)}</h1>\n{draw_sentences(drawings)}")


def draw_sentences(drawings: Iterable[Drawing], *, level: int = 2, compared: str = COMPARED) -> str:
    """Return the part of a page that shows sentences, with a legend.

    level: Level of the headings.
    compared: Sentence for the legend about scored words and labels.
    """
    drawings = list(drawings)
    sections = [_draw_sentence(number, drawing, level) for number, drawing in enumerate(drawings, start=1)]
    if not sections:
        return "<p>No sentence to show.</p>"
    return "\n".join([_draw_legend(drawings, "".join(sections), compared), *sections])


def _draw_sentence(number: int, drawing: Drawing, level: int) -> str:
    gold = drawing.gold
    graphs = [*drawing.graphs.values(), *filter(None, (gold, drawing.enhanced, drawing.roles))]
    assert all(len(graph.heads) == len(graph.deps) == len(drawing.words) for graph in graphs)
    columns = space_words(drawing.words, graphs)
    figures = []
    before: Graph | None = None
    for name, graph in drawing.graphs.items():
        compared = ComparedGraph(drawing.words, graph, before, gold, drawing.doubt)
        figures.append(_draw_figure(name, compared, columns))
        # Compared with a graph without arcs, all arcs would be new.
        before = graph if drawing.are_steps and not graph.is_empty else None
    if drawing.enhanced is not None:
        compared = ComparedGraph(drawing.words, drawing.enhanced, before)
        figures.append(_draw_figure("enhanced", compared, columns))
    if drawing.roles is not None:
        compared = ComparedGraph(drawing.words, drawing.roles, is_partial=True)
        figures.append(_draw_figure("roles", compared, columns))
    if gold is not None:
        figure = _draw_figure("gold", ComparedGraph(drawing.words, gold), columns)
        folded = f"<details><summary>gold</summary>{figure}</details>"
        figures = [*figures, folded] if drawing.are_steps else [figure, *figures]
    content = "trees" if figures else "graphs"
    figures += drawing.more
    name = f"{number}" + (f" · {drawing.name}" if drawing.name else "")
    return (
        f'<section>\n<h{level}>{escape(name)}</h{level}>\n<p dir="auto">{escape(drawing.text)}</p>\n'
        f'<div class="box" tabindex="0" role="region" aria-label="{content} of sentence {number}"'
        f' dir="{"rtl" if columns.right_to_left else "ltr"}">\n' + "\n".join(figures) + "\n</div>\n</section>"
    )


def _draw_figure(name: str, compared: ComparedGraph, columns: Columns) -> str:
    facts = " · ".join(compared.facts())
    caption = f'<figcaption dir="ltr"><b>{escape(name)}</b> {escape(facts)}</figcaption>'
    picture = "" if compared.graph.is_empty else draw_arcs(name, compared, columns)
    return f"<figure>{caption}{picture}</figure>"


def _draw_legend(drawings: Sequence[Drawing], sections: str, compared: str) -> str:
    """Explain the kinds of arcs that the drawn sections have."""
    if not any(drawing.graphs or drawing.gold for drawing in drawings):
        return ""
    has_changes = any(drawing.are_steps and len(drawing.graphs) > 1 for drawing in drawings)
    has_gold = any(drawing.gold is not None for drawing in drawings)
    doubt = max(drawing.doubt for drawing in drawings)
    kinds = {"same": "right, or gold unknown" if has_gold else "not changed", "wrong": "wrong"}
    kinds |= {**CHANGES_AND_ERRORS, "changed": "changed, gold unknown" if has_gold else "changed"}
    kinds["same doubtful"] = f"probability below {doubt:g}"
    arc = arc_path(6, end=52, y=16, base=25)
    items = [
        '<li><svg width="58" height="26" role="img" aria-hidden="true">'
        f'<path class="{kind}" d="{arc}"/><text class="{kind}" x="29" y="12">label</text></svg> {text}</li>'
        for kind, text in kinds.items()
        if f'class="{kind}"' in sections
    ]
    note = "The style of a line is for the head, the style of a label for head and label."
    if has_changes:
        note += " Thick: changed from the graph above."
    if has_gold:
        note += f" Dashed or italic: wrong. {compared}"
    note += " A ring marks a word without head. Point at an arc to see its words and probabilities."
    lines = f'<ul class="legend">{"".join(items)}</ul>\n' if len(items) > 1 else ""
    return f'{lines}<p class="note">{note}</p>'
