"""SentTr: a transition-based parser that encodes the sentence and, with graph input, the partial tree.

Mohammadshahi & Henderson 2020, "Graph-to-Graph Transformer for Transition-based Dependency Parsing",
section 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from ...arrays import FloatArray, IntArray
from ...models.batch import PieceBatch
from ...models.graph_input import N_UNLABELED, LabelEmbeddings, to_edges, unlabeled_graph
from ...models.model import make_model
from ...models.network import NetworkSpec
from ...models.settings import COUNT, WordSettings, builder, setting
from ...models.start import learn_rare_words
from ...models.types import ParserModel
from ..parsing.arc_standard import NO_ACTION, is_arc
from ..parsing.oracle_states import Samples, Step, sample_groups
from ..parsing.state import B1, S1, S2, States
from .settings import TransitionSettings
from .transitions import Reader, TransitionNetwork


@dataclass(frozen=True, kw_only=True)
class SentTrSettings(TransitionSettings, WordSettings):
    """Settings of SentTr."""

    graph_input: bool = setting(
        True, "Encode the sentence again, together with the partial tree, when the tree has new arcs."
    )
    refresh_every: int = setting(1, "Number of new arcs after which the sentence is encoded again.", COUNT)


@builder(SentTrSettings)
def build_sent_tr(settings: SentTrSettings) -> ParserModel:
    """Build SentTr, a transition-based parser that encodes the sentence; with graph input SentTr+G2GTr.

    Registered as ``spacy_g2g.SentTr.v1``.
    """
    learn = partial(learn_rare_words, share=settings.unknown_share)
    return make_model("sent_tr", SentTr, settings, learn=learn)


class SentTr(TransitionNetwork):
    """Transition-based parser whose slots s2, s1 and b1 have the vectors of their words in the sentence."""

    graph_parameters = (*TransitionNetwork.graph_parameters, "label_embeddings.*")

    def __init__(self, spec: NetworkSpec, settings: SentTrSettings) -> None:
        super().__init__(
            spec,
            settings,
            exist_slots=(S2, S1, B1),
            relation_slots=(S2, S1),
            n_relations=N_UNLABELED if settings.graph_input else 0,
            words=settings,
        )
        self.graph_input = settings.graph_input
        self.refresh_every = settings.refresh_every
        self.empty = nn.Parameter(torch.empty(spec.width))
        nn.init.normal_(self.empty, std=spec.own_encoder.initializer_range)
        if self.graph_input:
            self.label_embeddings = LabelEmbeddings(spec.n_labels, spec.own_encoder.embedding_width)

    def resize_labels(self, n_labels: int) -> None:
        """Make room for added labels."""
        super().resize_labels(n_labels)
        if self.graph_input:
            self.label_embeddings.resize(n_labels)

    def project(self, batch: PieceBatch) -> Tensor:
        """Compute the classifiers' parts of an empty slot, ROOT and each word, given the batch's graphs.

        Returns float [sentences, 1 + 1 + words, parts, hidden_width].
        """
        edges, extra = None, None
        if self.graph_input:
            graph, label_rows = unlabeled_graph(batch)
            edges = to_edges(graph, self.device)
            extra = self.label_embeddings(self.tensor(label_rows))
        words = self.encode(batch, edges, extra)
        empty = self.empty.to(words.dtype).expand(len(words), 1, -1)
        return self.classifiers.project(torch.cat([empty, words], 1))

    def score_slots(self, table: Tensor, owners: IntArray, *, slots: IntArray) -> tuple[Tensor, Tensor]:
        """Score states.

        table: Parts from ``project``.
        owners: int [states], the row of the table for each state.
        slots: int [states, 3].
        """
        n_parts = len(self.classifiers.slots)
        places = owners[:, None] * table.shape[1] + slots[:, self.classifiers.slots] + 1
        parts = table.flatten(0, 1)[self.tensor(places), torch.arange(n_parts, device=table.device)]
        exist, relation = self.classifiers(parts)
        return exist, relation

    def sample(self, actions: IntArray) -> FloatArray:
        """Sample partial trees, with all their states; without graph input take all states."""
        if not self.graph_input:
            return np.asarray(actions != NO_ACTION, dtype=np.float32)
        return sample_groups(self._versions(actions), self.settings.states_per_sentence)

    def _versions(self, actions: IntArray) -> IntArray:
        """Number the encoder pass that each state needs, int [sentences, steps], -1 after the end."""
        arcs = is_arc(actions)
        n_arcs: IntArray = np.cumsum(arcs, axis=1) - arcs
        return np.where(actions == NO_ACTION, -1, n_arcs // self.refresh_every)

    def score_samples(
        self,
        batch: PieceBatch,
        samples: Samples,
        steps: Sequence[Step],  # noqa: ARG002
    ) -> tuple[Tensor, Tensor]:
        """Score sampled states, with one encoder pass for all states of one partial tree."""
        if not self.graph_input:
            return self.score_slots(self.project(batch), samples.sentences, slots=samples.step.slots)
        states = samples.step.states
        versions = states.n_arcs // self.refresh_every
        keys, first, owners = np.unique(
            np.stack([samples.sentences, versions]), axis=1, return_index=True, return_inverse=True
        )
        # Each pass encodes the tree of its first state.
        table = self.project(with_trees(batch.take(keys[0]), states.take(first)))
        return self.score_slots(table, owners.reshape(-1), slots=samples.step.slots)

    def read(self, batch: PieceBatch) -> Reader:
        """Begin to decode."""
        return _TreeReader(self, batch) if self.graph_input else _SentenceReader(self, batch)


class _SentenceReader(Reader):
    """Encodes each sentence once."""

    def __init__(self, network: SentTr, batch: PieceBatch) -> None:
        self.network = network
        self.table = network.project(batch)
        self.owners: IntArray = np.arange(len(batch.n_words))

    def score(self, states: States, rows: IntArray, *, slots: IntArray) -> tuple[Tensor, Tensor]:  # noqa: ARG002
        return self.network.score_slots(self.table, self.owners[rows], slots=slots)

    def take(self, order: IntArray) -> None:
        self.owners = self.owners[order]


class _TreeReader(Reader):
    """Encodes a sentence with its partial tree, and again after every ``refresh_every`` new arcs."""

    def __init__(self, network: SentTr, batch: PieceBatch) -> None:
        self.network = network
        self.batch = batch
        self.owners: IntArray = np.arange(len(batch.n_words))
        self.n_encoded: IntArray = np.full(len(self.owners), -network.refresh_every)
        self.table = torch.empty(0)

    def score(self, states: States, rows: IntArray, *, slots: IntArray) -> tuple[Tensor, Tensor]:
        n_arcs = states.n_arcs
        outdated = rows[n_arcs[rows] - self.n_encoded[rows] >= self.network.refresh_every]
        if len(outdated):
            self._encode(states, outdated)
            self.n_encoded[outdated] = n_arcs[outdated]
        return self.network.score_slots(self.table, rows, slots=slots)

    def _encode(self, states: States, rows: IntArray) -> None:
        parts = self.network.project(with_trees(self.batch.take(self.owners[rows]), states.take(rows)))
        if not len(self.table):
            width = states.heads.shape[1] + 2
            self.table = parts.new_zeros(len(self.owners), width, *parts.shape[2:])
        self.table[self.network.tensor(rows), : parts.shape[1]] = parts

    def take(self, order: IntArray) -> None:
        if len(self.table):
            self.table = self.table[self.network.tensor(order)]
        self.owners, self.n_encoded = self.owners[order], self.n_encoded[order]


def with_trees(batch: PieceBatch, states: States) -> PieceBatch:
    """Return the batch with the partial trees of states as its graphs."""
    width = int(batch.n_words.max())
    return replace(batch, heads=states.heads[:, :width], labels=states.labels[:, :width])
