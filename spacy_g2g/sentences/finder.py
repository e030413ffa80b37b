"""Find the sentences of Docs without boundaries.

The component that owns an encoder finds sentences before the encoder reads them. Its network of boundaries
reads features of words such as shape, features of the white space and line breaks between words, and vectors
from the encoder's lower layers. It gives the log-odds that a sentence starts at each word. White space does
not count as a word.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, product
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

#: Where sentence boundaries come from: the Doc, the component, or the component if the Doc has none.
Sentences = Literal["given", "predicted", "auto"]
#: Network of boundaries of a new component.
BOUNDARIES: dict[str, Any] = {"@architectures": "spacy_g2g.Boundaries.v2"}
#: Key of ``cfg``: log-odds above which a sentence starts. Only components that find sentences have the key.
THRESHOLD = "sentence_threshold"
#: Key of ``cfg``: log-odds above the threshold that a start in bare text needs, where no mark and no line
#: break ends the sentence before. A wrong start there often cuts a name in two.
PRICE = "bare_start_price"
#: Thresholds and prices among which ``SentenceFinder.fit`` chooses. The price of a new component.
THRESHOLDS = tuple(np.linspace(-3.0, 3.0, 13).tolist())
PRICES, NEW_PRICE = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0), 4.0
#: F1 penalty of a threshold or price per logit from that of a new component, divided by the square root of
#: the number of sentences.
THRESHOLD_PENALTY = 0.3
#: Maximum number of tokens that the network reads at once, unless one Doc has more.
TOKENS_AT_ONCE = 20_000
#: Number of Docs from which the network learns the widths of its inputs.
EXAMPLES_FOR_SIZES = 10
#: File of the network of boundaries, in components that were trained to find sentences.
BOUNDARIES_FILE = "boundaries"


@dataclass(frozen=True, kw_only=True)
class SentenceSettings(CheckedSettings):
    """Settings of components that can find sentences."""

    sentences: Sentences = setting(
        "auto",
        'Where sentence boundaries come from. "given": from the Doc. "predicted": the component sets '
        'those that the Doc leaves open. "auto": it does so in Docs in which no boundary is set.',
    )
    boundaries: Model[Any, Any] | None = setting(
        BOUNDARIES,
        "Network that finds boundaries, such as ``spacy_g2g.Boundaries.v2``. It learns from Docs of several "
        "sentences. With null the component never finds sentences. A parser that listens to a "
        "``g2g_encoder`` does not find sentences, because the encoder finds them.",
    )
    blocks: bool = setting(
        True,
        "End sentences at block boundaries. A block is a paragraph before a blank line, a heading, an item "
        "of a list, a row of a table, or a quotation.",
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
        """Where sentence boundaries come from."""
        return self._sentences

    @sentences.setter
    def sentences(self, value: Sentences) -> None:
        check_choice("sentences", value, hint=Sentences)
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
        """Raise ValueError if the threshold or the price in ``cfg`` is not a number."""
        for key in (THRESHOLD, PRICE):
            value = self.cfg.get(key, 0.0)
            if type(value) not in (int, float) or math.isnan(value):
                raise ValueError(Errors.E865.format(key=key, value=value, expected="a number"))


@dataclass(frozen=True)
class SentenceFinder:
    """Finds the sentences of a component's Docs.

    pipe: The component. Its model has the encoder. Its ``cfg`` has the threshold if the network was trained.
    """

    pipe: SentencePipe

    @property
    def can_learn(self) -> bool:
        """Whether there is a network that can learn. A parser behind a ``g2g_encoder`` comes too late."""
        from ..models.network_shim import find_upstream

        return self.pipe.boundaries is not None and find_upstream(self.pipe.model) is None

    @property
    def trained(self) -> BoundaryModel | None:
        """The network of boundaries; None if it was not trained."""
        return self.pipe.boundaries if THRESHOLD in self.pipe.cfg else None

    # Prediction

    def segment(self, docs: Sequence[Doc]) -> Segmentation:
        """Return the sentences of Docs: their own, or those that the network finds."""
        segmentation = segment(docs)
        sent_starts = segmentation.by_doc(segmentation.sent_start)
        open_docs = [i for i, sent_start in enumerate(sent_starts) if self._is_open(sent_start[1:])]
        if not open_docs:
            return segmentation
        firsts = segmentation.words[segmentation.first_word[:-1][segmentation.n_words > 0]]
        starts = segmentation.starts.copy()
        new_starts: list[BoolArray | None] = [None] * len(docs)
        for i, log_odds in zip(open_docs, self.log_odds([docs[i] for i in open_docs]), strict=True):
            start, end = segmentation.doc_starts[i : i + 2]
            words = segmentation.words[slice(*np.searchsorted(segmentation.words, [start, end]))]
            new = words[log_odds > self.pipe.cfg[THRESHOLD]]
            # A sentence of the Doc may already start at white space before its first word.
            starts[new[~np.isin(new, firsts)]] = True
            new_starts[i] = starts[start:end]
        return segmentation.cut(new_starts)

    def _is_open(self, inner: Any) -> bool:
        """Return whether the network must find the sentences of a Doc.

        inner: ``SENT_START`` of all tokens of the Doc but the first.
        """
        setting = self.pipe.sentences
        is_settled = setting == "given" or (setting == "auto" and 1 in inner)
        return self.trained is not None and not is_settled and 0 in inner

    def log_odds(self, docs: Sequence[Doc]) -> list[DoubleArray]:
        """Return the log-odds that a sentence starts at each word of each Doc, float [words].

        The price of starts in bare text is subtracted. They are -inf where the Doc excludes a boundary, and
        at closing marks, which belong to the sentence before. With ``blocks`` they are inf where a block
        starts.
        """
        assert self.pipe.boundaries is not None
        by_doc: list[DoubleArray] = []
        for batch in _doc_batches(docs):
            segmentation = segment(batch)
            texts, white_space = self._texts(batch, segmentation)
            scores: Any = self.pipe.boundaries.ops.to_numpy(self.pipe.boundaries.predict(texts))  # type: ignore[no-untyped-call]
            scores = scores - self.pipe.cfg.get(PRICE, 0.0) * white_space.is_bare
            log_odds = np.where(white_space.is_block & self.pipe.blocks, np.inf, scores).astype(np.float64)
            _move_behind(log_odds, white_space.is_closing)
            is_excluded = white_space.is_joined | (white_space.is_inside & self.pipe.blocks)
            is_excluded |= segmentation.sent_start[segmentation.words] == -1
            log_odds[is_excluded | _is_inner(batch, segmentation)] = -np.inf
            by_doc += np.split(log_odds, np.cumsum(texts.lengths)[:-1])
        return by_doc

    def _texts(self, docs: Sequence[Doc], segmentation: Segmentation) -> tuple[Texts, WhiteSpace]:
        """Return the input of the network of boundaries, and the white space of the Docs."""
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
        """Prepare the network of boundaries for training if some Example has a boundary inside its text.

        The encoder must be initialized before.
        """
        self.pipe.cfg.pop(THRESHOLD, None)
        if self.pipe.boundaries is None or not self.can_learn:
            return
        has_start = (example for example in examples if (gold_boundaries(example) == 1).any())
        docs = [example.predicted for example in islice(has_start, EXAMPLES_FOR_SIZES)]
        if docs:
            self.pipe.boundaries.initialize(X=self._texts(docs, segment(docs))[0])
            self.pipe.cfg.update({THRESHOLD: 0.0, PRICE: NEW_PRICE})

    def update(self, examples: Sequence[Example], losses: dict[str, float]) -> None:
        """Add the gradient of the network of boundaries. The encoder does not learn from it.

        losses: Gets the loss, summed over words, under the name of the component and "_boundaries".
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
        """Choose the threshold of boundaries and the price of bare text, and store them in the ``cfg``.

        examples: Examples of whole documents that the component has not learned from, with gold boundaries.
            The trees and boundaries of their predicted Docs are ignored.
        Returns the threshold, and the F1 of sentences on the examples.
        """
        docs: list[Doc] = []
        gold_by_doc: list[BoolArray] = []
        for example in examples:
            starts = gold_starts(example)
            if starts is not None:
                docs.append(example.predicted.copy())
                gold_by_doc.append(starts)
        for doc in docs:
            none = np.zeros((len(doc), 3), dtype=np.uint64)
            write_tree(doc, none[:, :2], starts=none[:, 2])
        segmentation = segment(docs)
        gold = concatenate(gold_by_doc, np.bool_)[segmentation.words]
        is_bare = read_white_space(docs, segmentation).is_bare
        self.pipe.cfg[PRICE] = 0.0
        log_odds = concatenate(self.log_odds(docs), np.float64)
        log_odds[np.diff(segmentation.sentence_of[segmentation.words], prepend=-1) > 0] = np.inf
        choices = [*product(THRESHOLDS, PRICES)]
        scores = {(t, p): sentence_f(gold=gold, predicted=log_odds - p * is_bare > t) for t, p in choices}
        # On few sentences the best choice is largely chance, and that of a new component is the safest.
        penalty = THRESHOLD_PENALTY / max(1, int(gold.sum())) ** 0.5
        best = max(choices, key=lambda choice: scores[choice] - penalty * _distance(*choice))
        self.pipe.cfg[THRESHOLD], self.pipe.cfg[PRICE] = best
        return best[0], scores[best]


