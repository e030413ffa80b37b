"""Replay of an oracle's actions: the states on the way, and samples of these states to learn from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from ...arrays import FloatArray, IntArray
from ...trees.tree import ROOT_LABEL
from .arc_standard import Action, apply, is_arc
from .state import S1, S2, States


class Step(NamedTuple):
    """Next action of each sentence in a batch.

    states: States before the action. Their owner may change them afterwards.
    slots: Words in s2, s1 and b1; int [sentences, 3].
    actions: Action of each sentence, -1 after its end; int [sentences].
    labels: Label of each new arc, -1 for other actions; int [sentences].
    """

    states: States
    slots: IntArray
    actions: IntArray
    labels: IntArray

    @property
    def dependents(self) -> IntArray:
        """Word that gets a head in each sentence, -1 if none does; int [sentences]."""
        words = np.where(self.actions == Action.LEFT_ARC, self.slots[:, S2], self.slots[:, S1])
        return np.where(is_arc(self.actions), words, -1)


class Samples(NamedTuple):
    """Oracle states that an update learns from.

    states: States before their actions.
    sentences: Sentence of each state, int [samples].
    steps: Number of actions before each state, int [samples].
    slots: Words in s2, s1 and b1; int [samples, 3].
    actions: Next action of each state, int [samples].
    labels: Label of each new arc, -1 for other actions; int [samples].
    weights: Weight of each state, float [samples]. The weighted sum estimates the sum over all states.
    """

    states: States
    sentences: IntArray
    steps: IntArray
    slots: IntArray
    actions: IntArray
    labels: IntArray
    weights: FloatArray


def replay(actions: IntArray, labels: IntArray, n_words: IntArray) -> Iterator[Step]:
    """Yield the steps of an oracle, each with a copy of its states.

    actions: Actions of each sentence, int [sentences, steps].
    labels: Gold label of each word, int [sentences, words].
    n_words: Number of words of each sentence, int [sentences].
    """
    states = States.begin(n_words)
    with_root = np.concatenate([np.full((len(labels), 1), -1), labels], axis=1)
    rows = np.arange(len(n_words))
    for step_actions in actions.T:
        slots = states.slots()
        is_left, is_right = step_actions == Action.LEFT_ARC, step_actions == Action.RIGHT_ARC
        of_s2, of_s1 = (with_root[rows, np.maximum(slots[:, slot], 0)] for slot in (S2, S1))
        chosen = np.where(is_left, of_s2, np.where(is_right, of_s1, -1))
        chosen = np.where(is_right & (slots[:, S2] == 0), ROOT_LABEL, chosen)
        yield Step(states.take(rows), slots, step_actions, chosen)
        apply(states, step_actions, chosen)


def take_samples(steps: Sequence[Step], weights: FloatArray) -> Samples:
    """Return the states that have a weight above 0, ordered by step.

    steps: The steps of a replay.
    weights: Weight of each state, float [sentences, steps].
    """
    chosen = [np.flatnonzero(column > 0) for column in weights.T]
    sentences = np.concatenate(chosen)
    numbers = np.repeat(np.arange(len(steps)), [len(rows) for rows in chosen])
    parts = [step.states.take(rows) for step, rows in zip(steps, chosen, strict=True)]
    slots, actions, labels = (
        np.concatenate([field[rows] for field, rows in zip(of_steps, chosen, strict=True)])
        for of_steps in zip(*((step.slots, step.actions, step.labels) for step in steps), strict=True)
    )
    states = States(
        *(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(States))
    )
    return Samples(states, sentences, numbers, slots, actions, labels, weights[sentences, numbers])


def sample_groups(groups: IntArray, n_samples: int | None) -> FloatArray:
    """Sample groups of states from each sentence, without replacement.

    groups: Group of each state, counted from 0, -1 for padding; int [sentences, steps].
    n_samples: Number of groups to take from each sentence; None takes all.
    Returns float [sentences, steps], the weight of each state: the number of groups divided by the number
    of samples, or 0 for a state that was not sampled.
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
