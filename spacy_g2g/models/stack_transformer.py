"""The stack-Transformer on the arc-standard system: sentences to dependency trees as sequences to sequences.

Fernandez Astudillo, Ballesteros, Naseem, Blodgett & Florian 2020, "Transition-based Parsing with
Stack-Transformers".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from torch import Tensor

from ..arrays import BoolArray, FloatArray, IntArray
from ..errors import Errors
from ..parsing import oracle
from ..parsing.arc_standard import Action, apply, valid_actions
from ..parsing.state import States
from .action_decoder import (
    NO_ACTION,
    ActionSettings,
    Machines,
    Sequences,
    StateHead,
    chunks,
)
from .action_network import ActionNetwork
from .encoder import EncoderSizes
from .network import ROOT_LABEL, NetworkSpec
from .settings import check_shared_settings
from .shim import make_model
from .transitions import B1, S2, Step, dependents, is_arc, replay, take_samples
from .types import Parse, ParserModel, Tree, WordVectorModel, pad_trees
from .wordpieces import PieceBatch

DEFAULT_HEADS: list[StateHead] = ["buffer", "stack"]


def build_stack_transformer(
    encoder: EncoderSizes,
    state_heads: list[StateHead] = DEFAULT_HEADS,
    state_positions: bool = False,
    shift_labels: int = 0,
    swap: bool = True,
    n_encoder_layers: int = 6,
    n_layers: int = 6,
    width: int = 256,
    n_attention_heads: int = 4,
    hidden_width: int = 512,
    dropout: float = 0.3,
    label_smoothing: float = 0.01,
    beam_width: int = 10,
    train_encoder: bool = False,
    encoder_rate_factor: float = 0.1,
    rate_factor: float = 1.0,
    mixed_precision: bool = True,
    tok2vec: WordVectorModel | None = None,
) -> ParserModel:
    """Registered as ``spacy_g2g.StackTransformer.v1``: sequences of actions that see the parser state.

    The defaults are those of variant c; docs/transition-parsers.md has the values of all variants.

    encoder: sizes of an encoder trained from scratch (a checkpoint brings its own). It gives the words'
        vectors, means of their pieces'.
    state_heads: what the first heads of cross-attention see in every layer: "stack", "buffer", or
        "stack_top2", "buffer_top2", the two words where the parser works; the other heads see all words.
    state_positions: tied heads know how deep in stack or buffer a word is.
    shift_labels: SHIFT says which word it shifts where that is one of so many, the most frequent ones.
    swap: whether there is the action SWAP; without it trees are projective.
    n_encoder_layers: of the encoder that reads the words' vectors.
    n_layers: of the decoder.
    width, n_attention_heads, hidden_width: of both; the last of their feed-forward networks.
    dropout: of both (that of a trained encoder of words is ``[training] dropout``).
    label_smoothing: the share of a step's probability that is spread over its valid actions.
    beam_width: hypotheses in decoding; 1 is greedy.
    train_encoder: train a checkpoint's weights, too. Without it the vectors of training words are kept in
        memory (4 bytes a number, of up to a million words). An encoder from scratch is trained in any case.
    encoder_rate_factor: the learning rate of checkpoint weights as a multiple of that of the others.
    rate_factor: the learning rate of the others as a multiple of the optimizer's rate.
    mixed_precision: compute in bfloat16 on CUDA; the CPU always computes in float32.
    tok2vec: a layer that gives the words' vectors, in place of an encoder of the parser's own, such as a
        listener to the ``transformer`` or ``tok2vec`` of the pipeline; None for none.
    Raises ValueError for values out of range.
    """
    check_shared_settings(
        None, dropout=dropout, encoder_rate_factor=encoder_rate_factor, rate_factor=rate_factor
    )
    if shift_labels < 0:
        raise ValueError(
            Errors.E409.format(setting="shift_labels", value=shift_labels, expected="of 0 or more")
        )
    settings = ActionSettings(
        state_heads=tuple(state_heads),
        state_positions=state_positions,
        n_encoder_layers=n_encoder_layers,
        n_layers=n_layers,
        width=width,
        n_heads=n_attention_heads,
        hidden_width=hidden_width,
        dropout=dropout,
        label_smoothing=label_smoothing,
        beam_width=beam_width,
    )
    return make_model(
        "stack_transformer",
        partial(StackTransformer, settings=settings, swap=swap, train_encoder=train_encoder),
        encoder,
        tok2vec,
        tag_attr=None,
        encoder_rate_factor=encoder_rate_factor,
        rate_factor=rate_factor,
        mixed_precision=mixed_precision,
        n_frequent_words=shift_labels,
    )


class ActionTable:
    """The actions of the arc-standard system with labels, by their ids.

    SHIFT; SHIFT of each of some words; SWAP; RIGHT-ARC from ROOT; then LEFT-ARC and RIGHT-ARC of each other
    label, so that added labels come last.

    types: int [actions], of ``Action``. labels: int [actions], -1 for those that are no arcs.
    """

    def __init__(self, n_labels: int, n_shifts: int) -> None:
        self.n_shifts = n_shifts
        self.swap, self.root = n_shifts + 1, n_shifts + 2
        self.first_arc = n_shifts + 3
        of_arcs = np.tile([int(Action.LEFT_ARC), int(Action.RIGHT_ARC)], n_labels - 1)
        shifts = np.full(n_shifts + 1, int(Action.SHIFT))
        self.types = np.concatenate([shifts, [Action.SWAP, Action.RIGHT_ARC], of_arcs]).astype(np.int64)
        none = np.full(n_shifts + 2, -1)
        self.labels = np.concatenate([none, [ROOT_LABEL], np.repeat(np.arange(1, n_labels), 2)])

    def __len__(self) -> int:
        return len(self.types)

    def encode(self, types: IntArray, labels: IntArray, shifts: IntArray) -> IntArray:
        """Ids of actions, of one shape with types, labels and the numbers of the words that SHIFT shifts."""
        arcs = self.first_arc + 2 * (labels - 1) + (types == Action.RIGHT_ARC)
        arcs = np.where(labels == ROOT_LABEL, self.root, arcs)
        ids = np.where(is_arc(types), arcs, np.where(types == Action.SHIFT, shifts, self.swap))
        return np.where(types < 0, NO_ACTION, ids)

    def valid(self, states: States, shifts: IntArray, swap: bool) -> BoolArray:
        """The valid actions of states, bool [states, actions].

        shifts: int [states, words + 1], the number of each word among those that SHIFT names; 0 for others.
        """
        slots = states.slots()
        valid = valid_actions(states, swap)[:, self.types]
        from_root = slots[:, S2] == 0
        valid[:, self.root] &= from_root
        valid[:, self.first_arc :] &= ~from_root[:, None]
        valid[:, : self.n_shifts + 1] = False
        rows = np.flatnonzero(slots[:, B1] > 0)
        valid[rows, shifts[rows, slots[rows, B1]]] = True
        return valid


class ArcStandardMachines(Machines):
    """Arc-standard states, with the probabilities of arcs.

    shifts: int [rows, words + 1], as of ``ActionTable.valid``.
    probs: float [rows, words, 2], of heads and of labels.
    """

    def __init__(self, table: ActionTable, states: States, shifts: IntArray, swap: bool) -> None:
        self.table = table
        self.states = states
        self.shifts = shifts
        self.swap = swap
        self.probs = np.ones((*states.heads.shape, 2), dtype=np.float32)

    @property
    def is_final(self) -> BoolArray:
        """Which states are final."""
        return self.states.is_final

    def valid(self, rows: IntArray) -> BoolArray:
        """The valid actions of some states."""
        return self.table.valid(self.states.take(rows), self.shifts[rows], self.swap)

    def places(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Where ROOT and words are in some states."""
        return state_places(self.states.take(rows))

    def apply(self, actions: IntArray, probs: FloatArray) -> None:
        """Take an action each, and write the probabilities of new arcs."""
        is_none = actions < 0
        types = np.where(is_none, NO_ACTION, self.table.types[actions])
        labels = np.where(is_none, -1, self.table.labels[actions])
        words = dependents(Step(self.states, self.states.slots(), types, labels)) - 1
        rows = np.flatnonzero(words >= 0)
        # The group of an arc's action is its type: what is left to its label is a share of that.
        self.probs[rows, words[rows], 0] = probs[rows, 1]
        # Both may be too small for a float.
        of_types = np.maximum(probs[rows, 1], np.finfo(probs.dtype).tiny)
        self.probs[rows, words[rows], 1] = np.minimum(probs[rows, 0] / of_types, 1.0)
        apply(self.states, types, labels)

    def take(self, order: IntArray) -> ArcStandardMachines:
        """Copies of states, which may repeat."""
        taken = ArcStandardMachines(self.table, self.states.take(order), self.shifts[order], self.swap)
        taken.probs = self.probs[order]
        return taken