def _distance(threshold: float, price: float) -> float:
    """Return how many logits a threshold and a price are away from those of a new component."""
    return abs(threshold) + abs(price - NEW_PRICE)


def _move_behind(log_odds: DoubleArray, is_closing: BoolArray) -> None:
    """Move the log-odds of starts at closing marks to the words after them.

    is_closing: Whether each word is such a mark, bool [words].
    """
    for i in np.flatnonzero(is_closing).tolist():
        log_odds[i + 1 : i + 2] = np.maximum(log_odds[i + 1 : i + 2], log_odds[i])
        log_odds[i] = -np.inf


def _is_inner(docs: Sequence[Doc], segmentation: Segmentation) -> BoolArray:
    """Return whether each word is in the same multiword token as the word before it; bool [words]."""
    inner: list[int] = []
    for offset, doc in zip(segmentation.doc_starts.tolist(), docs, strict=False):
        for start, end in multiword_tokens(doc):
            inner += range(offset + start + 1, offset + end)
    return np.isin(segmentation.words, inner)


def _doc_batches(docs: Sequence[Doc]) -> Iterator[list[Doc]]:
    """Split Docs into batches that the network of boundaries reads at once."""
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


def sentence_f(*, gold: BoolArray, predicted: BoolArray) -> float:
    """Return the F1 of sentences. A sentence is right if it starts and ends where a gold sentence does.

    gold: Whether a gold sentence starts at each word, bool [words].
    predicted: Whether a predicted sentence starts at each word, bool [words].
    """
    starts = np.flatnonzero(gold | predicted)
    agrees = np.append((gold & predicted)[starts], True)
    n_right = int((agrees[:-1] & agrees[1:]).sum())
    return 2 * n_right / max(1, int(gold.sum() + predicted.sum()))
