"""The states that an oracle's actions lead through, and samples of them to learn from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...arrays import FloatArray, IntArray
from ...trees.tree import ROOT_LABEL
from .arc_standard import Action, apply, is_arc
from .state import S1, S2, States


class Step(NamedTuple):
    """The next action of several parsers.

    states: States before the action. Their owner may change them afterwards.
    slots: Words in s2, s1 and b1; int [parsers, 3].
    actions: Action of each parser, -1 after its end; int [parsers].
    labels: Label of each new arc, -1 for other actions; int [parsers].
    """

    states: States
    slots: IntArray
    actions: IntArray
    labels: IntArray

    @property
    def dependents(self) -> IntArray:
        """Word that gets a head from each action, -1 if none does; int [parsers]."""
        words = np.where(self.actions == Action.LEFT_ARC, self.slots[:, S2], self.slots[:, S1])
        return np.where(is_arc(self.actions), words, -1)


class Samples(NamedTuple):
    """Oracle states that an update learns from.

    step: The states and their next actions.
    sentences: Sentence of each state, int [samples].
    numbers: Number of actions before each state, int [samples].
    weights: Weight of each state, float [samples]. The weighted sum estimates the sum over all states.
    """

    step: Step
    sentences: IntArray
    numbers: IntArray
    weights: FloatArray


def oracle_steps(actions: IntArray, *, labels: IntArray, n_words: IntArray) -> Iterator[Step]:
    """Yield the steps of an oracle, each with a copy of its states.

    actions: Actions of each sentence, int [sentences, steps].
    labels: Gold label of each word, int [sentences, words].
    n_words: Number of words of each sentence, int [sentences].
    """
    states = States.begin(n_words)
    with_root = np.concatenate([np.full((len(labels), 1), -1), labels], axis=1)
    rows = np.arange(len(n_words))
    for column in actions.T:
        step = Step(states.take(rows), states.slots(), column, np.full_like(column, -1))
        dependent_labels = with_root[rows, np.maximum(step.dependents, 0)]
        is_root = (step.dependents > 0) & (step.slots[:, S2] == 0)
        step = step._replace(labels=np.where(is_root, ROOT_LABEL, dependent_labels))
        yield step
        apply(states, step.actions, step.labels)


def take_samples(steps: Sequence[Step], weights: FloatArray) -> Samples:
    """Return the states that have a weight above 0, ordered by step.

    steps: The steps of an oracle.
    weights: Weight of each state, float [sentences, steps].
    """
    numbers, sentences = np.nonzero(weights.T > 0)
    chosen = np.split(sentences, np.searchsorted(numbers, np.arange(1, len(steps))))
    states = States.join([step.states.take(rows) for step, rows in zip(steps, chosen, strict=True)])
    slots, actions, labels = (
        np.stack(arrays)[numbers, sentences] for arrays in list(zip(*steps, strict=True))[1:]
    )
    return Samples(Step(states, slots, actions, labels), sentences, numbers, weights[sentences, numbers])


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
