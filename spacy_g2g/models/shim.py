"""The seam between Thinc and PyTorch: a network that is built when its sizes are known.

Differences to Thinc's own ``PyTorchShim``: weights are kept as safetensors beside the specification
that the network is built from, so that nothing else is needed to load one; ``finish_update`` makes one
step of a ``torch.optim.AdamW`` whose rate, betas, eps and decay follow the Thinc optimizer that
``spacy train`` drives, instead of one step a parameter; and gradients of summed losses are divided by
the number of words since the last step, so that ``accumulate_gradient`` changes nothing but memory.
"""

from __future__ import annotations

import contextlib
import math
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Any
from zlib import crc32

import srsly
import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from thinc.api import Optimizer, Shim, get_torch_default_device

from ..arrays import BoolArray
from ..errors import Errors, Warnings
from ..layers.checkpoint import Checkpoint, load_weights
from ..layers.encoder import EncoderConfig
from .network import Network, NetworkSpec
from .sources import EncoderSource
from .types import ParserModel, Sentence, WordVectorModel
from .word_vectors import WordVectors, split_gradients, stack_vectors
from .wordpieces import WordPieces

# Pieces of a batch with its padding, by device; they bound memory.
MAX_PADDED_PIECES = {"cpu": 2048, "cuda": 32768}
# Names of parameters: prefixes, and what those of graph input have in them.
ENCODER, RELATIONS = "encoder.", ".relation_"
SCORERS = ("scorer.", "classifiers.", "empty", "segments.", "history.", "composition.", "tags.", "root")
_FIRST_PROCESS = os.getpid()


