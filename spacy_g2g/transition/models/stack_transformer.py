"""The stack-Transformer for dependencies: predicts a sentence's arc-standard actions as a sequence.

Fernandez Astudillo, Ballesteros, Naseem, Blodgett & Florian 2020, "Transition-based Parsing with
Stack-Transformers".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from torch import Tensor

from ...arrays import BoolArray, IntArray
from ...models.batch import Batch
from ...models.model import make_model
from ...models.network import NetworkSpec
from ...models.settings import FROM_ZERO, builder, setting
from ...models.start import learn_frequent_words
from ...models.types import Arcs, Parse, ParserModel
from ..parsing.action_table import ArcActions, ArcMachines, state_positions
from ..parsing.arc_standard import NO_ACTION
from ..parsing.oracle_states import take_samples
from ..parsing.search import Sequences
from ..parsing.state import B1, States
from . import gold as gold_trees
from .action_decoder import split_batch
from .action_network import ActionNetwork
from .settings import ActionSettings, SwapSettings


@dataclass(frozen=True, kw_only=True)
class StackTransformerSettings(ActionSettings, SwapSettings):
    """Settings of the stack-Transformer on the arc-standard system."""

    shift_labels: int = setting(
        0, "Number of the most frequent words that have a SHIFT action of their own.", FROM_ZERO
    )


@builder(StackTransformerSettings)
def build_stack_transformer(settings: StackTransformerSettings) -> ParserModel:
    """Build a stack-Transformer, which predicts the sequence of actions and sees the parser state.

    The defaults are those of variant c; docs/transition-parsers.md has the values of all variants.

    Registered as ``spacy_g2g.StackTransformer.v1``.
    """
    learn = partial(learn_frequent_words, n=settings.shift_labels)
    return make_model("stack_transformer", StackTransformer, settings, learn=learn)


class StackTransformer(ActionNetwork):
    """Parser that predicts arc-standard actions. ROOT is at the bottom of the stack."""

    task_depends_on = ("frequent_words",)

    def __init__(self, spec: NetworkSpec, settings: StackTransformerSettings) -> None:
        words = spec.learned["frequent_words"]
        table = ArcActions(spec.n_labels, swap=settings.swap, n_shifts=len(words))
        super().__init__(spec, settings, len(table), table.types)
        self.actions = table
        self._shift_ids = {word: i for i, word in enumerate(words, start=1)}

    def resize_labels(self, n_labels: int) -> None:
        """Make room for added labels."""
        old = self.actions
        self.actions = ArcActions(n_labels, swap=old.swap, n_shifts=old.n_shifts)
        # A new label starts as the mean of the other labels, so it scores below the best of them.
        same_kind = (np.arange(len(old)) >= old.first_arc) & (
            self.actions.types[len(old) :, None] == old.types
        )
        self.parser.resize(same_kind)
        self.parser.set_groups(self.actions.types)

    @classmethod
    def can_learn(cls, settings: StackTransformerSettings, gold: Sequence[Arcs]) -> BoolArray:
        """Find the gold trees that the oracle can build: complete, labeled and, without SWAP, projective."""
        return gold_trees.are_learnable(gold, swap=settings.swap, needs_labels=True)

    def shifts(self, batch: Batch) -> IntArray:
        """Return the number of each word among the frequent words, int [sentences, words + 1].

        ROOT, padding and other words have 0.
        """
        shifts = np.zeros((len(batch.n_words), int(batch.n_words.max()) + 1), dtype=np.int64)
        if self._shift_ids:
            for row, sentence in zip(shifts, batch.sentences, strict=True):
                row[1 : len(sentence.words) + 1] = [self._shift_ids.get(word, 0) for word in sentence.words]
        return shifts

    def loss(self, batch: Batch, gold: Sequence[Arcs]) -> Tensor:
        """Sum the smoothed cross-entropy of the oracle's actions, among the valid actions, over states."""
        memory, mask = self.read(batch)
        return self.parser.loss(memory, mask, self.sequences(batch, gold))

    def sequences(self, batch: Batch, gold: Sequence[Arcs]) -> Sequences:
        """Return the oracle's actions and the states before them."""
        steps = gold_trees.gold_steps(gold, batch.n_words, swap=self.actions.swap)
        is_action = np.stack([step.actions for step in steps], axis=1) != NO_ACTION
        samples = take_samples(steps, is_action.astype(np.float32))
        step, places = samples.step, (samples.sentences, samples.numbers)
        shifts = self.shifts(batch)[samples.sentences]
        fronts = shifts[np.arange(len(shifts)), np.maximum(step.slots[:, B1], 0)]
        actions = np.full(is_action.shape, NO_ACTION)
        actions[places] = self.actions.encode(step.actions, labels=step.labels, shifts=fronts)
        stack, buffer = np.full((2, *is_action.shape, shifts.shape[1]), -1)
        stack[places], buffer[places] = state_positions(step.states)
        order = np.lexsort(places[::-1])
        return Sequences(actions, stack, buffer, self.actions.valid(step.states, shifts)[order])

    def parse(self, batch: Batch) -> list[Parse]:
        """Return the tree of the best sequence of actions of each sentence.

        The probability of a head is the probability of the arc with any label, in the state that made it. The
        probability of a label is the label's share of it.
        """
        memory, mask = self.read(batch)
        shifts = self.shifts(batch)
        parses = []
        for part in split_batch(batch.n_words, self.parser.settings.beam_width, self.device):
            n_words = batch.n_words[part]
            n = int(n_words.max()) + 1
            machines = ArcMachines(self.actions, States.begin(n_words), shifts[part, :n])
            part_mask = None if mask is None else mask[part, :n]
            beam = self.parser.search(memory[part, :n], part_mask, machines)
            parses += gold_trees.to_parses(beam.machines, batch.coverages[part])
        return parses
