"""What the transition-based parsers share: learning from an oracle's states, and decoding with a beam.

Mohammadshahi & Henderson 2020, "Graph-to-Graph Transformer for Transition-based Dependency Parsing".
A network says what it knows of a parser state; two classifiers (``layers.classifiers``) then score the type
of the next action and, given the direction of an arc, its label.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from ..arrays import BoolArray, FloatArray, IntArray, RealArray
from ..errors import Errors
from ..layers.classifiers import TransitionClassifiers
from ..parsing import oracle
from ..parsing.arc_standard import N_ACTIONS, NO_ACTION, Action, apply, valid_actions
from ..parsing.beam import select
from ..parsing.state import States
from .network import ROOT_LABEL, Network, NetworkSpec
from .settings import check_counts
from .types import Fit, Parse, Tree, pad_trees
from .wordpieces import PieceBatch

# Slots of a parser state: the second word of the stack, its top, the front of the buffer.
S2, S1, B1 = 0, 1, 2
# SWAP begins as the rare action that it is: an untrained parser that likes it takes O(n^2) actions.
SWAP_BIAS = -4.0
# What a finished hypothesis does in a beam, besides the actions.
STAY = N_ACTIONS


@dataclass(frozen=True)
class TransitionSettings:
    """Settings of all transition-based parsers.

    swap: whether there is the action SWAP, without which trees are projective.
    states_per_sentence: how many encoder calls of a sentence are sampled for an update; None for all.
    beam_width: hypotheses of a sentence in decoding; 1 is greedy.
    hidden_width, dropout: of the classifiers.
    """

    swap: bool
    states_per_sentence: int | None
    beam_width: int
    hidden_width: int
    dropout: float

    def __post_init__(self) -> None:
        check_counts(beam_width=self.beam_width, hidden_width=self.hidden_width)
        if self.states_per_sentence is not None:
            check_counts(states_per_sentence=self.states_per_sentence)


class Step(NamedTuple):
    """A step of an oracle: states of a batch, which change after it, and what is done in them.

    slots: int [sentences, 3], the words in s2, s1 and b1.
    actions, labels: int [sentences], -1 where a sentence is finished, and where the action is no arc.
    """

    states: States
    slots: IntArray
    actions: IntArray
    labels: IntArray


class Samples(NamedTuple):
    """Oracle states that an update learns from.

    sentences: int [samples], the sentence of each. steps: int [samples].
    weights: float [samples], such that the weighted sum estimates the sum over all states.
    """

    states: States
    sentences: IntArray
    steps: IntArray
    slots: IntArray
    actions: IntArray
    labels: IntArray
    weights: FloatArray


class Reader(ABC):
    """What a network makes of the states of a batch while it decodes."""

    @abstractmethod
    def score(self, states: States, rows: IntArray, slots: IntArray) -> tuple[Tensor, Tensor]:
        """Scores of actions and labels, as by ``TransitionClassifiers``, for some of the states.

        rows: int [n]; slots: int [n, 3], those of these rows.
        """

    @abstractmethod
    def take(self, order: IntArray) -> None:
        """Go on with these of the hypotheses, which are of the same sentences."""

    def advance(self, states: States, step: Step) -> None:  # noqa: B027
        """Follow a step that has led to these states."""


class TransitionNetwork(Network):
    """A transition-based parser; a subclass reads parser states.

    exist_slots, relation_slots: those that Exist and that Relation reads.
    """

    needs_trees = True

    def __init__(
        self,
        spec: NetworkSpec,
        settings: TransitionSettings,
        *,
        exist_slots: tuple[int, ...],
        relation_slots: tuple[int, ...],
        n_relations: int = 0,
        history_width: int = 0,
    ) -> None:
        super().__init__(spec, n_relations=n_relations)
        self.settings = settings
        self.classifiers = TransitionClassifiers(
            spec.width,
            N_ACTIONS,
            spec.n_labels - 1,
            exist_slots=exist_slots,
            relation_slots=relation_slots,
            hidden_width=settings.hidden_width,
            dropout=settings.dropout,
            history_width=history_width,
        )
        with torch.no_grad():
            self.classifiers.exist.weight[Action.SWAP] = 0.0
            self.classifiers.exist.bias[Action.SWAP] = SWAP_BIAS

    @abstractmethod
    def read(self, batch: PieceBatch, n_hypotheses: int) -> Reader:
        """Begin to decode; hypotheses of a sentence follow each other."""

    @abstractmethod
    def score_samples(
        self, batch: PieceBatch, samples: Samples, steps: Sequence[Step]
    ) -> tuple[Tensor, Tensor]:
        """Scores of actions and labels of sampled states."""

    def resize_labels(self, n_labels: int) -> None:
        """Make room for added labels."""
        self.classifiers.resize(n_labels - 1)

    def can_learn(self, gold: Sequence[Tree]) -> BoolArray:
        """Which gold trees an oracle can build: whole ones, without SWAP projective ones."""
        heads, _ = pad_trees(gold, max((len(tree.heads) for tree in gold), default=0))
        lengths = np.array([len(tree.heads) for tree in gold], dtype=np.int64)
        return (lengths > 0) & oracle.can_learn(heads, lengths, self.settings.swap)

    @property
    def n_hypotheses(self) -> int:
        """The width of the beam."""
        return self.settings.beam_width

    # Training

    def loss(self, batch: PieceBatch, gold: Sequence[Tree]) -> Tensor:
        """Cross-entropy of the oracle's actions and labels, summed over states.

        With ``states_per_sentence`` the expectation over the samples is the loss of all states.
        """
        heads, labels = pad_trees(gold, int(batch.n_words.max()))
        actions = oracle.oracle_actions(heads, batch.n_words, self.settings.swap)
        return self.loss_of_samples(batch, actions, labels, self.sample(actions))

    def loss_of_samples(
        self, batch: PieceBatch, actions: IntArray, labels: IntArray, weights: FloatArray
    ) -> Tensor:
        """The weighted loss of the states with a weight above 0.

        actions: int [sentences, steps]; labels: int [sentences, words], of words' arcs.
        weights: float [sentences, steps].
        """
        steps = list(replay(actions, labels, batch.n_words))
        samples = take_samples(steps, weights)
        exist, relation = self.score_samples(batch, samples, steps)
        valid = self.tensor(valid_actions(samples.states, self.settings.swap))
        losses = F.cross_entropy(
            exist.masked_fill(~valid, -torch.inf), self.tensor(samples.actions), reduction="none"
        )
        loss = (losses * self.tensor(samples.weights)).sum()
        arcs = np.flatnonzero(samples.labels > ROOT_LABEL)
        if len(arcs):
            directions = self.tensor(samples.actions[arcs] - Action.LEFT_ARC)
            losses = F.cross_entropy(
                relation[self.tensor(arcs), :, directions],
                self.tensor(samples.labels[arcs] - 1),
                reduction="none",
            )
            loss = loss + (losses * self.tensor(samples.weights[arcs])).sum()
        return loss

    def sample(self, actions: IntArray) -> FloatArray:
        """Weights of an oracle's states, float [sentences, steps]; 0 for those that are not sampled."""
        return sample_groups(
            np.where(actions == NO_ACTION, -1, np.arange(actions.shape[1])), self.settings.states_per_sentence
        )

    # Decoding

    def parse(self, batch: PieceBatch) -> list[Parse]:
        """The tree of the best hypothesis of each sentence.

        A hypothesis is as good as the sum of the log-probabilities of its actions; labels are the best ones
        of their arcs, whatever the beam. The probability of a head is that of the action that gave it.
        """
        n, width = len(batch.n_words), self.settings.beam_width
        reader = self.read(batch, width)
        states = States.begin(np.repeat(batch.n_words, width))
        probs = np.ones((2, *states.heads.shape), dtype=np.float32)
        totals: RealArray = np.full((n, width), -np.inf)
        totals[:, 0] = 0.0
        while (rows := _open_rows(states, totals)).size:
            slots = states.slots()
            choices = self._choices(reader, states, rows, slots)
            scores = np.full((n * width, N_ACTIONS + 1), -np.inf)
            scores[states.is_final, STAY] = 0.0
            scores[rows, :N_ACTIONS] = choices.actions
            labels, label_probs = np.full((2, n * width), -1), np.ones((2, n * width), dtype=np.float32)
            labels[:, rows], label_probs[:, rows] = choices.labels, choices.label_probs
            parents, chosen, totals = select(scores.reshape(n, width, -1), totals)
            order = (parents + np.arange(n)[:, None] * width).ravel()
            chosen = chosen.ravel()
            if width > 1:
                reader.take(order)
                states, probs = states.take(order), probs[:, order]
            actions = np.where(chosen >= N_ACTIONS, NO_ACTION, chosen)
            step = _make_step(states, slots[order], actions, labels[:, order])
            apply(states, step.actions, step.labels)
            _write_probs(probs, step, scores[order], label_probs[:, order])
            reader.advance(states, step)
        best = np.arange(n) * width
        fits = self.fits(batch)
        parses = []
        for row, n_words, fit in zip(best.tolist(), batch.n_words.tolist(), fits, strict=True):
            tree = Tree(states.heads[row, :n_words].copy(), states.labels[row, :n_words].copy())
            parses.append(Parse(tree, probs[0, row, :n_words], probs[1, row, :n_words], fit))
        return parses

    def fits(self, batch: PieceBatch) -> list[Fit]:
        """How each sentence went through the encoder."""
        return batch.fits

    def _choices(self, reader: Reader, states: States, rows: IntArray, slots: IntArray) -> _Choices:
        exist, relation = reader.score(states, rows, slots[rows])
        valid = valid_actions(states.take(rows), self.settings.swap)
        actions = exist.masked_fill(~self.tensor(valid), -torch.inf).log_softmax(-1)
        best = relation.log_softmax(1).max(1)
        # One transfer for all: label ids are small enough for a float.
        table = torch.cat([actions, best.indices.to(actions.dtype), best.values.exp()], 1).cpu().numpy()
        if np.isnan(table).any():
            raise ValueError(Errors.E410)
        actions_, labels, probs = np.split(table, [N_ACTIONS, N_ACTIONS + 2], axis=1)
        return _Choices(actions_, labels.T.astype(np.int64) + 1, probs.T)


