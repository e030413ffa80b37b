"""The network of sentence boundaries: an LSTM over features of tokens and vectors of an encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import (
    ArgsKwargs,
    LayerNorm,
    Linear,
    Model,
    PyTorchWrapper_v3,
    chain,
    get_array_module,
    torch2xp,
    with_array,
    xp2torch,
)
from thinc.types import Floats1d, Floats2d

from ..errors import Errors
from ..layers.boundaries import BoundaryLSTM

#: Pieces of text and the vectors of their tokens, float [tokens, width] each; None for no vectors.
Texts = tuple[Sequence[Doc], Sequence[Floats2d] | None]
#: Network of boundaries: the log-odds that a sentence starts at each token, float [tokens] for each text.
BoundaryModel = Model[Texts, list[Floats1d]]


def build_boundaries(
    embed: Model[list[Doc], list[Floats2d]],
    width: int = 256,
    n_layers: int = 2,
    dropout: float = 0.3,
    grad_factor: float = 0.0,
) -> BoundaryModel:
    """Build a network that finds sentence boundaries, for the component ``g2g_parser``.

    A bidirectional LSTM reads the sum of two projections: of features of tokens such as shape and white
    space, and of vectors. An encoder of the parser's own runs its lower layers for these vectors. A
    ``g2g_encoder`` with a window, to which the parser listens, gives the vectors that the parser reads, too.
    A ``g2g_encoder`` without a window needs sentences first, so the network then reads features alone.
    Registered as ``spacy_g2g.Boundaries.v1``.

    embed: Layer that gives features to tokens, without their context, such as spaCy's `MultiHashEmbed`.
    width: Width of the LSTM in both directions together, an even number.
    n_layers: Number of layers of the parser's own encoder to run. More of them cost more time. A shared
        encoder runs all of its layers anyway. With 0 the network reads features alone.
    dropout: Dropout rate of the LSTM's input and output. `[training] dropout` has no effect here.
    grad_factor: Number that the network's gradients are multiplied with before a shared encoder gets them; 0
        for none. An encoder of the parser's own never gets any.
    Raises ValueError for values out of range.
    """
    for setting, value, is_right, expected in (
        ("width", width, width >= 2 and width % 2 == 0, "that is even and 2 or more"),
        ("n_layers", n_layers, n_layers >= 0, "of 0 or more"),
        ("dropout", dropout, 0 <= dropout < 1, "from 0 to below 1"),
        ("grad_factor", grad_factor, grad_factor >= 0, "of 0 or more"),
    ):
        if not is_right:
            raise ValueError(Errors.E408.format(setting=setting, value=value, expected=expected))
    features: Model[Any, Any] = chain(embed, with_array(Linear(width)))
    vectors: Model[Any, Any] = with_array(chain(LayerNorm(), Linear(width)))
    context: Model[Any, Any] = PyTorchWrapper_v3(
        BoundaryLSTM(width, dropout), convert_inputs=_to_torch, convert_outputs=_from_torch
    )
    return Model(
        "boundaries",
        _forward,
        init=_initialize,
        layers=[features, vectors, context],
        refs={"features": features, "vectors": vectors, "context": context},
        attrs={"n_layers": n_layers, "grad_factor": grad_factor},
    )


def _initialize(model: BoundaryModel, X: Texts | None = None, Y: Any = None) -> None:  # noqa: ARG001, N803
    """Set the widths of the layers. Do nothing without texts, as for a model that was loaded."""
    if X is None:
        return
    docs, vectors = X
    model.get_ref("features").initialize(X=docs)
    if vectors is not None:
        model.get_ref("vectors").initialize(X=list(vectors))


def _forward(
    model: BoundaryModel, texts: Texts, is_train: bool
) -> tuple[list[Floats1d], Callable[[list[Floats1d]], Texts]]:
    docs, vectors = texts
    inputs, backprop_features = model.get_ref("features")(docs, is_train)
    backprop_vectors = None
    if vectors is not None:
        read, backprop_vectors = model.get_ref("vectors")(list(vectors), is_train)
        inputs = [of_features + of_vectors for of_features, of_vectors in zip(inputs, read, strict=True)]
    scores, backprop_context = model.get_ref("context")(inputs, is_train)

    def backprop(d_scores: list[Floats1d]) -> Texts:
        d_inputs = backprop_context(d_scores)
        backprop_features(d_inputs)
        return docs, None if backprop_vectors is None else backprop_vectors(d_inputs)

    return scores, backprop


def _to_torch(
    model: Model[Any, Any], texts: list[Floats2d], is_train: bool
) -> tuple[ArgsKwargs, Callable[[ArgsKwargs], list[Floats2d]]]:
    """Lay the tokens of all texts end to end."""
    shim: Any = model.shims[0]
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    xp: Any = get_array_module(texts[0])  # type: ignore[no-untyped-call]
    tokens = xp2torch(xp.concatenate(texts), requires_grad=is_train, device=shim.device)

    def backprop(d_inputs: ArgsKwargs) -> list[Floats2d]:
        d_tokens: Any = torch2xp(d_inputs.args[0])
        return list(xp.split(d_tokens, np.cumsum(lengths)[:-1].tolist()))

    return ArgsKwargs(args=(tokens, lengths), kwargs={}), backprop


def _from_torch(
    model: Model[Any, Any],  # noqa: ARG001
    pair: tuple[list[Floats2d], Any],
    is_train: bool,  # noqa: ARG001
) -> tuple[list[Floats1d], Callable[[list[Floats1d]], ArgsKwargs]]:
    """Split scores by texts."""
    texts, scores = pair
    found: Any = torch2xp(scores)
    xp: Any = get_array_module(found)  # type: ignore[no-untyped-call]

    def backprop(d_scores: list[Floats1d]) -> ArgsKwargs:
        d_flat = xp2torch(xp.concatenate(d_scores), device=scores.device)
        return ArgsKwargs(args=((scores,),), kwargs={"grad_tensors": (d_flat,)})

    return list(xp.split(found, np.cumsum([len(text) for text in texts])[:-1].tolist())), backprop