def state_places(states: States) -> tuple[IntArray, IntArray]:
    """Where ROOT and the words are in stack and buffer, int [states, words + 1] each; see ``Places``."""
    columns = np.arange(states.stack.shape[1])
    places = np.full((2, *states.stack.shape), -1)
    parts = (states.stack, states.stack_sizes), (states.buffer, states.buffer_sizes)
    for of_part, (words, sizes) in zip(places, parts, strict=True):
        depths = sizes[:, None] - 1 - columns[: words.shape[1]]
        rows, cells = np.nonzero(depths >= 0)
        of_part[rows, words[rows, cells]] = depths[rows, cells]
    return places[0], places[1]


class StackTransformer(ActionNetwork):
    """Arc-standard actions for trees: ROOT is at the bottom of the stack."""

    needs_trees = True

    def __init__(
        self, spec: NetworkSpec, settings: ActionSettings, *, swap: bool, train_encoder: bool
    ) -> None:
        table = ActionTable(spec.n_labels, len(spec.frequent_words))
        super().__init__(spec, settings, len(table), table.types, train_encoder=train_encoder)
        self.swap = swap
        self.table = table
        self._shift_ids = {word: i for i, word in enumerate(spec.frequent_words, start=1)}

    def resize_labels(self, n_labels: int) -> None:
        """Make room for added labels."""
        old = self.table
        self.table = ActionTable(n_labels, old.n_shifts)
        # A new label begins as the mean of the others: below the best of them.
        of_arcs = (np.arange(len(old)) >= old.first_arc) & (self.table.types[len(old) :, None] == old.types)
        self.parser.resize(of_arcs)
        self.parser.set_groups(self.table.types)

    def can_learn(self, gold: Sequence[Tree]) -> BoolArray:
        """Which gold trees an oracle can build: whole ones with all labels, without SWAP projective ones."""
        width = max((len(tree.heads) for tree in gold), default=0)
        heads, labels = pad_trees(gold, width)
        lengths = np.array([len(tree.heads) for tree in gold], dtype=np.int64)
        has_labels = ((heads <= 0) | (labels > ROOT_LABEL)).all(axis=1)
        return has_labels & (lengths > 0) & oracle.can_learn(heads, lengths, self.swap)

    def shifts(self, batch: PieceBatch) -> IntArray:
        """The number of each word among those that SHIFT names, int [sentences, words + 1], 0 for others."""
        shifts = np.zeros((len(batch.n_words), int(batch.n_words.max()) + 1), dtype=np.int64)
        if self._shift_ids:
            for of_sentence, sentence in zip(shifts, batch.inputs, strict=True):
                ids = [self._shift_ids.get(word, 0) for word in sentence.words]
                of_sentence[1 : len(ids) + 1] = ids
        return shifts

    def loss(self, batch: PieceBatch, gold: Sequence[Tree]) -> Tensor:
        """Smoothed cross-entropy of the oracle's actions among the valid ones, summed over states."""
        memory, mask = self.read(batch)
        return self.parser.loss(memory, mask, self.sequences(batch, gold))

    def sequences(self, batch: PieceBatch, gold: Sequence[Tree]) -> Sequences:
        """The oracle's actions, and the states before them."""
        heads, labels = pad_trees(gold, int(batch.n_words.max()))
        types = oracle.oracle_actions(heads, batch.n_words, self.swap)
        steps = list(replay(types, labels, batch.n_words))
        samples = take_samples(steps, np.asarray(types >= 0, dtype=np.float32))
        order = np.lexsort((samples.steps, samples.sentences))
        states, sentences, numbers = samples.states.take(order), *np.nonzero(types >= 0)
        shifts = self.shifts(batch)[sentences]
        fronts = shifts[np.arange(len(shifts)), np.maximum(samples.slots[order, B1], 0)]
        actions = np.full_like(types, NO_ACTION)
        actions[sentences, numbers] = self.table.encode(samples.actions[order], samples.labels[order], fronts)
        stack, buffer = np.full((2, *types.shape, shifts.shape[1]), -1)
        stack[sentences, numbers], buffer[sentences, numbers] = state_places(states)
        return Sequences(actions, stack, buffer, self.table.valid(states, shifts, self.swap))

    def parse(self, batch: PieceBatch) -> list[Parse]:
        """The tree of the best sequence of actions of each sentence.

        The probability of a head is that of an arc between the two words in the state it was made in, with
        any label, that of a label its share of it.
        """
        memory, mask = self.read(batch)
        shifts = self.shifts(batch)
        parses = []
        for part in chunks(batch.n_words, self.parser.settings.beam_width, self.device):
            n_words = batch.n_words[part]
            n = int(n_words.max()) + 1
            machines = ArcStandardMachines(
                self.table, States.begin(n_words), np.ascontiguousarray(shifts[part, :n]), self.swap
            )
            found = self.parser.search(
                memory[part, :n], None if mask is None else mask[part, :n], machines
            ).machines
            assert isinstance(found, ArcStandardMachines)
            for i, (length, fit) in enumerate(zip(n_words.tolist(), batch.fits[part], strict=True)):
                heads, labels = (
                    array[i, :length].copy() for array in (found.states.heads, found.states.labels)
                )
                head_probs, label_probs = found.probs[i, :length].T
                parses.append(Parse(Tree(heads, labels), head_probs, label_probs, fit))
        return parses
