"""Sentences to actions: an encoder of word vectors and a decoder that follows a state machine.

Fernandez Astudillo et al. 2020, "Transition-based Parsing with Stack-Transformers". Nothing here knows what
the actions do: a transition system is what says which are valid, where words are, and when all is done.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ..arrays import BoolArray, DoubleArray, FloatArray, IntArray
from ..errors import Errors
from ..layers.decoder import TIES, Cache, Places, StateDecoder
from ..layers.dropout import Dropout
from ..layers.encoder import EncoderConfig, EncoderLayer
from ..parsing.beam import select
from .settings import check_counts

#: What a head can be tied to, by its place in ``state_heads``.
StateHead = Literal["stack", "stack_top2", "buffer", "buffer_top2"]
#: Hypotheses that are decoded together, by device.
MAX_HYPOTHESES = {"cpu": 512, "cuda": 4096}
#: Sentences that are finished go when they are more than this share of a batch.
FINISHED_SHARE = 0.25
# What a finished hypothesis does in a beam, and what others do not: nothing.
NO_ACTION = -1


@dataclass(frozen=True)
class ActionSettings:
    """Sizes and settings of an ``ActionTransformer``; raises ValueError for what makes none.

    state_heads: what the first heads of cross-attention are tied to, keys of ``layers.decoder.TIES``.
    state_positions: tied heads know the places of words in stack and buffer.
    n_encoder_layers, n_layers: of the encoder and of the decoder.
    width, n_heads, hidden_width: of both; hidden_width is that of feed-forward networks.
    dropout: rate on all vectors.
    label_smoothing: the share of each step's probability that is spread over its valid actions.
    beam_width: hypotheses of a sentence in decoding; 1 is greedy.
    """

    state_heads: tuple[str, ...]
    state_positions: bool
    n_encoder_layers: int
    n_layers: int
    width: int
    n_heads: int
    hidden_width: int
    dropout: float
    label_smoothing: float
    beam_width: int

    def __post_init__(self) -> None:
        check_counts(
            n_encoder_layers=self.n_encoder_layers,
            n_layers=self.n_layers,
            width=self.width,
            n_heads=self.n_heads,
            hidden_width=self.hidden_width,
            beam_width=self.beam_width,
        )
        for setting in ("dropout", "label_smoothing"):
            share = getattr(self, setting)
            if not 0.0 <= share < 1.0:
                raise ValueError(
                    Errors.E409.format(setting=setting, value=share, expected="from 0 to below 1")
                )
        if self.width % self.n_heads:
            raise ValueError(Errors.E204.format(width=self.width, n_heads=self.n_heads))
        unknown = [head for head in self.state_heads if head not in TIES]
        if unknown:
            raise ValueError(Errors.E417.format(unknown=unknown, choices=list(TIES)))
        if len(self.state_heads) > self.n_heads:
            raise ValueError(Errors.E418.format(heads=list(self.state_heads), n_heads=self.n_heads))


class Sequences(NamedTuple):
    """Sequences of actions, and what a state machine says before each of them.

    actions: int [sentences, steps], -1 behind the last one.
    stack, buffer: int [sentences, steps, words], places as in ``layers.decoder.Places``.
    valid: bool [all steps, actions], of the steps that are no padding, by sentences.
    """

    actions: IntArray
    stack: IntArray
    buffer: IntArray
    valid: BoolArray


class Machines(ABC):
    """State machines of hypotheses, in rows, which advance together; those of a sentence follow each other.

    Any sequence of valid actions must come to an end, and a machine that is not final has a valid action.
    """

    @property
    @abstractmethod
    def is_final(self) -> BoolArray:
        """Which machines are done, bool [rows]."""

    @abstractmethod
    def valid(self, rows: IntArray) -> BoolArray:
        """The actions that some of them can take, bool [n, actions]; of final ones none."""

    @abstractmethod
    def places(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Places of words in the stacks and in the buffers of some of them, int [n, words] each."""

    @abstractmethod
    def apply(self, actions: IntArray, probs: FloatArray) -> None:
        """Take a valid action each, int [rows], in place; NO_ACTION leaves a machine as it is.

        probs: float [rows, 2], the probability of the action and that of its group.
        """

    @abstractmethod
    def take(self, order: IntArray) -> Machines:
        """The machines in these rows, which may repeat; what takes them is not used any more."""


