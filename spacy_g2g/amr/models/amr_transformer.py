"""The stack-Transformer on the AMR machine: predicts a sentence's AMR as a sequence of actions.

Fernandez Astudillo, Ballesteros, Naseem, Blodgett & Florian 2020, "Transition-based Parsing with
Stack-Transformers".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from thinc.api import Model
from torch import Tensor

from ...arrays import BoolArray, FloatArray, IntArray
from ...models.batch import Batch
from ...models.model import make_model
from ...models.network import NetworkSpec
from ...models.settings import FROM_ZERO, builder, setting
from ...models.types import Sentence, Start
from ...transition.models.action_decoder import split_batch
from ...transition.models.action_network import ActionNetwork
from ...transition.models.settings import ActionSettings
from ...transition.parsing.search import ActionMachines, Sequences
from ..parsing.actions import AmrSentence
from ..parsing.build import build_graph
from ..parsing.machine import AmrState
from ..parsing.table import AmrActions, Replay
from .types import AmrParse, AmrStart


@dataclass(frozen=True, kw_only=True)
class AmrTransformerSettings(ActionSettings):
    """Settings of the stack-Transformer on the AMR machine."""

    length_penalty: float = setting(
        1.0,
        "Exponent of the number of actions, by which the log-probability of a hypothesis is divided: 0 "
        "compares sums over actions, 1 compares means.",
        FROM_ZERO,
    )


@builder(AmrTransformerSettings)
def build_amr_transformer(settings: AmrTransformerSettings) -> Model[list[Sentence], list[AmrParse]]:
    """Build a stack-Transformer that predicts the actions that build an AMR.

    Registered as ``spacy_g2g.AmrStackTransformer.v1``.
    """
    return make_model(
        "amr_stack_transformer", AmrTransformer, settings, learn=learn_actions, output_kind="amrs"
    )


def learn_actions(
    sentences: Sequence[Sentence],  # noqa: ARG001
    start: Start,
    is_pretrained: bool,  # noqa: ARG001
) -> dict[str, Any]:
    """Return the component's table of actions as the fact ``actions``."""
    assert isinstance(start, AmrStart)
    return {"actions": start.table.to_dict()}


class AmrMachines(ActionMachines):
    """States of the AMR machine.

    table: The actions.
    states: The states.
    choices: For each state, the ``AmrActions.word_choices`` of its sentence.
    width: Number of words of the longest sentence, ROOT included.
    """

    def __init__(
        self, table: AmrActions, states: Sequence[AmrState], choices: Sequence[list[IntArray]], width: int
    ) -> None:
        self.table = table
        self.states = list(states)
        self.choices = list(choices)
        self.width = width

    @property
    def is_final(self) -> BoolArray:
        """Whether each state is final, bool [states]."""
        return np.array([state.is_final for state in self.states], dtype=np.bool_)

    def valid(self, rows: IntArray) -> BoolArray:
        """Return the valid actions of some states, bool [rows, actions]."""
        valid = [self.table.valid_actions(self.states[row], self.choices[row]) for row in rows.tolist()]
        return np.stack(valid)

    def positions(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Return the positions of ROOT and words in some states, int [rows, width] each."""
        stack, buffer = np.full((2, len(rows), self.width), -1)
        for i, row in enumerate(rows.tolist()):
            if not self.states[row].is_final:
                for array, places in zip((stack, buffer), self.states[row].positions(), strict=True):
                    array[i, : len(places)] = places
        return stack, buffer

    def apply(self, actions: IntArray, probs: FloatArray) -> None:  # noqa: ARG002
        """Take an action in each state."""
        for state, action in zip(self.states, actions.tolist(), strict=True):
            if action >= 0:
                state.apply(self.table.actions[action])

    def take(self, order: IntArray) -> AmrMachines:
        """Return the states in these rows, with copies of repeated ones."""
        rows = order.tolist()
        taken: set[int] = set()
        states = []
        for row in rows:
            states.append(self.states[row].copy() if row in taken else self.states[row])
            taken.add(row)
        return AmrMachines(self.table, states, [self.choices[row] for row in rows], self.width)


class AmrTransformer(ActionNetwork):
    """Network that predicts the actions that build AMRs."""

    task_depends_on = ("actions",)

    def __init__(self, spec: NetworkSpec, settings: AmrTransformerSettings) -> None:
        table = AmrActions.from_dict(spec.learned["actions"])
        super().__init__(spec, settings, len(table))
        self.table = table
        self.length_penalty = settings.length_penalty

    def resize_labels(self, n_labels: int) -> None:
        """Raise NotImplementedError: the actions of an AMR parser are fixed."""
        raise NotImplementedError

    def count_targets(self, gold: Sequence[Replay]) -> int:
        """Return the number of gold actions that the table has."""
        return sum(int((replay.ids >= 0).sum()) for replay in gold)

    def loss(self, batch: Batch, gold: Sequence[Replay]) -> Tensor:
        """Return the smoothed cross-entropy of the oracle's actions, summed over states."""
        memory, mask = self.read(batch)
        return self.parser.loss(memory, mask, pad_replays(gold, memory.shape[1], n_actions=len(self.table)))

    def parse(self, batch: Batch) -> list[AmrParse]:
        """Return the graph of the best action sequence of each sentence."""
        memory, mask = self.read(batch)
        parses: list[AmrParse] = []
        for part in split_batch(batch.n_words, self.parser.settings.beam_width, self.device):
            width = int(batch.n_words[part].max()) + 1
            inputs: Sequence[Any] = batch.sentences[part]
            sentences: list[AmrSentence] = [sentence.amr for sentence in inputs]
            states = [self.table.begin(sentence) for sentence in sentences]
            choices = [self.table.word_choices(sentence) for sentence in sentences]
            machines = AmrMachines(self.table, states, choices, width)
            beam = self.parser.search(
                memory[part, :width],
                None if mask is None else mask[part, :width],
                machines,
                self.length_penalty,
            )
            for state, total, coverage in zip(
                beam.machines.states, beam.totals.tolist(), batch.coverages[part], strict=True
            ):
                graph = build_graph(state)
                parses.append(
                    AmrParse(graph=graph, log_prob=total, n_words=len(state.sentence), coverage=coverage)
                )
        return parses


def pad_replays(replays: Sequence[Replay], width: int, *, n_actions: int) -> Sequences:
    """Pad the sequences of actions of several sentences to one length.

    Actions that the table lacks have no loss, but the decoder passes through their states.

    replays: The sequences.
    width: Number of words of the longest sentence, ROOT included.
    n_actions: Number of actions in the table.
    """
    n_steps = max(len(replay.ids) for replay in replays)
    actions = np.full((len(replays), n_steps), -1)
    stack, buffer = np.full((2, len(replays), n_steps, width), -1)
    for i, replay in enumerate(replays):
        n_steps, n_words = replay.stack.shape
        actions[i, :n_steps] = replay.ids
        stack[i, :n_steps, :n_words], buffer[i, :n_steps, :n_words] = replay.stack, replay.buffer
    packed = np.concatenate([replay.valid[replay.ids >= 0] for replay in replays])
    valid = np.unpackbits(packed, axis=1, count=n_actions).astype(np.bool_)
    return Sequences(actions, stack, buffer, valid)
