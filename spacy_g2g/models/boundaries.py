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
    grad_factor: float = 0.0,
) -> BoundaryModel:
    """Build a network that finds sentence boundaries, for the component ``g2g_parser``.

    Convolutions read the sum of two projections: of features of tokens such as shape and white space, and of
    vectors. An encoder of the parser's own gives those that its first layer reads, or runs lower layers. A
    ``g2g_encoder`` with a window, to which the parser listens, gives the vectors that the parser reads, too.
    A ``g2g_encoder`` without a window needs sentences first, so the network then reads features alone.
    Registered as ``spacy_g2g.Boundaries.v1``.

    embed: Layer that gives features to tokens, without their context, such as spaCy's `MultiHashEmbed`.
    width: Width of the convolutions.
    n_layers: Number of layers of the parser's own encoder to run. More of them cost more time. A shared
        encoder runs all of its layers anyway. With null the network reads features alone.
    dropout: Dropout rate of the network. `[training] dropout` has no effect here.
    precision: Arithmetic of the network, as of the parser.
    grad_factor: Number that the network's gradients are multiplied with before a shared encoder gets them; 0
        for none. An encoder of the parser's own never gets any.
    Raises ValueError for values out of range.
    """
    for setting, value, is_right, expected in (
        ("width", width, width >= 1, "of 1 or more"),
        ("n_layers", n_layers, n_layers is None or n_layers >= 0, "of 0 or more, or null"),
        ("dropout", dropout, 0 <= dropout < 1, "from 0 to below 1"),
        ("grad_factor", grad_factor, grad_factor >= 0, "of 0 or more"),
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
        attrs={"n_layers": n_layers, "precision": precision, "grad_factor": grad_factor},
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
) -> tuple[list[Floats1d], Callable[[list[Floats1d]], Any]]:
    """Return the log-odds, and a callback from their gradients to those of vectors."""
    docs, vectors = texts
    features, backprop_features = model.get_ref("features")(docs, is_train)
    network: Any = model.get_ref("network")
    with arithmetic(model.attrs["precision"], network.shims[0].device):
        scores, backprop_network = network((features, vectors), is_train)

    def backprop(d_scores: list[Floats1d]) -> list[Floats2d]:
        d_features, d_vectors = backprop_network(d_scores)
        backprop_features(d_features)
        return d_vectors  # type: ignore[no-any-return]

    return scores, backprop


def _to_torch(
    model: Model[Any, Any], inputs: tuple[list[Floats2d], list[Floats2d]], is_train: bool
) -> tuple[ArgsKwargs, Callable[[ArgsKwargs], list[list[Floats2d]]]]:
    """Lay the tokens of all texts end to end."""
    shim: Any = model.shims[0]
    ends = np.cumsum([len(text) for text in inputs[0]])
    xp: Any = get_array_module(inputs[0][0])  # type: ignore[no-untyped-call]
    tensors = [
        xp2torch(xp.concatenate(texts), requires_grad=is_train, device=shim.device) for texts in inputs
    ]

    def backprop(d_inputs: ArgsKwargs) -> list[list[Floats2d]]:
        d_tokens: list[Any] = [torch2xp(d_input) for d_input in d_inputs.args[:2]]
        return [list(xp.split(d_input, ends[:-1].tolist())) for d_input in d_tokens]

    return ArgsKwargs(args=(*tensors, np.diff(ends, prepend=0)), kwargs={}), backprop


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
