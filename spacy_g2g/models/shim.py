"""The shim of parsers. It batches sentences of similar lengths and runs a network on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from thinc.api import Model

from ..errors import Errors
from .batch import Batch
from .network import Network
from .network_shim import NetworkShim, get_network_shim
from .types import Sentence
from .vector_batches import WordVectors
from .wordpieces import WordPieces


class G2GShim(NetworkShim[Network[Any]]):
    """A parser's network.

    upstream: Shim of the encoder that gives the vectors of words; None unless it is of this library. A
        network that reads graphs also runs that encoder on its graphs.
    upstream_factor: Scale of gradients from graph passes into the shared encoder; 0 detaches it.
    """

    upstream: NetworkShim[Any] | None = None
    upstream_factor = 1.0

    def resize_labels(self, n_labels: int) -> None:
        """Make room for labels that are added after initialization."""
        self.network.resize_labels(n_labels)
        # New labels begin at zero. At the low rate of pretrained weights they would hardly learn.
        pretrained = tuple(part for part in self.known_spec.pretrained if part != "task")
        self.spec = replace(self.known_spec, n_labels=n_labels, pretrained=pretrained)
        self._optimizer = None

    # Running

    def predict(self, sentences: Sequence[Sentence]) -> list[Any]:
        """Return the parse of each sentence, which does not depend on the other sentences."""
        network = self._connected(is_train=False)
        parses: list[Any] = [None] * len(sentences)
        with torch.inference_mode(), self.arithmetic():
            words = self._reader(sentences)
            for members, batch in self._batches(words, sentences, network.n_hypotheses):
                for i, parse in zip(members, network.parse(batch), strict=True):
                    parses[i] = parse
        network.forget()
        return parses

    def begin_update(
        self, inputs: tuple[Sequence[Sentence], Sequence[Any]]
    ) -> tuple[float, Callable[[Any], list[Any]]]:
        """Return the summed loss, and a callback that adds its gradient to the parameters.

        The callback returns the gradient of each sentence's vectors; an empty list for words as pieces.

        inputs: Sentences and their gold standard.
        Raises ValueError when the loss is not finite, before it reaches the weights.
        """
        sentences, gold = inputs
        network = self._connected(is_train=True)
        losses = []
        words = self._reader(sentences)
        with self.arithmetic():
            for members, batch in self._batches(words, sentences):
                losses.append(network.loss(batch, [gold[i] for i in members]))
        n_targets = network.count_targets(gold)

        def backprop(_: Any) -> list[Any]:
            inputs = None
            if not self.upstream_factor and isinstance(words, WordVectors):
                inputs = [*network.parameters(), words.vectors]
            torch.autograd.backward(losses, inputs=inputs)
            self.n_targets += n_targets
            return words.gradients() if isinstance(words, WordVectors) else []

        total = float(sum(loss.detach() for loss in losses))
        if not math.isfinite(total):
            raise ValueError(Errors.E410.format(loss=total))
        return total, backprop

    def _batches(
        self, words: WordPieces | WordVectors, sentences: Sequence[Sentence], share: int = 1
    ) -> Iterator[tuple[list[int], Batch]]:
        """Return batches of the sentences, with the numbers of their members.

        share: Number of batches that the memory for one batch must hold.
        """
        network = self.network
        unknown = network.unknown_words if network.training else ()
        return words.batches(sentences, self.max_padded // share, unknown)

    def _reader(self, sentences: Sequence[Sentence]) -> WordPieces | WordVectors:
        """Return the object that makes batches of the sentences."""
        if self.known_spec.encoder is not None:
            return self.wordpieces
        network = self.network
        return WordVectors(sentences, network.device, network.upstream and network.upstream.wordpieces)

    def _connected(self, *, is_train: bool) -> Network[Any]:
        """Return the network, connected with the upstream encoder if it runs that encoder on graphs.

        Raises ValueError if the network needs the encoder, but it is of another library.
        """
        network = self.network.train(is_train)
        if network.runs_upstream and self.known_spec.encoder is None:
            if self.upstream is None:
                raise ValueError(Errors.E419)
            self.upstream.network.train(is_train and self.upstream_factor > 0)
            network.upstream, network.upstream_factor = self.upstream, self.upstream_factor or 1.0
        return network


def get_shim(model: Model[Any, Any]) -> G2GShim:
    """Return the shim of a parser model. Raises ValueError for other models."""
    return get_network_shim(model, G2GShim)
