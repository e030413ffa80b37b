"""The ``g2g_encoder`` component: one encoder for all components that listen to it.

This module is imported by every ``Language()`` and must stay light: no torch, no tokenizers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.pipeline.tok2vec import Tok2Vec, Tok2VecListener
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer, set_dropout_rate
from thinc.types import Floats2d

from ..arrays import BoolArray
from ..data.layout import Layout
from .gold import lay_out_examples
from .listener import connect
from .sentences import BOUNDARIES, SentenceFinder, Sentences


@Language.factory(
    "g2g_encoder",
    assigns=["doc.tensor", "token.is_sent_start", "doc.sents"],
    default_config={
        "model": {"@architectures": "spacy_g2g.Encoder.v1"},
        "sentences": "auto",
        "boundaries": BOUNDARIES,
        "blocks": True,
        "half_precision_weights": False,
    },
)
def make_g2g_encoder(
    nlp: Language,
    name: str,
    model: Model[list[Doc], list[Floats2d]],
    sentences: Sentences,
    boundaries: Model[Any, Any] | None,
    blocks: bool,
    half_precision_weights: bool,
) -> G2GEncoder:
    """Make the ``g2g_encoder`` component, whose vectors the components after it read.

    model: Architecture from Docs to the vectors of their tokens, such as ``spacy_g2g.Encoder.v1``.
    sentences: Whose sentence boundaries are taken. "given": those of the Doc. "predicted": the encoder sets
        those that the Doc leaves open. "auto": it does so in Docs in which no boundary is set.
    boundaries: Network that finds boundaries, such as ``spacy_g2g.Boundaries.v2``. It learns from Docs of
        several sentences. With null the encoder never finds sentences.
    blocks: Let a found sentence end with its block: a paragraph before a blank line, a heading, an item of a
        list, a row of a table, a quotation.
    half_precision_weights: Save weights in float16, which takes half the space.
    """
    return G2GEncoder(
        nlp.vocab,
        model,
        name,
        sentences=sentences,
        boundaries=boundaries,
        blocks=blocks,
        half_precision_weights=half_precision_weights,
    )


@dataclass(frozen=True)
class Encoded:
    """Encoded Docs.

    vectors: Vectors of the tokens of each Doc, float [tokens, width].
    layout: Where the sentences are; None if all Docs have had their sentences before.
    are_found: Whether the sentences of each Doc were found, bool [docs].
    """

    vectors: Sequence[Floats2d]
    layout: Layout | None
    are_found: BoolArray


@dataclass
class _Batch:
    """An update that waits for the gradients of listeners.

    gradients: Their sum so far, float [tokens, width] for each Doc.
    backprop: Takes the sum.
    n_missing: Number of listeners that have sent no gradient yet.
    n_listeners: Number of listeners.
    """

    gradients: list[Floats2d]
    backprop: Callable[[list[Floats2d]], Any]
    n_missing: int
    n_listeners: int


class G2GEncoder(SentenceFinder, Tok2Vec):
    """Encoder that sets ``doc.tensor``, from which the listeners of later components read.

    It reads each sentence by itself. An encoder that was trained on Docs of several sentences finds and sets
    the boundaries of other Docs first.

    In training, the gradients of all listeners are summed. One backward pass takes the sum, and one step of
    the optimizer follows it.
    """

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], list[Floats2d]],
        name: str = "g2g_encoder",
        *,
        sentences: Sentences = "auto",
        boundaries: Model[Any, Any] | None = None,
        blocks: bool = True,
        half_precision_weights: bool = False,
    ) -> None:
        super().__init__(vocab, model, name)
        self.sentences = sentences
        self.boundaries = boundaries
        self.blocks = blocks
        self.half_precision_weights = half_precision_weights
        self._batch: _Batch | None = None

    def add_listener(self, listener: Tok2VecListener, component_name: str) -> None:
        """Add a listener of a later component, which from now on raises an error for Docs without vectors."""
        connect(listener, self.model)
        super().add_listener(listener, component_name)

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
        self.initialize_boundaries(get_examples())

    # Prediction

    def predict(self, docs: Iterable[Doc]) -> Encoded:
        """Return the vectors of all tokens, and the sentences that were found. Does not modify the Docs."""
        docs = list(docs)
        are_found = self.are_found(docs)
        if not are_found.any():
            return Encoded(super().predict(docs), None, are_found)
        layout = self.find_sentences(docs, are_found)
        return Encoded(self._encode(docs, layout, is_train=False)[0], layout, are_found)

    def _encode(
        self, docs: list[Doc], layout: Layout, *, is_train: bool
    ) -> tuple[list[Floats2d], Callable[[list[Floats2d]], Any]]:
        """Return the vectors of sentences that the Docs need not know, and a callback for their gradients.

        A model without the attribute ``encode`` takes no notice of sentences.
        """
        encode = self.model.attrs.get("encode")
        return self.model(docs, is_train) if encode is None else encode(self.model, docs, layout, is_train)

    def set_annotations(self, docs: Sequence[Doc], encoded: Encoded) -> None:
        """Write the vectors to ``doc.tensor``, and the boundaries to Docs whose sentences were found."""
        if encoded.layout is not None:
            starts = np.split(encoded.layout.starts, encoded.layout.doc_starts[1:-1])
            for i in np.flatnonzero(encoded.are_found).tolist():
                values: Any = np.where(starts[i], 1, -1).astype(np.uint64)
                docs[i].from_array("SENT_START", values)
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
        """Encode Examples for the listeners, whose gradients come later; so ``sgd`` makes no step here.

        A predicted Doc without sentence boundaries is cut at those of its reference.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, "G2GEncoder.update")
        self._finish_batch()
        set_dropout_rate(self.model, drop)
        docs = [example.predicted for example in examples]
        vectors, backprop = self._encode(docs, lay_out_examples(examples), is_train=True)
        # Components that annotate in training read them, without another pass of the encoder.
        super().set_annotations(docs, vectors)
        if self.finds_sentences:
            # A loss has another unit than the squares of gradients below.
            key = f"{self.name}_boundaries"
            losses[key] = losses.get(key, 0.0) + self.update_boundaries(examples)
        gradients = [self.model.ops.alloc2f(*of_doc.shape) for of_doc in vectors]
        n_listeners = len(self.listeners)
        batch = _Batch(gradients, backprop, n_listeners, n_listeners)

        def add_gradients(d_docs: list[Floats2d]) -> list[Floats2d]:
            for gradient, d_doc in zip(batch.gradients, d_docs, strict=True):
                gradient += d_doc
                losses[self.name] += float(self.model.ops.xp.vdot(d_doc, d_doc))
            batch.n_missing -= 1
            if not batch.n_missing:
                self._finish_batch()
            return [self.model.ops.alloc2f(*of_doc.shape) for of_doc in vectors]

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
            # Components with nothing to learn from a batch send no gradient.
            self._finish_batch()
        super().finish_update(sgd)

    def _finish_batch(self) -> None:
        """Hand the summed gradients to the network."""
        batch, self._batch = self._batch, None
        if batch is not None:
            batch.backprop(batch.gradients)