class G2GShim(Shim):
    """A network, its words-to-pieces table and its optimizer.

    build: makes the network from a specification, with random weights.
    reads_vectors: Words come as vectors, and the network has no encoder.
    reads_tags: sentences have tags.
    encoder_rate_factor: the learning rate of the parameters that come from a checkpoint or a parser, as a
        multiple of that of the rest.
    rate_factor: the learning rate of the rest, as a multiple of the optimizer's rate.
    mixed_precision: compute in bfloat16 on CUDA.
    unknown_share: from scratch, the share of the distinct training words, the rarest, that are read as
        unknown in training.
    n_frequent_words: how many of the most frequent training words the network is told.
    """

    def __init__(
        self,
        build: Callable[[NetworkSpec], Network],
        *,
        reads_vectors: bool,
        reads_tags: bool,
        encoder_rate_factor: float,
        rate_factor: float,
        mixed_precision: bool,
        unknown_share: float = 0.0,
        n_frequent_words: int = 0,
    ) -> None:
        super().__init__(None)
        self.build = build
        self.reads_vectors = reads_vectors
        self.reads_tags = reads_tags
        self.encoder_rate_factor = encoder_rate_factor
        self.rate_factor = rate_factor
        self.mixed_precision = mixed_precision
        self.unknown_share = unknown_share
        self.n_frequent_words = n_frequent_words
        self.spec: NetworkSpec | None = None
        self.n_targets = 0
        self._stored_as = torch.float32

    # Building

    def initialize(
        self,
        source: EncoderSource,
        sentences: Iterable[Sentence],
        labels: Sequence[str],
        n_initial_labels: int = 0,
        actions: dict[str, Any] | None = None,
    ) -> None:
        """Build the network for training: pieces and encoder from ``source``, tags from the sentences.

        n_initial_labels: labels that only initial graphs have.
        actions: of a parser of AMR, see ``NetworkSpec``.
        """
        sentences = list(sentences)
        if self.reads_vectors:
            raise ValueError(Errors.E416)
        checkpoint = source(word for s in sentences for word in s.words)
        tags = None
        if self.reads_tags:
            counts = Counter(tag for s in sentences for tag in s.tags or () if tag)
            # Tags seen once count as unknown ones, whose vector would not be trained otherwise.
            tags = tuple(sorted(tag for tag, count in counts.items() if count > 1))
        spec = NetworkSpec(
            encoder=replace(checkpoint.config, n_added_pieces=1),
            tokenizer=checkpoint.tokenizer,
            n_labels=len(labels),
            tags=tags,
            pretrained=bool(checkpoint.weights),
            n_initial_labels=n_initial_labels,
            rare_words=() if checkpoint.weights else _rarest_words(sentences, self.unknown_share),
            frequent_words=_most_frequent_words(sentences, self.n_frequent_words),
            actions=actions,
        )
        self._set_network(spec)
        if checkpoint.weights:
            load_weights(self.network.encoder, checkpoint.weights)
        if checkpoint.scorers:
            self._take_scorers(checkpoint, tuple(labels))

    def initialize_from_vectors(
        self,
        width: int,
        labels: Sequence[str],
        sentences: Iterable[Sentence] = (),
        actions: dict[str, Any] | None = None,
    ) -> None:
        """Build the network for training, of words that come as vectors of a width."""
        spec = NetworkSpec(
            encoder=None,
            tokenizer="",
            n_labels=len(labels),
            tags=None,
            pretrained=False,
            vector_width=width,
            frequent_words=_most_frequent_words(sentences, self.n_frequent_words),
            actions=actions,
        )
        self._set_network(spec)

    def _take_scorers(self, checkpoint: Checkpoint, labels: tuple[str, ...]) -> None:
        """Take a parser's scorers, or warn where they do not fit."""
        own = {name: weight for name, weight in self.network.state_dict().items() if name.startswith(SCORERS)}
        theirs = checkpoint.scorers
        found = {name: tuple(weight.shape) for name, weight in theirs.items()}
        expected = {name: tuple(weight.shape) for name, weight in own.items()}
        if found != expected or checkpoint.labels != labels or checkpoint.tags != self._known_spec.tags:
            warnings.warn(
                Warnings.W401.format(
                    found=found, expected=expected, found_labels=checkpoint.labels, labels=labels
                ),
                stacklevel=2,
            )
            return
        self.network.load_state_dict(theirs, strict=False)
        self.spec = replace(self._known_spec, pretrained_scorers=True)

    def checkpoint(self) -> Checkpoint:
        """What another model can start from: tokenizer, encoder without graph input, and scorers.

        Raises ValueError for a parser without an encoder of its own.
        """
        weights = {name: weight.detach().cpu() for name, weight in self.network.state_dict().items()}
        encoder = {
            name.removeprefix(ENCODER): weight
            for name, weight in weights.items()
            if name.startswith(ENCODER) and RELATIONS not in name
        }
        scorers = {name: weight for name, weight in weights.items() if name.startswith(SCORERS)}
        spec = self._known_spec
        return Checkpoint(spec.own_encoder, encoder, spec.tokenizer, scorers, tags=spec.tags)

    def _set_network(self, spec: NetworkSpec) -> None:
        self.spec = spec
        config = spec.encoder
        if config is not None:
            self.wordpieces = WordPieces(spec.tokenizer, config.n_positions, config.vocab_size, spec.tags)
        self._model = self.build(spec).to(get_torch_default_device())
        self._unknown = frozenset(spec.rare_words)
        self._optimizer = None
        self.n_targets = 0

    def resize_labels(self, n_labels: int) -> None:
        """Make room for labels added after initialisation."""
        self.network.resize_labels(n_labels)
        # New labels begin at zero, and would hardly learn at the rate of weights that know something.
        self.spec = replace(self._known_spec, n_labels=n_labels, pretrained_scorers=False)
        self._optimizer = None

    @property
    def network(self) -> Network:
        """The PyTorch module. Raises ValueError before initialisation."""
        if self._model is None:
            raise ValueError(Errors.E405)
        network: Network = self._model
        return network

    @property
    def _known_spec(self) -> NetworkSpec:
        if self.spec is None:
            raise ValueError(Errors.E405)
        return self.spec

    # Running

    def predict(self, sentences: Sequence[Sentence]) -> list[Any]:
        """The parse of each sentence, whatever else is in the batch."""
        network = self.network.eval()
        parses: list[Any] = [None] * len(sentences)
        with torch.inference_mode(), self.precision():
            words = self._reader(sentences)
            for members, batch in words.batches(sentences, self.max_padded // network.n_hypotheses):
                for i, parse in zip(members, network.parse(batch), strict=True):
                    parses[i] = parse
        return parses

    def begin_update(
        self, inputs: tuple[Sequence[Sentence], Sequence[Any]]
    ) -> tuple[float, Callable[[Any], list[Any]]]:
        """The summed loss of a network, and a callback that adds its gradient.

        The callback gives the gradient of the words' vectors for each sentence, where words come as vectors.
        Raises ValueError when the loss is not finite, before it reaches the weights.
        """
        sentences, gold = inputs
        network = self.network.train()
        losses = []
        words = self._reader(sentences)
        with self.precision():
            for members, batch in words.batches(sentences, self.max_padded, self._unknown):
                losses.append(network.loss(batch, [gold[i] for i in members]))
        n_targets = network.count_targets(gold)

        def backprop(_: Any) -> list[Any]:
            torch.autograd.backward(losses)
            self.n_targets += n_targets
            return split_gradients(words.vectors, sentences) if isinstance(words, WordVectors) else []

        total = float(sum(loss.detach() for loss in losses))
        if not math.isfinite(total):
            raise ValueError(Errors.E411.format(loss=total))
        return total, backprop

    def _reader(self, sentences: Sequence[Sentence]) -> WordPieces | WordVectors:
        """What makes batches of the sentences."""
        if self._known_spec.vector_width:
            return WordVectors(stack_vectors(sentences, self.network.device))
        return self.wordpieces

    def can_learn(self, gold: Sequence[Any]) -> BoolArray:
        """Which gold trees, or other gold parses, give a loss, bool [trees]."""
        return self.network.can_learn(gold)

    @property
    def max_padded(self) -> int:
        """Pieces of a batch, with its padding."""
        return MAX_PADDED_PIECES.get(self.network.device.type, MAX_PADDED_PIECES["cpu"])

    def precision(self) -> contextlib.AbstractContextManager[Any]:
        """bfloat16 where it is wanted and the network is on CUDA, else float32."""
        device = self.network.device.type
        if self.mixed_precision and device == "cuda":
            return torch.autocast(device, torch.bfloat16)
        return contextlib.nullcontext()

    # Training

    def finish_update(self, optimizer: Optimizer) -> None:
        """One AdamW step on the mean gradient over the words since the last step."""
        if not self.n_targets:
            return
        inner = self._follow(optimizer)
        gradients = [p.grad for group in inner.param_groups for p in group["params"] if p.grad is not None]
        scale = torch.full((), 1.0 / self.n_targets, device=self.network.device)
        if optimizer.grad_clip:
            norm = torch.nn.utils.get_total_norm(gradients)
            scale = torch.minimum(scale, optimizer.grad_clip / norm)
        torch._foreach_mul_(gradients, scale)
        inner.step()
        inner.zero_grad(set_to_none=True)
        self.n_targets = 0

    def _follow(self, optimizer: Optimizer) -> torch.optim.Optimizer:
        """The AdamW of this network, with the present settings of the Thinc optimizer."""
        if self._optimizer is None:
            self._optimizer = torch.optim.AdamW(self._parameter_groups(), fused=True)
        for group in self._optimizer.param_groups:
            group["lr"] = float(optimizer.learn_rate) * group["rate_factor"]
            group["betas"] = (float(optimizer.b1), float(optimizer.b2))
            group["eps"] = float(optimizer.eps)
            group["weight_decay"] = float(optimizer.L2) if group["decays"] else 0.0
        return self._optimizer

    def _parameter_groups(self) -> list[dict[str, Any]]:
        """Weights from elsewhere and the rest, each with and without decay (vectors, as biases: without)."""
        spec = self._known_spec
        groups: dict[tuple[bool, bool], list[torch.nn.Parameter]] = {}
        for name, parameter in self.network.named_parameters():
            pretrained = (name.startswith(ENCODER) and RELATIONS not in name and spec.pretrained) or (
                name.startswith(SCORERS) and spec.pretrained_scorers
            )
            groups.setdefault((pretrained, parameter.ndim > 1), []).append(parameter)
        return [
            {
                "params": parameters,
                "rate_factor": self.rate_factor * (self.encoder_rate_factor if pretrained else 1.0),
                "decays": decays,
            }
            for (pretrained, decays), parameters in groups.items()
        ]

    # Moving and keeping

    def to_device(self, device_type: str, device_id: int) -> None:
        """Move the network, called by Thinc's ``to_gpu`` and ``to_cpu``."""
        if self._model is not None:
            self._model.to(torch.device("cuda", device_id) if device_type == "gpu" else torch.device("cpu"))
            self._optimizer = None

    @contextlib.contextmanager
    def half_precision(self) -> Iterator[None]:
        """Within this context ``to_bytes`` gives weights in float16, which is half the size."""
        self._stored_as = torch.float16
        try:
            yield
        finally:
            self._stored_as = torch.float32

    def to_bytes(self) -> bytes:
        """The specification and the weights (safetensors); of an uninitialised network, nothing."""
        if self.spec is None:
            return b""
        weights = {name: self._stored(weight) for name, weight in self.network.state_dict().items()}
        data: bytes = srsly.msgpack_dumps({"spec": asdict(self.spec), "weights": save_tensors(weights)})
        return data

    def _stored(self, weight: torch.Tensor) -> torch.Tensor:
        """A weight as it is kept; one too large for float16 stays as it is."""
        weight = weight.detach().cpu().contiguous()
        stored = weight.to(self._stored_as)
        return stored if bool(stored.isfinite().all()) else weight

    def from_bytes(self, data: bytes) -> G2GShim:
        """Build the network that was saved. Raises ValueError when the bytes are not whole."""
        if not data:
            return self
        try:
            msg = srsly.msgpack_loads(data)
            spec = msg["spec"]
            weights = load_tensors(msg["weights"])
            spec["encoder"] = None if spec["encoder"] is None else EncoderConfig(**spec["encoder"])
            spec["tags"] = None if spec["tags"] is None else tuple(spec["tags"])
            for words in ("rare_words", "frequent_words"):
                spec[words] = tuple(spec.get(words, ()))
            self._set_network(NetworkSpec(**spec))
            self.network.load_state_dict(weights)
        except (ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
            raise ValueError(Errors.E406.format(error=error)) from error
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Copies and pickles take specification and weights, and begin with a fresh optimizer."""
        state = dict(self.__dict__)
        for name in ("_model", "_optimizer", "wordpieces", "spec"):
            state.pop(name, None)
        return {"attributes": state, "data": self.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["attributes"], _model=None, _optimizer=None, spec=None)
        self.from_bytes(state["data"])


def _rarest_words(sentences: Iterable[Sentence], share: float) -> tuple[str, ...]:
    ranked = _rank_words(sentences)
    return tuple(ranked[: int(share * len(ranked))])


def _most_frequent_words(sentences: Iterable[Sentence], n: int) -> tuple[str, ...]:
    return tuple(reversed(_rank_words(sentences)[-n:])) if n else ()


def _rank_words(sentences: Iterable[Sentence]) -> list[str]:
    """All words, the rarest first."""
    counts = Counter(word for sentence in sentences for word in sentence.words)
    # Among words of one frequency in no order that means anything, but the same in every run.
    return sorted(counts, key=lambda word: (counts[word], crc32(word.encode()), word))


def get_shim(model: ParserModel) -> G2GShim:
    """The shim of a parser model. Raises ValueError for a model that has none."""
    for node in model.walk():
        for shim in node.shims:
            if isinstance(shim, G2GShim):
                return shim
    raise ValueError(Errors.E407.format(name=model.name))


def has_shim(model: ParserModel) -> bool:
    """Whether it is a parser model of ours."""
    return any(isinstance(shim, G2GShim) for node in model.walk() for shim in node.shims)


def make_model(
    name: str,
    network: Callable[[NetworkSpec], Network],
    tok2vec: WordVectorModel | None = None,
    *,
    tag_attr: str | None,
    encoder_rate_factor: float,
    rate_factor: float,
    mixed_precision: bool,
    unknown_share: float = 0.0,
    n_frequent_words: int = 0,
    builds: str = "trees",
) -> ParserModel:
    """The Thinc model around a network that is built later; the settings are those of ``G2GShim``.

    ``[training] dropout`` sets the encoder's dropout; attribute ``tag_attr`` says which tags sentences have,
    ``builds`` what it gives, "trees" or "amrs".
    The model does not call ``tok2vec``, its reference of that name, but reads the words' vectors from its
    sentences: whoever has the Docs calls it.
    """
    shim = G2GShim(
        network,
        reads_vectors=tok2vec is not None,
        reads_tags=tag_attr is not None,
        encoder_rate_factor=encoder_rate_factor,
        rate_factor=rate_factor,
        mixed_precision=mixed_precision,
        unknown_share=unknown_share,
        n_frequent_words=n_frequent_words,
    )
    return ParserModel(
        name,
        _forward,
        layers=[] if tok2vec is None else [tok2vec],
        shims=[shim],
        refs={} if tok2vec is None else {"tok2vec": tok2vec},
        attrs={"dropout_rate": 0.0, "tag_attr": tag_attr, "builds": builds},
    )


def _forward(model: ParserModel, inputs: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    _adapt_to_fork(os.getpid())
    shim = get_shim(model)
    if is_train:
        if not shim.reads_vectors:
            shim.network.encoder.set_dropout(model.attrs["dropout_rate"])
        return shim.begin_update(inputs)
    return shim.predict(inputs), lambda d_parses: d_parses


@cache
def _adapt_to_fork(process: int) -> None:
    """Compute with one thread in a process of ``nlp.pipe(n_process=2)``.

    The threads of OpenMP do not survive the fork, and whoever waits for them waits for ever.
    """
    if process != _FIRST_PROCESS:
        torch.set_num_threads(1)
