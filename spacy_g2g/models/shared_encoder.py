"""An encoder that the components of a pipeline share: from Docs to the vectors of their tokens."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import Model, get_array_module, torch2xp, xp2torch
from thinc.types import Floats2d

from ..arrays import IntArray
from ..data.layout import Layout, lay_out, word_attributes
from .model import adapt_to_fork
from .network import NetworkSpec, WordNetwork
from .network_shim import NetworkShim
from .settings import COUNT, WordSettings, builder, setting
from .sources import encoder_from_scratch
from .start import build_for_training
from .types import Sentence, Start, WordVectorModel


@dataclass(frozen=True, kw_only=True)
class SharedEncoderSettings(WordSettings):
    """Settings of an encoder that the pipeline's components share."""

    window: int | None = setting(
        None,
        "What the encoder reads at once: null for each sentence by itself, or the largest number of words of "
        "a window. Windows take no notice of sentences, so a parser can find the sentences from their "
        "vectors. The windows of a longer Doc have equal sizes and overlap by 32 words, or by a third of "
        "smaller windows. A word's vector is from the window in which it has most context.",
        COUNT,
    )


#: Number of words that two neighbouring windows share, if that is at most a third of a window.
OVERLAP = 32


class SharedEncoder(WordNetwork):
    """Encoder of pieces, with the mix of layers and the vectors of words of a parser's own encoder."""

    def __init__(self, spec: NetworkSpec, settings: WordSettings) -> None:
        super().__init__(spec, words=settings)


class EncoderShim(NetworkShim[SharedEncoder]):
    """Runs a shared encoder. Sentences are batched by their pieces, whatever their order.

    window: Number of words that are read at once, or None; see ``SharedEncoderSettings``.
    """

    window: int | None = None

    def predict(self, sentences: Sequence[Sentence]) -> Floats2d:
        """Return the vectors of the words of all sentences, float32 [words, width]."""
        self.network.eval()
        with torch.inference_mode():
            return cast(Floats2d, torch2xp(self.encode(sentences)))

    def begin_update(self, sentences: Sequence[Sentence]) -> tuple[Floats2d, Callable[[Floats2d], None]]:
        """Return the vectors of all words, and a callback that takes their gradient."""
        self.network.train()
        vectors = self.encode(sentences)

        def backprop(d_vectors: Floats2d) -> None:
            if not len(vectors):
                return  # nothing was encoded
            torch.autograd.backward(vectors, xp2torch(d_vectors, device=vectors.device))
            self.n_targets += len(vectors)

        return cast(Floats2d, torch2xp(vectors.detach())), backprop


@builder(SharedEncoderSettings)
def build_encoder(settings: SharedEncoderSettings) -> WordVectorModel:
    """Build an encoder of Docs for the component ``g2g_encoder``, to which other components listen.

    It gives the vectors of the tokens of each Doc, zeros for white space. ``[training] dropout`` sets its
    dropout. Registered as ``spacy_g2g.Encoder.v1``.
    """
    shim = EncoderShim(
        partial(SharedEncoder, settings=settings),
        pretrained_factor=settings.pretrained_factor,
        rate_factor=settings.rate_factor,
        precision=settings.precision,
    )
    shim.window = settings.window
    return Model(
        "g2g_encoder",
        _forward,
        init=_initialize,
        dims={"nO": None},
        shims=[shim],
        attrs={"dropout_rate": 0.0},
    )


def get_encoder_shim(model: Model[Any, Any]) -> EncoderShim:
    """Return the shim of an encoder of Docs."""
    (shim,) = model.shims
    assert isinstance(shim, EncoderShim)
    return shim


def reads_windows(model: Model[Any, Any]) -> bool:
    """Return whether a layer is an encoder of Docs that needs no sentences."""
    return any(isinstance(shim, EncoderShim) and shim.window is not None for shim in model.shims)


def _initialize(model: Model[Any, Any], X: Sequence[Doc] | None = None, Y: Start | None = None) -> None:  # noqa: N803
    """Build the network. Do nothing without Docs and start, as for a model that was loaded."""
    if X is None or Y is None:
        return
    source = Y.encoder or encoder_from_scratch()
    checkpoint = source(token.text for doc in X for token in doc if not token.is_space)
    shim = get_encoder_shim(model)
    build_for_training(shim, [], Y, checkpoint, learn=None, reads_tags=False)
    model.set_dim("nO", shim.known_spec.width, force=True)


def _forward(
    model: Model[Any, Any], docs: Sequence[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    adapt_to_fork(os.getpid())
    shim = get_encoder_shim(model)
    layout = lay_out(docs)
    parts, places = read_together(docs, layout, shim.window)
    if is_train:
        shim.network.encoder.set_dropout(model.attrs["dropout_rate"])
        vectors, backprop_words = shim.begin_update(parts)
    else:
        vectors = shim.predict(parts)
    xp: Any = get_array_module(vectors)  # type: ignore[no-untyped-call]
    tokens = xp.zeros((int(layout.doc_starts[-1]), vectors.shape[1]), dtype="f")
    words, places = xp.asarray(layout.words), xp.asarray(places)
    tokens[words] = vectors[places]

    def backprop(d_docs: list[Floats2d]) -> list[Doc]:
        d_vectors = xp.zeros_like(vectors)
        d_vectors[places] = xp.concatenate(d_docs)[words]
        backprop_words(d_vectors)
        return []

    return xp.split(tokens, layout.doc_starts[1:-1].tolist())[: len(docs)], backprop


def read_together(docs: Sequence[Doc], layout: Layout, window: int | None) -> tuple[list[Sentence], IntArray]:
    """Return what the encoder reads together, and the place of each word of the Docs in it.

    window: Largest number of words of a window; None for each sentence by itself.
    Returns sentences or windows, and int [words], numbers of words in all of them.
    """
    words = word_attributes(docs, layout, "ORTH")
    if window is None:
        return [Sentence(words[at]) for at in layout.sentence_slices], np.arange(len(words))
    windows, places = [], [np.zeros(0, dtype=np.int64)]
    n_read = 0
    for first, last in pairwise(np.searchsorted(layout.words, layout.doc_starts).tolist()):
        size, starts, best = windows_of(last - first, window)
        windows += [Sentence(words[first + start : first + start + size]) for start in starts.tolist()]
        places.append(n_read + best * size + np.arange(last - first) - starts[best])
        n_read += len(starts) * size
    return windows, np.concatenate(places)


def windows_of(n_words: int, largest: int) -> tuple[int, IntArray, IntArray]:
    """Cut a Doc into windows of equal size.

    n_words: Number of words of the Doc.
    largest: Largest number of words of a window.
    Returns the size of the windows, the first word of each of them, and the number of the best window of each
        word of the Doc.
    """
    if not n_words:
        return 0, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    overlap = min(OVERLAP, largest // 3)
    n_windows = 1 + -(-max(0, n_words - largest) // (largest - overlap))
    size = -(-(n_words + (n_windows - 1) * overlap) // n_windows)
    starts = np.linspace(0, n_words - size, n_windows).round().astype(np.int64)
    cuts = (starts[1:] + starts[:-1] + size) // 2
    return size, starts, np.searchsorted(cuts, np.arange(n_words), side="right")
