"""AMRs on a page: their text in PENMAN notation, with Smatch and with marks on the lines that differ."""

from ..analysis.page import escape
from .evaluation.mapping import NO_NODE, best_mapping
from .evaluation.smatch import make_score
from .evaluation.triples import Triple, Triples, find_triple, to_triples
from .formats.penman_text import format_penman, parse_penman
from .parsing.tree import AmrTree, tree_edges


def draw_amrs(predicted: str, *, gold: str = "") -> list[str]:
    """Return figures as HTML for AMRs in PENMAN notation: the predicted one, then gold.

    A line is marked if the other AMR lacks one of its triples, under the mapping of Smatch. The figure of an
    ill-formed AMR shows its text and the error.

    predicted: An AMR, or "" for none.
    gold: The gold AMR, or "" for none.
    """
    texts = {name: text for name, text in (("AMR", predicted), ("gold AMR", gold)) if text}
    trees: dict[str, AmrTree] = {}
    captions, bodies = dict.fromkeys(texts, ""), {name: escape(text) for name, text in texts.items()}
    for name, text in texts.items():
        try:
            trees[name] = parse_penman(text)
        except ValueError as error:
            captions[name] = f"cannot be read: {error}"
    if len(trees) == 2:
        ours, theirs = map(to_triples, trees.values())
        n_matched, mapping = best_mapping(ours, b=theirs)
        score = make_score(n_matched, predicted=ours.size, gold=theirs.size).fscore
        captions["AMR"] = f"Smatch {score:.1%}"
        if n_matched < max(ours.size, theirs.size):
            captions["AMR"] += " · marked lines differ"
        inverse = [NO_NODE] * len(theirs.concepts)
        for node, other in enumerate(mapping):
            if other != NO_NODE:
                inverse[other] = node
        bodies["AMR"] = _mark(trees["AMR"], mapping, theirs)
        bodies["gold AMR"] = _mark(trees["gold AMR"], inverse, ours)
    return [
        f'<figure><figcaption dir="ltr"><b>{name}</b> {escape(captions[name])}</figcaption>'
        f'<pre dir="ltr">{bodies[name]}</pre></figure>'
        for name in texts
    ]


def _lines(tree: AmrTree) -> list[tuple[str, list[Triple]]]:
    """Return the lines of a tree's text, one for each branch, with the triples that Smatch compares."""
    concepts = to_triples(tree).concepts
    edges = list(tree_edges(tree))
    definitions = [edge for edge in edges if edge.role == "/"]
    nodes = {edge.variable: node for node, edge in enumerate(definitions)}
    triples: list[list[Triple]] = [[(nodes[tree[0]], "top", "top")]]
    for edge in edges:
        if edge.role == "/":
            # The concept comes first in its tree: it stands on the line that introduces the tree.
            node = nodes[edge.variable]
            triples[-1].append((node, "/", concepts[node]))
        else:
            triple = find_triple(edge, nodes) if edge.role != "wiki" else None
            triples.append([triple] if triple else [])
    return list(zip(format_penman(tree).split("\n"), triples, strict=True))


def _mark(tree: AmrTree, mapping: list[int], others: Triples) -> str:
    """Return the text as HTML, with a mark around each line that has a triple that the other AMR lacks.

    tree: The AMR.
    mapping: The other AMR's node for each node, or NO_NODE.
    others: The other AMR's triples.
    """
    other_triples: set[Triple] = {(node, "/", concept) for node, concept in enumerate(others.concepts)}
    other_triples.update(others.constants, others.edges)
    lines = []
    for line, triples in _lines(tree):
        mapped = (
            (mapping[source], role, mapping[target] if isinstance(target, int) else target)
            for source, role, target in triples
        )
        indent = len(line) - len(line.lstrip())
        text = escape(line[indent:])
        lines.append(line[:indent] + (text if other_triples.issuperset(mapped) else f"<mark>{text}</mark>"))
    return "\n".join(lines)
