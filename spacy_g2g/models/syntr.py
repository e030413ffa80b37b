"""SynTr: a transformer encoder with biaffine scorers, without graph input.

Mohammadshahi & Henderson 2021 (RNGTr), section 4: one pass from an empty graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ..arrays import BoolArray, FloatArray, IntArray
from ..errors import Errors
from ..layers.biaffine import BiaffineScorer
from ..layers.context import WordLSTM
from ..layers.edges import Edges
from ..layers.matrix_tree import log_partition, marginals, restrict
from ..trees.mst import decode
from ..trees.tree import ROOT_LABEL, are_trees, can_be_trees
from .batch import Batch
from .decoding import best_parses, further_subjects
from .model import make_model
from .network import B, Network, NetworkSpec
from .settings import BiaffineSettings, HeadLoss, ScorerSettings, builder
from .types import Arcs, ArcScores, Parse, ParserModel, pad_trees

#: Minimum probability of a head among all trees. It keeps logarithms finite.
MIN_PROBABILITY = 1e-20


@dataclass(frozen=True, kw_only=True)
class SynTrSettings(BiaffineSettings):
    """Settings of SynTr."""


@builder(SynTrSettings)
def build_syntr(settings: SynTrSettings) -> ParserModel:
    """Build SynTr, a graph-based parser that encodes each sentence once.

    Registered as ``spacy_g2g.SynTr.v1``.
    """
    return make_model("syntr", SynTr, settings)


class SynTr(Network[B]):
    """Encoder, perhaps an LSTM over its words, and biaffine scorers.

    The scorer leaves out the root label, since only the root arc has it.
    """

    meets_constraints = scores_arcs = True

    #: Likelihood that is learned, where words have one head each.
    head_loss: HeadLoss = "local"

    def __init__(self, spec: NetworkSpec, settings: ScorerSettings, *, n_relations: int = 0) -> None:
        super().__init__(spec, n_relations=n_relations, normalize_keys=n_relations > 0, words=settings)
        self.context = None
        width = spec.width
        if settings.n_context_layers:
            self.context = WordLSTM(
                width, settings.context_width, n_layers=settings.n_context_layers, dropout=settings.dropout
            )
            width = 2 * settings.context_width
        if isinstance(settings, BiaffineSettings):
            self.head_loss = settings.head_loss
        self.scorer = BiaffineScorer(
            width,
            spec.n_labels - 1,
            arc_width=settings.arc_width,
            label_width=settings.label_width,
            dropout=settings.dropout,
            distances=settings.distances,
        )

    def resize_labels(self, n_labels: int) -> None:
        """Make room for added labels."""
        self.scorer.resize(n_labels - 1)

    def score(self, batch: Batch, edges: Edges | None = None) -> Scores:
        """Encode and score a batch, with edges for networks that take graph input."""
        vectors = self.encode(batch, edges)
        if self.context is not None:
            vectors = self.context(vectors, batch.n_words + 1)
        mask = self.is_word(batch.n_words + 1, vectors.shape[1])
        arcs, dependents, heads = self.scorer(vectors, mask)
        columns = torch.arange(arcs.shape[2], device=arcs.device)
        possible = mask[:, None] & (columns != columns[1:, None])
        arcs = arcs.masked_fill(~possible, -torch.inf)
        return Scores(arcs, dependents, heads, batch.n_words)

    def loss(self, batch: B, gold: Sequence[Arcs]) -> Tensor:
        """Sum the negative log-likelihood of gold heads, and of gold labels at gold heads."""
        scores = self.score(batch)
        heads, labels = pad_trees(gold, scores.arcs.shape[1])
        return self.loss_of_scores(scores, heads=heads, labels=labels)

    def loss_of_scores(self, scores: Scores, *, heads: IntArray, labels: IntArray) -> Tensor:
        """Compute the loss against gold heads and labels, int [sentences, words] each, -1 if missing."""
        loss = self.loss_of_heads(scores, heads)
        arcs = (heads > 0) & (labels > ROOT_LABEL)
        label_scores = self.score_labels(scores, heads, arcs)
        return loss + F.cross_entropy(label_scores, self.tensor(labels[arcs] - 1), reduction="sum")

    def loss_of_heads(self, scores: Scores, heads: IntArray) -> Tensor:
        """Compute the loss against gold heads, int [sentences, words], -1 if missing.

        Heads that do not fit into a tree with one root are learned one by one.
        """
        targets = self.tensor(heads)
        if self.head_loss == "local":
            return _cross_entropy(scores.arcs, targets)
        are_trees = self.tensor(can_be_trees(heads, lengths=scores.n_words))
        both = torch.stack([scores.arcs, restrict(scores.arcs, heads=targets)])
        is_word = self.is_word(scores.n_words, heads.shape[1])
        all_trees, gold_trees = log_partition(both, is_word=is_word.expand(2, -1, -1))
        others = _cross_entropy(scores.arcs, targets.masked_fill(are_trees[:, None], -1))
        loss: Tensor = ((all_trees - gold_trees) * are_trees).sum().float()
        return loss + others

    def is_word(self, n_words: IntArray, width: int) -> Tensor:
        """Return whether each place of a padded batch holds one of n_words words, bool [sentences, width]."""
        return self.tensor(np.arange(width) < n_words[:, None])

    def head_log_probs(self, arcs: Tensor, n_words: IntArray) -> Tensor:
        """Return the log-probability of each head, float32 [sentences, words, words + 1].

        arcs: Scores of arcs, of the same shape; -inf forbids an arc.
        n_words: Number of words in each sentence, int [sentences].
        """
        if self.head_loss == "local":
            return arcs.log_softmax(-1)
        probabilities = marginals(arcs, is_word=self.is_word(n_words, arcs.shape[1]))
        log_probs = probabilities.clamp(min=MIN_PROBABILITY).log().float()
        return log_probs.masked_fill(arcs.isneginf(), -torch.inf)

    def score_labels(self, scores: Scores, heads: IntArray, arcs: BoolArray) -> Tensor:
        """Score all labels but the root label.

        scores: Scores of the batch.
        heads: int [sentences, words].
        arcs: bool [sentences, words], the words whose arcs are scored.
        Returns float32 [arcs, labels].
        """
        rows, words = np.nonzero(arcs)
        sentences = self.tensor(rows)
        dependents = scores.dependents[sentences, self.tensor(words)]
        label_scores = self.scorer.labels(
            dependents, heads=scores.heads[sentences, self.tensor(heads[rows, words])]
        )
        return label_scores.float()

    def arg_max(self, scores: Scores, batch: Batch) -> tuple[Graphs, FloatArray]:
        """Find the best head of each word, even if these do not form a tree, and the best label of each arc.

        A single transfer brings all results from the device to the host.

        Returns the graphs, and the log-probabilities of heads, float [sentences, words, words + 1].
        Raises ValueError for scores that are not numbers.
        """
        log_probs = self.head_log_probs(scores.arcs, batch.n_words)
        is_word = np.arange(log_probs.shape[1]) < batch.n_words[:, None]
        rows, words = map(self.tensor, np.nonzero(is_word))
        heads = log_probs.argmax(-1)[rows, words]
        label_log_probs = self.label_log_probs(scores, rows=rows, words=words, heads=heads)
        best = label_log_probs.max(-1)
        parts = [log_probs.flatten(), heads.float(), best.indices.float(), best.values]
        packed: FloatArray = torch.cat(parts).cpu().numpy()
        host_log_probs = packed[: log_probs.numel()].reshape(log_probs.shape)
        if np.isnan(host_log_probs).any():
            raise ValueError(Errors.E409)
        best_heads, best_labels, best_log_probs = packed[log_probs.numel() :].reshape(3, len(rows))
        padded = np.zeros(is_word.shape, dtype=np.int64)
        padded[is_word] = best_heads
        graphs = Graphs.from_heads(padded, host_log_probs, batch.n_words, label_log_probs)
        graphs.set_labels(is_word, best_labels.astype(np.int64), best_log_probs)
        return graphs, host_log_probs

    def to_trees(
        self, graphs: Graphs, scores: Scores, log_probs: FloatArray, batch: Batch, chosen: BoolArray
    ) -> Graphs:
        """Replace the graphs of some sentences by their best trees.

        Labels are fetched again only for words whose head changes.

        graphs: Arg-max graphs.
        scores: Scores of the batch.
        log_probs: float [sentences, words, words + 1], the log-probabilities of heads.
        batch: The sentences.
        chosen: bool [sentences], the sentences that get trees.
        """
        chosen = chosen & ~are_trees(graphs.heads, lengths=batch.n_words)
        if not chosen.any():
            return graphs
        heads = graphs.heads.copy()
        n_words = batch.n_words[chosen]
        is_word = np.arange(heads.shape[1]) < n_words[:, None]
        heads[chosen] = np.where(is_word, decode(log_probs[chosen], lengths=n_words), -1)
        changed = heads != graphs.heads
        among_words = np.flatnonzero(changed[graphs.heads >= 0])
        arcs = self.tensor(np.stack([*np.nonzero(changed), heads[changed], among_words]))
        rows, words, new_heads, places = arcs
        new_log_probs = self.label_log_probs(scores, rows=rows, words=words, heads=new_heads)
        best = new_log_probs.max(-1)
        label_log_probs = graphs.label_log_probs.index_copy(0, places, new_log_probs)
        trees = Graphs.from_heads(np.maximum(heads, 0), log_probs, batch.n_words, label_log_probs)
        trees = trees._replace(labels=graphs.labels, label_probs=graphs.label_probs)
        # One transfer for both: label ids are small enough for a float.
        best_labels, best_log_probs = torch.stack([best.indices.float(), best.values]).cpu().numpy()
        trees.set_labels(changed, best_labels.astype(np.int64), best_log_probs)
        return trees

    def label_log_probs(self, scores: Scores, *, rows: Tensor, words: Tensor, heads: Tensor) -> Tensor:
        """Return the log-probabilities of labels but the root label, float32 [arcs, labels].

        scores: Scores of the batch.
        rows: The sentences of the arcs, int [arcs].
        words: Their dependents, counted from 0, int [arcs].
        heads: Their heads, 0 for ROOT, int [arcs].
        """
        owners = rows * scores.heads.shape[1] + heads
        labels = self.scorer.labels_by_head(
            scores.dependents[rows, words], heads=scores.heads.flatten(0, 1), owners=owners
        )
        return labels.float().log_softmax(-1)

    def parse(self, batch: B) -> list[Parse]:
        """Return the best tree of each sentence, with the best label of each arc.

        Chu-Liu/Edmonds runs only if the arg-max heads are not a tree with one root.
        """
        scores = self.score(batch)
        graphs, log_probs = self.arg_max(scores, batch)
        all_sentences = np.ones(len(batch.n_words), dtype=np.bool_)
        trees = self.to_trees(graphs, scores, log_probs, batch, all_sentences)
        trees.limit_subjects(batch, all_sentences)
        tree_scores = scores_of_trees(trees, log_probs, batch)
        parses = [trees.parse(batch, i, scores=tree_scores.get(i)) for i in range(len(all_sentences))]
        return [self.answer_requests(parse, scores, batch, i) for i, parse in enumerate(parses)]

    def answer_requests(self, parse: Parse, scores: Scores, batch: Batch, i: int) -> Parse:
        """Decode sentence i again under its constraints, and attach the scores of all arcs if requested."""
        request = batch.sentences[i].request
        if not (request.constraints or request.scores == "all"):
            return parse
        arc_scores = self.arc_scores(scores, i, n=parse.n_words)
        if request.constraints:
            (best,) = best_parses(arc_scores, 1, request.constraints, request.subjects)
            tree_scores = None if parse.scores is None else arc_scores.for_heads(best.tree.heads)
            parse = replace(best, coverage=parse.coverage, earlier=parse.earlier, scores=tree_scores)
        return replace(parse, scores=arc_scores) if request.scores == "all" else parse

    def arc_scores(self, scores: Scores, i: int, *, n: int) -> ArcScores:
        """Return the scores of all arcs and labels of sentence i, which has n words."""
        dependents = scores.dependents[i, :n].repeat_interleave(n, dim=0)
        heads = scores.heads[i, 1 : n + 1].repeat(n, 1)
        labels = self.scorer.labels(dependents, heads=heads).float().log_softmax(-1).view(n, n, -1)
        arcs = self.head_log_probs(scores.arcs[i : i + 1, :n, : n + 1], np.array([n]))[0]
        return ArcScores(arcs.cpu().numpy(), labels.cpu().numpy())


class Scores(NamedTuple):
    """Scores of a batch.

    arcs: float [sentences, words, words + 1], -inf at a word itself and in padding.
    dependents: float [sentences, words, label_width], the dependents' vectors for label scores.
    heads: float [sentences, words + 1, label_width], the heads' vectors for label scores.
    n_words: Number of words in each sentence, int [sentences], on the host.
    prior_labels: Heads of the parser before a refiner, int [sentences, words], -1 if unknown, and the
        log-probabilities of the labels of these arcs, float [sentences, words, labels]; None without them.
    """

    arcs: Tensor
    dependents: Tensor
    heads: Tensor
    n_words: IntArray
    prior_labels: tuple[Tensor, Tensor] | None = None


def scores_of_trees(trees: Graphs, log_probs: FloatArray, batch: Batch) -> dict[int, ArcScores]:
    """Return the scores of the sentences that request those of their tree, by number of the sentence.

    trees: Trees of all sentences.
    log_probs: float [sentences, words, words + 1], the log-probabilities of heads.
    batch: The sentences.
    """
    members = [i for i, sentence in enumerate(batch.sentences) if sentence.request.scores == "tree"]
    if not members:
        return {}
    labels = np.split(trees.label_log_probs.cpu().numpy(), np.cumsum(batch.n_words)[:-1])
    scores = {}
    for i in members:
        n = int(batch.n_words[i])
        scores[i] = ArcScores(log_probs[i, :n, : n + 1].copy(), labels[i].copy(), trees.heads[i, :n].copy())
    return scores


class Graphs(NamedTuple):
    """Decoded graphs of a batch, [sentences, words] each. Heads and labels are -1 in padding.

    label_log_probs: Log-probabilities of the labels of all arcs but the root label, float [arcs, labels],
        sentence by sentence and without padding.
    """

    heads: IntArray
    labels: IntArray
    head_probs: FloatArray
    label_probs: FloatArray
    label_log_probs: Tensor

    @classmethod
    def from_heads(
        cls, heads: IntArray, log_probs: FloatArray, n_words: IntArray, label_log_probs: Tensor
    ) -> Graphs:
        """Return graphs without labels; log_probs: float [sentences, words, words + 1], of heads."""
        head_probs = np.exp(np.take_along_axis(log_probs, heads[..., None], axis=2)[..., 0])
        heads = np.where(np.arange(heads.shape[1]) < n_words[:, None], heads, -1)
        return cls(heads, np.full_like(heads, -1), head_probs, np.ones_like(head_probs), label_log_probs)

    def set_labels(self, arcs: BoolArray, best: IntArray, log_probs: FloatArray) -> None:
        """Write the labels of some arcs: the root label for arcs from ROOT, and the best label for others.

        arcs: Whether each word gets a label, bool [sentences, words].
        best: Label ids without the root label, int [arcs].
        log_probs: Log-probability of each of these labels, float [arcs].
        """
        is_root = self.heads[arcs] == 0
        self.labels[arcs] = np.where(is_root, ROOT_LABEL, best + 1)
        self.label_probs[arcs] = np.where(is_root, 1.0, np.exp(log_probs))

    def limit_subjects(self, batch: Batch, chosen: BoolArray) -> None:
        """Give a word one subject at most in some sentences, bool [sentences], if the batch requests it.

        See ``Request``. All sentences of a batch have the same labels of subjects.
        """
        subjects = batch.sentences[0].request.subjects if len(batch.sentences) else ()
        if not subjects:
            return
        rows, words = np.nonzero(self.heads >= 0)
        heads, labels = self.heads[rows, words], self.labels[rows, words]
        heads = np.where(chosen[rows] & (heads > 0), heads + rows * (self.heads.shape[1] + 1), 0)
        rank = self.label_probs[rows, words]
        further = further_subjects(heads, labels=labels, rank=rank, subjects=subjects)
        if len(further):
            chosen_words = torch.from_numpy(further).to(self.label_log_probs.device)
            log_probs = self.label_log_probs[chosen_words].cpu().numpy().copy()
            log_probs[:, np.array(subjects) - 1] = -np.inf
            places = rows[further], words[further]
            self.labels[places] = log_probs.argmax(axis=1) + 1
            self.label_probs[places] = np.exp(log_probs.max(axis=1))

    def parse(
        self,
        batch: Batch,
        i: int,
        *,
        scores: ArcScores | None = None,
        earlier: tuple[Parse, ...] | None = None,
    ) -> Parse:
        """Return the graph of sentence i of a batch as a parse, with its scores and its earlier passes."""
        n = int(batch.n_words[i])
        arcs = Arcs(self.heads[i, :n], self.labels[i, :n])
        probs = self.head_probs[i, :n], self.label_probs[i, :n]
        return Parse(arcs, *probs, batch.coverages[i], scores, earlier)


def _cross_entropy(arcs: Tensor, heads: Tensor) -> Tensor:
    return F.cross_entropy(arcs.flatten(0, 1), heads.flatten(), ignore_index=-1, reduction="sum")
