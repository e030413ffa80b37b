"""The Thinc model around a network. Components make only the calls that ``docs/code.md`` lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, cast

import numpy as np
import torch
from thinc.api import Model, torch2xp
from thinc.types import Floats2d

from ..arrays import BoolArray
from ..errors import Errors
from .forks import computing
from .network_shim import NetworkShim, find_upstream, get_network_shim
from .settings import Settings, TagSettings, VectorSettings
from .shim import G2GShim, get_shim
from .sources import encoder_from_scratch
from .start import Learn, build_for_training
from .types import Sentence, Start

#: Number of words of running text in a row of an encoder, and of context words on either side.
WINDOW, MARGIN = 128, 16


def make_model(
    name: str,
    network: Any,
    settings: Settings,
    *,
    learn: Learn | None = None,
    output_kind: str = "trees",
) -> Model[Any, Any]:
    """Return the Thinc model around a network that ``model.initialize`` builds.

    The model does not call ``tok2vec``, its reference of that name. Its sentences come with vectors: the
    component, which has the Docs, calls ``tok2vec``. ``[training] dropout`` sets the encoder's dropout.

    name: Name of the architecture.
    network: Class of the network, a ``Network``, which takes a specification and the settings.
    settings: Settings of the architecture.
    learn: Function that returns facts of the training sentences, which the network is built from; None for
        a network without any.
    output_kind: What the model builds: "trees", or another kind that its component expects.
    """
    tok2vec = None
    if isinstance(settings, VectorSettings):
        tok2vec, settings = settings.tok2vec, replace(settings, tok2vec=None)
    shim = G2GShim(
        partial(network, settings=settings),
        pretrained_factor=settings.pretrained_factor,
        rate_factor=settings.rate_factor,
        precision=settings.precision,
    )
    attrs: dict[str, Any] = {
        "dropout_rate": 0.0,
        "tag_attr": settings.tag_attr if isinstance(settings, TagSettings) else None,
        "output_kind": output_kind,
        "built_for": None,
        "resize_output": resize_output,
        "read_words": read_words if tok2vec is None else None,
        "meets_constraints": network.meets_constraints,
        "scores_arcs": network.scores_arcs,
        "reads_prior": network.reads_prior(settings),
        "can_learn": network.can_learn and partial(find_learnable, network, settings),
    }
    return Model(
        name,
        _run,
        init=partial(_build, learn=learn),
        layers=[] if tok2vec is None else [tok2vec],
        shims=[shim],
        refs={} if tok2vec is None else {"tok2vec": tok2vec},
        attrs=attrs,
    )


def _build(
    model: Model[Any, Any],
    X: Sequence[Sentence] | None,  # noqa: N803 (Thinc's name)
    Y: Start | None,  # noqa: N803
    *,
    learn: Learn | None,
) -> None:
    """Build the network. A loaded model gets neither sentences nor a start, and keeps its network."""
    if X is None or Y is None:
        return
    source, listens = Y.encoder, model.maybe_get_ref("tok2vec") is not None
    if listens and not Y.vector_width:
        raise ValueError(Errors.E415)
    if source is None and not listens:
        source = encoder_from_scratch()
    checkpoint = source and source(chain.from_iterable(sentence.words for sentence in X))
    if listens and checkpoint is not None and not checkpoint.task_weights:
        raise ValueError(Errors.E420)
    shim, upstream = get_shim(model), find_upstream(model)
    if upstream is not None:
        Y = replace(Y, shared_encoder=upstream.known_spec.encoder)  # noqa: N806
    build_for_training(shim, X, Y, checkpoint, learn=learn, reads_tags=model.attrs["tag_attr"] is not None)
    model.attrs["built_for"] = Y.built_for


@computing
def _run(model: Model[Any, Any], inputs: Any, is_train: bool) -> tuple[Any, Callable[[Any], Any]]:
    shim = get_shim(model)
    shim.upstream = find_upstream(model)
    if is_train:
        listener = model.maybe_get_ref("tok2vec")
        # Only a frozen encoder leaves its listener without a batch.
        is_frozen = getattr(listener, "_batch_id", 0) is None
        shim.upstream_factor = 0.0 if is_frozen else getattr(listener, "grad_factor", 1.0)
        if shim.known_spec.encoder is not None:
            shim.network.encoder.set_dropout(model.attrs["dropout_rate"])
        return shim.begin_update(inputs)
    return shim.predict(inputs), lambda d_parses: d_parses


def resize_output(model: Model[Any, Any], n_labels: int) -> Model[Any, Any]:
    """Make room for added labels in a model that is initialized, and return the model."""
    shim = get_shim(model)
    if shim.spec is not None:
        shim.resize_labels(n_labels)
        model.attrs["built_for"] = {**model.attrs["built_for"], "n_labels": n_labels}
    return model


def find_learnable(
    network: Any,
    settings: Settings,
    model: Model[Any, Any],  # noqa: ARG001
    gold: Sequence[Any],
) -> BoolArray:
    """Return which gold trees give a loss, bool [trees]. The model need not be initialized."""
    return network.can_learn(settings, gold)  # type: ignore[no-any-return]


@computing
def read_words(model: Model[Any, Any], texts: Sequence[Sequence[str]], n_layers: int) -> Floats2d:
    """Return the vectors of the words of running text in a lower layer of the encoder, float [words, width].

    The encoder reads ``WINDOW`` words at a time. Its layers see ``MARGIN`` words of the text on either side.

    model: Model with an encoder, which gets no gradients from users of these vectors.
    texts: The words of each text.
    n_layers: Number of layers to run. With 0, the vectors are those that the first layer reads.
    """
    rows, is_context = [], [np.zeros(0, dtype=np.bool_)]
    margin = MARGIN if n_layers else 0
    for words in texts:
        for start in range(0, len(words), WINDOW):
            places = np.arange(max(0, start - margin), min(len(words), start + WINDOW + margin))
            rows.append(Sentence(words[places[0] : places[-1] + 1]))
            is_context.append((places < start) | (places >= start + WINDOW))
    shim = get_network_shim(model, NetworkShim)
    shim.network.eval().forget()
    with torch.inference_mode():
        vectors = shim.encode(rows, n_layers)
        own_words = shim.network.tensor(np.flatnonzero(~np.concatenate(is_context)))
        return cast(Floats2d, torch2xp(vectors[own_words]))
