"""The base class of all components that parse: from Docs to sentences and back, updates, files.

Every ``Language()`` imports this module, so it must stay light: no torch, no tokenizers.
"""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example, validate_examples
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer, set_dropout_rate
from thinc.types import Floats2d

from ..arrays import BoolArray
from ..data.segmentation import Segmentation
from ..errors import Errors, Warnings
from ..pipeline.listener import EncoderListener
from ..pipeline.sentence_inputs import ParsedBatch, word_vectors
from ..sentences.finder import SentencePipe

if TYPE_CHECKING:
    from ..models.types import Sentence, Start

EXAMPLES_FOR_WIDTH = 10
#: Warnings about sentences that the encoder can't read whole, the most severe first; see ``Coverage``.
UNFIT = {
    "chunked": Warnings.W806,
    "nearest_words": Warnings.W805,
    "windows": Warnings.W803,
    "truncated": Warnings.W802,
}


class ParserPipe(SentencePipe):
    """A component around a model of the protocol of ``spacy_g2g.models.types``.

    Sentence boundaries that are already set stay. A Doc without boundaries is one sentence. White-space
    tokens do not count as words.
    """

    #: Required value of the model's attribute ``output_kind``.
    output_kind: ClassVar[str]

    def __init__(self, vocab: Vocab, model: Model[Any, Any], name: str) -> None:
        self.vocab = vocab
        self.model = model
        self.name = name
        self.cfg: dict[str, Any] = {}
        self._warned_unset = False
        listener = model.maybe_get_ref("tok2vec")
        if isinstance(listener, EncoderListener):
            vars(listener)["component"] = self

    # Parsing

    def predict(self, docs: Iterable[Doc]) -> ParsedBatch:
        """Return the parses of all sentences that have words. Does not modify the Docs.

        Raises ValueError before initialization.
        """
        docs = list(docs)
        segmentation = self.finder.segment(docs)
        parses: Sequence[Any] = []
        if len(segmentation.words):
            vectors, _ = self._word_vectors(docs, segmentation)
            parses = self.parse(self.inputs(docs, segmentation, vectors))
        if segmentation.unset.any() and not self._warned_unset:
            warnings.warn(Warnings.W801.format(name=self.name), stacklevel=2)
            self._warned_unset = True
        return ParsedBatch(segmentation, parses)

    def parse(self, sentences: "Sequence[Sentence]") -> Sequence[Any]:
        """Return the parse of each sentence."""
        parses: Sequence[Any] = self.model.predict(sentences)
        return parses

    @abstractmethod
    def inputs(
        self, docs: Sequence[Doc], segmentation: Segmentation, vectors: Sequence[Floats2d] | None = None
    ) -> "list[Sentence]":
        """Return the input of the model: the sentences that have words, in order.

        docs: The Docs.
        segmentation: Where their sentences are.
        vectors: Vectors of the words of each sentence; None if the parser has its own encoder.
        """

    def _word_vectors(
        self, docs: Sequence[Doc], segmentation: Segmentation, *, is_train: bool = False
    ) -> tuple[list[Floats2d] | None, Callable[[dict[int, Any]], None]]:
        """Return the vectors of each sentence if the parser shares an encoder; see ``word_vectors``."""
        tok2vec = self.model.maybe_get_ref("tok2vec")
        if tok2vec is None or not docs:
            return None, lambda _: None
        return word_vectors(tok2vec, docs, segmentation, is_train=is_train)

    def training_inputs(
        self, docs: Sequence[Doc], segmentation: Segmentation, vectors: Sequence[Floats2d] | None = None
    ) -> "list[Sentence]":
        """Return the input of the model in training; see ``inputs``."""
        return self.inputs(docs, segmentation, vectors)

    def _warn_unfit(self, docs: Sequence[Doc], scores: ParsedBatch) -> None:
        """Warn about each Doc with sentences that were too long for the encoder."""
        for doc, parses in zip(docs, scores.by_doc(), strict=True):
            unfit = [parse for parse in parses if parse.coverage != "whole"]
            if unfit:
                coverages = {parse.coverage for parse in unfit}
                text = next(text for coverage, text in UNFIT.items() if coverage in coverages)
                longest = max(parse.n_words for parse in unfit)
                warnings.warn(text.format(n=len(unfit), longest=longest, text=doc.text[:40]), stacklevel=3)

    # Training

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Add the gradient of the loss of Examples, summed over words. With ``sgd``, make a step.

        A predicted Doc without sentence boundaries is cut at those of its reference; see ``_read_gold``.
        """
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        set_dropout_rate(self.model, drop)
        docs, segmentation, gold = self._read_gold(examples)
        vectors, backprop_vectors = self._word_vectors(docs, segmentation, is_train=True)
        inputs = self.training_inputs(docs, segmentation, vectors)
        learnable = np.flatnonzero(self._can_learn(gold)).tolist() if gold else []
        gradients: dict[int, Any] = {}
        if learnable:
            sentences = [inputs[i] for i in learnable]
            loss, backprop = self.model.begin_update((sentences, [gold[i] for i in learnable]))
            d_vectors = backprop(None)
            if self.model.maybe_get_ref("tok2vec") is not None:
                gradients = dict(zip(learnable, d_vectors, strict=True))
            losses[self.name] += loss
        # Call this even without gradients: a shared encoder waits for all its listeners.
        backprop_vectors(gradients)
        self.finder.update(examples, losses)
        if sgd:
            self.finish_update(sgd)
        return losses

    @abstractmethod
    def _read_gold(self, examples: Sequence[Example]) -> tuple[list[Doc], Segmentation, list[Any]]:
        """Return the predicted Docs, their sentences, and the gold standard of each that has words."""

    def _can_learn(self, gold: Sequence[Any]) -> BoolArray:
        """Return which gold parses the model can learn from, bool [sentences]."""
        can_learn = self.model.attrs.get("can_learn")
        learnable: BoolArray = self._has_gold(gold) if can_learn is None else can_learn(self.model, gold)
        return learnable

    @abstractmethod
    def _has_gold(self, gold: Sequence[Any]) -> BoolArray:
        """Return which gold parses are not empty, bool [sentences]."""

    def _build_model(
        self,
        get_examples: Callable[[], Iterable[Example]],
        encoder: Callable[..., Any] | None,
        sentences: "list[Sentence]",
        start: "Start",
    ) -> None:
        """Initialize the model for training.

        encoder: Origin of the encoder's weights; None lets the model choose.
        Raises ValueError for an encoder without scorers if the model shares one.
        """
        start = replace(start, encoder=encoder)
        if self.model.maybe_get_ref("tok2vec") is not None:
            start = replace(start, vector_width=self._vector_width(get_examples))
        self.model.initialize(X=sentences, Y=start)

    def _check_model(self) -> None:
        """Raise ValueError for a model with other output."""
        kind = self.model.attrs.get("output_kind", "trees")
        if kind != self.output_kind:
            names = {"name": self.name, "model": self.model.name}
            raise ValueError(Errors.E811.format(**names, builds=kind, expected=self.output_kind))

    def _vector_width(self, get_examples: Callable[[], Iterable[Example]]) -> int:
        """Initialize the shared encoder, and return the width of its vectors."""
        tok2vec: Model[Any, Any] = self.model.get_ref("tok2vec")
        docs = list(islice((example.x for example in get_examples() if len(example.x)), EXAMPLES_FOR_WIDTH))
        tok2vec.initialize(X=docs)
        return int(tok2vec.predict(docs)[0].shape[1])

    # Input and output

    def _built_for(self, exclude: Iterable[str]) -> Mapping[str, int]:
        """Return the sizes that the model was built for, which must equal those of the component.

        Returns none if the model does not state its sizes, or if only a part of the component was loaded.
        """
        return {} if {"model", "cfg"} & set(exclude) else self.model.attrs.get("built_for") or {}
