"""The base of SentTr and StateTr: learning from an oracle's states, and decoding with a beam.

Mohammadshahi & Henderson 2020, "Graph-to-Graph Transformer for Transition-based Dependency Parsing". A
network encodes parser states. Two classifiers (``layers.classifiers``) then score the type of the next
action, and the label of an arc in either direction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ...arrays import BoolArray, FloatArray, IntArray
from ...models.batch import PieceBatch
from ...models.network import Network, NetworkSpec
from ...models.settings import WordSettings
from ...models.types import Arcs, Coverage, Parse
from ...trees.tree import ROOT_LABEL
from ..layers.classifiers import TransitionClassifiers
from ..parsing.action_table import ArcActions, ArcMachines
from ..parsing.arc_standard import N_ACTIONS, NO_ACTION, Action, valid_actions
from ..parsing.oracle_states import Samples, Step, sample_groups, take_samples
from ..parsing.search import Beam, Choices
from ..parsing.state import S2, States
from . import gold as gold_trees
from .settings import TransitionSettings

# Bias that makes SWAP rare at first: an untrained parser that prefers it takes O(n^2) actions.
SWAP_BIAS = -4.0


class Reader(ABC):
    """A network's view of the parser states of a batch, while it decodes."""

    @abstractmethod
    def score(self, states: States, rows: IntArray, *, slots: IntArray) -> tuple[Tensor, Tensor]:
        """Score actions and labels for some of the states; see ``TransitionClassifiers``.

        states: All states.
        rows: int [n], the states to score.
        slots: int [n, 3], the slots of these states.
        """

    @abstractmethod
    def take(self, order: IntArray) -> None:
        """Continue with the hypotheses in these rows, which may repeat."""

    def advance(self, states: States, step: Step) -> None:  # noqa: B027
        """Follow a step that led to these states."""


