"""Refiners with random weights, Docs with graphs, and the graphs as a model is given them."""

from collections.abc import Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_g2g.data.doc_graphs import write_heads, write_initial_graph
from spacy_g2g.data.segmentation import segment
from spacy_g2g.formats.graph import Graph
from spacy_g2g.models.types import Sentence
from spacy_g2g.parser.rng_refiner import RngRefiner

from ..util import gold_doc, graph_docs, parser_of, plain_doc, random_nlp, read_treebank


def random_refiner(**settings: Any) -> Language:
    """A refiner with random weights, which reads graphs a lot; "x" is a label of initial graphs alone."""
    return random_nlp("wrong", factory="rng_refiner", **settings)


def storing_refiner() -> Language:
    """A refiner with random weights that stores graphs."""
    return random_refiner(store_graphs=True, iterations=4)


def refiner_of(nlp: Language) -> RngRefiner:
    refiner = parser_of(nlp)
    assert isinstance(refiner, RngRefiner)
    return refiner


def inputs_of(nlp: Language, docs: Sequence[Doc]) -> list[tuple[list[int], list[int]]]:
    """Heads and labels of the initial graphs, as the model is given them."""
    return graphs_of(refiner_of(nlp).inputs(docs, segment(docs)))


def graphs_of(sentences: Sequence[Sentence]) -> list[tuple[list[int], list[int]]]:
    return [
        ([], []) if s.graph is None else (s.graph.heads.tolist(), s.graph.labels.tolist()) for s in sentences
    ]


def with_heads(vocab: Vocab, words: Sequence[str], heads: Sequence[int], deps: Sequence[str]) -> Doc:
    """A Doc of one sentence with any heads, which spaCy would take for boundaries."""
    doc = Doc(vocab, words=list(words), sent_starts=[i == 0 for i in range(len(words))])
    write_heads(doc, list(heads), list(deps))
    return doc


def cyclic_doc(vocab: Vocab) -> Doc:
    """Two sentences with cycles, several roots, missing heads and labels; in ``doc._.g2g_initial``."""
    doc = plain_doc(vocab, "a b c", "d e")
    graphs = [Graph([2, 1, -1], ["x", "det", ""]), Graph([0, 0], ["root", "y"])]
    assert not any(graph.is_tree for graph in graphs)
    write_initial_graph(doc, graphs)
    return doc


def mixed_docs(vocab: Vocab) -> list[Doc]:
    """A sentence of each kind of graph, white space inside, between and alone, and nothing at all."""
    sentences = read_treebank()
    first = plain_doc(vocab, ["\n", "she", " ", "saw"], [" ", "\n"], "dogs bark at it")
    return [
        first,
        cyclic_doc(vocab),
        gold_doc(vocab, sentences[:4]),
        *graph_docs(vocab, "wrong")[:3],
        Doc(vocab),
    ]
