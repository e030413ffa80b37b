"""The ``rng_refiner`` component: refines the trees that Docs have, or parses Docs that have none.

It is a ``g2g_parser`` whose model takes a graph as input. Like that module, this one imports no torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model

from ..arrays import IntArray
from ..data.doc_graphs import INITIAL_GRAPH, PRIOR, initial_tokens
from ..data.layout import Layout
from ..errors import Errors
from ..models.types import ArcScores, Parse, Sentence, Start
from ..trees.corruption import corrupt
from .g2g_parser import G2GParser
from .labels import check_labels, find_initial_labels
from .prior import certain_parse, with_priors, with_scores
from .sentence_inputs import ParsedBatch
from .trees import graphs_of_passes, initial_graphs, make_trees

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
        "certain": 1.0,
        "store_graphs": False,
        "store_probabilities": False,
        "keep_scores": False,
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
    certain: float,
    store_graphs: bool,
    store_probabilities: bool,
    keep_scores: bool,
    half_precision_weights: bool,
    scorer: Callable[..., dict[str, Any]] | None,
) -> RngRefiner:
    """Make the ``rng_refiner`` component, which refines the trees of a Doc, or parses from empty graphs.

    model: Architecture that takes a graph as input, such as ``spacy_g2g.RNGTr.v1``.
    head_corruption: Share of the heads in initial graphs that are replaced by others in training. It helps
        if a parser made the graphs for its own training data, since such graphs are too good.
    label_corruption: Share of the labels in initial graphs that are replaced by others in training.
    empty_share: Share of the sentences that start from an empty graph in training.
    certain: Probability above which a head is certain. A sentence whose heads are all certain, by the parser
        of this library before, keeps its tree without a pass. With 1, no sentence does; nor does one with
        constraints. Scores that are kept cost a pass, but the tree stays.
    store_graphs: Write the graphs of all passes to ``doc._.g2g_graphs``.
    store_probabilities: Write the probabilities of heads and labels to ``token._.g2g_head_prob`` and
        ``token._.g2g_dep_prob``.
    keep_scores: Keep the scores of all arcs of the last pass in ``doc._.g2g_scores``, as ``g2g_parser`` does.
    half_precision_weights: Save weights in float16, which takes half the space.
    scorer: Scoring method.
    """
    return RngRefiner(
        nlp.vocab,
        model,
        name,
        head_corruption=head_corruption,
        label_corruption=label_corruption,
        empty_share=empty_share,
        certain=certain,
        store_graphs=store_graphs,
        store_probabilities=store_probabilities,
        keep_scores=keep_scores,
        half_precision_weights=half_precision_weights,
        scorer=scorer,
    )


class RngRefiner(G2GParser):
    """Refiner of the trees that Docs have. It writes a tree with one root for each sentence.

    The initial graph of a Doc may be anything: a parser's tree, part of a tree, or nothing. Its labels may
    belong to another scheme. Labels that were not known at initialisation are all the same to the model.

    The refiner sets ``doc._.g2g_iterations``, the number of passes for each sentence (0 for white space
    alone, and for a tree that is certain). With ``store_graphs`` it also sets ``doc._.g2g_graphs``: a graph
    over tokens (see ``data.graphs``) for the initial graph, without probabilities, and for each pass. The
    last one is the tree. White space has a head only in the tree. Heads and labels of a tree that is certain
    have the parser's probabilities. Further settings are those of ``G2GParser``.
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
        certain: float = 1.0,
        store_graphs: bool = False,
        **settings: Any,
    ) -> None:
        rates = {
            "head_corruption": head_corruption,
            "label_corruption": label_corruption,
            "empty_share": empty_share,
            "certain": certain,
        }
        for setting, rate in rates.items():
            if not 0.0 <= rate <= 1.0:
                raise ValueError(Errors.E512.format(setting=setting, rate=rate))
        super().__init__(vocab, model, name, **settings)
        self.head_corruption = head_corruption
        self.label_corruption = label_corruption
        self.empty_share = empty_share
        self.certain = certain
        self.store_graphs = store_graphs
        self.cfg["initial_labels"] = []
        for extension in (ITERATIONS, GRAPHS, INITIAL_GRAPH):
            Doc.set_extension(extension, default=None, force=True)

    # Parsing

    def inputs(self, docs: Sequence[Doc], layout: Layout) -> list[Sentence]:
        """Return the sentences that have words, with their initial graphs."""
        heads, labels = self._initial_graphs(docs, layout)
        sentences = self._with_graphs(super().inputs(docs, layout), layout, heads, labels)
        return with_priors(sentences, docs, layout, self.labels)

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """Return the parse of each sentence. A certain tree stays, even if a pass gives its scores."""
        kept = [certain_parse(sentence, self.certain, len(self.labels)) for sentence in sentences]
        pairs = list(zip(sentences, kept, strict=True))
        passed = [sentence for sentence, parse in pairs if parse is None or sentence.keep_scores]
        refined = iter(super().parse(passed) if passed else [])
        parses = []
        for sentence, parse in pairs:
            if parse is None:
                parse = next(refined)
            elif sentence.keep_scores:
                scores = next(refined).scores
                assert sentence.prior is not None
                assert scores is not None
                parse = with_scores(parse, sentence.prior, scores)
            parses.append(parse)
        return parses

    @property
    def reads_prior(self) -> bool:
        """Whether trees depend on what the parser before tells (see ``HasRefiners``)."""
        return bool(self.model.attrs.get("reads_prior")) or self.certain < 1

    def new_scores(self, doc: Doc, layout: Layout) -> list[ArcScores]:
        """Return the scores of a new parse; see ``G2GParser.new_scores``.

        Raises ValueError for a Doc that was refined, of which another parse gives other scores.
        """
        if doc._.get(ITERATIONS) is not None:
            raise ValueError(Errors.E841.format(text=doc.text[:40], name=self.name))
        return super().new_scores(doc, layout)

    def set_annotations(self, docs: Iterable[Doc], scores: ParsedBatch) -> None:
        """Write heads, labels, sentence boundaries, numbers of passes and, if set, all graphs."""
        docs = list(docs)
        initial = [initial_tokens(doc) for doc in docs] if self.store_graphs else []
        for doc in docs:
            _remove(doc, PRIOR)
        super().set_annotations(docs, scores)
        layout = scores.layout
        passes = np.zeros(len(layout.n_words), dtype=np.int64)
        passes[layout.n_words > 0] = [len(parse.iterations) for parse in scores.parses]
        edges = np.searchsorted(layout.doc_of, np.arange(len(docs) + 1)).tolist()
        for doc, (start, end) in zip(docs, pairwise(edges), strict=True):
            doc._.set(ITERATIONS, passes[start:end].tolist())
            # Remove graphs of an earlier run. The next run would prefer the initial graph to the tree.
            for extension in (GRAPHS, INITIAL_GRAPH):
                _remove(doc, extension)
        if self.store_graphs:
            graphs = graphs_of_passes(docs, scores, self.labels)
            for doc, first, others in zip(docs, initial, graphs, strict=True):
                doc._.set(GRAPHS, [first, *others])

    def _initial_graphs(self, docs: Sequence[Doc], layout: Layout) -> tuple[IntArray, IntArray]:
        """Return heads and label ids of the initial graphs; see ``initial_graphs``."""
        known = [*self.labels, *self.cfg["initial_labels"]]
        ids = {self.vocab.strings.add(label): i for i, label in reversed(list(enumerate(known)))}
        return initial_graphs(docs, layout, ids)

    def _with_graphs(
        self, sentences: Sequence[Sentence], layout: Layout, heads: IntArray, labels: IntArray
    ) -> list[Sentence]:
        graphs = make_trees(layout, heads, labels)
        return [replace(s, graph=graph) for s, graph in zip(sentences, graphs, strict=True)]

    # Training

    def training_inputs(self, docs: Sequence[Doc], layout: Layout) -> list[Sentence]:
        """Return the sentences, their graphs corrupted or left out at the rates of this component."""
        sentences = super().inputs(docs, layout)
        heads, labels = self._initial_graphs(docs, layout)
        if not sentences or not (self.head_corruption or self.label_corruption or self.empty_share):
            return self._with_graphs(sentences, layout, heads, labels)
        rng = np.random.default_rng(np.random.randint(2**31))  # follows the seed of training
        heads, labels = corrupt(
            heads,
            labels,
            lengths=layout.n_words[layout.n_words > 0],
            head_rate=self.head_corruption,
            label_rate=self.label_corruption,
            rng=rng,
        )
        empty = rng.random(len(sentences)) < self.empty_share
        corrupted = self._with_graphs(sentences, layout, heads, labels)
        return [
            replace(sentence, graph=None) if is_empty else sentence
            for sentence, is_empty in zip(corrupted, empty.tolist(), strict=True)
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

        get_examples: As for ``g2g_parser``.
        nlp: The pipeline.
        labels: As for ``g2g_parser``.
        initial_labels: Labels of initial graphs; None collects them from the earlier components that write
            labels, and from the predicted Docs of the examples.
        encoder: As for ``g2g_parser``.
        Raises ValueError if there are no labels.
        """
        if initial_labels is None:
            initial_labels = sorted(find_initial_labels(get_examples(), nlp, self))
        self.cfg["initial_labels"] = initial_labels
        super().initialize(get_examples, nlp=nlp, labels=labels, encoder=encoder)

    def _start(self) -> Start:
        own = set(self.labels)
        self.cfg["initial_labels"] = [label for label in self.cfg["initial_labels"] if label not in own]
        return replace(super()._start(), n_initial_labels=len(self.cfg["initial_labels"]))

    def _after_loading(self, origin: Any, exclude: Iterable[str]) -> None:
        exclude = list(exclude)
        super()._after_loading(origin, exclude)
        check_labels(self.cfg.get("initial_labels"), origin)
        found = len(self.cfg["initial_labels"])
        expected = self._built_for(exclude).get("n_initial_labels", found)
        if found != expected:
            raise ValueError(Errors.E807.format(origin=origin, found=found, expected=expected))


def _remove(doc: Doc, extension: str) -> None:
    """Remove the value of an extension attribute."""
    if doc._.get(extension) is not None:
        doc._.set(extension, None)