class TransitionNetwork(Network[PieceBatch]):
    """A transition-based parser. A subclass encodes parser states.

    spec: Facts that the network is built from.
    settings: Settings of all transition-based parsers.
    exist_slots: Slots that the classifier of actions reads.
    relation_slots: Slots that the classifier of labels reads.
    n_relations: Number of relations of the graph input; 0 for no graph input.
    history_width: Width of the history's vector; 0 for no history.
    words: See ``Network``.
    """

    def __init__(
        self,
        spec: NetworkSpec,
        settings: TransitionSettings,
        *,
        exist_slots: tuple[int, ...],
        relation_slots: tuple[int, ...],
        n_relations: int = 0,
        history_width: int = 0,
        words: WordSettings | None = None,
    ) -> None:
        super().__init__(spec, n_relations=n_relations, words=words)
        self.settings = settings
        self.unknown_words = frozenset(spec.learned.get("rare_words", ()))
        self.classifiers = TransitionClassifiers(
            spec.width,
            n_actions=N_ACTIONS,
            n_labels=spec.n_labels - 1,
            exist_slots=exist_slots,
            relation_slots=relation_slots,
            hidden_width=settings.hidden_width,
            dropout=settings.dropout,
            history_width=history_width,
        )
        self.actions = ArcActions(spec.n_labels, swap=settings.swap)
        with torch.no_grad():
            self.classifiers.exist.weight[Action.SWAP] = 0.0
            self.classifiers.exist.bias[Action.SWAP] = SWAP_BIAS

    @abstractmethod
    def read(self, batch: PieceBatch) -> Reader:
        """Begin to decode, with one hypothesis for each sentence."""

    @abstractmethod
    def score_samples(
        self, batch: PieceBatch, samples: Samples, steps: Sequence[Step]
    ) -> tuple[Tensor, Tensor]:
        """Score the actions and labels of sampled states."""

    def resize_labels(self, n_labels: int) -> None:
        """Make room for added labels."""
        self.classifiers.resize(n_labels - 1)
        self.actions = ArcActions(n_labels, swap=self.settings.swap)

    @classmethod
    def can_learn(cls, settings: TransitionSettings, gold: Sequence[Arcs]) -> BoolArray:
        """Find the gold trees that the oracle can build: complete and, without SWAP, projective."""
        return gold_trees.are_learnable(gold, swap=settings.swap, needs_labels=False)

    @property
    def n_hypotheses(self) -> int:
        """Width of the beam."""
        return self.settings.beam_width

    # Training

    def loss(self, batch: PieceBatch, gold: Sequence[Arcs]) -> Tensor:
        """Sum the cross-entropy of the oracle's actions and labels over states.

        With ``states_per_sentence``, the expected value is the loss over all states.
        """
        steps = gold_trees.gold_steps(gold, batch.n_words, swap=self.settings.swap)
        return self.loss_of_samples(batch, steps, self.sample(np.stack([step.actions for step in steps], 1)))

    def loss_of_samples(self, batch: PieceBatch, steps: Sequence[Step], weights: FloatArray) -> Tensor:
        """Sum the weighted loss of the states with a weight above 0.

        batch: The sentences.
        steps: The steps of the oracle.
        weights: float [sentences, steps].
        """
        samples = take_samples(steps, weights)
        states, _, actions, labels = samples.step
        exist, relation = self.score_samples(batch, samples, steps)
        valid = self.tensor(valid_actions(states, self.settings.swap))
        losses = F.cross_entropy(
            exist.masked_fill(~valid, -torch.inf), self.tensor(actions), reduction="none"
        )
        loss = (losses * self.tensor(samples.weights)).sum()
        arcs = np.flatnonzero(labels > ROOT_LABEL)
        if len(arcs):
            scores = relation[self.tensor(arcs), :, self.tensor(actions[arcs] - Action.LEFT_ARC)]
            losses = F.cross_entropy(scores, self.tensor(labels[arcs] - 1), reduction="none")
            loss = loss + (losses * self.tensor(samples.weights[arcs])).sum()
        return loss

    def sample(self, actions: IntArray) -> FloatArray:
        """Return the weights of the oracle's states, float [sentences, steps]; 0 for states left out."""
        return sample_groups(
            np.where(actions == NO_ACTION, -1, np.arange(actions.shape[1])), self.settings.states_per_sentence
        )

    # Decoding

    def parse(self, batch: PieceBatch) -> list[Parse]:
        """Return the tree of the best hypothesis of each sentence.

        Hypotheses compete by the sum of their actions' log-probabilities. Each arc has its best label, and
        the beam keeps no other labels. The probability of a head is that of the action that made the arc.
        """
        beam = Beam(ArcMachines(self.actions, States.begin(batch.n_words)), self.settings.beam_width)
        reader = self.read(batch)
        while (rows := beam.open_rows).size:
            width = beam.width
            parents = beam.advance(rows, self._choices(reader, beam.machines, rows))
            if beam.max_width > 1:
                reader.take((parents + np.arange(len(parents))[:, None] * width).ravel())
            reader.advance(beam.machines.states, beam.machines.step)
        return gold_trees.to_parses(beam.best().machines, self.coverages(batch))

    def coverages(self, batch: PieceBatch) -> list[Coverage]:
        """Return how each sentence was fitted into the encoder."""
        return batch.coverages

    def _choices(self, reader: Reader, machines: ArcMachines, rows: IntArray) -> Choices:
        """Score each type of action in some of the states, with the best label of each arc."""
        slots = machines.states.slots()[rows]
        exist, relation = reader.score(machines.states, rows, slots=slots)
        valid = valid_actions(machines.states.take(rows), self.settings.swap)
        types = exist.masked_fill(~self.tensor(valid), -torch.inf).log_softmax(-1)
        label_log_probs = relation.log_softmax(1)
        best = label_log_probs.max(1)
        # One transfer for all three. A float can hold the label ids exactly.
        table = torch.cat([types, best.indices.to(types.dtype), best.values.exp()], 1).cpu().numpy()
        log_probs, best_labels, best_probs = np.split(table, [N_ACTIONS, N_ACTIONS + 2], axis=1)
        labels, label_probs = np.full(log_probs.shape, -1), np.ones_like(log_probs)
        arcs = [Action.LEFT_ARC, Action.RIGHT_ARC]
        labels[:, arcs], label_probs[:, arcs] = best_labels.astype(np.int64) + 1, best_probs
        from_root = slots[:, S2] == 0
        labels[from_root, Action.RIGHT_ARC], label_probs[from_root, Action.RIGHT_ARC] = ROOT_LABEL, 1.0
        actions = self.actions.encode(np.arange(N_ACTIONS), labels=labels)
        return Choices(actions, log_probs, np.stack([np.exp(log_probs), label_probs], axis=-1))