def _open_rows(states: States, totals: RealArray) -> IntArray:
    """The hypotheses to go on with: of sentences whose best one has an end none, as totals never rise."""
    is_final = states.is_final.reshape(totals.shape)
    return np.flatnonzero(~is_final & ~is_final[:, :1] & (totals > -np.inf))


class _Choices(NamedTuple):
    """What may be done in some states.

    actions: float [states, actions], log-probabilities, -inf for invalid ones.
    labels, label_probs: [2, states], the best labels of arcs to the left and to the right.
    """

    actions: FloatArray
    labels: IntArray
    label_probs: FloatArray


def replay(actions: IntArray, labels: IntArray, n_words: IntArray) -> Iterator[Step]:
    """The steps of an oracle; each has states of its own.

    actions: int [sentences, steps]; labels: int [sentences, words], of words' arcs.
    """
    states = States.begin(n_words)
    both = np.concatenate([np.full((len(labels), 1), -1), labels], axis=1)
    rows = np.arange(len(n_words))
    for step_actions in actions.T:
        slots = states.slots()
        of_slots = np.stack([both[rows, np.maximum(slots[:, slot], 0)] for slot in (S2, S1)])
        step = _make_step(states, slots, step_actions, of_slots)
        yield step._replace(states=states.take(rows))
        apply(states, step.actions, step.labels)


