"""The ``rng_refiner`` component: refines the trees that Docs have, or parses Docs that have none.

It is a ``g2g_parser`` whose model takes a graph as input. Like that module, this one imports no torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from ..data.initial_graph import INITIAL_GRAPH, get_initial_graph
from ..errors import Errors
from ..parsing.corruption import corrupt
from .g2g_parser import G2GParser
from .layout import Layout, initial_graphs, lay_out, word_slices

if TYPE_CHECKING:
    from ..models.types import Parse, Sentence, Start, Tree


#: Extension attributes of Docs: passes of each sentence; with ``store_graphs = true``, all graphs.
ITERATIONS, GRAPHS = "g2g_iterations", "g2g_graphs"


@Language.factory(
    "rng_refiner",
    assigns=[
        "token.head",
        "token.dep",
        "token.is_sent_start",
        "doc.sents",
        "doc._.g2g_iterations",
        "doc._.g2g_graphs",
    ],
    default_config={
        "model": {"@architectures": "spacy_g2g.RNGTr.v1"},
        "head_corruption": 0.0,
        "label_corruption": 0.0,
        "empty_share": 0.0,
        "store_graphs": False,
        "store_probabilities": False,
        "half_precision_weights": False,
        "scorer": {"@scorers": "spacy_g2g.ud_scorer.v1"},
    },
    default_score_weights={"ud_las": 1.0, "ud_uas": 0.0, "ud_sents_f": 0.0, "ud_las_per_type": None},
)
def make_rng_refiner(
    nlp: Language,
    name: str,
    model: Model[Any, Any],
    head_corruption: float,
    label_corruption: float,
    empty_share: float,
    store_graphs: bool,
    store_probabilities: bool,
    half_precision_weights: bool,
    scorer: Callable[..., dict[str, Any]] | None,
) -> RngRefiner:
    """Make the ``rng_refiner`` component, which refines the trees that a Doc has, or parses from none.

    model: an architecture that takes a graph as input, such as ``spacy_g2g.RNGTr.v1``.
    head_corruption, label_corruption: in training, the share of heads and of labels of initial graphs that
        are replaced by others (a parser's trees on its own training data are too good).
    empty_share: in training, the share of sentences that start from an empty graph.
    store_graphs: write ``doc._.g2g_graphs``.
    store_probabilities: write ``token._.g2g_head_prob`` and ``token._.g2g_dep_prob``.
    half_precision_weights: ``to_disk`` writes weights in float16, which takes half the space.
    scorer: the scoring method.
    """
    return RngRefiner(
        nlp.vocab,
        model,
        name,
        head_corruption=head_corruption,
        label_corruption=label_corruption,
        empty_share=empty_share,
        store_graphs=store_graphs,
        store_probabilities=store_probabilities,
        half_precision_weights=half_precision_weights,
        scorer=scorer,
    )


class RngRefiner(G2GParser):
    """Writes a tree with one root for each sentence, beginning with the heads and labels that a Doc has.

    These may be anything: a parser's tree, part of one, or nothing. Labels of initial graphs may be of
    another scheme; those not known from initialisation are all the same to the model.

    It sets ``doc._.g2g_iterations``, the passes made for each sentence of the Doc (0 for nothing but white
    space), and with ``store_graphs`` ``doc._.g2g_graphs``: one dict for the initial graph and one for each
    pass, the last of which is the tree. Each has ``heads`` (numbers of tokens; a root's own, -1 for none) and
    ``deps`` ("" for none), and the passes ``head_probs`` and ``dep_probs``, a value for each token. A Doc of
    white space has no passes.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[Any, Any],
        name: str = "rng_refiner",
        *,
        head_corruption: float = 0.0,
        label_corruption: float = 0.0,
        empty_share: float = 0.0,
        store_graphs: bool = False,
        store_probabilities: bool = False,
        half_precision_weights: bool = False,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        rates = {
            "head_corruption": head_corruption,
            "label_corruption": label_corruption,
            "empty_share": empty_share,
        }
        for setting, rate in rates.items():
            if not 0.0 <= rate <= 1.0:
                raise ValueError(Errors.E507.format(setting=setting, rate=rate))
        super().__init__(
            vocab,
            model,
            name,
            store_probabilities=store_probabilities,
            half_precision_weights=half_precision_weights,
            scorer=scorer,
        )
        self.head_corruption = head_corruption
        self.label_corruption = label_corruption
        self.empty_share = empty_share
        self.store_graphs = store_graphs
        self.cfg["initial_labels"] = []
        for extension in (ITERATIONS, GRAPHS, INITIAL_GRAPH):
            if not Doc.has_extension(extension):
                Doc.set_extension(extension, default=None)

    # Parsing

    def inputs(self, docs: Sequence[Doc], layout: Layout) -> list[Sentence]:
        """The sentences of the Docs that have words, with their initial graphs."""
        sentences = super().inputs(docs, layout)
        graphs = self._initial_graphs(docs, layout)
        return [replace(s, graph=graph) for s, graph in zip(sentences, graphs, strict=True)]

    def set_annotations(self, docs: Iterable[Doc], scores: Sequence[Sequence[Parse]]) -> None:
        """Write heads, labels and sentence boundaries, the number of passes, and what else is wanted."""
        docs = list(docs)
        initial = [_initial_graph_of(doc) for doc in docs] if self.store_graphs else []
        super().set_annotations(docs, scores)
        layout = lay_out(docs)
        n_words = layout.n_words
        passes = np.zeros(len(n_words), dtype=np.int64)
        passes[n_words > 0] = [len(parse.iterations) for parses in scores for parse in parses]
        first_sentences = np.searchsorted(layout.doc_of, np.arange(len(docs) + 1))
        for doc, start, end in zip(docs, first_sentences[:-1], first_sentences[1:], strict=True):
            doc._.set(ITERATIONS, passes[start:end].tolist())
            # Graphs of an earlier run, and the initial one, which would count more than the tree next time.
            for extension in (GRAPHS, INITIAL_GRAPH):
                if doc._.get(extension) is not None:
                    doc._.set(extension, None)
        if self.store_graphs:
            for doc, parses, graph in zip(docs, scores, initial, strict=True):
                doc._.set(GRAPHS, [graph, *self._graphs_of_passes(doc, parses)])

    def _initial_graphs(self, docs: Sequence[Doc], layout: Layout) -> list[Tree]:
        from ..models.types import Tree

        known = [*self.labels, *self.cfg["initial_labels"]]
        heads, labels = initial_graphs(
            docs, layout, {self.vocab.strings.add(label): i for i, label in reversed(list(enumerate(known)))}
        )
        return [Tree(heads[words], labels[words]) for words in word_slices(layout)]

    def _graphs_of_passes(self, doc: Doc, parses: Sequence[Parse]) -> Iterator[dict[str, list[Any]]]:
        layout = lay_out([doc])
        last = _graph_of(doc)
        n_passes = max((len(parse.iterations) for parse in parses), default=0)
        for i in range(n_passes):
            graph = last
            if i < n_passes - 1:
                graph = {"heads": [-1] * len(doc), "deps": [""] * len(doc)}
            graph = {**graph, "head_probs": [1.0] * len(doc), "dep_probs": [1.0] * len(doc)}
            for words, parse in zip(word_slices(layout), parses, strict=True):
                this = parse.iterations[min(i, len(parse.iterations) - 1)]
                _write_pass(graph, layout.words[words].tolist(), this, self.labels)
            yield graph

    # Training

    def training_inputs(self, docs: Sequence[Doc], layout: Layout) -> list[Sentence]:
        """The sentences, their graphs corrupted or left out at the rates of this component."""
        return self._corrupt(self.inputs(docs, layout))

    def _corrupt(self, sentences: list[Sentence]) -> list[Sentence]:
        """The sentences with graphs that are changed or left out at the rates of this component."""
        from ..models.types import Tree

        graphs = [sentence.graph for sentence in sentences]
        present = [graph for graph in graphs if graph is not None]
        if not present or not (self.head_corruption or self.label_corruption or self.empty_share):
            return sentences
        rng = np.random.default_rng(np.random.randint(2**31))  # follows the seed of training
        lengths = np.array([len(graph.heads) for graph in present])
        heads, labels = corrupt(
            np.concatenate([graph.heads for graph in present]),
            np.concatenate([graph.labels for graph in present]),
            lengths,
            head_rate=self.head_corruption,
            label_rate=self.label_corruption,
            rng=rng,
        )
        ends = np.cumsum(lengths)[:-1]
        changed = iter(zip(np.split(heads, ends), np.split(labels, ends), strict=True))
        new = [None if graph is None else Tree(*next(changed)) for graph in graphs]
        empty = rng.random(len(sentences)) < self.empty_share
        return [
            replace(sentence, graph=None if is_empty else graph)
            for sentence, graph, is_empty in zip(sentences, new, empty.tolist(), strict=True)
        ]

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        initial_labels: list[str] | None = None,
        encoder: Callable[..., Any] | None = None,
    ) -> None:
        """Set the labels, and build the model with the encoder that it starts from.

        get_examples, labels, encoder: as of ``g2g_parser``.
        initial_labels: labels of initial graphs; None collects them from the components before this one that
            write labels, and from the predicted Docs of the examples.
        Raises ValueError when there are no labels.
        """
        if initial_labels is None:
            initial_labels = sorted(self._find_initial_labels(get_examples, nlp))
        self.cfg["initial_labels"] = initial_labels
        super().initialize(get_examples, nlp=nlp, labels=labels, encoder=encoder)

    def _find_initial_labels(
        self, get_examples: Callable[[], Iterable[Example]], nlp: Language | None
    ) -> set[str]:
        labels: set[str] = set()
        for name, component in nlp.pipeline if nlp is not None else ():
            if component is self:
                break
            if nlp is not None and "token.dep" in nlp.get_pipe_meta(name).assigns:
                labels |= set(getattr(component, "labels", ()))
        for example in get_examples():
            labels |= {dep for dep in _initial_graph_of(example.predicted)["deps"] if dep}
        return labels

    def _start(self) -> Start:
        own = set(self.labels)
        self.cfg["initial_labels"] = [label for label in self.cfg["initial_labels"] if label not in own]
        return replace(super()._start(), n_initial_labels=len(self.cfg["initial_labels"]))

    def _after_loading(self, origin: Any, exclude: Iterable[str]) -> None:
        exclude = list(exclude)
        super()._after_loading(origin, exclude)
        found = len(self.cfg["initial_labels"])
        expected = self._built_for(exclude).get("n_initial_labels", found)
        if found != expected:
            raise ValueError(Errors.E508.format(origin=origin, found=found, expected=expected))


def _graph_of(doc: Doc) -> dict[str, list[Any]]:
    heads = [token.head.i if token.dep else -1 for token in doc]
    return {"heads": heads, "deps": [token.dep_ for token in doc], "head_probs": [], "dep_probs": []}


def _initial_graph_of(doc: Doc) -> dict[str, list[Any]]:
    graph = get_initial_graph(doc)
    if graph is None:
        return _graph_of(doc)
    return {"heads": [*graph["heads"]], "deps": [*graph["deps"]], "head_probs": [], "dep_probs": []}


def _write_pass(graph: dict[str, list[Any]], tokens: list[int], parse: Parse, labels: Sequence[str]) -> None:
    """Write what a pass gave for a sentence, whose words are these tokens, to the graph of a Doc."""
    for place, head, label, head_prob, dep_prob in zip(
        tokens,
        parse.tree.heads.tolist(),
        parse.tree.labels.tolist(),
        parse.head_probs.tolist(),
        parse.label_probs.tolist(),
        strict=True,
    ):
        graph["heads"][place] = tokens[head - 1] if head else place
        graph["deps"][place] = labels[label]
        graph["head_probs"][place] = head_prob
        graph["dep_probs"][place] = dep_prob