class Found(NamedTuple):
    """What a search has found.

    machines: final ones, a row for each sentence.
    totals: float [sentences], sums of the log-probabilities of their actions.
    n_actions: int [sentences].
    """

    machines: Machines
    totals: npt.NDArray[np.float64]
    n_actions: IntArray


class ActionTransformer(nn.Module):
    """Scores the actions of sentences whose words come as vectors.

    input_width: of the vectors, which a linear layer without bias takes to the width of the model. Words have
        no positions: their vectors know them.
    n_actions: that there are.
    groups: int [actions], the group of each action, whose probability ``Machines.apply`` is given, too; None
        for a group each.
    """

    groups: Tensor | None

    def __init__(
        self, input_width: int, n_actions: int, settings: ActionSettings, groups: IntArray | None = None
    ) -> None:
        super().__init__()
        self.settings = settings
        self.input = nn.Linear(input_width, settings.width, bias=False)
        self.dropout = Dropout(settings.dropout)
        config = EncoderConfig(
            vocab_size=0,
            width=settings.width,
            embedding_width=settings.width,
            n_layers=settings.n_encoder_layers,
            n_attention_heads=settings.n_heads,
            hidden_width=settings.hidden_width,
            activation="relu",
            layer_norm_eps=1e-5,
            dropout=settings.dropout,
            attention_dropout=0.0,
        )
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(settings.n_encoder_layers))
        self.decoder = StateDecoder(
            n_actions,
            width=settings.width,
            n_heads=settings.n_heads,
            hidden_width=settings.hidden_width,
            n_layers=settings.n_layers,
            ties=settings.state_heads,
            with_places=settings.state_positions,
            dropout=settings.dropout,
        )
        self.output = nn.Linear(settings.width, n_actions, bias=False)
        self.set_groups(groups)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def set_groups(self, groups: IntArray | None) -> None:
        """Set the group of each action."""
        numbers = None if groups is None else torch.from_numpy(groups).to(self.output.weight.device)
        self.register_buffer("groups", numbers, persistent=False)

    def encode(self, vectors: Tensor, mask: Tensor | None) -> Tensor:
        """Encode words: [sentences, words, input_width] to [sentences, words, width].

        mask: bool [sentences, words], True for real ones; None where nothing is padded.
        """
        x: Tensor = self.dropout(self.input(vectors))
        for layer in self.encoder:
            x = layer(x, mask)
        return x

    def resize(self, sources: IntArray) -> None:
        """Add actions behind those there are, that score what others do in the mean.

        sources: bool [added actions, actions], the actions whose mean each new one begins as.
        """
        weight = self.output.weight.data
        means = torch.from_numpy(sources / sources.sum(1, keepdims=True)).to(weight)
        output = nn.Linear(weight.shape[1], len(weight) + len(means), bias=False).to(weight)
        output.weight.data = torch.cat([weight, means @ weight])
        self.output = output
        self.decoder.resize(len(output.weight))

    # Training

    def score(self, memory: Tensor, mask: Tensor | None, sequences: Sequences) -> Tensor:
        """Scores of the actions at all steps that are no padding, by sentences: float32 [all steps, actions].

        memory: of ``encode``; mask: as there.
        """
        actions = sequences.actions
        previous = np.full_like(actions, NO_ACTION)
        previous[:, 1:] = actions[:, :-1]
        to = self._to_device
        places = Places(to(sequences.stack), to(sequences.buffer))
        hidden = self.decoder(to(previous), memory, mask, places)
        # Numbers and not a mask, whose size the host would have to ask the device for.
        steps = to(np.flatnonzero(actions != NO_ACTION))
        scores: Tensor = self.output(hidden.flatten(0, 1)[steps])
        return scores.float()

    def loss(self, memory: Tensor, mask: Tensor | None, sequences: Sequences) -> Tensor:
        """Cross-entropy of the actions among the valid ones, smoothed, summed over steps."""
        valid = self._to_device(sequences.valid)
        log_probs = self.score(memory, mask, sequences).masked_fill(~valid, -torch.inf).log_softmax(-1)
        gold = self._to_device(sequences.actions[sequences.actions != NO_ACTION])
        loss = -log_probs.gather(1, gold[:, None]).sum()
        share = self.settings.label_smoothing
        if share:
            means = log_probs.masked_fill(~valid, 0.0).sum(1) / valid.sum(1)
            loss = (1 - share) * loss - share * means.sum()
        return loss

    # Decoding

    def search(
        self, memory: Tensor, mask: Tensor | None, machines: Machines, length_penalty: float = 0.0
    ) -> Found:
        """The best sequence of actions of each sentence, by a beam over all of them together.

        memory, mask: as of ``score``.
        machines: one for each sentence, before its first action.
        length_penalty: hypotheses compete by the sum of log-probabilities over that power of their lengths.
        Raises ValueError for scores that are not numbers.
        """
        beam = _Beam(machines, len(memory), self.settings.beam_width, length_penalty)
        cache = self.decoder.begin(memory, mask, self.settings.beam_width)
        while not beam.is_done.all():
            self._drop_finished(beam, cache)
            rows = beam.rows()
            n, width = len(beam.live), beam.width
            places = Places(
                *(self._to_device(part).view(n, width, -1) for part in beam.machines.places(rows))
            )
            previous = self._to_device(beam.previous[beam.live])
            hidden = self.decoder.step(previous, cache, places)
            choices = self._choices(hidden.flatten(0, 1), beam.machines.valid(rows))
            if np.isnan(choices.log_probs[beam.is_open(rows)]).any():
                raise ValueError(Errors.E410)
            parents = beam.advance(rows, choices)
            if beam.max_width > 1:
                cache.take(self._to_device(parents[beam.live]))
        return beam.found()

    def _drop_finished(self, beam: _Beam, cache: Cache) -> None:
        """Compute no further steps of finished sentences, when they are many."""
        going = np.flatnonzero(~beam.is_done[beam.live])
        if len(going) <= (1 - FINISHED_SHARE) * len(beam.live):
            cache.keep(self._to_device(going))
            beam.live = beam.live[going]

    def _choices(self, hidden: Tensor, valid: BoolArray) -> _Choices:
        """The best actions of some states: hidden [states, width], valid bool [states, actions]."""
        allowed = self._to_device(valid)
        scores = self.output(hidden).float()
        # A final state has no valid action; what it scores is not used.
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        log_probs = scores.log_softmax(-1)
        n = min(self.settings.beam_width, scores.shape[1])
        best, ids = log_probs.topk(n) if n > 1 else log_probs.max(-1, keepdim=True)
        best = best.masked_fill(~allowed.gather(1, ids), -torch.inf)
        group_probs = best.exp()
        if self.groups is not None:
            of_groups = torch.zeros_like(log_probs).index_add_(1, self.groups, log_probs.exp())
            group_probs = of_groups.gather(1, self.groups[ids])
        # One transfer for all: ids are small enough for a float.
        table = torch.cat([best, ids.to(best.dtype), group_probs], 1).cpu().numpy()
        log_probs_, ids_, group_probs_ = np.split(table, 3, axis=1)
        return _Choices(log_probs_, ids_.astype(np.int64), group_probs_)

    def _to_device(self, array: npt.NDArray[Any]) -> Any:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.output.weight.device, non_blocking=True)


