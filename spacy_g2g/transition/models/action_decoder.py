"""From sentences to actions: an encoder of word vectors, and a decoder that follows a state machine.

Fernandez Astudillo et al. 2020, "Transition-based Parsing with Stack-Transformers". Nothing here knows what
an action does. A transition system says which actions are valid, where the words are, and when a sentence is
done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ...arrays import BoolArray, IntArray
from ...layers.dropout import Dropout
from ...layers.encoder import EncoderLayer
from ...layers.encoder_config import EncoderConfig
from ...layers.geometry import Geometry
from ..layers.decoder import Cache, DecoderConfig, StateDecoder
from ..layers.state_attention import Positions
from ..parsing.arc_standard import NO_ACTION
from ..parsing.search import AnyMachines, Beam, Choices, SearchResult, Sequences
from .settings import ActionSettings

#: Maximum number of hypotheses that are decoded together, by device.
MAX_HYPOTHESES = {"cpu": 512, "cuda": 4096}
#: Finished sentences leave the batch once their share is larger than this.
MAX_FINISHED_SHARE = 0.25


class ActionTransformer(nn.Module):
    """Scores the actions of sentences whose words come as vectors.

    A linear layer without bias maps the words' vectors to the width of the model. It adds no positions, since
    the vectors already contain them.

    input_width: Width of the words' vectors.
    n_actions: Number of actions.
    settings: Sizes and settings of the model.
    groups: int [actions], the group of each action; None if each action is a group of its own. The search
        passes the probability of an action's group to ``ActionMachines.apply``.
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
            n_attention_heads=settings.n_attention_heads,
            hidden_width=settings.hidden_width,
            activation="relu",
            layer_norm_eps=1e-5,
            dropout=settings.dropout,
            attention_dropout=0.0,
        )
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(settings.n_encoder_layers))
        decoder_config = DecoderConfig(
            width=settings.width,
            n_heads=settings.n_attention_heads,
            hidden_width=settings.hidden_width,
            n_layers=settings.n_layers,
            views=settings.state_heads,
            with_positions=settings.state_positions,
            dropout=settings.dropout,
        )
        self.decoder = StateDecoder(n_actions, decoder_config)
        self.output = nn.Linear(settings.width, n_actions, bias=False)
        self.set_groups(groups)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def set_groups(self, groups: IntArray | None) -> None:
        """Set the group of each action."""
        numbers = None if groups is None else torch.from_numpy(groups)
        if numbers is not None and not self.output.weight.is_meta:
            numbers = numbers.to(self.output.weight.device)
        self.register_buffer("groups", numbers, persistent=False)

    def encode(self, vectors: Tensor, mask: Tensor | None) -> Tensor:
        """Encode words: [sentences, words, input_width] to [sentences, words, width].

        vectors: Vectors of the words.
        mask: Whether each place holds a word, bool [sentences, words]; None without padding.
        """
        x: Tensor = self.dropout(self.input(vectors))
        for layer in self.encoder:
            x = layer(x, Geometry(mask))
        return x

    def resize(self, sources: IntArray) -> None:
        """Add actions after the existing ones. Each starts as the mean of some existing actions.

        sources: bool [added actions, actions], the existing actions that each added action averages.
        """
        weight = self.output.weight.data
        means = torch.from_numpy(sources / sources.sum(1, keepdims=True)).to(weight)
        output = nn.Linear(weight.shape[1], len(weight) + len(means), bias=False).to(weight)
        output.weight.data = torch.cat([weight, means @ weight])
        self.output = output
        self.decoder.resize(len(output.weight))

    # Training

    def score(self, memory: Tensor, mask: Tensor | None, sequences: Sequences) -> Tensor:
        """Score the actions at all steps, sentence by sentence and without padding.

        memory: float [sentences, words, width], from ``encode``.
        mask: bool [sentences, words], as in ``encode``.
        sequences: The actions, and the states before them.
        Returns float32 [all steps, actions].
        """
        actions = sequences.actions
        previous = np.full_like(actions, NO_ACTION)
        previous[:, 1:] = actions[:, :-1]
        to = self._to_device
        positions = Positions(to(sequences.stack), to(sequences.buffer))
        hidden = self.decoder(to(previous), memory, mask, positions)
        # With a mask instead of numbers, the host would have to wait for the device to count it.
        steps = to(np.flatnonzero(actions != NO_ACTION))
        scores: Tensor = self.output(hidden.flatten(0, 1)[steps])
        return scores.float()

    def loss(self, memory: Tensor, mask: Tensor | None, sequences: Sequences) -> Tensor:
        """Sum the smoothed cross-entropy of the actions, among the valid actions, over steps."""
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
        self,
        memory: Tensor,
        mask: Tensor | None,
        machines: AnyMachines,
        length_penalty: float = 0.0,
    ) -> SearchResult[AnyMachines]:
        """Find the best sequence of actions of each sentence, with one beam over all sentences.

        memory: float [sentences, words, width], as in ``score``.
        mask: bool [sentences, words], as in ``score``.
        machines: One for each sentence, before its first action.
        length_penalty: Hypotheses compete by their log-probability divided by this power of their length.
        Raises ValueError for scores that are not numbers.
        """
        beam = Beam(machines, self.settings.beam_width, length_penalty)
        cache = self.decoder.begin(memory, mask, beam.max_width)
        live: IntArray = np.arange(len(memory))
        while not beam.is_done.all():
            live = self._drop_finished(live, beam.is_done, cache)
            n, width = len(live), beam.width
            rows = (live[:, None] * width + np.arange(width)).ravel()
            positions = Positions(
                *(self._to_device(part).view(n, width, -1) for part in beam.machines.positions(rows))
            )
            previous = self._to_device(beam.previous[live])
            hidden = self.decoder.step(previous, cache, positions)
            choices = self._choices(hidden.flatten(0, 1), beam.machines.valid(rows))
            parents = beam.advance(rows, choices)
            if beam.max_width > 1:
                cache.take(self._to_device(parents[live]))
        return beam.best()

    def _drop_finished(self, live: IntArray, is_done: BoolArray, cache: Cache) -> IntArray:
        """Drop finished sentences once there are many. Returns the sentences that are still decoded."""
        unfinished = np.flatnonzero(~is_done[live])
        if len(unfinished) > (1 - MAX_FINISHED_SHARE) * len(live):
            return live
        cache.keep(self._to_device(unfinished))
        return live[unfinished]

    def _choices(self, hidden: Tensor, valid: BoolArray) -> Choices:
        """Score the best actions in some states.

        hidden: float [states, width].
        valid: bool [states, actions].
        """
        allowed = self._to_device(valid)
        scores = self.output(hidden).float()
        # A final state has no valid action; its scores are not used.
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        log_probs = scores.log_softmax(-1)
        n = min(self.settings.beam_width, scores.shape[1])
        best, ids = log_probs.topk(n) if n > 1 else log_probs.max(-1, keepdim=True)
        best = best.masked_fill(~allowed.gather(1, ids), -torch.inf)
        group_probs = best.exp()
        if self.groups is not None:
            group_sums = torch.zeros_like(log_probs).index_add_(1, self.groups, log_probs.exp())
            group_probs = group_sums.gather(1, self.groups[ids])
        # One transfer for all three. A float can hold the ids exactly.
        table = torch.cat([best, ids.to(best.dtype), group_probs], 1).cpu().numpy()
        best_log_probs, best_ids, groups = np.split(table, 3, axis=1)
        # Both probabilities may underflow to 0.
        shares = np.minimum(np.exp(best_log_probs) / np.maximum(groups, np.finfo(groups.dtype).tiny), 1.0)
        return Choices(best_ids.astype(np.int64), best_log_probs, np.stack([groups, shares], axis=-1))

    def _to_device(self, array: npt.NDArray[Any]) -> Any:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.output.weight.device, non_blocking=True)


def split_batch(n_words: IntArray, beam_width: int, device: torch.device) -> Sequence[slice]:
    """Split a batch into parts whose hypotheses can be decoded together."""
    size = max(1, MAX_HYPOTHESES.get(device.type, MAX_HYPOTHESES["cpu"]) // beam_width)
    return [slice(start, start + size) for start in range(0, len(n_words), size)]
