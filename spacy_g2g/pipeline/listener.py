"""Layers that listen to ``g2g_encoder``: ours, and those of spaCy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..errors import Errors


class EncoderListener(Tok2VecListener):
    """Layer that gives a component the vectors of an encoder before it in the pipeline.

    upstream_name: Name of the encoder's component; "*" for any.
    grad_factor: What the gradients of this component are multiplied with before the encoder gets them.
    """

    def __init__(self, upstream_name: str = "*", grad_factor: float = 1.0) -> None:
        if grad_factor < 0:
            raise ValueError(Errors.E831.format(factor=grad_factor))
        super().__init__(upstream_name, width=None)  # type: ignore[arg-type]
        self.grad_factor = grad_factor
        connect(self, None)


def make_listener(upstream: str = "*", grad_factor: float = 1.0) -> Model[list[Doc], list[Floats2d]]:
    """Make a layer that listens to a ``g2g_encoder``, whose width it takes.

    Registered as ``spacy_g2g.EncoderListener.v1``.

    upstream: Name of the encoder's component; "*" for any.
    grad_factor: Number that the gradients of this component are multiplied with before the encoder gets them.
    Raises ValueError for a negative factor.
    """
    return EncoderListener(upstream, grad_factor)


def connect(listener: Tok2VecListener, encoder: Model[Any, Any] | None) -> None:
    """Let a listener read from an encoder. One of spaCy's then has no silent zeros any more, either.

    encoder: The encoder's model; None for none so far.
    """
    listener._func, listener.init = _listen, _take_width
    vars(listener).update(encoder=encoder, sample=())


def _take_width(listener: Any, X: Sequence[Doc] | None = None, Y: Any = None) -> None:  # noqa: ARG001, N803
    """Take the encoder's width.

    Raises ValueError without an encoder before the component, and for another width in the config.
    """
    if X is None:
        return
    if listener.encoder is None:
        raise ValueError(Errors.E832.format(upstream=listener.upstream_name))
    width = listener.encoder.get_dim("nO")
    if (listener.maybe_get_dim("nO") or width) != width:
        raise ValueError(Errors.E833.format(found=listener.get_dim("nO"), expected=width))
    listener.set_dim("nO", width)
    # Layers find their widths by a prediction for these Docs, which have no vectors yet.
    listener.sample = tuple(X)


def _listen(
    listener: Any, docs: Sequence[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[Any], list[Doc]]]:
    """Return the vectors that the encoder gave, or those of the Docs if it is not in training.

    Raises ValueError for Docs without vectors.
    """
    if not is_train or listener._batch_id is None:
        return [_vectors(listener, doc) for doc in docs], lambda _: []
    listener.verify_inputs(docs)
    factor, backprop = getattr(listener, "grad_factor", 1.0), listener._backprop
    if factor == 1.0:
        return listener._outputs, backprop
    return listener._outputs, lambda d_vectors: backprop([factor * d_doc for d_doc in d_vectors])


def _vectors(listener: Any, doc: Doc) -> Any:
    """Return the vectors of a Doc's tokens, float [tokens, width]."""
    if doc.tensor is not None and doc.tensor.size and len(doc.tensor) == len(doc):
        return listener.ops.asarray(doc.tensor)
    if not len(doc) or any(doc is of_sample for of_sample in listener.sample):
        return listener.ops.alloc2f(len(doc), listener.maybe_get_dim("nO") or 0)
    raise ValueError(Errors.E834.format(text=doc.text[:40], upstream=listener.upstream_name))
