"""An encoder that the components of a pipeline share. It gives the vectors of tokens of Docs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import torch
from spacy.tokens import Doc
from thinc.api import Model, get_array_module, torch2xp, xp2torch
from thinc.types import Floats2d

from ..data.segmentation import Segmentation, segment, word_attributes
from .forks import computing
from .model import read_words
from .network import NetworkSpec, WordNetwork
from .network_shim import NetworkShim, get_network_shim
from .settings import WordSettings, builder
from .sources import encoder_from_scratch
from .start import build_for_training
from .types import Sentence, Start, WordVectorModel


class SharedEncoder(WordNetwork):
    """Encoder of pieces, with the mix of layers and the vectors of words of a parser's own encoder."""

    def __init__(self, spec: NetworkSpec, settings: WordSettings) -> None:
        super().__init__(spec, words=settings)


class EncoderShim(NetworkShim[SharedEncoder]):
    """Runs a shared encoder on batches of sentences with similar numbers of pieces."""

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
                return  # There were no words.
            torch.autograd.backward(vectors, xp2torch(d_vectors, device=vectors.device))
            self.n_targets += len(vectors)

        return cast(Floats2d, torch2xp(vectors.detach())), backprop


@builder(WordSettings)
def build_encoder(settings: WordSettings) -> WordVectorModel:
    """Build an encoder of Docs for the component ``g2g_encoder``, to which other components listen.

    It reads each sentence by itself, and gives the vectors of the tokens of each Doc, zeros for white space.
    ``[training] dropout`` sets its dropout. Registered as ``spacy_g2g.Encoder.v1``.
    """
    shim = EncoderShim(
        partial(SharedEncoder, settings=settings),
        pretrained_factor=settings.pretrained_factor,
        rate_factor=settings.rate_factor,
        precision=settings.precision,
    )
    return Model(
        "g2g_encoder",
        _encode_docs,
        init=_build_encoder,
        dims={"nO": None},
        shims=[shim],
        attrs={"dropout_rate": 0.0, "encode": encode, "read_words": read_words},
    )


def _build_encoder(model: Model[Any, Any], X: Sequence[Doc] | None = None, Y: Start | None = None) -> None:  # noqa: N803
    """Build the network. A loaded model gets neither Docs nor a start, and keeps its network."""
    if X is None or Y is None:
        return
    source = Y.encoder or encoder_from_scratch()
    words = word_attributes(X, segment(X), "ORTH")
    checkpoint = source(words)
    shim = get_network_shim(model, EncoderShim)
    build_for_training(shim, [Sentence(words)], Y, checkpoint, learn=None, reads_tags=False)
    model.set_dim("nO", shim.known_spec.width, force=True)


def _encode_docs(
    model: Model[Any, Any], docs: Sequence[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    return encode(model, docs, segment(docs), is_train)


@computing
def encode(
    model: Model[Any, Any], docs: Sequence[Doc], segmentation: Segmentation, is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    """Return the vectors of the tokens of each Doc, and a callback that takes their gradients.

    model: The model of ``build_encoder``.
    docs: The Docs.
    segmentation: Where their sentences are, which may differ from those in the Docs.
    is_train: Whether gradients will come back.
    Returns float32 [tokens, width] for each Doc, zeros for white space.
    """
    shim = get_network_shim(model, EncoderShim)
    words = word_attributes(docs, segmentation, "ORTH")
    sentences = [Sentence(words[at]) for at in segmentation.sentence_slices]
    if not is_train:
        return _over_tokens(shim.predict(sentences), segmentation), lambda _: []
    shim.network.encoder.set_dropout(model.attrs["dropout_rate"])
    vectors, backprop_words = shim.begin_update(sentences)
    xp: Any = get_array_module(vectors)  # type: ignore[no-untyped-call]

    def backprop(d_docs: list[Floats2d]) -> list[Doc]:
        backprop_words(xp.concatenate(d_docs)[xp.asarray(segmentation.words)])
        return []

    return _over_tokens(vectors, segmentation), backprop


def _over_tokens(vectors: Floats2d, segmentation: Segmentation) -> list[Floats2d]:
    """Return the vectors of the tokens of each Doc, from those of all words."""
    xp: Any = get_array_module(vectors)  # type: ignore[no-untyped-call]
    tokens = xp.zeros((int(segmentation.doc_starts[-1]), vectors.shape[1]), dtype="f")
    tokens[xp.asarray(segmentation.words)] = vectors
    n_docs = len(segmentation.doc_starts) - 1
    return xp.split(tokens, segmentation.doc_starts[1:-1].tolist())[:n_docs]  # type: ignore[no-any-return]
