"""Layers that listen to ``g2g_encoder``: ours, and those of spaCy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from thinc.api import Config, Model
from thinc.types import Floats2d

from ..errors import Errors

#: Architectures of listeners to a ``g2g_encoder``.
LISTENERS = ("spacy_g2g.EncoderListener.v1", "spacy.Tok2VecListener.v1")


class EncoderListener(Tok2VecListener):
    """Layer that gives a component the vectors of an encoder before it in the pipeline.

    upstream_name: Name of the encoder's component; "*" for any.
    grad_factor: Scale of the gradients from this component into the encoder.
    """

    def __init__(self, upstream_name: str = "*", grad_factor: float = 1.0) -> None:
        if grad_factor < 0:
            raise ValueError(Errors.E831.format(factor=grad_factor))
        super().__init__(upstream_name, width=None)  # type: ignore[arg-type]
        self.grad_factor = grad_factor
        connect(self)


def make_listener(upstream: str = "*", grad_factor: float = 1.0) -> Model[list[Doc], list[Floats2d]]:
    """Make a layer that listens to a ``g2g_encoder`` and takes its width.

    Registered as ``spacy_g2g.EncoderListener.v1``.

    upstream: Name of the encoder's component; "*" for any.
    grad_factor: Scale of the gradients from this component into the encoder.
    Raises ValueError for a negative factor.
    """
    return EncoderListener(upstream, grad_factor)


def connect(
    listener: Tok2VecListener, *, encoder: Any = None, component: Any = None, paths: Sequence[str] = ()
) -> None:
    """Connect a listener with an encoder. A connected spaCy listener raises errors instead of giving zeros.

    A listener from another pipeline still expects vectors of the encoder there ("known"). It accepts those of
    the new encoder if this has the same weights, or once the listener has learned with it.

    encoder: Component of the encoder; None before there is one.
    component: Component that listens.
    paths: Paths of the listeners in the config of that component.
    """
    listener._func, listener.init = _listen, _take_width
    state = vars(listener)
    known = state.get("known")
    state.update(heard=encoder, encoder=encoder and encoder.model, component=component, sample=())
    if known in (None, encoder) or known.model.to_bytes() == encoder.model.to_bytes():
        state.update(known=encoder, origin=encoder and (encoder.name, component.name, [*paths]))


def listener_paths(config: Mapping[str, Any], path: str = "model") -> Iterator[str]:
    """Yield the paths of the listeners in a block of a config, as ``nlp.replace_listeners`` takes them."""
    if config.get("@architectures") in LISTENERS:
        yield path
    for key, value in config.items():
        if isinstance(value, dict):
            yield from listener_paths(value, f"{path}.{key}")


def check_saved(pipe: Any, folder: Path) -> None:
    """Raise ValueError if a pipeline is saved without the encoder that a component has learned with.

    pipe: The component, or the encoder, whose listeners are all checked.
    folder: Folder of the pipeline. spaCy writes its config before its components.
    """
    own = [node for node in pipe.model.walk() if isinstance(node, Tok2VecListener)]
    for listener in (*own, *getattr(pipe, "listeners", ())):
        if getattr(listener, "known", None) is not getattr(listener, "heard", None):
            raise ValueError(Errors.E870.format(**_describe(listener)))
    if not (folder / "config.cfg").exists():
        return
    config = Config().from_disk(folder / "config.cfg", interpolate=False)
    names, blocks = config["nlp"]["pipeline"], config["components"]
    if pipe.name not in names:
        return
    if not own and any(listener_paths(blocks[pipe.name].get("model", {}))):
        raise ValueError(Errors.E871.format(name=pipe.name))
    before = names[: names.index(pipe.name)]
    encoders = [name for name in before if blocks[name].get("factory") == "g2g_encoder"]
    for listener in own:
        if hasattr(listener, "known") and listener.upstream_name not in (*encoders, *["*"][: len(encoders)]):
            raise ValueError(Errors.E870.format(**_describe(listener)))


def _describe(listener: Any) -> dict[str, str]:
    """Return the names of a listener's component and encoder, and code that joins them again."""
    component = getattr(listener.component, "name", "...")
    upstream = "g2g_encoder" if listener.upstream_name == "*" else listener.upstream_name
    encoder, name, paths = listener.origin or (upstream, component, [])
    lines = (
        f'nlp.remove_pipe("{component}"), '
        f'other.replace_listeners("{encoder}", "{name}", {json.dumps(paths or ["model.tok2vec"])}), '
        f'nlp.add_pipe("{name}", source=other), or, if nlp has no g2g_encoder yet, '
        f'nlp.add_pipe("{encoder}", source=other, before="{component}")'
    )
    return {"name": component, "encoder": encoder, "lines": lines}


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
    # Layers infer their widths from a prediction for these Docs, which have no vectors yet.
    listener.sample, listener.known = tuple(X), listener.heard


def _listen(
    listener: Any, docs: Sequence[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[Any], list[Doc]]]:
    """Return the vectors of the encoder in training, otherwise those of the Docs.

    Raises ValueError for Docs without vectors of the encoder.
    """
    is_update = is_train and listener._batch_id is not None
    if is_update:
        listener.verify_inputs(docs)
        listener.known = listener.heard
    vectors = [_vectors(listener, doc) for doc in docs]
    if not is_update:
        return vectors, lambda _: []
    factor, backprop = getattr(listener, "grad_factor", 1.0), listener._backprop
    if factor == 1.0:
        return listener._outputs, backprop
    return listener._outputs, lambda d_vectors: backprop([factor * d_doc for d_doc in d_vectors])


def _vectors(listener: Any, doc: Doc) -> Any:
    """Return the vectors of a Doc's tokens, float [tokens, width]."""
    width = listener.maybe_get_dim("nO") or 0
    if not len(doc) or any(doc is other for other in listener.sample):
        return listener.ops.alloc2f(len(doc), width)
    is_encoded = listener.known is not None and id(doc.vocab) in listener.known.vocabs
    if not is_encoded or doc.tensor is None or doc.tensor.shape[:2] != (len(doc), width):
        raise ValueError(Errors.E834.format(text=doc.text[:40], **_describe(listener)))
    return listener.ops.asarray(doc.tensor)
