"""Sentences of Docs without boundaries.

The component that owns an encoder finds them, before the encoder reads sentences. Its network of boundaries
reads features of words such as shape, of the white space and line breaks between them, and vectors from the
encoder's lower layers. It gives the log-odds that a sentence starts at a word. White space is no word.
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

from ..arrays import BoolArray, DoubleArray, FloatArray
from ..data.layout import Layout, lay_out, word_attributes
from ..data.lines import WhiteSpace, read_white_space
from ..errors import Errors
from .gold import gold_boundaries
from .saved_pipe import SavedPipe
from .trees import concatenate

if TYPE_CHECKING:
    from ..models.boundaries import BoundaryModel, Texts

#: Whose sentence boundaries a component takes: those of the Doc, its own, or its own where a Doc has none.
Sentences = Literal["given", "predicted", "auto"]
#: Network of boundaries of a new component.
BOUNDARIES: dict[str, Any] = {"@architectures": "spacy_g2g.Boundaries.v2"}
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
    #: Whether a sentence ends where a block does: a paragraph, heading, item of a list or row of a table.
    blocks: bool = True
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
        starts = np.zeros(len(given.starts), dtype=np.bool_)
        starts[given.words] = self.log_odds(docs, are_found) > self.cfg[THRESHOLD]
        # One that was given with white space before its first word starts there.
        starts[given.words[given.first_word[:-1][given.n_words > 0]]] = False
        return lay_out(docs, np.split(given.starts | starts, given.doc_starts[1:-1]))

    def log_odds(self, docs: Sequence[Doc], are_found: BoolArray | None = None) -> DoubleArray:
        """Return the log-odds that a sentence starts at each word.

        They are -inf where a Doc says that no sentence starts, and throughout Docs that keep their sentences.
        They are inf where a block starts, unless ``blocks`` is false.

        docs: The Docs.
        are_found: Whether the sentences of each Doc are to be found, bool [docs]; None for all.
        Returns float [words of all Docs].
        """
        assert self.boundaries is not None
        layout = lay_out(docs)
        log_odds = np.full(len(layout.words), -np.inf)
        firsts = np.searchsorted(layout.words, layout.doc_starts).tolist()
        for batch in _batches(docs, are_found):
            read = [docs[i] for i in batch]
            texts, white_space = self._texts(read)
            scores: FloatArray = self.boundaries.ops.to_numpy(self.boundaries.predict(texts))  # type: ignore[no-untyped-call]
            found = np.where(white_space.is_block & self.blocks, np.inf, scores)
            found[white_space.is_repeated | (white_space.is_inside & self.blocks)] = -np.inf
            for i, of_doc in zip(batch, np.split(found, np.cumsum(texts.lengths)[:-1]), strict=True):
                log_odds[firsts[i] : firsts[i + 1]] = of_doc
        tables = [doc.to_array("SENT_START").astype(np.int64) for doc in docs]
        log_odds[concatenate(tables, np.int64)[layout.words] == -1] = -np.inf
        return log_odds

    def _texts(self, docs: Sequence[Doc]) -> tuple[Texts, WhiteSpace]:
        """Return what the network of boundaries reads, and the white space of the Docs."""
        from ..models.boundaries import ROWS, Texts

        assert self.boundaries is not None
        layout = lay_out(docs)
        edges = np.searchsorted(layout.words, layout.doc_starts)
        attributes = np.concatenate([doc.to_array([*ROWS]) for doc in docs])
        white_space = read_white_space(docs, layout)
        vectors: Any = self.boundaries.ops.alloc2f(len(layout.words), 0)
        read, n_layers = self.model.attrs.get("read_words"), self.boundaries.attrs.get("n_layers")
        if read is not None and n_layers is not None:
            words = word_attributes(docs, layout, "ORTH")
            vectors = read(
                self.model, [words[start:end] for start, end in pairwise(edges.tolist())], n_layers
            )
        features = white_space.features
        return Texts(attributes[layout.words], features, vectors, np.diff(edges)), white_space

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
            self.boundaries.initialize(X=self._texts(docs)[0])
            self.cfg[THRESHOLD] = 0.0

    def update_boundaries(self, examples: Sequence[Example]) -> float:
        """Add the gradient of the network of boundaries, and return its loss, summed over words.

        The encoder does not learn from it.
        """
        if not self.finds_sentences:
            return 0.0
        assert self.boundaries is not None
        docs = [example.predicted for example in examples]
        gold = concatenate([gold_boundaries(example) for example in examples], np.int64)
        gold = gold[lay_out(docs).words]
        if not (gold >= 0).any():
            return 0.0
        texts_and_gold: Any = (self._texts(docs)[0], gold)
        loss: Any
        loss, backprop = self.boundaries.begin_update(texts_and_gold)
        backprop(loss)
        return float(loss)

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
            with self._stored(self.boundaries):
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
