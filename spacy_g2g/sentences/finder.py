"""Sentences of Docs without boundaries.

The component that owns an encoder finds them, before the encoder reads sentences. Its network of boundaries
reads features of words such as shape, of the white space and line breaks between them, and vectors from the
encoder's lower layers. It gives the log-odds that a sentence starts at a word. White space is no word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from ..arrays import BoolArray, DoubleArray
from ..data.docs import write_tree
from ..data.gold import gold_boundaries, gold_starts
from ..data.multiword import attribute_hashes, multiword_tokens
from ..data.segmentation import Segmentation, segment, word_attributes
from ..errors import Errors
from ..models.settings import CheckedSettings, check_choice, setting
from ..pipeline.saved_pipe import SavedPipe
from ..pipeline.trees import concatenate
from .lines import WhiteSpace, read_white_space

if TYPE_CHECKING:
    from .boundary_network import BoundaryModel, Texts

#: Whose sentence boundaries a component takes: those of the Doc, its own, or its own where a Doc has none.
Sentences = Literal["given", "predicted", "auto"]
#: Network of boundaries of a new component.
BOUNDARIES: dict[str, Any] = {"@architectures": "spacy_g2g.Boundaries.v2"}
#: Key of ``cfg`` for the log-odds from which on a sentence starts; absent if the component finds none.
THRESHOLD = "sentence_threshold"
#: Thresholds that are tried when it is fitted.
THRESHOLDS = tuple(np.linspace(-3.0, 3.0, 13).tolist())
#: F1 that a threshold must gain for each unit away from even odds, times the root of the number of sentences.
THRESHOLD_PENALTY = 0.15
#: Number of tokens for which the network runs at once, unless one Doc has more.
TOKENS_AT_ONCE = 20_000
EXAMPLES_FOR_SIZES = 10
#: File of the network of boundaries, which a component has that was trained to find sentences.
BOUNDARIES_FILE = "boundaries"


@dataclass(frozen=True, kw_only=True)
class SentenceSettings(CheckedSettings):
    """Settings of components that can find sentences."""

    sentences: Sentences = setting(
        "auto",
        'Whose sentence boundaries are taken. "given": those of the Doc. "predicted": the component sets '
        'those that the Doc leaves open. "auto": it does so in Docs in which no boundary is set.',
    )
    boundaries: Model[Any, Any] | None = setting(
        BOUNDARIES,
        "Network that finds boundaries, such as ``spacy_g2g.Boundaries.v2``. It learns from Docs of several "
        "sentences. With null the component never finds sentences. Nor does a parser that listens to a "
        "``g2g_encoder``, which finds them itself.",
    )
    blocks: bool = setting(
        True,
        "Let a found sentence end with its block: a paragraph before a blank line, a heading, an item of a "
        "list, a row of a table, a quotation.",
    )


class SentencePipe(SavedPipe):
    """A component that reads sentences: those of a Doc, or those that its ``finder`` finds.

    Its settings are those of ``SentenceSettings``. They may be changed at any time.
    """

    cfg: dict[str, Any]
    boundaries: BoundaryModel | None = None
    blocks = True
    _sentences: Sentences = "given"

    @property
    def sentences(self) -> Sentences:
        """Whose sentence boundaries the component takes."""
        return self._sentences

    @sentences.setter
    def sentences(self, value: Sentences) -> None:
        check_choice("sentences", value, Sentences)
        self._sentences = value

    @property
    def finder(self) -> SentenceFinder:
        """Finds the sentences of Docs, and learns to find them."""
        return SentenceFinder(self)

    @property
    def further_models(self) -> Mapping[str, Model[Any, Any]]:
        """The network of boundaries, if it was trained."""
        trained = self.finder.trained
        return {} if trained is None else {BOUNDARIES_FILE: trained}

    def _after_loading(self, origin: Any, exclude: Iterable[str]) -> None:  # noqa: ARG002
        """Raise ValueError if the threshold in ``cfg`` is not a number."""
        threshold = self.cfg.get(THRESHOLD, 0.0)
        if type(threshold) not in (int, float) or math.isnan(threshold):
            raise ValueError(Errors.E865.format(key=THRESHOLD, value=threshold, expected="a number"))


@dataclass(frozen=True)
class SentenceFinder:
    """Finds the sentences of a component's Docs.

    pipe: The component. Its model has the encoder. Its ``cfg`` has the threshold if the network was trained.
    """

    pipe: SentencePipe

    @property
    def can_learn(self) -> bool:
        """Whether there is a network that can learn. Behind a ``g2g_encoder`` it is too late for that."""
        from ..models.network_shim import find_upstream

        return self.pipe.boundaries is not None and find_upstream(self.pipe.model) is None

    @property
    def trained(self) -> BoundaryModel | None:
        """The network of boundaries, if it was trained."""
        return self.pipe.boundaries if THRESHOLD in self.pipe.cfg else None

    # Prediction

    def segment(self, docs: Sequence[Doc]) -> Segmentation:
        """Return where the sentences of Docs are: their own, or those that are found."""
        segmentation = segment(docs)
        known = segmentation.by_doc(segmentation.sent_start)
        chosen = [i for i, of_doc in enumerate(known) if self._is_open(of_doc[1:])]
        if not chosen:
            return segmentation
        firsts = segmentation.words[segmentation.first_word[:-1][segmentation.n_words > 0]]
        starts = segmentation.starts.copy()
        found: list[BoolArray | None] = [None] * len(docs)
        for i, log_odds in zip(chosen, self.log_odds([docs[i] for i in chosen]), strict=True):
            start, end = segmentation.doc_starts[i : i + 2]
            words = segmentation.words[slice(*np.searchsorted(segmentation.words, [start, end]))]
            # One that was given with white space before its first word starts there.
            new = words[log_odds > self.pipe.cfg[THRESHOLD]]
            starts[new[~np.isin(new, firsts)]] = True
            found[i] = starts[start:end]
        return segmentation.cut(found)

    def _is_open(self, inner: Any) -> bool:
        """Return whether the sentences of a Doc are to be found, by the boundaries at its inner tokens."""
        if (
            self.trained is None
            or self.pipe.sentences == "given"
            or (self.pipe.sentences == "auto" and 1 in inner)
        ):
            return False
        return 0 in inner

    def log_odds(self, docs: Sequence[Doc]) -> list[DoubleArray]:
        """Return the log-odds that a sentence starts at each word of each Doc, float [words].

        They are -inf where a Doc says that no sentence starts. They are inf where a block starts, unless
        ``blocks`` is false.
        """
        assert self.pipe.boundaries is not None
        found: list[DoubleArray] = []
        for batch in _doc_batches(docs):
            segmentation = segment(batch)
            texts, white_space = self._texts(batch, segmentation)
            scores: Any = self.pipe.boundaries.ops.to_numpy(self.pipe.boundaries.predict(texts))  # type: ignore[no-untyped-call]
            log_odds = np.where(white_space.is_block & self.pipe.blocks, np.inf, scores).astype(np.float64)
            ruled_out = (
                white_space.is_repeated
                | (white_space.is_inside & self.pipe.blocks)
                | _is_inner(batch, segmentation)
            )
            log_odds[ruled_out | (segmentation.sent_start[segmentation.words] == -1)] = -np.inf
            found += np.split(log_odds, np.cumsum(texts.lengths)[:-1])
        return found

    def _texts(self, docs: Sequence[Doc], segmentation: Segmentation) -> tuple[Texts, WhiteSpace]:
        """Return what the network of boundaries reads, and the white space of the Docs."""
        from .boundary_network import ROWS, Texts

        assert self.pipe.boundaries is not None
        edges = np.searchsorted(segmentation.words, segmentation.doc_starts)
        attributes = np.concatenate([attribute_hashes(doc, [*ROWS]) for doc in docs])
        white_space = read_white_space(docs, segmentation)
        vectors: Any = self.pipe.boundaries.ops.alloc2f(len(segmentation.words), 0)
        read, n_layers = self.pipe.model.attrs.get("read_words"), self.pipe.boundaries.attrs.get("n_layers")
        if read is not None and n_layers is not None:
            words = word_attributes(docs, segmentation, "ORTH")
            texts = [words[start:end] for start, end in pairwise(edges.tolist())]
            vectors = read(self.pipe.model, texts, n_layers)
        features = white_space.features
        return Texts(attributes[segmentation.words], features, vectors, np.diff(edges)), white_space

    # Training

    def initialize(self, examples: Iterable[Example]) -> None:
        """Prepare the network of boundaries for training, if some Example has a boundary to learn from.

        The encoder must be there already.
        """
        self.pipe.cfg.pop(THRESHOLD, None)
        if self.pipe.boundaries is None or not self.can_learn:
            return
        has_start = (example for example in examples if (gold_boundaries(example) == 1).any())
        docs = [example.predicted for example in islice(has_start, EXAMPLES_FOR_SIZES)]
        if docs:
            self.pipe.boundaries.initialize(X=self._texts(docs, segment(docs))[0])
            self.pipe.cfg[THRESHOLD] = 0.0

    def update(self, examples: Sequence[Example], losses: dict[str, float]) -> None:
        """Add the gradient of the network of boundaries. The encoder does not learn from it.

        losses: Gets the loss, summed over words, under a name of its own: that of the component with
            "_boundaries".
        """
        if self.trained is None:
            return
        key = f"{self.pipe.name}_boundaries"
        losses.setdefault(key, 0.0)
        docs = [example.predicted for example in examples]
        segmentation = segment(docs)
        gold = concatenate([gold_boundaries(example) for example in examples], np.int64)[segmentation.words]
        if not (gold >= 0).any():
            return
        texts_and_gold: Any = (self._texts(docs, segmentation)[0], gold)
        loss: Any
        loss, backprop = self.trained.begin_update(texts_and_gold)
        backprop(loss)
        losses[key] += float(loss)

    def fit(self, examples: Iterable[Example]) -> tuple[float, float]:
        """Fit the threshold of boundaries, and keep it with the component.

        examples: Examples of whole documents that were not trained on, with gold boundaries. The trees and
            boundaries of their predicted Docs do not count.
        Returns the threshold, and the F1 of sentences on the examples.
        """
        pairs = [(example.predicted.copy(), gold_starts(example)) for example in examples]
        docs = [doc for doc, starts in pairs if starts is not None]
        for doc in docs:
            write_tree(doc, np.zeros((len(doc), 2), dtype=np.uint64), np.zeros(len(doc), dtype=np.uint64))
        segmentation = segment(docs)
        gold = concatenate([starts for _, starts in pairs if starts is not None], np.bool_)[
            segmentation.words
        ]
        log_odds = concatenate(self.log_odds(docs), np.float64)
        log_odds[np.diff(segmentation.sentence_of[segmentation.words], prepend=-1) > 0] = np.inf
        f_of = {threshold: sentence_f(gold, log_odds > threshold) for threshold in THRESHOLDS}
        # What few sentences say of a threshold is largely chance, and even odds are the safest.
        price = THRESHOLD_PENALTY / max(1, int(gold.sum())) ** 0.5
        best = max(THRESHOLDS, key=lambda threshold: f_of[threshold] - price * abs(threshold))
        self.pipe.cfg[THRESHOLD] = best
        return best, f_of[best]


def _is_inner(docs: Sequence[Doc], segmentation: Segmentation) -> BoolArray:
    """Return whether each word goes on with the multiword token of the word before it; bool [words]."""
    pairs = zip(segmentation.doc_starts.tolist(), docs, strict=False)
    inner = [
        at + i for at, doc in pairs for start, end in multiword_tokens(doc) for i in range(start + 1, end)
    ]
    return np.isin(segmentation.words, inner)


def _doc_batches(docs: Sequence[Doc]) -> Iterator[list[Doc]]:
    """Cut Docs into batches that the network of boundaries reads at once."""
    batch: list[Doc] = []
    n_tokens = 0
    for doc in docs:
        if batch and n_tokens + len(doc) > TOKENS_AT_ONCE:
            yield batch
            batch, n_tokens = [], 0
        batch.append(doc)
        n_tokens += len(doc)
    if batch:
        yield batch


def sentence_f(gold: BoolArray, found: BoolArray) -> float:
    """Return the F1 of sentences. A sentence is right if it starts and ends as a gold one.

    gold: Whether a gold sentence starts at each word, bool [words].
    found: The same of found sentences, bool [words].
    """
    return 2 * n_right(gold, found) / max(1, int(gold.sum() + found.sum()))


def n_right(gold: BoolArray, found: BoolArray) -> int:
    """Return the number of sentences that start and end as gold ones; see ``sentence_f``."""
    both = np.flatnonzero(gold | found)
    agrees = np.append((gold & found)[both], True)
    return int((agrees[:-1] & agrees[1:]).sum())
