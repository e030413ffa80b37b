"""Sentences of Docs without boundaries.

The component that owns an encoder finds them, before the encoder reads sentences. Its network of boundaries
reads features of tokens such as shape and white space, and vectors from the encoder's lower layers. It gives
the log-odds that a sentence starts at a token.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import srsly
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Optimizer
from thinc.types import Floats2d

from ..arrays import BoolArray, DoubleArray, FloatArray
from ..data.layout import Layout, lay_out, word_attributes
from ..errors import Errors
from .gold import gold_boundaries
from .saved_pipe import SavedPipe

if TYPE_CHECKING:
    from ..models.boundaries import BoundaryModel

#: Whose sentence boundaries a component takes: those of the Doc, its own, or its own where a Doc has none.
Sentences = Literal["given", "predicted", "auto"]
#: Network of boundaries of a new component.
BOUNDARIES: dict[str, Any] = {
    "@architectures": "spacy_g2g.Boundaries.v1",
    "width": 128,
    "n_layers": 0,
    "dropout": 0.3,
    "precision": "auto",
    "embed": {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 48,
        "attrs": ["LOWER", "PREFIX", "SUFFIX", "SHAPE", "SPACY", "IS_SPACE"],
        "rows": [5000, 1000, 2500, 2500, 50, 50],
        "include_static_vectors": False,
    },
}
#: Key of ``cfg`` for the log-odds from which on a sentence starts; absent if the component finds none.
THRESHOLD = "sentence_threshold"
#: File of the network of boundaries.
FILE = "boundaries"
#: Number of tokens for which the network runs at once, unless one Doc has more.
TOKENS_AT_ONCE = 20_000
EXAMPLES_FOR_SIZES = 10


class SentenceFinder(SavedPipe):
    """A component that can find the sentences of Docs."""

    #: Network of boundaries; None if the component never finds sentences.
    boundaries: BoundaryModel | None = None
    _sentences: Sentences = "given"

    @property
    def sentences(self) -> Sentences:
        """Whose sentence boundaries the component takes. It may be changed at any time."""
        return self._sentences

    @sentences.setter
    def sentences(self, value: Sentences) -> None:
        if value not in get_args(Sentences):
            raise ValueError(Errors.E824.format(value=value, expected=get_args(Sentences)))
        self._sentences = value

    @property
    def learns_sentences(self) -> bool:
        """Whether the component learns to find sentences from Docs of several."""
        return self.boundaries is not None

    @property
    def finds_sentences(self) -> bool:
        """Whether the component was trained to find sentences."""
        return self.boundaries is not None and THRESHOLD in self.cfg

    # Prediction

    def are_found(self, docs: Sequence[Doc]) -> BoolArray:
        """Return whether the component finds the sentences of each Doc, bool [docs]."""
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
        ends = np.cumsum([len(doc) for doc in docs])
        for batch in _batches(docs, are_found):
            read = [docs[i] for i in batch]
            for i, scores in zip(batch, self.boundaries.predict(self._texts(read)), strict=True):
                found: FloatArray = self.boundaries.ops.to_numpy(scores)  # type: ignore[no-untyped-call]
                log_odds[ends[i] - len(found) : ends[i]] = found
        log_odds[sent_starts == -1] = -np.inf
        return log_odds

    def _texts(self, docs: Sequence[Doc]) -> tuple[list[Doc], list[Floats2d]]:
        """Return what the network of boundaries reads: Docs, and the vectors of their tokens.

        White space has zeros. Without an encoder, the vectors have the width 0.
        """
        assert self.boundaries is not None
        ops, layout = self.boundaries.ops, lay_out(docs)
        vectors: Any = ops.alloc2f(len(layout.starts), 0)
        read, n_layers = self.model.attrs.get("read_words"), self.boundaries.attrs.get("n_layers")
        if read is not None and n_layers is not None:
            edges = np.searchsorted(layout.words, layout.doc_starts).tolist()
            words = word_attributes(docs, layout, "ORTH")
            found = read(self.model, [words[start:end] for start, end in pairwise(edges)], n_layers)
            vectors = ops.alloc2f(len(layout.starts), found.shape[1])
            vectors[layout.words] = found
        return list(docs), ops.xp.split(vectors, layout.doc_starts[1:-1].tolist())

    # Training

    def initialize_boundaries(self, examples: Iterable[Example]) -> None:
        """Prepare the network of boundaries for training, if some Example has a boundary to learn from.

        The encoder must be there already.
        """
        self.cfg.pop(THRESHOLD, None)
        if not self.learns_sentences:
            return
        assert self.boundaries is not None
        has_start = (example for example in examples if (gold_boundaries(example) == 1).any())
        docs = [example.predicted for example in islice(has_start, EXAMPLES_FOR_SIZES)]
        if docs:
            self.boundaries.initialize(X=self._texts(docs))
            self.cfg[THRESHOLD] = 0.0

    def update_boundaries(self, examples: Sequence[Example]) -> float:
        """Add the gradient of the network of boundaries, and return its loss, summed over tokens.

        The encoder does not learn from it.
        """
        if not self.finds_sentences:
            return 0.0
        assert self.boundaries is not None
        gold = [gold_boundaries(example) for example in examples]
        known = [i for i, of_doc in enumerate(gold) if (of_doc >= 0).any()]
        if not known:
            return 0.0
        scores, backprop = self.boundaries.begin_update(self._texts([examples[i].predicted for i in known]))
        gradients, loss = [], 0.0
        for i, score in zip(known, scores, strict=True):
            found: FloatArray = self.boundaries.ops.to_numpy(score)  # type: ignore[no-untyped-call]
            log_odds = found.astype(np.float64)
            signs = np.select([gold[i] == 1, gold[i] == 0], [-1.0, 1.0])
            # log(1 + exp(-x)) for starts, log(1 + exp(x)) for others.
            loss += float(np.logaddexp(0.0, signs * log_odds)[signs != 0].sum())
            error = signs / (1.0 + np.exp(-signs * log_odds))
            gradients.append(self.boundaries.ops.asarray1f(error.tolist()))
        backprop(gradients)
        return loss

    def finish_update(self, sgd: Optimizer) -> None:
        """Make a step of the optimizer, in the model and in the network of boundaries."""
        super().finish_update(sgd)
        if self.boundaries is not None and self.finds_sentences:
            self.boundaries.finish_update(sgd)

    # Input and output

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save to a folder. Has the file ``boundaries`` if the component was trained to find sentences."""
        super().to_disk(path, exclude=exclude)
        if self.boundaries is not None and self.finds_sentences and FILE not in exclude:
            self.boundaries.to_disk(Path(path) / FILE)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SentenceFinder:
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

    def from_bytes(self, bytes_data: bytes, *, exclude: Iterable[str] = ()) -> SentenceFinder:
        """Load from a bytestring. Raises ValueError when it is not whole."""
        super().from_bytes(bytes_data, exclude=exclude)
        if self.boundaries is not None and self.finds_sentences and FILE not in exclude:
            self.boundaries.from_bytes(srsly.msgpack_loads(bytes_data)[FILE])
        return self


def _batches(docs: Sequence[Doc], are_read: BoolArray | None) -> Iterator[list[int]]:
    """Yield the numbers of Docs that the network of boundaries reads at once.

    docs: The Docs.
    are_read: Whether each Doc is read, bool [docs]; None for all.
    """
    batch: list[int] = []
    n_tokens = 0
    for i, doc in enumerate(docs):
        if len(doc) and (are_read is None or are_read[i]):
            if batch and n_tokens + len(doc) > TOKENS_AT_ONCE:
                yield batch
                batch, n_tokens = [], 0
            batch.append(i)
            n_tokens += len(doc)
    if batch:
        yield batch
