"""The start of training: facts that a network is built from, and the weights that it copies."""

from __future__ import annotations

import reprlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any
from zlib import crc32

from spacy.util import logger

from ..errors import Warnings
from ..layers.checkpoints.load import Checkpoint, load_weights
from .network import NetworkSpec, WordNetwork
from .network_shim import NetworkShim
from .types import Sentence, Start

#: Function that returns ``NetworkSpec.learned``. Its arguments are the training sentences, the start of
#: training, and whether the encoder is pretrained.
Learn = Callable[[Sequence[Sentence], Start, bool], dict[str, Any]]
#: Maximum number of differences of weights, or of words, in a warning.
SHOWN_DIFFERENCES = 3
#: Share of words with unknown pieces above which a text is not one for an encoder.
MANY_UNKNOWN = 0.05


def build_for_training(
    shim: NetworkShim[Any],
    sentences: Sequence[Sentence],
    start: Start,
    checkpoint: Checkpoint | None,
    *,
    learn: Learn | None,
    reads_tags: bool,
) -> None:
    """Give a shim a new network.

    shim: The shim.
    sentences: Training sentences.
    start: The start of training.
    checkpoint: Weights that training starts from; None for random ones. If words come as vectors, only the
        weights of the task count.
    learn: Function that returns facts of the sentences; None for a network that needs none.
    reads_tags: Whether the network reads the tags of the sentences.
    """
    own = None if start.vector_width else checkpoint
    is_pretrained = own is not None and bool(own.weights)
    spec = NetworkSpec(
        encoder=None if own is None else replace(own.config, n_added_pieces=1),
        tokenizer="" if own is None else own.tokenizer,
        n_labels=len(start.labels),
        tags=repeated_tags(sentences) if reads_tags else None,
        vector_width=start.vector_width,
        pretrained=("encoder",) if is_pretrained else (),
        learned={} if learn is None else learn(sentences, start, is_pretrained),
    )
    network = shim.build_network(spec)
    if own is not None and is_pretrained:
        load_weights(network.encoder, own.weights)
        warn_of_unknown_words(shim, sentences)
    has_task = checkpoint is not None and bool(checkpoint.task_weights)
    if checkpoint is not None and has_task and _take_task(network, spec, checkpoint, start.labels):
        shim.spec = replace(spec, pretrained=(*spec.pretrained, "task"))
    if is_pretrained and any(weight.requires_grad for weight in network.encoder.parameters()):
        text = "Pretrained encoder of width %d: encoder_rate_factor = %.3g"
        logger.info(text, spec.width, shim.encoder_rate_factor)


def warn_of_unknown_words(shim: NetworkShim[Any], sentences: Sequence[Sentence]) -> None:
    """Warn if an encoder has no pieces for many words of the training corpus, as in another script."""
    counts, n = shim.wordpieces.unknown_words(sentences), sum(len(sentence.words) for sentence in sentences)
    if counts.total() > MANY_UNKNOWN * n:
        words = [word for word, _ in counts.most_common(SHOWN_DIFFERENCES)]
        text = Warnings.W402.format(share=counts.total() / n, words=words)
        warnings.warn(text, stacklevel=2)


def _take_task(
    network: WordNetwork, spec: NetworkSpec, checkpoint: Checkpoint, labels: Sequence[str]
) -> bool:
    """Copy the weights of a parser's task. Warn and return False if they do not fit."""
    own, expected = _learned(network, spec), network.weights("task")
    # A vector of ROOT, and a mix of layers, belong to one of the two ways in which words get vectors.
    unused = "mix.*" if spec.encoder is None else "root"
    weights = {
        name: weight
        for name, weight in checkpoint.task_weights.items()
        if name in expected or not fnmatchcase(name, unused)
    }
    pairs: dict[str, tuple[Any, Any]] = {
        "labels": (checkpoint.labels, tuple(labels)),
        "tags": (checkpoint.tags, spec.tags),
    }
    for name in network.task_depends_on:
        if name in own:
            pairs[name] = checkpoint.learned.get(name), own[name]
    for name in sorted(weights.keys() | expected.keys()):
        before, after = (list(t[name].shape) if name in t else None for t in (weights, expected))
        pairs[name] = before, after
    short = reprlib.repr
    differences = [f"{name} {short(a)} in place of {short(b)}" for name, (a, b) in pairs.items() if a != b]
    if differences:
        text = "; ".join(differences[:SHOWN_DIFFERENCES])
        warnings.warn(Warnings.W401.format(differences=text), stacklevel=2)
        return False
    network.load_state_dict(weights, strict=False)
    return True


def checkpoint_of(shim: NetworkShim[Any], upstream: NetworkShim[Any] | None = None) -> Checkpoint:
    """Return a checkpoint for another model: tokenizer, encoder without graph input, weights of the task.

    shim: Shim of a parser.
    upstream: Shim of the encoder that the parser listens to; None for a parser with its own encoder.
    Raises ValueError for a parser without an encoder of this library.
    """
    spec, network = shim.known_spec, shim.network
    reader = shim if upstream is None else upstream
    weights = reader.network.weights("encoder")
    return Checkpoint(
        config=reader.known_spec.own_encoder,
        weights={name.removeprefix("encoder."): weight for name, weight in weights.items()},
        tokenizer=reader.known_spec.tokenizer,
        task_weights=reader.network.weights("task") | network.weights("task"),
        tags=spec.tags,
        learned=_learned(network, spec) | _learned(reader.network, reader.known_spec),
    )


def _learned(network: WordNetwork, spec: NetworkSpec) -> dict[str, Any]:
    """Return the facts that the weights of a network's task may depend on."""
    return dict(spec.learned) if spec.encoder is None else {**spec.learned, "pooling": network.pooling}


def repeated_tags(sentences: Iterable[Sentence]) -> tuple[str, ...]:
    """Return the tags that occur more than once.

    A tag that occurs once counts as unknown, so that the vector of unknown tags is trained.
    """
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence.tags or ())
    return tuple(sorted(tag for tag, count in counts.items() if tag and count > 1))


def learn_rare_words(
    sentences: Sequence[Sentence],
    start: Start,  # noqa: ARG001
    is_pretrained: bool,
    *,
    share: float,
) -> dict[str, Any]:
    """Return the rarest words as ``rare_words``; none with a pretrained encoder.

    share: Share of the distinct words.
    """
    ranked = [] if is_pretrained else rank_words(sentences)
    return {"rare_words": ranked[: int(share * len(ranked))]}


def learn_frequent_words(
    sentences: Sequence[Sentence],
    start: Start,  # noqa: ARG001
    is_pretrained: bool,  # noqa: ARG001
    *,
    n: int,
) -> dict[str, Any]:
    """Return the n most frequent words as ``frequent_words``, the most frequent first."""
    return {"frequent_words": rank_words(sentences)[::-1][:n] if n else []}


def rank_words(sentences: Iterable[Sentence]) -> list[str]:
    """Return all words, the rarest first."""
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(sentence.words)
    # Words with the same frequency are in an arbitrary order, the same in every run.
    return sorted(counts, key=lambda word: (counts[word], crc32(word.encode()), word))
