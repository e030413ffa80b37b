"""AMRs on a page: their text in PENMAN notation, with Smatch and with the lines that differ marked."""

from dataclasses import dataclass

from ...evaluation.page import escape
from ..formats.penman_text import format_penman, parse_penman
from ..parsing.tree import AmrTree, tree_edges
from .mapping import NO_NODE, best_mapping
from .smatch import make_score
from .triples import Triple, Triples, find_triple, to_triples


@dataclass(frozen=True)
class _Written:
    """An AMR as a page shows it.

    lines: The text, a branch on each line.
    found: The triples of each line; Smatch ignores other branches.
    """

    lines: list[str]
    found: list[list[Triple]]
    triples: Triples


def draw_amrs(predicted: str, gold: str = "") -> list[str]:
    """Return figures as HTML for AMRs in PENMAN notation: the predicted one, then gold.

    Lines whose triples the other AMR does not have, under the mapping of Smatch, are marked. The figure of an
    ill-formed AMR shows its text and the error.

    predicted: An AMR, or "" for none.
    gold: The gold AMR, or "" for none.
    """
    texts = {name: text for name, text in (("AMR", predicted), ("gold AMR", gold)) if text}
    trees: dict[str, _Written] = {}
    captions, bodies = dict.fromkeys(texts, ""), {name: escape(text) for name, text in texts.items()}
    for name, text in texts.items():
        try:
            trees[name] = _write(parse_penman(text))
        except ValueError as error:
            captions[name] = f"cannot be read: {error}"
    if len(trees) == 2:
        ours, theirs = trees.values()
        n_matched, mapping = best_mapping(ours.triples, theirs.triples)
        score = make_score(n_matched, predicted=ours.triples.size, gold=theirs.triples.size).fscore
        captions["AMR"] = f"Smatch {score:.1%}"
        if n_matched < max(ours.triples.size, theirs.triples.size):
            captions["AMR"] += " · marked lines differ"
        inverse = [NO_NODE] * len(theirs.triples.concepts)
        for node, other in enumerate(mapping):
            if other != NO_NODE:
                inverse[other] = node
        bodies["AMR"] = _mark(ours, mapping, theirs.triples)
        bodies["gold AMR"] = _mark(theirs, inverse, ours.triples)
    return [
        f'<figure><figcaption dir="ltr"><b>{name}</b> {escape(captions[name])}</figcaption>'
        f'<pre dir="ltr">{bodies[name]}</pre></figure>'
        for name in texts
    ]


def _write(tree: AmrTree) -> _Written:
    triples = to_triples(tree)
    edges = list(tree_edges(tree))
    nodes = {edge.variable: node for node, edge in enumerate(e for e in edges if e.role == "/")}
    found: list[list[Triple]] = [[(nodes[tree[0]], "top", "top")]]
    for edge in edges:
        if edge.role == "/":
            # The concept comes first in its tree: it stands on the line that introduces the tree.
            node = nodes[edge.variable]
            found[-1].append((node, "/", triples.concepts[node]))
        else:
            triple = find_triple(edge, nodes) if edge.role != "wiki" else None
            found.append([triple] if triple else [])
    return _Written(format_penman(tree).split("\n"), found, triples)


def _mark(written: _Written, mapping: list[int], others: Triples) -> str:
    """Return the text as HTML, with a mark around each line that has a triple that the other AMR lacks.

    written: The AMR.
    mapping: The other AMR's node for each node, or NO_NODE.
    others: The other AMR's triples.
    """
    known: set[Triple] = {(node, "/", concept) for node, concept in enumerate(others.concepts)}
    known.update(others.constants, others.edges)
    lines = []
    for line, triples in zip(written.lines, written.found, strict=True):
        mapped = (
            (mapping[source], role, mapping[target] if isinstance(target, int) else target)
            for source, role, target in triples
        )
        indent = len(line) - len(line.lstrip())
        text = escape(line[indent:])
        lines.append(line[:indent] + (text if known.issuperset(mapped) else f"<mark>{text}</mark>"))
    return "\n".join(lines)