def _make_step(states: States, slots: IntArray, actions: IntArray, labels: IntArray) -> Step:
    """A step with the labels of its arcs; labels: int [2, sentences], of either direction."""
    is_left, is_right = actions == Action.LEFT_ARC, actions == Action.RIGHT_ARC
    chosen = np.where(is_left, labels[0], np.where(is_right, labels[1], -1))
    chosen = np.where(is_right & (slots[:, S2] == 0), ROOT_LABEL, chosen)
    return Step(states, slots, actions, chosen)


def dependents(step: Step) -> IntArray:
    """The word that gets a head in each sentence, int [sentences], -1 where none does."""
    words = np.where(step.actions == Action.LEFT_ARC, step.slots[:, S2], step.slots[:, S1])
    return np.where(is_arc(step.actions), words, -1)


def is_arc(actions: IntArray) -> BoolArray:
    """Which actions make an arc."""
    arcs: BoolArray = (actions == Action.LEFT_ARC) | (actions == Action.RIGHT_ARC)
    return arcs


def take_samples(steps: Sequence[Step], weights: FloatArray) -> Samples:
    """The states with a weight above 0, by steps; weights: float [sentences, steps]."""
    chosen = [np.flatnonzero(column > 0) for column in weights.T]
    parts = [step.states.take(rows) for step, rows in zip(steps, chosen, strict=True)]
    sentences, numbers = np.concatenate(chosen), np.repeat(np.arange(len(steps)), [len(r) for r in chosen])
    slots, actions, labels = (
        np.concatenate([field[rows] for field, rows in zip(fields, chosen, strict=True)])
        for fields in zip(*((step.slots, step.actions, step.labels) for step in steps), strict=True)
    )
    states = _concatenate(parts)
    return Samples(states, sentences, numbers, slots, actions, labels, weights[sentences, numbers])


def _concatenate(parts: Sequence[States]) -> States:
    names = States.__dataclass_fields__
    return States(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def sample_groups(groups: IntArray, n_samples: int | None) -> FloatArray:
    """Sample groups of states, a number of each sentence without replacement.

    groups: int [sentences, steps], the group of each state, counted from 0; -1 for none.
    n_samples: groups of a sentence to take; None for all.
    Returns the weight of each state, float [sentences, steps]: groups over samples, or 0.
    """
    n_groups = groups.max(axis=1, initial=-1) + 1
    if n_samples is None:
        return (groups >= 0).astype(np.float32)
    rng = np.random.default_rng(np.random.randint(2**31))  # follows the seed of training
    keys = rng.random((len(groups), int(n_groups.max(initial=0))))
    keys[np.arange(keys.shape[1]) >= n_groups[:, None]] = np.inf
    ranks = np.argsort(np.argsort(keys, axis=1), axis=1)
    is_chosen = np.take_along_axis(ranks, np.maximum(groups, 0), axis=1) < n_samples
    scale = n_groups / np.minimum(np.maximum(n_groups, 1), n_samples)
    return np.where((groups >= 0) & is_chosen, scale[:, None], 0.0).astype(np.float32)


def _write_probs(probs: FloatArray, step: Step, scores: FloatArray, label_probs: FloatArray) -> None:
    """Write the probabilities of new arcs: probs is float [2, hypotheses, words], of heads and of labels."""
    rows = np.flatnonzero(is_arc(step.actions))
    words, actions = dependents(step)[rows] - 1, step.actions[rows]
    probs[0, rows, words] = np.exp(scores[rows, actions])
    by_direction = label_probs[actions - Action.LEFT_ARC, rows]
    probs[1, rows, words] = np.where(step.labels[rows] == ROOT_LABEL, 1.0, by_direction)
