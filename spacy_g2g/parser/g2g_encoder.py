"""The ``g2g_encoder`` component: one encoder for all components that listen to it.

Every ``Language()`` imports this module, so it must stay light: no torch, no tokenizers.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np
from spacy.language import Language
from spacy.pipeline.tok2vec import Tok2Vec, Tok2VecListener
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Optimizer, set_dropout_rate
from thinc.types import Floats2d

from ..data.gold import segment_examples
from ..data.segmentation import Segmentation
from ..models.settings import setting
from ..models.types import WordVectorModel
from ..pipeline.component import ComponentSettings, factory
from ..pipeline.listener import connect, listener_paths
from ..sentences.finder import SentencePipe, SentenceSettings

#: The pipeline of each encoder. Its config tells where components listen.
_HOMES: WeakKeyDictionary[Any, ReferenceType[Language]] = WeakKeyDictionary()


@dataclass(frozen=True, kw_only=True)
class EncoderSettings(SentenceSettings, ComponentSettings):
    """Settings of ``g2g_encoder``."""

    model: WordVectorModel = setting(
        {"@architectures": "spacy_g2g.Encoder.v1"},
        "Architecture from Docs to the vectors of their tokens, such as ``spacy_g2g.Encoder.v1``.",
    )


class Encoded(NamedTuple):
    """Vectors of the tokens of each Doc, float [tokens, width], and where the sentences are."""

    vectors: Sequence[Floats2d]
    segmentation: Segmentation


@dataclass
class _Batch:
    """An update that waits for the gradients of listeners.

    gradients: Sum of the gradients so far, float [tokens, width] for each Doc.
    backprop: Function that takes the sum.
    n_missing: Number of listeners that have not yet sent a gradient.
    n_listeners: Number of listeners.
    """

    gradients: list[Floats2d]
    backprop: Callable[[list[Floats2d]], Any]
    n_missing: int
    n_listeners: int


class G2GEncoder(SentencePipe, Tok2Vec):
    """Encoder that sets ``doc.tensor``, from which the listeners of later components read.

    It reads each sentence by itself. If it was trained on Docs of several sentences, it first finds and sets
    the boundaries of other Docs.

    Training sums the gradients of all listeners. One backward pass takes the sum, and one step of the
    optimizer follows.
    """

    def __init__(self, vocab: Vocab, name: str, settings: EncoderSettings) -> None:
        super().__init__(vocab, settings.model, name)
        settings.apply_to(self)
        self._batch: _Batch | None = None
        #: Identities of the vocabularies whose Docs it has encoded.
        self.vocabs: set[int] = set()

    def find_listeners(self, component: Any) -> None:
        """Add the listeners of a later component. They then raise errors for Docs without vectors."""
        super().find_listeners(component)
        for listener in self.listener_map.get(getattr(component, "name", ""), ()):
            nlp = _HOMES[self]() if self in _HOMES else None
            paths: list[str] = []
            if nlp and component.name in nlp.component_names:
                paths = [*listener_paths(nlp.get_pipe_config(component.name).get("model", {}))]
            connect(listener, encoder=self, component=component, paths=paths)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,  # noqa: ARG002
        encoder: Callable[..., Any] | None = None,
    ) -> None:
        """Build the model with the encoder that it starts from.

        get_examples: Training data, from which pieces are learned for an encoder from scratch.
        nlp: Pipeline of the component.
        encoder: Origin of the encoder's weights, such as ``spacy_g2g.EncoderFromCheckpoint.v1``; None trains
            from scratch, as ``spacy_g2g.EncoderFromScratch.v1`` does by default.
        """
        from ..models.types import Start

        validate_get_examples(get_examples, "G2GEncoder.initialize")
        docs = [example.reference for example in get_examples()]
        self.model.initialize(X=docs, Y=Start(encoder=encoder))
        self.finder.initialize(get_examples())

    # Prediction

    def predict(self, docs: Iterable[Doc]) -> Encoded:
        """Return the vectors of all tokens, and where the sentences are. Does not modify the Docs."""
        docs = list(docs)
        segmentation = self.finder.segment(docs)
        if not len(segmentation.starts):
            return Encoded(super().predict(docs), segmentation)
        return Encoded(self._encode(docs, segmentation, is_train=False)[0], segmentation)

    def _encode(
        self, docs: list[Doc], segmentation: Segmentation, *, is_train: bool
    ) -> tuple[list[Floats2d], Callable[[list[Floats2d]], Any]]:
        """Return the vectors of tokens, and a callback for their gradients.

        A model without the attribute ``encode`` ignores the sentences.
        """
        self.vocabs.update(id(doc.vocab) for doc in docs)
        encode = self.model.attrs.get("encode")
        if encode is None:
            return self.model(docs, is_train)
        return encode(self.model, docs, segmentation, is_train)  # type: ignore[no-any-return]

    def set_annotations(self, docs: Sequence[Doc], encoded: Encoded) -> None:
        """Write the vectors to ``doc.tensor``, and new sentence boundaries to Docs."""
        segmentation = encoded.segmentation
        for doc, sent_start in zip(docs, segmentation.by_doc(segmentation.sent_start), strict=True):
            values: Any = sent_start.view(np.uint64)
            if (doc.to_array("SENT_START") != values).any():
                doc.from_array("SENT_START", values)
        super().set_annotations(docs, encoded.vectors)

    # Training

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,  # noqa: ARG002
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Encode Examples for the listeners. Their gradients come later, so ``sgd`` makes no step here.

        A predicted Doc without sentence boundaries is cut at those of its reference.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "G2GEncoder.update")
        self._finish_batch()
        set_dropout_rate(self.model, drop)
        docs = [example.predicted for example in examples]
        vectors, backprop = self._encode(docs, segment_examples(examples), is_train=True)
        # Components that annotate in training read the vectors, without another pass of the encoder.
        super().set_annotations(docs, vectors)
        self.finder.update(examples, losses)
        gradients = [self.model.ops.alloc2f(*array.shape) for array in vectors]
        n_listeners = len(self.listeners)
        batch = _Batch(gradients, backprop, n_listeners, n_listeners)

        def add_gradients(d_docs: list[Floats2d]) -> list[Floats2d]:
            for gradient, d_doc in zip(batch.gradients, d_docs, strict=True):
                gradient += d_doc
                losses[self.name] += float(self.model.ops.xp.vdot(d_doc, d_doc))
            batch.n_missing -= 1
            if not batch.n_missing:
                self._finish_batch()
            return [self.model.ops.alloc2f(*array.shape) for array in vectors]

        self._batch = batch if n_listeners else None
        batch_id = Tok2VecListener.get_batch_id(docs)
        for listener in self.listeners:
            listener.receive(batch_id, vectors, add_gradients)
        return losses

    def finish_update(self, sgd: Optimizer) -> None:
        """Make a step with all gradients since the last one.

        ``nlp.update`` calls this before the listeners learn from the batch, ``spacy train`` after it.
        """
        if self._batch is not None and self._batch.n_missing < self._batch.n_listeners:
            # Components that can't learn from a batch do not send a gradient.
            self._finish_batch()
        super().finish_update(sgd)

    def _finish_batch(self) -> None:
        """Pass the summed gradients to the network."""
        batch, self._batch = self._batch, None
        if batch is not None:
            batch.backprop(batch.gradients)


@factory("g2g_encoder", EncoderSettings, assigns=["doc.tensor", "token.is_sent_start", "doc.sents"])
def make_g2g_encoder(nlp: Language, name: str, settings: EncoderSettings) -> G2GEncoder:
    """Make the ``g2g_encoder`` component, whose vectors the components after it read."""
    encoder = G2GEncoder(nlp.vocab, name, settings)
    _HOMES[encoder] = ref(nlp)
    return encoder