class _Choices(NamedTuple):
    """The best actions in some states, [states, choices] each.

    log_probs: -inf where there are fewer valid ones. group_probs: of the groups of the actions.
    """

    log_probs: FloatArray
    actions: IntArray
    group_probs: FloatArray


class _Beam:
    """The hypotheses of all sentences; at first one each, then ``max_width``.

    live: int [n], the sentences that are computed.
    """

    def __init__(self, machines: Machines, n: int, max_width: int, length_penalty: float) -> None:
        self.machines = machines
        self.max_width = max_width
        self.length_penalty = length_penalty
        self.live: IntArray = np.arange(n)
        self.totals: DoubleArray = np.zeros((n, 1))
        self.lengths: IntArray = np.zeros((n, 1), dtype=np.int64)
        self.previous: IntArray = np.full((n, 1), NO_ACTION)
        self._update_done()

    @property
    def width(self) -> int:
        """Hypotheses of a sentence."""
        return int(self.totals.shape[1])

    def _update_done(self) -> None:
        """A sentence is done when nothing in its beam can become better than its best hypothesis."""
        final = self.machines.is_final.reshape(self.totals.shape)
        self._is_final = final
        done = (final | (self.totals == -np.inf)).all(axis=1)
        if not self.length_penalty:
            done |= final[:, 0]
        self.is_done = done

    def rows(self) -> IntArray:
        """The machines of live sentences."""
        rows: IntArray = (self.live[:, None] * self.width + np.arange(self.width)).ravel()
        return rows

    def is_open(self, rows: IntArray) -> BoolArray:
        """Which machines go on."""
        is_open: BoolArray = (~self._is_final & (self.totals > -np.inf)).ravel()[rows]
        return is_open

    def advance(self, rows: IntArray, choices: _Choices) -> IntArray:
        """Let the best hypotheses go on; returns their parents, int [sentences, max_width]."""
        n, width = self.totals.shape
        n_choices = choices.actions.shape[1]
        # The last choice is to stay, which final machines do.
        scores = np.full((n * width, n_choices + 1), -np.inf)
        scores[self._is_final.ravel(), n_choices] = 0.0
        is_open = self.is_open(rows)
        scores[rows[is_open], :n_choices] = choices.log_probs[is_open]
        totals = self.totals[:, :, None] + scores.reshape(n, width, -1)
        lengths = self.lengths[:, :, None] + (np.arange(n_choices + 1) < n_choices)
        keys = totals / np.maximum(lengths, 1) ** self.length_penalty
        parents, chosen, _ = select(keys, np.zeros((n, width)), self.max_width)
        is_way = chosen >= 0
        index = np.arange(n)[:, None], parents, np.maximum(chosen, 0)
        actions, probs = self._chosen(rows, choices, parents, np.where(is_way, chosen, n_choices))
        self.totals = np.where(is_way, totals[index], -np.inf)
        self.lengths = lengths[index]
        if self.max_width > 1:
            order = np.arange(n)[:, None] * width + parents
            self.machines = self.machines.take(order.ravel())
        self.machines.apply(actions.ravel(), probs)
        self.previous = actions
        self._update_done()
        return parents

    def _chosen(
        self, rows: IntArray, choices: _Choices, parents: IntArray, chosen: IntArray
    ) -> tuple[IntArray, FloatArray]:
        """The actions taken, int [sentences, max_width], and probabilities of them and of their groups."""
        n, width = len(self.totals), self.width
        n_choices = choices.actions.shape[1]
        actions = np.full((n * width, n_choices + 1), NO_ACTION)
        probs = np.ones((n * width, n_choices + 1, 2), dtype=np.float32)
        actions[rows, :n_choices] = choices.actions
        probs[rows, :n_choices, 0] = np.exp(choices.log_probs)
        probs[rows, :n_choices, 1] = choices.group_probs
        order = np.arange(n)[:, None] * width + parents
        return actions[order, chosen], probs[order, chosen].reshape(-1, 2)

    def found(self) -> Found:
        """The best hypothesis of each sentence, which comes first."""
        best = np.arange(len(self.totals)) * self.width
        return Found(self.machines.take(best), self.totals[:, 0], self.lengths[:, 0])


def chunks(n_words: IntArray, beam_width: int, device: torch.device) -> Sequence[slice]:
    """Parts of a batch whose hypotheses are not too many to be decoded together."""
    size = max(1, MAX_HYPOTHESES.get(device.type, MAX_HYPOTHESES["cpu"]) // beam_width)
    return [slice(start, start + size) for start in range(0, len(n_words), size)]
