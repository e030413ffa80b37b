"""Read from parsed Docs the graphs to draw, sentence by sentence."""

from collections.abc import Mapping, Sequence
from typing import Any

from spacy.tokens import Doc, Token

from ..data.doc_graphs import TokenGraph, to_sentence, tree_of
from ..data.doc_record import PROBABILITIES
from ..data.enhanced import arcs_of
from ..data.roles import own_roles
from ..data.token_check import read_checked
from ..formats.graph import ROOT, Arc, Graph
from ..parser.g2g_parser import G2GParser
from ..parser.rng_refiner import GRAPHS
from .drawing import Drawing


def read_graphs(doc: Doc, parser: G2GParser | None) -> list[TokenGraph]:
    """Return the initial graph and the graph of each pass of a refiner; the tree alone without a pass.

    parser: Parser whose ``confidence`` replaces the probabilities of the last graph; None keeps them.
    """
    graphs = [*(read_checked(doc, GRAPHS) or [])]
    if len(graphs) < 2:
        graphs = [_tree_with_probabilities(doc)]
    if parser is not None:
        graphs[-1] = _with_confidence(doc, graphs[-1], parser)
    return graphs


def _tree_with_probabilities(doc: Doc) -> TokenGraph:
    """Return the tree of a Doc, with the probabilities in its tokens' extension attributes, if any."""
    graph = tree_of(doc)
    for key, extension in PROBABILITIES.items():
        probs = [token._.get(extension) for token in doc] if Token.has_extension(extension) else []
        has_any = any(prob is not None for prob in probs)
        # White space has no probabilities and is not drawn.
        graph[key] = [prob or 0.0 for prob in probs] if has_any else []
    return graph


def _with_confidence(doc: Doc, graph: Mapping[str, Sequence[Any]], parser: G2GParser) -> TokenGraph:
    """Return the tree of a Doc with probabilities from ``parser.confidence``."""
    heads, labels = [0.0] * len(doc), [0.0] * len(doc)
    for tree in parser.confidence(doc):
        for token, arc, labeled in zip(tree.tokens, tree.arcs, tree.labeled, strict=True):
            heads[token], labels[token] = arc, labeled / arc if arc else 0.0
    return {**{key: [*values] for key, values in graph.items()}, "head_probs": heads, "dep_probs": labels}


def sentence_graphs(
    doc: Doc, graphs: Sequence[Mapping[str, Sequence[Any]]], *, words: Sequence[int], n_passes: int
) -> dict[str, Graph]:
    """Return the graphs of a sentence by name: initial graph, graphs of the passes, final tree.

    graphs: Graphs over the tokens of the Doc.
    words: Indices of the sentence's words in the Doc.
    n_passes: Number of passes of the refiner over the sentence.
    """
    named = {"tree": graphs[-1]} if graphs else {}
    if len(graphs) > 1 and n_passes:
        names = ["initial graph", *(f"iteration {number}" for number in range(1, n_passes + 1))]
        named = dict(zip(names, [*graphs[:n_passes], graphs[-1]], strict=True))
    return {name: to_sentence(graph, words, doc).with_ud_root() for name, graph in named.items()}


def enhanced_graph(words: Sequence[Token]) -> Graph | None:
    """Return the enhanced graph of a sentence that a component has written; None without one."""
    arcs = arcs_of(words)
    return Graph.from_arcs(arcs) if any(arcs) else None


def role_graph(words: Sequence[Token]) -> Graph | None:
    """Return the semantic roles of a sentence, in which a predicate depends on ROOT; None without roles."""
    own, numbers = own_roles(words[0].doc), {word.i: number for number, word in enumerate(words, start=1)}
    arcs: list[list[Arc]] = [[] for _ in words]
    for predicate in own or ():
        if predicate.word in numbers:
            arcs[numbers[predicate.word] - 1].insert(0, (ROOT, predicate.roleset))
            for argument in (each for each in predicate.arguments if each.head in numbers):
                arcs[numbers[argument.head] - 1].append((numbers[predicate.word], argument.role))
    return None if own is None else Graph.from_arcs(arcs)


def is_changed(drawing: Drawing) -> bool:
    """Return whether the last graph of a drawing differs from the first one."""
    graphs = [(list(graph.heads), list(graph.deps)) for graph in drawing.graphs.values()]
    return len(graphs) > 1 and graphs[0] != graphs[-1]
