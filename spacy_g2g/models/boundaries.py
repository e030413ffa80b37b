"""The network of sentence boundaries: convolutions over features of tokens and vectors of an encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import ArgsKwargs, Model, PyTorchWrapper_v3, get_array_module, torch2xp, xp2torch
from thinc.types import Floats1d, Floats2d

from ..errors import Errors
from ..layers.boundaries import BoundaryNetwork
from .precision import Precision, arithmetic

#: Docs and the vectors of their tokens, float [tokens, width] each; of width 0 for no vectors.
Texts = tuple[Sequence[Doc], Sequence[Floats2d]]
#: Network of boundaries: the log-odds that a sentence starts at each token, float [tokens] for each Doc.
BoundaryModel = Model[Texts, list[Floats1d]]


def build_boundaries(
    embed: Model[list[Doc], list[Floats2d]],
    width: int = 128,
    n_layers: int | None = 0,
    dropout: float = 0.3,
    precision: Precision = "auto",
) -> BoundaryModel:
    """Build a network that finds sentence boundaries, for ``g2g_encoder``, or a ``g2g_parser`` without one.

    Convolutions read the sum of two projections: of features of tokens such as shape and white space, and of
    vectors. The component's encoder gives those that its first layer reads, or runs lower layers. It does not
    learn from boundaries. A parser that listens to spaCy's ``tok2vec`` has no encoder, so its network reads
    features alone. Registered as ``spacy_g2g.Boundaries.v1``.

    embed: Layer that gives features to tokens, without their context, such as spaCy's `MultiHashEmbed`.
    width: Width of the convolutions.
    n_layers: Number of layers of the encoder to run. More of them cost more time. With null the network
        reads features alone.
    dropout: Dropout rate of the network. `[training] dropout` has no effect here.
    precision: Arithmetic of the network, as of the parser.
    Raises ValueError for values out of range.
    """
    for setting, value, is_right, expected in (
        ("width", width, width >= 1, "of 1 or more"),
        ("n_layers", n_layers, n_layers is None or n_layers >= 0, "of 0 or more, or null"),
        ("dropout", dropout, 0 <= dropout < 1, "from 0 to below 1"),
    ):
        if not is_right:
            raise ValueError(Errors.E408.format(setting=setting, value=value, expected=expected))
    network: Model[Any, Any] = PyTorchWrapper_v3(
        BoundaryNetwork(width, dropout), convert_inputs=_to_torch, convert_outputs=_from_torch
    )
    return Model(
        "boundaries",
        _forward,
        init=_initialize,
        layers=[embed, network],
        refs={"features": embed, "network": network},
        attrs={"n_layers": n_layers, "precision": precision},
    )


def _initialize(model: BoundaryModel, X: Texts | None = None, Y: Any = None) -> None:  # noqa: ARG001, N803
    """Set the widths of the layers. Do nothing without texts, as for a model that was loaded."""
    if X is not None:
        docs, vectors = X
        features: Model[Any, Any] = model.get_ref("features")
        features.initialize(X=docs)
        model.get_ref("network").predict((features.predict(docs), vectors))


def _forward(
    model: BoundaryModel, texts: Texts, is_train: bool
) -> tuple[list[Floats1d], Callable[[list[Floats1d]], list[Any]]]:
    """Return the log-odds, and a callback that takes their gradients."""
    docs, vectors = texts
    features, backprop_features = model.get_ref("features")(docs, is_train)
    network: Any = model.get_ref("network")
    with arithmetic(model.attrs["precision"], network.shims[0].device):
        scores, backprop_network = network((features, vectors), is_train)

    def backprop(d_scores: list[Floats1d]) -> list[Any]:
        backprop_features(backprop_network(d_scores))
        return []

    return scores, backprop


def _to_torch(
    model: Model[Any, Any], inputs: tuple[list[Floats2d], list[Floats2d]], is_train: bool
) -> tuple[ArgsKwargs, Callable[[ArgsKwargs], list[Floats2d]]]:
    """Lay the tokens of all texts end to end. Gradients come back for the features alone."""
    shim: Any = model.shims[0]
    ends = np.cumsum([len(text) for text in inputs[0]])
    xp: Any = get_array_module(inputs[0][0])  # type: ignore[no-untyped-call]
    features, vectors = (
        xp2torch(xp.concatenate(texts), requires_grad=is_features and is_train, device=shim.device)
        for texts, is_features in zip(inputs, (True, False), strict=True)
    )

    def backprop(d_inputs: ArgsKwargs) -> list[Floats2d]:
        d_features: Any = torch2xp(d_inputs.args[0])
        return list(xp.split(d_features, ends[:-1].tolist()))

    return ArgsKwargs(args=(features, vectors, np.diff(ends, prepend=0)), kwargs={}), backprop


def _from_torch(
    model: Model[Any, Any],  # noqa: ARG001
    pair: tuple[tuple[list[Floats2d], list[Floats2d]], Any],
    is_train: bool,  # noqa: ARG001
) -> tuple[list[Floats1d], Callable[[list[Floats1d]], ArgsKwargs]]:
    """Split scores by texts."""
    (texts, _), scores = pair
    found: Any = torch2xp(scores)
    xp: Any = get_array_module(found)  # type: ignore[no-untyped-call]

    def backprop(d_scores: list[Floats1d]) -> ArgsKwargs:
        d_flat = xp2torch(xp.concatenate(d_scores), device=scores.device)
        return ArgsKwargs(args=((scores,),), kwargs={"grad_tensors": (d_flat,)})

    return list(xp.split(found, np.cumsum([len(text) for text in texts])[:-1].tolist())), backprop
