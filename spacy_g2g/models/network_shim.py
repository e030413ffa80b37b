"""Bridge between Thinc and PyTorch: a shim that saves, moves and updates a network.

It differs from Thinc's ``PyTorchShim`` in two ways. Weights are saved as safetensors together with the
specification of the network, so nothing else is needed to load them. One step of AdamW updates all parameters
(see ``optimizer``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from thinc.api import Model, Optimizer, Shim, get_torch_default_device
from torch import Tensor

from ..errors import Errors
from ..layers.meta import assign_weights, on_meta
from .network import NetworkSpec, Part, WordNetwork
from .optimizer import make_adamw, take_step
from .precision import arithmetic
from .saving import from_bytes, to_bytes
from .settings import Precision
from .types import Sentence
from .wordpieces import WordPieces

#: Maximum number of pieces of a batch, with padding, by device. It bounds memory.
MAX_PADDED_PIECES = {"cpu": 2048, "cuda": 32768}
N = TypeVar("N", bound=WordNetwork)
S = TypeVar("S", bound="NetworkShim[Any]")


class NetworkShim(Shim, Generic[N]):
    """A network with its table of wordpieces and its optimizer.

    build: Makes the network from a specification, with random weights.
    pretrained_factor: Returns the learning rate of pretrained parameters as a multiple of that of the others,
        for the encoder's width and the pretrained parts of the network.
    rate_factor: Learning rate of the other parameters as a multiple of the optimizer's rate.
    precision: Arithmetic of the network, which may be changed at any time.
    """

    def __init__(
        self,
        build: Callable[[NetworkSpec], N],
        *,
        pretrained_factor: Callable[[int, Collection[Part]], float],
        rate_factor: float,
        precision: Precision,
    ) -> None:
        super().__init__(None)
        self.build = build
        self.pretrained_factor = pretrained_factor
        self.rate_factor = rate_factor
        self.precision = precision
        self.spec: NetworkSpec | None = None
        self.n_targets = 0
        self._wordpieces: WordPieces | None = None
        self.stored_as = torch.float32

    def build_network(self, spec: NetworkSpec, weights: dict[str, Tensor] | None = None) -> N:
        """Replace the network by a new one, and return it.

        spec: Specification of the network.
        weights: Its weights; None for random ones.
        Raises RuntimeError, before using memory, if the weights do not fit the specification.
        """
        config = spec.encoder
        if weights is None:
            network = self.build(spec)
        else:
            with on_meta(len(weights)):
                network = self.build(spec)
            assign_weights(network, weights)
        self._wordpieces = None
        if config is not None:
            self._wordpieces = WordPieces(
                spec.tokenizer,
                config.n_positions,
                config.vocab_size,
                spec.tags,
                has_root=not network.has_root_vector,
            )
        self.spec = spec
        self._model = network.to(get_torch_default_device())
        self._optimizer = None
        self.n_targets = 0
        return self.network

    @property
    def network(self) -> N:
        """PyTorch module. Raises ValueError before initialization."""
        if self._model is None:
            raise ValueError(Errors.E405)
        network: N = self._model
        return network

    @property
    def known_spec(self) -> NetworkSpec:
        """Specification of the network. Raises ValueError before initialization."""
        if self.spec is None:
            raise ValueError(Errors.E405)
        return self.spec

    @property
    def encoder_rate_factor(self) -> float:
        """Learning rate of pretrained parameters as a multiple of that of the others."""
        return self.pretrained_factor(self.known_spec.width, self.known_spec.pretrained)

    @property
    def wordpieces(self) -> WordPieces:
        """Table of pieces. Raises ValueError before initialization and for words that come as vectors."""
        if self._wordpieces is None:
            raise ValueError(Errors.E405 if self.spec is None else Errors.E415)
        return self._wordpieces

    # Running

    @property
    def max_padded(self) -> int:
        """Maximum number of pieces of a batch, with its padding."""
        return MAX_PADDED_PIECES.get(self.network.device.type, MAX_PADDED_PIECES["cpu"])

    def arithmetic(self) -> contextlib.AbstractContextManager[Any]:
        """Return the context in which the network computes with its precision."""
        return arithmetic(self.precision, self.network.device)

    def encode(self, sentences: Sequence[Sentence], n_layers: int | None = None) -> Tensor:
        """Encode the words of all sentences, float32 [words, width].

        sentences: The sentences, each with words.
        n_layers: Number of the encoder's layers to run; None for all.
        """
        network = self.network
        lengths = np.array([len(sentence.words) for sentence in sentences], dtype=np.int64)
        firsts = np.cumsum(lengths) - lengths
        parts, places = [], []
        with self.arithmetic():
            for members, batch in self.wordpieces.batches(sentences, self.max_padded):
                numbers = np.arange(batch.n_words.max() + 1)  # of ROOT and words
                is_word = (numbers > 0) & (numbers <= batch.n_words[:, None])
                vectors = network.encode(batch, n_layers=n_layers).flatten(0, 1)
                parts.append(vectors.index_select(0, network.tensor(np.flatnonzero(is_word))).float())
                places.append((firsts[members][:, None] + numbers - 1)[is_word])
        if n_layers is None:
            network.forget()
        if not parts:
            return torch.zeros(0, self.known_spec.width, device=network.device)
        return torch.cat(parts).index_select(0, network.tensor(np.argsort(np.concatenate(places))))

    @property
    def adamw(self) -> torch.optim.AdamW:
        """AdamW for the network's parameters. It is new after changes of the network or its device."""
        if self._optimizer is None:
            self._optimizer = make_adamw(
                self.network,
                self.known_spec.pretrained,
                pretrained_factor=self.encoder_rate_factor,
                rate_factor=self.rate_factor,
            )
        optimizer: torch.optim.AdamW = self._optimizer
        return optimizer

    def finish_update(self, optimizer: Optimizer) -> None:
        """Make one AdamW step on the mean gradient over the words since the last step."""
        if not self.n_targets:
            return
        take_step(self.adamw, optimizer, self.n_targets)
        # Layers must drop copies of the old weights (see ``layers/linear.py``).
        self.network.train().forget()
        self.n_targets = 0

    # Moving and saving

    def to_device(self, device_type: str, device_id: int) -> None:
        """Move the network; Thinc's ``to_gpu`` and ``to_cpu`` call this."""
        if self._model is not None:
            self._model.to(torch.device("cuda", device_id) if device_type == "gpu" else torch.device("cpu"))
            self._optimizer = None

    def to_bytes(self) -> bytes:
        """Return the specification and the weights; empty before initialization."""
        if self.spec is None:
            return b""
        return to_bytes(self.spec, self.network.state_dict(), self.stored_as)

    def from_bytes(self, data: bytes) -> NetworkShim[N]:
        """Build the network that was saved. Raises ValueError for damaged bytes."""
        if not data:
            return self
        spec, weights = from_bytes(data)
        try:
            self.build_network(spec, weights)
        except Exception as error:  # a damaged specification may lead to any error
            raise ValueError(Errors.E406.format(error=error)) from error
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return specification and weights for copies and pickles, which start with a fresh optimizer."""
        state = dict(self.__dict__)
        for name in ("_model", "_optimizer", "_wordpieces", "spec", "upstream"):
            state.pop(name, None)
        return {"attributes": state, "data": self.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["attributes"], _model=None, _optimizer=None, _wordpieces=None, spec=None)
        self.from_bytes(state["data"])


def find_shims(model: Model[Any, Any]) -> Iterator[NetworkShim[Any]]:
    """Yield the shims of this library in a model, then those in its layers."""
    for node in model.walk():
        yield from (shim for shim in node.shims if isinstance(shim, NetworkShim))


def get_network_shim(model: Model[Any, Any], kind: type[S]) -> S:
    """Return the first shim of a kind in a model. Raises ValueError for a model without such a shim."""
    for shim in find_shims(model):
        if isinstance(shim, kind):
            return shim
    raise ValueError(Errors.E407.format(name=model.name))


def find_upstream(model: Model[Any, Any]) -> NetworkShim[Any] | None:
    """Return the shim of the encoder whose vectors a parser reads; None unless it is of this library."""
    tok2vec = model.maybe_get_ref("tok2vec")
    encoder = getattr(tok2vec, "encoder", tok2vec)  # a listener has a reference to its encoder
    return None if encoder is None else next(find_shims(encoder), None)


@contextlib.contextmanager
def half_precision(model: Model[Any, Any]) -> Iterator[None]:
    """Save weights of a model of this library in float16 within this context."""
    shims = list(find_shims(model))
    for shim in shims:
        shim.stored_as = torch.float16
    try:
        yield
    finally:
        for shim in shims:
            shim.stored_as = torch.float32
