"""The network of roles: a graph in which a word may have several heads.

Each word may depend on ROOT, as a predicate, and on each predicate, as an argument. As in Dozat & Manning
2018, "Simpler but More Accurate Semantic Dependency Parsing", each arc is a decision of its own, and arcs
between words have labels, the roles. The encoder and the scorers are those of RNGTr, whose graph input is
the tree here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from thinc.api import Model
from torch import Tensor, nn

from ..arrays import BoolArray, IntArray
from ..errors import Errors
from ..models.batch import PieceBatch
from ..models.model import make_model
from ..models.network import NetworkSpec
from ..models.rngtr import GraphReader, learn_initial_labels
from ..models.settings import ScorerSettings, builder, setting
from ..models.syntr import Scores
from ..models.types import Sentence, Start
from .role_types import RoleInput, Roles, RoleStart

#: Probability above which an arc belongs to the graph.
THRESHOLD = 0.5
#: Log-odds of each arc at the start of training, since few pairs of words are arcs.
PRIOR = -3.0


@dataclass(frozen=True, kw_only=True)
class RoleSettings(ScorerSettings):
    """Settings of the network of roles."""

    graph_input: bool = setting(
        True,
        "Let the encoder read the tree of each Doc as graph input. With a shared encoder, this takes one "
        "more pass of it; false reads the vectors that the encoder gives to all components.",
    )


@builder(RoleSettings)
def build_role_network(settings: RoleSettings) -> Model[list[Sentence], list[Roles]]:
    """Build the network of ``role_labeler``: biaffine scorers of predicates and arguments, and of rolesets.

    Registered as ``spacy_g2g.RoleNetwork.v1``.
    """
    return make_model("role_network", RoleNetwork, settings, learn=_learn, output_kind="roles")


def _learn(sentences: Sequence[Sentence], start: Start, is_pretrained: bool) -> dict[str, Any]:
    assert isinstance(start, RoleStart)
    return {**learn_initial_labels(sentences, start, is_pretrained), "n_rolesets": start.n_rolesets}


class RoleNetwork(GraphReader):
    """Scores of predicates, arguments, roles and rolesets."""

    meets_constraints = scores_arcs = False

    def __init__(self, spec: NetworkSpec, settings: RoleSettings) -> None:
        self.runs_upstream = settings.graph_input
        n_labels = spec.learned["n_initial_labels"]
        super().__init__(spec, settings, n_labels=n_labels, graph_input=settings.graph_input)
        self.rolesets = nn.Linear(settings.label_width, spec.learned["n_rolesets"])
        if self.scorer.distance_weight is not None:
            nn.init.constant_(self.scorer.distance_weight.data[-1], PRIOR)

    def count_targets(self, gold: Sequence[Roles]) -> int:
        """Return the number of words."""
        return sum(roles.n_words for roles in gold)

    def loss(self, batch: PieceBatch, gold: Sequence[Any]) -> Tensor:
        """Sum the negative log-likelihood of predicates, of their arguments, and of roles and rolesets.

        Only gold predicates teach which words are arguments. The gold standard of a sentence is a ``Roles``.
        """
        scores = self.score(batch, self.edges(batch))
        counts, targets = _arcs(gold, scores.arcs.shape[1])
        chosen = self.tensor(counts)
        is_arc = self.tensor(targets[counts].astype(np.float32))
        loss = F.binary_cross_entropy_with_logits(scores.arcs[chosen], is_arc, reduction="sum")
        arguments = _with_sentences([roles.arguments for roles in gold])
        predicates = [roles.predicates[roles.arguments[:, 0]] for roles in gold]
        heads = np.concatenate(predicates) + 1
        arcs = {"rows": arguments[:, 0], "words": arguments[:, 2], "heads": heads}
        roles = self.label_log_probs(scores, **{name: self.tensor(arcs[name]) for name in arcs})
        loss = loss + F.nll_loss(roles, self.tensor(arguments[:, 3] - 1), reduction="sum")
        return loss + self._loss_of_rolesets(batch, scores, gold)

    def _loss_of_rolesets(self, batch: PieceBatch, scores: Scores, gold: Sequence[Roles]) -> Tensor:
        found = _with_sentences([np.stack([roles.predicates, roles.rolesets], axis=1) for roles in gold])
        candidates = _candidates(batch, found, self.rolesets.out_features)
        known = (found[:, 2] >= 0) & (candidates.sum(axis=1) > 1)
        known[known] &= candidates[known, found[known, 2]]
        log_probs = self.roleset_log_probs(scores, found[known], candidates[known])
        return F.nll_loss(log_probs, self.tensor(found[known, 2]), reduction="sum")

    def roleset_log_probs(self, scores: Scores, predicates: IntArray, candidates: BoolArray) -> Tensor:
        """Return the log-probabilities of rolesets, float32 [predicates, rolesets].

        scores: Scores of the batch.
        predicates: Sentence and word of each predicate in its first columns, int [predicates, 2 or more].
        candidates: Rolesets that each predicate may have, at least one, bool [predicates, rolesets].
        """
        rows, words = self.tensor(predicates[:, 0]), self.tensor(predicates[:, 1])
        rolesets: Tensor = self.rolesets(scores.heads[rows, words + 1]).float()
        return rolesets.masked_fill(~self.tensor(candidates), -torch.inf).log_softmax(-1)

    def parse(self, batch: PieceBatch) -> list[Any]:
        """Return the ``Roles`` of each sentence. Raises ValueError for scores that are not numbers."""
        scores = self.score(batch, self.edges(batch))
        arcs = scores.arcs.sigmoid().cpu().numpy()
        if np.isnan(arcs).any():
            raise ValueError(Errors.E409)
        predicates, arguments = [], []
        for i, sentence in enumerate(batch.sentences):
            given = sentence.predicates if isinstance(sentence, RoleInput) else None
            n = int(batch.n_words[i])
            own = np.flatnonzero(arcs[i, :n, 0] > THRESHOLD) if given is None else np.array(given, dtype=int)
            predicates.append(own[:, None])
            arguments.append(np.argwhere(arcs[i, :n, own + 1] > THRESHOLD))
        found, links = _with_sentences(predicates), _with_sentences(arguments)
        firsts = np.cumsum([0, *map(len, predicates)])
        heads = found[firsts[links[:, 0]] + links[:, 1], 1] + 1
        rolesets, roleset_probs = self._best_rolesets(batch, scores, found)
        roles, role_probs = self._best_roles(scores, links, heads)
        predicate_probs = arcs[found[:, 0], found[:, 1], 0] * roleset_probs
        argument_probs = arcs[links[:, 0], links[:, 2], heads] * role_probs
        parses = []
        for i, own in enumerate(predicates):
            of, at = found[:, 0] == i, links[:, 0] == i
            triples = np.column_stack([links[at, 1:], roles[at]])
            parts = own[:, 0], rolesets[of], triples, predicate_probs[of], argument_probs[at]
            parses.append(Roles(int(batch.n_words[i]), *parts, batch.coverages[i]))
        return parses

    def _best_rolesets(self, batch: PieceBatch, scores: Scores, found: IntArray) -> tuple[IntArray, Any]:
        """Return the best roleset of each predicate, -1 without candidates, and its probability, else 1."""
        candidates = _candidates(batch, found, self.rolesets.out_features)
        best, probs = np.full(len(found), -1), np.ones(len(found))
        known = candidates.any(axis=1)
        if known.any():
            top = self.roleset_log_probs(scores, found[known], candidates[known]).max(-1)
            best[known], probs[known] = top.indices.cpu().numpy(), top.values.exp().cpu().numpy()
        return best, probs

    def _best_roles(self, scores: Scores, links: IntArray, heads: IntArray) -> tuple[IntArray, Any]:
        """Return the best role of each argument, and its probability."""
        if not len(links):
            return np.zeros(0, dtype=np.int64), np.ones(0)
        rows, words = self.tensor(links[:, 0]), self.tensor(links[:, 2])
        best = self.label_log_probs(scores, rows=rows, words=words, heads=self.tensor(heads)).max(-1)
        return best.indices.cpu().numpy() + 1, best.values.exp().cpu().numpy()


def _arcs(gold: Sequence[Roles], width: int) -> tuple[BoolArray, BoolArray]:
    """Return which arcs count in the loss, and which are gold, bool [sentences, width, width + 1] each."""
    counts = np.zeros((len(gold), width, width + 1), dtype=np.bool_)
    targets = np.zeros_like(counts)
    words = np.arange(width)
    for i, roles in enumerate(gold):
        columns = roles.predicates + 1
        counts[i, : roles.n_words, [0, *columns]] = True
        targets[i, roles.predicates, 0] = True
        targets[i, roles.arguments[:, 1], columns[roles.arguments[:, 0]]] = True
    counts[:, words, words + 1] = False
    return counts, targets


def _with_sentences(tables: Sequence[IntArray]) -> IntArray:
    """Join the rows of a table for each sentence, with the number of the sentence in front."""
    sentences = np.repeat(np.arange(len(tables)), [*map(len, tables)])
    return np.column_stack([sentences, np.concatenate(tables).astype(np.int64)])


def _candidates(batch: PieceBatch, found: IntArray, n_rolesets: int) -> BoolArray:
    """Return which rolesets each predicate may have, bool [predicates, rolesets].

    found: Sentence and word of each predicate in its first columns.
    """
    candidates = np.zeros((len(found), n_rolesets), dtype=np.bool_)
    for row, (i, word) in zip(candidates, found[:, :2].tolist(), strict=True):
        sentence = batch.sentences[i]
        assert isinstance(sentence, RoleInput)
        row[[*sentence.candidates[word]]] = True
    return candidates
