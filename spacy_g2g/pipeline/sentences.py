"""Sentences of Docs without boundaries.

The network of boundaries reads features of tokens such as shape and white space, and vectors of the parser's
encoder or of a shared one that needs no sentences. It gives the log-odds that a sentence starts at a token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
import srsly
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model, Optimizer
from thinc.types import Floats2d

from ..arrays import BoolArray, DoubleArray, FloatArray
from ..data.layout import Layout, lay_out
from ..errors import Errors
from .answers import AnsweringPipe
from .gold import gold_boundaries
from .layout import ParsedBatch
from .word_vectors import get_tok2vec

if TYPE_CHECKING:
    from ..models.boundaries import BoundaryModel

#: Whose sentence boundaries a parser takes: those of the Doc, its own, or its own where a Doc has none.
Sentences = Literal["given", "predicted", "auto"]
#: Network of boundaries of a new component.
BOUNDARIES: dict[str, Any] = {
    "@architectures": "spacy_g2g.Boundaries.v1",
    "width": 256,
    "n_layers": 2,
    "dropout": 0.3,
    "grad_factor": 0.0,
    "embed": {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 48,
        "attrs": ["LOWER", "PREFIX", "SUFFIX", "SHAPE", "SPACY", "IS_SPACE"],
        "rows": [5000, 1000, 2500, 2500, 50, 50],
        "include_static_vectors": False,
    },
}
#: Key of ``cfg`` for the log-odds from which on a sentence starts; absent if the parser finds no sentences.
THRESHOLD = "sentence_threshold"
#: File of the network of boundaries.
FILE = "boundaries"
#: Number of tokens that the network reads in a row, and of those before and after them that it sees, too.
WINDOW, MARGIN = 128, 16
#: Number of tokens for which the network runs at once.
TOKENS_AT_ONCE = 20_000
EXAMPLES_FOR_SIZES = 10


class Window(NamedTuple):
    """Tokens of a Doc that the network of boundaries reads in a row.

    place: Place of the first of them that it decides, counted over all Docs.
    seen: They, and those around them, as a Doc.
    first: Index in ``seen`` of the first of them.
    size: Number of them.
    doc: The Doc.
    start: Index in it of the first token of ``seen``.
    """

    place: int
    seen: Doc
    first: int
    size: int
    doc: Doc
    start: int


class SentencePipe(AnsweringPipe):
    """A parser that can find the sentences of Docs."""

    #: Network of boundaries; None if the parser never finds sentences.
    boundaries: BoundaryModel | None = None
    _sentences: Sentences = "given"

    @property
    def sentences(self) -> Sentences:
        """Whose sentence boundaries the parser takes. It may be changed at any time."""
        return self._sentences

    @sentences.setter
    def sentences(self, value: Sentences) -> None:
        if value not in get_args(Sentences):
            raise ValueError(Errors.E824.format(value=value, expected=get_args(Sentences)))
        self._sentences = value

    @property
    def finds_sentences(self) -> bool:
        """Whether the parser was trained to find sentences."""
        return self.boundaries is not None and THRESHOLD in self.cfg

    # Parsing

    def predict(self, docs: Iterable[Doc]) -> ParsedBatch:
        """Return the parses of all sentences that have words, and do not modify the Docs.

        Raises ValueError before initialisation.
        """
        docs = list(docs)
        are_found = self._are_found(docs)
        if not are_found.any():
            return super().predict(docs)
        self._warn_unset(lay_out([doc for doc, found in zip(docs, are_found, strict=True) if not found]))
        layout = self.find_sentences(docs, are_found)
        sentences, _ = self._with_vectors(self.inputs(docs, layout), docs, layout)
        return ParsedBatch(layout, self.parse(sentences) if sentences else [])

    def _are_found(self, docs: Sequence[Doc]) -> BoolArray:
        """Return whether the parser finds the sentences of each Doc, bool [docs]."""
        found = np.zeros(len(docs), dtype=np.bool_)
        if self.finds_sentences and self.sentences != "given":
            for i, doc in enumerate(docs):
                inner = doc.to_array("SENT_START")[1:].astype(np.int64)
                is_given = self.sentences == "auto" and bool((inner == 1).any())
                found[i] = not is_given and bool((inner == 0).any())
        return found

    def find_sentences(self, docs: Sequence[Doc], are_found: BoolArray | None = None) -> Layout:
        """Return the layout of the sentences.

        docs: The Docs.
        are_found: Whether the sentences of each Doc are to be found, bool [docs]; None for all. The others
            keep theirs.
        """
        given = lay_out(docs)
        starts = self.log_odds(docs, are_found) > self.cfg[THRESHOLD]
        # Sentences start at words. One that was given with white space before its first word starts there.
        is_word = np.zeros(len(starts), dtype=np.bool_)
        is_word[given.words] = np.diff(given.sentence_of[given.words], prepend=-1) == 0
        starts = given.starts | (starts & is_word)
        return lay_out(docs, np.split(starts, given.doc_starts[1:-1]))

    def log_odds(self, docs: Sequence[Doc], are_found: BoolArray | None = None) -> DoubleArray:
        """Return the log-odds that a sentence starts at each token.

        They are -inf where a Doc says that no sentence starts, and throughout Docs that keep their sentences.

        docs: The Docs.
        are_found: Whether the sentences of each Doc are to be found, bool [docs]; None for all.
        Returns float [tokens of all Docs].
        """
        assert self.boundaries is not None
        tables = [doc.to_array("SENT_START").astype(np.int64) for doc in docs]
        sent_starts = np.concatenate([np.zeros(0, dtype=np.int64), *tables])
        log_odds = np.full(len(sent_starts), -np.inf)
        windows = list(_windows(docs, are_found))
        while windows:
            batch, windows = windows[: TOKENS_AT_ONCE // WINDOW], windows[TOKENS_AT_ONCE // WINDOW :]
            for window, found in zip(batch, self.boundaries.predict(self._texts(batch)), strict=True):
                scores: FloatArray = self.boundaries.ops.to_numpy(found)  # type: ignore[no-untyped-call]
                of_window = scores[window.first : window.first + window.size]
                log_odds[window.place : window.place + window.size] = of_window
        log_odds[sent_starts == -1] = -np.inf
        return log_odds

    def _texts(self, windows: Sequence[Window]) -> tuple[list[Doc], list[Floats2d] | None]:
        """Return what the network of boundaries reads: tokens, and their vectors if the parser has some.

        White space has zeros. If an encoder reads each sentence by itself, its vectors are for later.
        """
        from ..models.types import Sentence

        assert self.boundaries is not None
        docs = [window.seen for window in windows]
        read, n_layers = self.model.attrs.get("read_words"), self.boundaries.attrs.get("n_layers")
        layer = self._layer_before_sentences()
        if layer is not None:
            wholes = {id(window.doc): window.doc for window in windows}
            tokens = dict(zip(wholes, layer.predict([*wholes.values()]), strict=True))
            return docs, [tokens[id(w.doc)][w.start : w.start + len(w.seen)] for w in windows]
        if not (read and n_layers):
            return docs, None
        words = [[token for token in doc if not token.is_space] for doc in docs]
        sentences = [Sentence([token.text for token in of_doc] or ["."]) for of_doc in words]
        vectors = []
        for doc, of_doc, found in zip(docs, words, read(self.model, sentences, n_layers), strict=True):
            of_tokens = self.boundaries.ops.alloc2f(len(doc), found.shape[1])
            of_tokens[[token.i for token in of_doc]] = found[: len(of_doc)]
            vectors.append(of_tokens)
        return docs, vectors

    def _layer_before_sentences(self) -> Model[Any, Any] | None:
        """Return the layer that gives vectors to Docs whose sentences nobody knows, or None."""
        layer = get_tok2vec(self.model)
        # A listener, or the encoder itself after nlp.replace_listeners.
        encoder = getattr(layer, "encoder", layer)
        if encoder is None or self.boundaries is None or not self.boundaries.attrs.get("n_layers"):
            return None
        from ..models.shared_encoder import reads_windows

        return layer if reads_windows(encoder) else None

    # Training

    def initialize_boundaries(self, examples: Iterable[Example]) -> None:
        """Prepare the network of boundaries for training, if some Example has a boundary to learn from."""
        self.cfg.pop(THRESHOLD, None)
        if self.boundaries is None:
            return
        has_start = (example for example in examples if (gold_boundaries(example) == 1).any())
        docs = [example.predicted for example in islice(has_start, EXAMPLES_FOR_SIZES)]
        layer = self._layer_before_sentences()
        if docs and layer is not None:
            # Its vectors are zeros so far.
            layer.initialize(X=docs)
        if docs:
            self.boundaries.initialize(X=self._texts(list(_windows(docs))))
            self.cfg[THRESHOLD] = 0.0

    def update_boundaries(self, examples: Sequence[Example]) -> tuple[float, Any]:
        """Add the gradient of the network of boundaries.

        Returns its loss, summed over tokens, and the gradient for a shared encoder, float [tokens, width];
        None for no gradient.
        """
        if not self.finds_sentences:
            return 0.0, None
        assert self.boundaries is not None
        gold = [gold_boundaries(example) for example in examples]
        are_known = np.array([bool((of_doc >= 0).any()) for of_doc in gold], dtype=np.bool_)
        windows = list(_windows([example.predicted for example in examples], are_known))
        if not windows:
            return 0.0, None
        flat = np.concatenate(gold)
        scores, backprop = self.boundaries.begin_update(self._texts(windows))
        gradients, loss = [], 0.0
        for window, score in zip(windows, scores, strict=True):
            targets = np.full(len(window.seen), -1)
            targets[window.first : window.first + window.size] = flat[
                window.place : window.place + window.size
            ]
            found: FloatArray = self.boundaries.ops.to_numpy(score)  # type: ignore[no-untyped-call]
            log_odds = found.astype(np.float64)
            signs = np.select([targets == 1, targets == 0], [-1.0, 1.0])
            # log(1 + exp(-x)) for starts, log(1 + exp(x)) for others.
            loss += float(np.logaddexp(0.0, signs * log_odds)[signs != 0].sum())
            error = signs / (1.0 + np.exp(-signs * log_odds))
            gradients.append(self.boundaries.ops.asarray1f(error.tolist()))
        _, d_windows = backprop(gradients)
        factor = self.boundaries.attrs.get("grad_factor")
        if not factor or d_windows is None or not hasattr(self._layer_before_sentences(), "encoder"):
            return loss, None
        d_tokens = self.boundaries.ops.alloc2f(len(flat), d_windows[0].shape[1])
        for window, d_window in zip(windows, d_windows, strict=True):
            place = window.place - window.first
            d_tokens[place : place + len(d_window)] += factor * d_window
        return loss, d_tokens

    def finish_update(self, sgd: Optimizer) -> None:
        """Make a step of the optimizer, in the model and in the network of boundaries."""
        super().finish_update(sgd)
        if self.boundaries is not None and self.finds_sentences:
            self.boundaries.finish_update(sgd)

    # Input and output

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save to a folder. Has the file ``boundaries`` if the parser was trained to find sentences."""
        super().to_disk(path, exclude=exclude)
        if self.boundaries is not None and self.finds_sentences and FILE not in exclude:
            self.boundaries.to_disk(Path(path) / FILE)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SentencePipe:
        """Load from a folder. Raises ValueError when a file is missing or not whole."""
        super().from_disk(path, exclude=exclude)
        if self.boundaries is not None and self.finds_sentences and FILE not in exclude:
            file = Path(path) / FILE
            try:
                self.boundaries.from_disk(file)
            except FileNotFoundError as error:
                raise ValueError(Errors.E804.format(path=file, folder=path)) from error
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(Errors.E805.format(path=file, error=error)) from error
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Save to a bytestring."""
        saved: bytes = super().to_bytes(exclude=exclude)
        if self.boundaries is not None and self.finds_sentences and FILE not in exclude:
            saved = srsly.msgpack_dumps({**srsly.msgpack_loads(saved), FILE: self.boundaries.to_bytes()})
        return saved

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> SentencePipe:
        """Load from a bytestring. Raises ValueError when it is not whole."""
        super().from_bytes(bytes_data, exclude=exclude)
        if self.boundaries is not None and self.finds_sentences and FILE not in exclude:
            self.boundaries.from_bytes(srsly.msgpack_loads(bytes_data)[FILE])
        return self


def _windows(docs: Sequence[Doc], are_read: BoolArray | None = None) -> Iterator[Window]:
    """Yield the windows of Docs, or of some of them.

    docs: The Docs.
    are_read: Whether each Doc is read, bool [docs]; None for all.
    """
    place = 0
    for i, doc in enumerate(docs):
        if are_read is None or are_read[i]:
            for start in range(0, len(doc), WINDOW):
                first, size = max(0, start - MARGIN), min(WINDOW, len(doc) - start)
                seen = _part(doc, first, start + size + MARGIN)
                yield Window(place + start, seen, start - first, size, doc, first)
        place += len(doc)


def _part(doc: Doc, start: int, end: int) -> Doc:
    """Return the words of a Doc from a start to an end as a Doc; the Doc itself if that is all of it."""
    if start == 0 and end >= len(doc):
        return doc
    tokens = list(doc[start:end])
    return Doc(doc.vocab, words=[t.text for t in tokens], spaces=[bool(t.whitespace_) for t in tokens])
