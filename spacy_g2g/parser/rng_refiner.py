"""The ``rng_refiner`` component: refines the trees of Docs, or parses Docs without trees.

It is a ``g2g_parser`` whose model takes a graph as input. Like that module, this one must not import torch.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model
from thinc.types import Floats2d

from ..arrays import BoolArray, IntArray
from ..data.doc_graphs import INITIAL_GRAPH, initial_tokens
from ..data.segmentation import Segmentation
from ..data.token_check import with_tokens
from ..errors import Errors
from ..models.settings import RATE, setting
from ..models.types import Arcs, ArcScores, Parse, Request, ScoresOf, Sentence, Start
from ..pipeline.component import TREE_ASSIGNS, TREE_WEIGHTS, TreeSettings, factory
from ..pipeline.labels import find_initial_labels
from ..pipeline.sentence_inputs import ParsedBatch, make_sentences, read_tags
from ..pipeline.trees import graphs_of_passes, initial_graphs, make_trees
from ..scored.score_record import end_prior, read_priors
from ..trees.corruption import corrupt
from .g2g_parser import G2GParser
from .prior import attach_prior_scores, keep_if_certain

#: Extension attributes of Docs: passes of each sentence; with ``store_graphs = true``, all graphs.
ITERATIONS, GRAPHS = "g2g_iterations", "g2g_graphs"


@dataclass(frozen=True, kw_only=True)
class RefinerSettings(TreeSettings):
    """Settings of ``rng_refiner``."""

    model: Model[Any, Any] = setting(
        {"@architectures": "spacy_g2g.RNGTr.v1"},
        "Architecture that takes a graph as input, such as ``spacy_g2g.RNGTr.v1``.",
    )
    head_corruption: float = setting(
        0.0,
        "Share of the heads in initial graphs that are replaced by others in training. It helps if a parser "
        "made the graphs for its own training data, since such graphs are too good.",
        RATE,
    )
    label_corruption: float = setting(
        0.0, "Share of the labels in initial graphs that are replaced by others in training.", RATE
    )
    empty_share: float = setting(
        0.0, "Share of the sentences that start from an empty graph in training.", RATE
    )
    certain: float = setting(
        1.0,
        "Skip a sentence if the parser before, one of this library, gives each of its heads a probability "
        "above this number: its tree stays, without a pass. With 1, no sentence is skipped. Nor is one with "
        "constraints. With `keep_scores`, a skipped sentence has a pass for its scores, but its tree stays.",
        RATE,
    )
    store_graphs: bool = setting(False, "Write the graphs of all passes to ``doc._.g2g_graphs``.")


class RngRefiner(G2GParser):
    """Refiner of the trees of Docs. It writes a tree with one root for each sentence.

    The initial graph of a Doc may be a parser's tree, part of a tree, or empty. Its labels may belong to
    another scheme. The model treats all labels that initialization did not see as the same label.

    The refiner sets ``doc._.g2g_iterations``, the number of passes for each sentence. It is 0 for a sentence
    of nothing but white space, and for a skipped sentence, which has the parser's probabilities. With
    ``store_graphs`` the refiner also sets ``doc._.g2g_graphs``, a list of graphs over tokens (see
    ``data/doc_graphs.py``): first the initial one, without probabilities, then that of each pass. The last
    graph is the tree. White space has a head only there.
    """

    head_corruption: float
    label_corruption: float
    empty_share: float
    certain: float
    store_graphs: bool

    def __init__(self, vocab: Vocab, name: str, settings: RefinerSettings) -> None:
        super().__init__(vocab, name, settings)
        self.cfg["initial_labels"] = []
        for extension in (ITERATIONS, GRAPHS, INITIAL_GRAPH):
            Doc.set_extension(extension, default=None, force=True)

    # Parsing

    def initial_graphs(self, docs: Sequence[Doc], segmentation: Segmentation) -> list[Arcs | None]:
        """Return the graph that each sentence starts from."""
        heads, labels = self._initial_arcs(docs, segmentation)
        return [*make_trees(segmentation, heads=heads, labels=labels)]

    def requests(self, docs: Sequence[Doc], segmentation: Segmentation, scores: ScoresOf) -> list[Request]:
        """Return the requirements for the parse of each sentence that has words, with its prior."""
        requests = super().requests(docs, segmentation, scores)
        priors = read_priors(docs, segmentation, self.labels)
        return [replace(request, prior=prior) for request, prior in zip(requests, priors, strict=True)]

    def parse(self, sentences: Sequence[Sentence]) -> list[Parse]:
        """Return the parse of each sentence. A certain tree stays, even if a pass gives its scores."""
        certain_parses = [keep_if_certain(sentence, self.certain, len(self.labels)) for sentence in sentences]
        pairs = list(zip(sentences, certain_parses, strict=True))
        uncertain = [each for each, parse in pairs if parse is None or each.request.scores == "all"]
        refined = iter(super().parse(uncertain) if uncertain else [])
        parses = []
        for sentence, parse in pairs:
            if parse is None:
                parse = next(refined)
            elif sentence.request.scores == "all":
                scores, prior = next(refined).scores, sentence.request.prior
                assert prior is not None
                assert scores is not None
                parse = attach_prior_scores(parse, prior=prior, scores=scores)
            parses.append(parse)
        return parses

    def find_listeners(self, component: Any) -> None:
        """Do nothing: a refiner behind another one reads only its tree."""

    @property
    def reads_prior(self) -> bool:
        """Whether trees depend on the scores of the parser before (see ``PriorSource``)."""
        return bool(self.model.attrs.get("reads_prior")) or self.certain < 1

    def new_scores(self, doc: Doc, segmentation: Segmentation) -> list[ArcScores]:
        """Return the scores of a new parse; see ``G2GParser.new_scores``.

        Raises ValueError for a Doc that was refined, since another parse would give other scores.
        """
        if doc._.get(ITERATIONS) is not None:
            raise ValueError(Errors.E841.format(text=doc.text[:40], name=self.name))
        return super().new_scores(doc, segmentation)

    def set_annotations(self, docs: Iterable[Doc], scores: ParsedBatch) -> None:
        """Write heads, labels, sentence boundaries and numbers of passes. On request, write all graphs."""
        docs = list(docs)
        initial = [initial_tokens(doc) for doc in docs] if self.store_graphs else []
        for doc in docs:
            end_prior(doc)
        super().set_annotations(docs, scores)
        segmentation = scores.segmentation
        passes = np.zeros(len(segmentation.n_words), dtype=np.int64)
        passes[segmentation.n_words > 0] = [len(parse.iterations) for parse in scores.parses]
        edges = np.searchsorted(segmentation.doc_of, np.arange(len(docs) + 1)).tolist()
        for doc, (start, end) in zip(docs, pairwise(edges), strict=True):
            doc._.set(ITERATIONS, passes[start:end].tolist())
            # Remove graphs of an earlier run. The next run would prefer the initial graph to the tree.
            for extension in (GRAPHS, INITIAL_GRAPH):
                if doc._.get(extension) is not None:
                    doc._.set(extension, None)
        if self.store_graphs:
            graphs = graphs_of_passes(docs, scores, self.labels)
            for doc, first, others in zip(docs, initial, graphs, strict=True):
                doc._.set(GRAPHS, [first, *others])
                doc.user_data[GRAPHS] = with_tokens(doc, {})

    def _initial_arcs(self, docs: Sequence[Doc], segmentation: Segmentation) -> tuple[IntArray, IntArray]:
        """Return heads and label ids of the initial graphs; see ``pipeline/trees.py: initial_graphs``."""
        names = [*self.labels, *self.cfg["initial_labels"]]
        ids = {self.vocab.strings.add(label): i for i, label in reversed(list(enumerate(names)))}
        return initial_graphs(docs, segmentation, ids)

    # Training

    def training_inputs(
        self, docs: Sequence[Doc], segmentation: Segmentation, vectors: Sequence[Floats2d] | None = None
    ) -> list[Sentence]:
        """Return the sentences, with graphs corrupted or emptied at the rates of this component.

        They request nothing but trees, so that training does not read priors.
        """
        heads, labels = self._initial_arcs(docs, segmentation)
        tags = read_tags(docs, segmentation, self.model.attrs.get("tag_attr"), self.treebanks)
        n = int((segmentation.n_words > 0).sum())
        is_empty: BoolArray = np.zeros(n, dtype=np.bool_)
        if n and (self.head_corruption or self.label_corruption or self.empty_share):
            rng = np.random.default_rng(np.random.randint(2**31))  # follows the seed of training
            heads, labels = corrupt(
                heads,
                labels=labels,
                lengths=segmentation.n_words[segmentation.n_words > 0],
                head_rate=self.head_corruption,
                label_rate=self.label_corruption,
                rng=rng,
            )
            is_empty = rng.random(n) < self.empty_share
        pairs = zip(make_trees(segmentation, heads=heads, labels=labels), is_empty.tolist(), strict=True)
        graphs = [None if empty else graph for graph, empty in pairs]
        return make_sentences(docs, segmentation, tags, vectors=vectors, graphs=graphs)

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


@factory(
    "rng_refiner",
    RefinerSettings,
    assigns=[*TREE_ASSIGNS, f"doc._.{ITERATIONS}", f"doc._.{GRAPHS}"],
    default_score_weights=TREE_WEIGHTS,
)
def make_rng_refiner(nlp: Language, name: str, settings: RefinerSettings) -> RngRefiner:
    """Make the ``rng_refiner`` component, which refines the trees of a Doc, or parses from empty graphs."""
    return RngRefiner(nlp.vocab, name, settings)
