"""StateTr and its family: transition-based parsers whose encoder reads the parser state.

Mohammadshahi & Henderson 2020, "Graph-to-Graph Transformer for Transition-based Dependency Parsing",
section 4.1, and the first version of that paper (2019). Their systems are values of the arguments here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from ...arrays import IntArray
from ...models.batch import PieceBatch
from ...models.graph_input import (
    N_UNLABELED,
    LabelEmbeddings,
    both_directions,
    to_edges,
    to_label_rows,
    unlabeled,
)
from ...models.model import make_model
from ...models.network import NetworkSpec
from ...models.settings import COUNT, Pooling, builder, setting
from ...models.start import learn_rare_words
from ...models.types import Coverage, ParserModel
from ..layers.composition import Composition, relation_ids
from ..layers.history import History
from ..layers.history import State as HistoryState
from ..parsing.arc_standard import N_ACTIONS, NO_ACTION, Action, is_arc
from ..parsing.oracle_states import Samples, Step
from ..parsing.state import B1, NO_WORD, S1, S2, States
from ..parsing.state_sequence import BUFFER, DELETED, N_SEGMENTS, StateInput, lay_out_states, n_special
from .settings import TransitionSettings
from .transitions import Reader, TransitionNetwork

Output = Literal["tokens", "cls"]
HistoryInput = Literal["actions", "labels"]
N_HISTORY_LAYERS = 2
#: Approximate maximum number of positions that are encoded together in training, by device.
MAX_POSITIONS = {"cpu": 2048, "cuda": 32768}


@dataclass(frozen=True, kw_only=True)
class StateTrSettings(TransitionSettings):
    """Settings of StateTr."""

    graph_input: bool = setting(
        True,
        "Read the partial tree, as relations and label embeddings, and the words that have left stack and "
        "buffer.",
    )
    composition: bool = setting(
        False, "Combine each word of the stack with its dependents before the state is encoded."
    )
    history: HistoryInput | None = setting(
        "labels",
        'Read past actions with an LSTM: "actions" alone, or actions with the "labels" of their arcs; null '
        "for no LSTM.",
    )
    history_width: int = setting(100, "Width of the LSTM over past actions.", COUNT)
    output: Output = setting(
        "tokens",
        'Vectors that the classifiers read: the "tokens" at the top of the stack, or "cls".',
    )
    reads_buffer: bool = setting(
        True,
        'Let the classifier of actions read the front of the buffer. It has no effect with output "cls".',
    )
    pooling: Pooling = setting(
        "first", 'Embedding of a word: that of its "first" piece, or the "mean" over its pieces.'
    )


@builder(StateTrSettings)
def build_state_tr(settings: StateTrSettings) -> ParserModel:
    """Build StateTr, a transition-based parser that encodes the parser state.

    The defaults are those of StateTr+G2GTr; docs/transition-parsers.md has the values of all systems.

    Registered as ``spacy_g2g.StateTr.v1``.
    """
    learn = partial(learn_rare_words, share=settings.unknown_share)
    return make_model("state_tr", StateTr, settings, learn=learn)


class StateTr(TransitionNetwork):
    """Transition-based parser whose slots have the vectors of their words, or of CLS, in the state."""

    graph_parameters = (*TransitionNetwork.graph_parameters, "label_embeddings.*")

    def __init__(self, spec: NetworkSpec, settings: StateTrSettings) -> None:
        # The vector of CLS takes the first slot.
        tokens = (S2, S1, B1) if settings.reads_buffer else (S2, S1)
        super().__init__(
            spec,
            settings,
            exist_slots=tokens if settings.output == "tokens" else (S2,),
            relation_slots=(S2, S1) if settings.output == "tokens" else (S2,),
            n_relations=N_UNLABELED if settings.graph_input else 0,
            history_width=settings.history_width if settings.history else 0,
        )
        self.graph_input = settings.graph_input
        self.output = settings.output
        self.pooling = settings.pooling
        width, std = spec.own_encoder.embedding_width, spec.own_encoder.initializer_range
        self.empty = nn.Parameter(torch.empty(spec.width))
        nn.init.normal_(self.empty, std=std)
        # A checkpoint has two segments: one for the stack, one for the rest. Differences are learned.
        self.has_segments = spec.own_encoder.n_segments > 1
        self.segments = nn.Embedding(N_SEGMENTS, width)
        nn.init.normal_(self.segments.weight, std=0.0 if self.has_segments else std)
        self.label_embeddings = LabelEmbeddings(spec.n_labels, width) if settings.graph_input else None
        self.composition = Composition(width, spec.n_labels, scale=std) if settings.composition else None
        self.history = None
        if settings.history:
            n_labels = spec.n_labels if settings.history == "labels" else 0
            width = settings.history_width
            self.history = History(N_ACTIONS, n_labels, width=width, n_layers=N_HISTORY_LAYERS)

    def resize_labels(self, n_labels: int) -> None:
        """Make room for added labels."""
        super().resize_labels(n_labels)
        for brick in (self.label_embeddings, self.composition, self.history):
            if brick is not None:
                brick.resize(n_labels)

    def coverages(self, batch: PieceBatch) -> list[Coverage]:
        """Return how each sentence was fitted into the encoder.

        "nearest_words" is for sentences whose states can have more words than the encoder has positions.
        Other sentences are "truncated" only if words are means of pieces and some pieces were cut.
        """
        n_longest = batch.n_words + 1 + n_special(with_deleted=self.graph_input)
        is_long = n_longest > self.encoder.config.n_positions
        short: Coverage = "truncated" if self.pooling == "mean" else "whole"
        return [
            "nearest_words" if long else short if fit == "truncated" else "whole"
            for long, fit in zip(is_long.tolist(), batch.coverages, strict=True)
        ]

    # Words

    def embed_words(self, batch: PieceBatch) -> Tensor:
        """Look up the vectors of ROOT, the words, SEP and CLS before they are encoded.

        Returns float [sentences, words + 3, embedding_width].
        """
        index = self.tensor(batch.word_index)
        piece_ids = self.tensor(batch.piece_ids)
        is_mean = self.pooling == "mean"
        frame = self.tensor(batch.piece_ids[0, [batch.lengths[0] - 1, 0]])
        read = piece_ids if is_mean else piece_ids.flatten()[index]
        # One call for all: on a GPU, and in the first update, each call has a gradient as large as the table.
        vectors = self.encoder.embeddings.look_up(torch.cat([read, frame.expand(len(read), -1)], 1))
        vectors, frame = vectors[:, :-2], vectors[: len(index), -2:]
        if is_mean:
            vectors = self.mean_pieces(vectors, batch)
        if self.tags is not None and batch.tag_ids is not None:
            vectors = vectors + self.tags(self.tensor(batch.tag_ids).flatten()[index])
        return torch.cat([vectors, frame], 1)

    def compose(
        self, words: Tensor, states: States, step: Step, parts: tuple[Tensor, Tensor] | None
    ) -> Tensor:
        """Compose the words on the stacks with their new dependents.

        words: Vectors of the shape that ``embed_words`` returns.
        states: States that the step led to.
        step: The step.
        parts: From ``Composition.parts``; None without a composition.
        Returns the new vectors, of the same shape. Words off the stack keep their vectors.
        """
        if self.composition is None or parts is None:
            return words
        flat = words.flatten(0, 1)
        heads, dependents, relations, arcs = map(self.tensor, _compositions(states, step, words.shape[1]))
        composed = self.composition(parts, flat[heads], flat[dependents], relations, arcs)
        return flat.index_copy(0, heads, composed.to(flat.dtype)).view_as(words)

    # States

    def score_states(
        self, words: Tensor, numbers: IntArray, states: States, slots: IntArray, history: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Encode states and score their actions and labels.

        words: float [vectors, embedding_width], vectors of words, composed or not.
        numbers: int [states, words + 3], the vector of ROOT, of each word, SEP and CLS in each state.
        states: The states.
        slots: int [states, 3].
        history: float [states, history_width]; None without a history.
        """
        state_input = lay_out_states(states, self.encoder.config.n_positions, with_deleted=self.graph_input)
        if self.output == "cls":
            read = self._encode(
                words, numbers, states, state_input, np.zeros((len(slots), 1), dtype=np.int64)
            )
        else:
            places = state_input.word_positions[np.arange(len(slots))[:, None], np.maximum(slots, 0)]
            is_empty = self.tensor((slots == NO_WORD) | (places < 0))[..., None]
            read = self._encode(words, numbers, states, state_input, np.maximum(places, 0))
            read = torch.where(is_empty, self.empty.to(read.dtype), read)
        parts = self.classifiers.project(read)
        # Indexing with a list would send it to the device in each call.
        picked = torch.stack([parts[:, slot, i] for i, slot in enumerate(self.classifiers.slots)], 1)
        exist, relation = self.classifiers(picked, history)
        return exist, relation

    def _encode(
        self, words: Tensor, numbers: IntArray, states: States, state_input: StateInput, places: IntArray
    ) -> Tensor:
        """Encode the states' inputs, and return the vectors at some places.

        places: int [states, k].
        Returns float [states, k, width].
        """
        word_numbers = np.take_along_axis(numbers, state_input.words % numbers.shape[1], axis=1)
        vectors = words[self.tensor(word_numbers)]
        segments = self.tensor(state_input.segments)
        extra = self.segments(segments)
        if self.label_embeddings is not None:
            extra = extra + self.label_embeddings(self.tensor(self._label_rows(states, state_input)))
        positions = np.arange(state_input.words.shape[1])
        mask = positions < state_input.lengths[:, None]
        encoded: Tensor = self.encoder(
            vectors,
            None if mask.all() else self.tensor(mask),
            segments=segments.clamp(max=BUFFER) if self.has_segments else None,
            extra=extra,
            edges=to_edges(_tree_edges(states, state_input), self.device) if self.graph_input else None,
            read=self.tensor(places),
        )
        return encoded

    def _label_rows(self, states: States, state_input: StateInput) -> IntArray:
        """Find the label embedding of each position, int [states, positions]: only deleted words have one."""
        rows = np.zeros_like(state_input.words)
        state_rows, places = np.nonzero(state_input.segments == DELETED)
        words = state_input.words[state_rows, places]
        is_word = words > 0
        labels = states.labels[state_rows[is_word], words[is_word] - 1]
        rows[state_rows[is_word], places[is_word]] = to_label_rows(labels)
        return rows

    # Training and decoding

    def score_samples(
        self, batch: PieceBatch, samples: Samples, steps: Sequence[Step]
    ) -> tuple[Tensor, Tensor]:
        """Score sampled states. States of similar lengths are encoded together."""
        history = None
        if self.history is not None:
            history = self._histories(steps)[self.tensor(samples.sentences), self.tensor(samples.numbers)]
        words, numbers = self._compose_all(self.embed_words(batch), samples, steps)
        states, slots, *_ = samples.step
        scores, parts = [], self._split(states)
        for part in parts:
            part_history = None if history is None else history[self.tensor(part)]
            scores.append(
                self.score_states(words, numbers[part], states.take(part), slots[part], part_history)
            )
        order = self.tensor(np.argsort(np.concatenate(parts)))
        exist, relation = (torch.cat(part_scores)[order] for part_scores in zip(*scores, strict=True))
        return exist, relation

    def _split(self, states: States) -> list[IntArray]:
        """Sort states by length and split them, so that few positions are padding and each part is small."""
        lengths = states.stack_sizes + states.buffer_sizes + self.graph_input * states.n_arcs
        n_parts = -(-int(lengths.sum()) // MAX_POSITIONS.get(self.device.type, MAX_POSITIONS["cpu"]))
        return np.array_split(np.argsort(lengths, kind="stable"), n_parts)

    def _histories(self, steps: Sequence[Step]) -> Tensor:
        """Read the history before each step of the oracle, float [sentences, steps, history_width]."""
        assert self.history is not None
        actions = np.stack([step.actions for step in steps], axis=1)
        labels = np.stack([step.labels for step in steps], axis=1)
        begin = self.history.begin(len(actions))
        read, _ = self.history(self.tensor(np.maximum(actions, 0)), self.tensor(labels), begin)
        return torch.cat([read.new_zeros(len(read), 1, read.shape[-1]), read[:, :-1]], 1)

    def _compose_all(self, words: Tensor, samples: Samples, steps: Sequence[Step]) -> tuple[Tensor, IntArray]:
        """Compute the vectors of words at all steps; see ``score_states`` for what is returned."""
        numbers = _number(np.arange(len(words)), words.shape[1])
        sample_numbers = numbers[samples.sentences]
        vectors, first = [words.flatten(0, 1)], 0
        if self.composition is None:
            return vectors[0], sample_numbers
        parts = self.composition.parts()
        for i, step in enumerate(steps[1:], start=1):
            heads, dependents, relations, arcs = _compositions(step.states, steps[i - 1], words.shape[1])
            read = numbers.ravel()[np.concatenate([heads, dependents])]
            # A gradient is as large as the tensor that is read. So read words from the previous step, and
            # only words that are new on the stack from the input, or after SWAP from any step.
            is_old = read < first
            old = read[is_old]
            origin = vectors[0] if (old < len(vectors[0])).all() else torch.cat(vectors)
            source = torch.cat([vectors[-1], origin[self.tensor(old)]])
            places = self.tensor(np.where(is_old, len(vectors[-1]) + np.cumsum(is_old) - 1, read - first))
            read_heads, read_dependents = source[places[: len(heads)]], source[places[len(heads) :]]
            first += len(vectors[-1])
            new = self.tensor(relations), self.tensor(arcs)
            vectors.append(self.composition(parts, read_heads, read_dependents, *new))
            numbers.ravel()[heads] = first + np.arange(len(heads))
            sample_numbers[samples.numbers == i] = numbers[samples.sentences[samples.numbers == i]]
        return torch.cat(vectors), sample_numbers

    def read(self, batch: PieceBatch) -> Reader:
        """Begin to decode."""
        return _StateReader(self, batch)


class _StateReader(Reader):
    """Keeps the composed words and the history of each hypothesis."""

    def __init__(self, network: StateTr, batch: PieceBatch) -> None:
        self.network = network
        self.words = network.embed_words(batch)
        self.parts = None if network.composition is None else network.composition.parts()
        self.history: HistoryState | None = None
        if network.history is not None:
            self.history = network.history.begin(len(self.words))

    def score(self, states: States, rows: IntArray, *, slots: IntArray) -> tuple[Tensor, Tensor]:
        history = None if self.history is None else self.history[0][-1][self.network.tensor(rows)]
        words, numbers = self.words.flatten(0, 1), _number(rows, self.words.shape[1])
        return self.network.score_states(words, numbers, states.take(rows), slots, history)

    def take(self, order: IntArray) -> None:
        picked = self.network.tensor(order)
        self.words = self.words[picked]
        if self.history is not None:
            self.history = self.history[0][:, picked], self.history[1][:, picked]

    def advance(self, states: States, step: Step) -> None:
        self.words = self.network.compose(self.words, states, step, self.parts)
        if self.history is not None and self.network.history is not None:
            actions = self.network.tensor(np.maximum(step.actions, 0)[:, None])
            labels = self.network.tensor(step.labels[:, None])
            _, self.history = self.network.history(actions, labels, self.history)


def _number(rows: IntArray, width: int) -> IntArray:
    """Return the numbers of all cells of some rows of a table, int [rows, width]."""
    return rows[:, None] * width + np.arange(width)


def _compositions(states: States, step: Step, width: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """List the words on the stacks and their new dependents, as the arguments of ``Composition``.

    states: States that the step led to.
    step: The step.
    width: Number of vectors of a sentence. Words have the numbers of their vectors.
    Returns heads, dependents, relations and arcs.
    """
    columns = np.arange(states.stack.shape[1])
    on_stack = (columns < states.stack_sizes[:, None]) & (step.actions != NO_ACTION)[:, None]
    rows, places = np.nonzero(on_stack)
    has_arc = is_arc(step.actions)[rows] & (places == states.stack_sizes[rows] - 1)
    arcs = rows[has_arc]
    return (
        rows * width + states.stack[rows, places],
        arcs * width + step.dependents[arcs],
        relation_ids(step.labels[arcs], step.actions[arcs] == Action.RIGHT_ARC),
        np.where(has_arc, np.cumsum(has_arc) - 1, -1),
    )


def _tree_edges(states: States, state_input: StateInput) -> IntArray:
    """List the unlabeled edges of partial trees between the positions of their words, int [4, edges]."""
    rows, words = np.nonzero(states.deleted())
    heads = state_input.word_positions[rows, states.heads[rows, words]]
    places = state_input.word_positions[rows, words + 1]
    in_input = (heads >= 0) & (places >= 0)
    rows, heads, places = rows[in_input], heads[in_input], places[in_input]
    return both_directions(row=rows, head=heads, dependent=places, relations=unlabeled(rows))
