"""RNGTr: SynTr that reads its own output as graph input.

Mohammadshahi & Henderson 2021, "Recursive Non-Autoregressive Graph-to-Graph Transformer for Dependency
Parsing with Iterative Refinement".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..arrays import BoolArray, IntArray
from ..errors import Errors
from ..layers.edges import Edges
from ..layers.encoder_config import EncoderConfig
from ..layers.relations import RelationTables
from ..trees.constraints import allowed_arcs
from .batch import Batch, PieceBatch
from .graph_input import count_relations, graph_edges, rows_with_added_labels, to_edges
from .model import make_model
from .network import NetworkSpec
from .settings import COUNT, SHARE, BiaffineSettings, ScorerSettings, builder, setting
from .syntr import Graphs, Scores, SynTr
from .types import Arcs, ArcScores, Parse, ParserModel, Sentence, Start, pad_trees

#: Minimum log-probability of a head or a label in a mean. It keeps sums finite.
MIN_LOG_PROB = -100.0


@dataclass(frozen=True, kw_only=True)
class RNGTrSettings(BiaffineSettings):
    """Settings of RNGTr."""

    iterations: int = setting(
        3,
        "Maximum number of encoder passes, T in the paper, which uses 3 after another parser and 4 from "
        "empty graphs.",
        COUNT,
    )
    stop: bool = setting(True, "Stop the passes of a sentence as soon as one leaves its graph unchanged.")
    graph_input: bool = setting(
        True,
        "Let each pass read the graph of the one before. Set it to false only to measure its effect.",
    )
    prior_share: float = setting(
        0.5,
        "Share of the parser's log-probabilities in the mean that the refiner decodes heads and labels from, "
        "if a parser of this library that scores all arcs comes before it in the pipeline. With 0, the "
        "refiner uses only its own.",
        SHARE,
    )


@builder(RNGTrSettings)
def build_rngtr(settings: RNGTrSettings) -> ParserModel:
    """Build RNGTr, which refines a given graph, or parses from an empty one, in a few encoder passes.

    Registered as ``spacy_g2g.RNGTr.v1``.
    """
    return make_model("rngtr", RNGTr, settings, learn=learn_initial_labels)


def learn_initial_labels(
    sentences: Sequence[Sentence],  # noqa: ARG001
    start: Start,
    is_pretrained: bool,  # noqa: ARG001
) -> dict[str, Any]:
    """Return ``n_initial_labels``, the number of labels that only initial graphs have.

    With a shared encoder of this library, also return its sizes, ``shared_encoder``.
    """
    shared = {} if start.shared_encoder is None else {"shared_encoder": start.shared_encoder.to_dict()}
    return {"n_initial_labels": start.n_initial_labels, **shared}


class GraphReader(SynTr[PieceBatch]):
    """SynTr whose encoder reads a graph.

    If the pipeline shares an encoder, this network runs it with its own tables of relations. A pass without
    any graph reads the vectors that the encoder gives to all components.

    n_labels: Number of labels in the graphs that it reads.
    graph_input: Whether it reads them.
    """

    runs_upstream = True

    def __init__(
        self, spec: NetworkSpec, settings: ScorerSettings, *, n_labels: int, graph_input: bool
    ) -> None:
        self.n_labels, self.graph_input = n_labels, graph_input
        n_relations = count_relations(n_labels) if graph_input else 0
        super().__init__(spec, settings, n_relations=n_relations)
        self.tables = None
        if spec.encoder is None and self.runs_upstream:
            if "shared_encoder" not in spec.learned:
                raise ValueError(Errors.E419)
            self.tables = shared_tables(EncoderConfig.from_dict(spec.learned["shared_encoder"]), n_relations)

    def encode(
        self,
        batch: Batch,
        edges: Edges | None = None,
        extra: Tensor | None = None,
        tables: Any = None,
        n_layers: int | None = None,
    ) -> Tensor:
        """Return the vectors of ROOT and of the words, float [sentences, words + 1, width]."""
        if self.upstream is None:
            return super().encode(batch, edges, extra, tables, n_layers)
        assert isinstance(batch, PieceBatch)
        if batch.vectors is not None and (batch.heads is None or (batch.heads < 0).all()):
            return self.with_root(batch.vectors)
        encoded = self.upstream.network.encode(batch, edges, extra, self.tables)
        factor = self.upstream_factor
        if encoded.requires_grad and factor != 1.0:
            # This also scales the gradients of the tables. AdamW's steps hardly depend on their scale.
            encoded.register_hook(lambda gradient: factor * gradient)
        return self.with_root(encoded[:, 1:].float())

    def edges(self, batch: PieceBatch) -> Edges | None:
        """Return the graph input of a batch."""
        return to_edges(graph_edges(batch, self.n_labels), self.device) if self.graph_input else None


class RNGTr(GraphReader):
    """``G_t = decode(score(encode(words, G_{t-1})))`` with the same weights at each t (paper, section 3).

    Between passes, heads and labels are the arg-max. So a graph may have cycles and several roots. The last
    pass of a sentence gives a tree. A sentence is finished when its graph stays the same, and then leaves the
    batch.

    In training, each pass has its loss. No gradient flows from one pass to the pass before, and the gradients
    of all passes make one step of the optimizer. The published code makes a step after each pass.
    """

    @classmethod
    def reads_prior(cls, settings: RNGTrSettings) -> bool:
        """Return whether priors have a share in decoding."""
        return settings.prior_share > 0

    def __init__(self, spec: NetworkSpec, settings: RNGTrSettings) -> None:
        n_labels = spec.n_labels + spec.learned["n_initial_labels"]
        super().__init__(spec, settings, n_labels=n_labels, graph_input=settings.graph_input)
        self.iterations = settings.iterations
        self.stop = settings.stop
        self.prior_share = settings.prior_share

    def resize_labels(self, n_labels: int) -> None:
        """Make room for added labels, whose relations begin as those of "any other label"."""
        n_before = self.scorer.n_labels + 1
        super().resize_labels(n_labels)
        self.n_labels += n_labels - n_before
        if self.graph_input:
            tables: Any = self.encoder.tables if self.tables is None else self.tables
            rows = rows_with_added_labels(tables[0].n_relations, first=n_before, n_added=n_labels - n_before)
            for table in tables:
                table.select_relations(rows)

    def loss(self, batch: PieceBatch, gold: Sequence[Arcs]) -> Tensor:
        """Sum the loss of SynTr over all passes; finished sentences have no loss."""
        heads, labels = pad_trees(gold, int(batch.n_words.max()))
        scores = self.score(batch, self.edges(batch))
        loss = self.loss_of_scores(scores, heads=heads, labels=labels)
        for _ in range(1, self.iterations):
            with torch.no_grad():
                graphs, _ = self.arg_max(scores, batch)
            unfinished = np.flatnonzero(~self.is_finished(batch, graphs))
            if not len(unfinished):
                break
            batch = _with_graphs(batch, graphs).take(unfinished)
            width = int(batch.n_words.max())
            heads, labels = heads[unfinished, :width], labels[unfinished, :width]
            scores = self.score(batch, self.edges(batch))
            loss = loss + self.loss_of_scores(scores, heads=heads, labels=labels)
        return loss

    def parse(self, batch: PieceBatch) -> list[Parse]:
        """Return the tree of each sentence after its last pass, with the graphs of all passes."""
        passes: list[list[Parse]] = [[] for _ in batch.n_words]
        parses: dict[int, Parse] = {}
        members: IntArray = np.arange(len(passes))
        for iteration in range(self.iterations):
            scores = self.with_prior(self.score(batch, self.edges(batch)), batch)
            graphs, log_probs = self.arg_max(self.constrain(scores, batch), batch)
            fix_labels(graphs, batch)
            finished = self.is_finished(batch, graphs) | (iteration == self.iterations - 1)
            graphs = self.to_trees(graphs, scores, log_probs, batch, finished)
            graphs.limit_subjects(batch, finished)
            for i, member in enumerate(members.tolist()):
                if finished[i]:
                    parse = graphs.parse(batch, i, earlier=tuple(passes[member]))
                    parses[member] = self.answer_requests(parse, scores, batch, i)
                else:
                    passes[member].append(graphs.parse(batch, i))
            if finished.all():
                break
            unfinished = np.flatnonzero(~finished)
            members = members[unfinished]
            batch = _with_graphs(batch, graphs).take(unfinished)
        return [parses[i] for i in range(len(passes))]

    def with_prior(self, scores: Scores, batch: PieceBatch) -> Scores:
        """Return scores whose arcs are log-probabilities, averaged with those of the parser before.

        The weight of the prior is ``prior_share``. Sentences without a prior keep their own scores. For arcs
        in the parser's tree, ``label_log_probs`` averages the labels in the same way.
        """
        sentences = enumerate(batch.sentences)
        priors = {i: s.request.prior for i, s in sentences if s.request.prior is not None}
        if not priors or not self.prior_share:
            return scores
        prior = np.zeros(scores.arcs.shape, dtype=np.float32)
        heads = np.full(prior.shape[:2], -1)
        labels = np.zeros((*prior.shape[:2], self.scorer.n_labels), dtype=np.float32)
        has_prior = np.zeros((len(prior), 1, 1), dtype=np.bool_)
        for i, own_prior in priors.items():
            n, has_prior[i] = int(batch.n_words[i]), True
            prior[i, :n, : n + 1] = own_prior.arcs
            heads[i, :n], labels[i, :n] = own_prior.heads, own_prior.labels
        own = self.head_log_probs(scores.arcs, batch.n_words)
        mean = self.mean(own, prior=self.tensor(prior)).masked_fill(own.isneginf(), -torch.inf)
        arcs = torch.where(self.tensor(has_prior), mean, scores.arcs)
        prior_labels = (self.tensor(heads), self.tensor(labels)) if (heads > 0).any() else None
        return scores._replace(arcs=arcs, prior_labels=prior_labels)

    def mean(self, own: Tensor, *, prior: Tensor) -> Tensor:
        """Return the mean of log-probabilities, in which ``prior_share`` is the weight of the parser's."""
        return own.clamp(min=MIN_LOG_PROB).lerp(prior.clamp(min=MIN_LOG_PROB), self.prior_share)

    def label_log_probs(self, scores: Scores, *, rows: Tensor, words: Tensor, heads: Tensor) -> Tensor:
        """Return the log-probabilities of labels of arcs, averaged with the parser's for its own arcs."""
        own = super().label_log_probs(scores, rows=rows, words=words, heads=heads)
        if scores.prior_labels is None:
            return own
        prior_heads, prior = (values[rows, words] for values in scores.prior_labels)
        return torch.where((prior_heads == heads)[:, None], self.mean(own, prior=prior).log_softmax(-1), own)

    def arc_scores(self, scores: Scores, i: int, *, n: int) -> ArcScores:
        """Return the scores of all arcs of sentence i, with averaged labels for the arcs of the parser."""
        arc_scores = super().arc_scores(scores, i, n=n)
        if scores.prior_labels is not None:
            heads = scores.prior_labels[0][i, :n].cpu().numpy()
            words = np.flatnonzero(heads > 0)
            arcs = {"rows": np.full_like(words, i), "words": words, "heads": heads[words]}
            labels = self.label_log_probs(scores, **{name: self.tensor(arcs[name]) for name in arcs})
            arc_scores.labels[words, heads[words] - 1] = labels.cpu().numpy()
        return arc_scores

    def constrain(self, scores: Scores, batch: PieceBatch) -> Scores:
        """Forbid the arcs that violate the constraints of their sentences."""
        allowed = np.ones(scores.arcs.shape, dtype=np.bool_)
        for i, sentence in enumerate(batch.sentences):
            constraints = sentence.request.constraints
            if constraints:
                n = len(sentence.words)
                n_labels = self.scorer.n_labels + 1
                allowed[i, :n, : n + 1] = allowed_arcs(constraints, n, n_labels=n_labels)
        if allowed.all():
            return scores
        return scores._replace(arcs=scores.arcs.masked_fill(~self.tensor(allowed), -torch.inf))

    def is_finished(self, batch: PieceBatch, graphs: Graphs) -> BoolArray:
        """Return which sentences have a graph that the pass left unchanged, bool [sentences]."""
        if not self.stop or batch.heads is None or batch.labels is None:
            return np.zeros(len(batch.n_words), dtype=np.bool_)
        same: BoolArray = ((batch.heads == graphs.heads) & (batch.labels == graphs.labels)).all(axis=1)
        return same


def shared_tables(encoder: EncoderConfig, n_relations: int) -> nn.ModuleList:
    """Return tables of relations for each layer of a shared encoder."""
    config = replace(encoder, n_relations=n_relations, normalize_keys=n_relations > 0)
    return nn.ModuleList(RelationTables(config) for _ in range(config.n_layers))


def fix_labels(graphs: Graphs, batch: PieceBatch) -> None:
    """Write the labels that constraints fix to the graphs that the next pass reads."""
    for i, sentence in enumerate(batch.sentences):
        for kind, words, label in sentence.request.constraints:
            if kind == "label":
                graphs.labels[i, words[0] - 1] = label


def _with_graphs(batch: PieceBatch, graphs: Graphs) -> PieceBatch:
    return replace(batch, heads=graphs.heads, labels=graphs.labels)
