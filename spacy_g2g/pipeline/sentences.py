"""Sentences of Docs without boundaries: a light network finds them, and trees decide the doubtful ones.

The network of boundaries sees letter case, shape, punctuation and white space. It gives the log-odds that a
sentence starts at a token. Where they are doubtful, both readings are parsed: the two sentences, and the one
that joins them. The score of a reading is the sum of its boundaries' log-odds, and of the log-probabilities
of the heads and labels in its trees by a weight.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
import srsly
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model, Optimizer, set_dropout_rate
from thinc.types import Floats2d

from ..arrays import BoolArray, DoubleArray, FloatArray
from ..data.layout import Layout, lay_out
from ..errors import Errors
from ..parsing.sentences import Row, best_boundaries, find_rows
from .answers import AnsweringPipe
from .gold import gold_boundaries
from .layout import ParsedBatch, make_sentences
from .long_sentences import part

if TYPE_CHECKING:
    from ..models.types import Parse

#: Whose sentence boundaries a parser takes: those of the Doc, its own, or its own where a Doc has none.
Sentences = Literal["given", "predicted", "auto"]
#: Network of boundaries: probabilities of no start and of a start, float [tokens, 2], for each Doc.
BoundaryModel = Model[list[Doc], list[Floats2d]]
#: Parses of possible sentences, by their first word and the word after them, counted over all Docs.
Known = dict[tuple[int, int], "Parse"]
#: Network of boundaries of a new component.
BOUNDARIES: dict[str, Any] = {
    "@architectures": "spacy.Tagger.v2",
    "nO": None,
    "normalize": True,
    "tok2vec": {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": {
            "@architectures": "spacy.MultiHashEmbed.v2",
            "width": 48,
            "attrs": ["LOWER", "PREFIX", "SUFFIX", "SHAPE", "SPACY", "IS_SPACE"],
            "rows": [5000, 1000, 2500, 2500, 50, 50],
            "include_static_vectors": False,
        },
        "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            "width": 48,
            "depth": 3,
            "window_size": 1,
            "maxout_pieces": 3,
        },
    },
}
#: Key of ``cfg`` for ``Decision``; absent if the parser was not trained to find sentences.
DECISION = "sentences"
#: File of the network of boundaries.
FILE = "boundaries"
#: Number of tokens that the network reads at once, and of those before and after them that it sees, too.
WINDOW, MARGIN = 20_000, 100
#: Least probability, which keeps logarithms finite.
LEAST = 1e-7
#: Weight of trees before it is fitted.
TREE_WEIGHT = 0.5
EXAMPLES_FOR_SIZES = 10


class Decision(NamedTuple):
    """How boundaries are decided.

    threshold: Log-odds from which on a sentence starts.
    tree_weight: Weight of the log-probabilities of heads in doubtful cases. With 0 trees decide nothing.
    """

    threshold: float = 0.0
    tree_weight: float = 0.0


class SentencePipe(AnsweringPipe):
    """A parser that can find the sentences of Docs."""

    #: Network of boundaries; None if the parser never finds sentences.
    boundaries: BoundaryModel | None = None
    #: Boundaries with log-odds this near to the threshold are doubtful.
    doubt: float = 0.0
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
        return self.boundaries is not None and DECISION in self.cfg

    @property
    def decision(self) -> Decision:
        """How boundaries are decided."""
        return Decision(*self.cfg.get(DECISION, ()))

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
        layout, known = self.find_sentences(docs, are_found)
        sentences, _ = self._with_vectors(self.inputs(docs, layout), docs, layout)
        # What was parsed to decide a boundary is not parsed again.
        parses = [
            None if sentence.constraints or sentence.keep_scores else known.get((at.start, at.stop))
            for sentence, at in zip(sentences, layout.sentence_slices, strict=True)
        ]
        rest = [sentence for sentence, parse in zip(sentences, parses, strict=True) if parse is None]
        others = iter(self.parse(rest) if rest else [])
        return ParsedBatch(layout, [next(others) if parse is None else parse for parse in parses])

    def _are_found(self, docs: Sequence[Doc]) -> BoolArray:
        """Return whether the parser finds the sentences of each Doc, bool [docs]."""
        found = np.zeros(len(docs), dtype=np.bool_)
        if self.finds_sentences and self.sentences != "given":
            for i, doc in enumerate(docs):
                inner = doc.to_array("SENT_START")[1:].astype(np.int64)
                is_given = self.sentences == "auto" and bool((inner == 1).any())
                found[i] = not is_given and bool((inner == 0).any())
        return found

    def find_sentences(self, docs: Sequence[Doc], are_found: BoolArray) -> tuple[Layout, Known]:
        """Return the layout of the sentences, and the parses that were made to decide about them.

        docs: The Docs.
        are_found: Whether the sentences of each Doc are to be found, bool [docs]. The others keep theirs.
        """
        decision = self.decision
        given = lay_out(docs)
        opens = np.diff(given.sentence_of[given.words], prepend=-1) > 0
        log_odds = self.log_odds(docs, are_found)[given.words] - decision.threshold
        log_odds[opens] = np.inf
        is_start, rows = find_rows(log_odds, self.doubt if decision.tree_weight else 0.0)
        known = self.parse_spans(docs, [span for row in rows for span in row.spans])
        decide(is_start, log_odds, rows, known, decision.tree_weight)
        starts = given.starts.copy()
        starts[given.words[is_start & ~opens]] = True
        return lay_out(docs, np.split(starts, given.doc_starts[1:-1])), known

    def log_odds(self, docs: Sequence[Doc], are_found: BoolArray | None = None) -> DoubleArray:
        """Return the log-odds that a sentence starts at each token, by the network of boundaries alone.

        They are -inf where a Doc says that no sentence starts, and throughout Docs that keep their sentences.

        docs: The Docs.
        are_found: Whether the sentences of each Doc are to be found, bool [docs]; None for all.
        Returns float [tokens of all Docs].
        """
        tables = [doc.to_array("SENT_START").astype(np.int64) for doc in docs]
        sent_starts = np.concatenate([np.zeros(0, dtype=np.int64), *tables])
        log_odds = np.full(len(sent_starts), -np.inf)
        places = np.cumsum([0, *map(len, docs)]).tolist()
        windows: list[tuple[int, Doc, int]] = [
            (place + start, doc, start)
            for i, (place, doc) in enumerate(zip(places, docs, strict=False))
            if are_found is None or are_found[i]
            for start in range(0, len(doc), WINDOW)
        ]
        while windows:
            batch = [windows.pop()]
            room = WINDOW - len(batch[0][1])
            while windows and (room := room - len(windows[-1][1])) >= 0:
                batch.append(windows.pop())
            found = self._log_odds_of_windows([(doc, start) for _, doc, start in batch])
            for (place, _, _), of_window in zip(batch, found, strict=True):
                log_odds[place : place + len(of_window)] = of_window
        log_odds[sent_starts == -1] = -np.inf
        return log_odds

    def _log_odds_of_windows(self, windows: Sequence[tuple[Doc, int]]) -> list[DoubleArray]:
        """Return the log-odds of up to WINDOW tokens of Docs from starts, seen with those around them."""
        assert self.boundaries is not None
        seen = [_with_margins(doc, start) for doc, start in windows]
        found = []
        for (doc, start), probs in zip(windows, self.boundaries.predict(seen), strict=True):
            logs = np.log(np.maximum(_to_numpy(self.boundaries, probs).astype(np.float64), LEAST))
            first = start - max(0, start - MARGIN)
            found.append((logs[:, 1] - logs[:, 0])[first : first + min(WINDOW, len(doc) - start)])
        return found

    def parse_spans(self, docs: Sequence[Doc], spans: Sequence[tuple[int, int]]) -> Known:
        """Parse possible sentences: words from a start to an end, counted over all Docs."""
        if not spans:
            return {}
        layout = lay_out(docs, [np.arange(len(doc)) == 0 for doc in docs])
        whole, _ = self._with_vectors(
            make_sentences(docs, layout, self.model.attrs.get("tag_attr")), docs, layout
        )
        firsts = [at.start for at in layout.sentence_slices]
        parts = []
        for start, end in spans:
            place = bisect_right(firsts, start) - 1
            parts.append(part(whole[place], start - firsts[place], end - firsts[place]))
        return dict(zip(spans, self.parse(parts), strict=True))

    # Training

    def initialize_boundaries(self, examples: Iterable[Example]) -> None:
        """Prepare the network of boundaries for training, if some Example has a boundary to learn from."""
        self.cfg.pop(DECISION, None)
        if self.boundaries is None:
            return
        has_start = (example for example in examples if (gold_boundaries(example) == 1).any())
        docs = [example.predicted for example in islice(has_start, EXAMPLES_FOR_SIZES)]
        if docs:
            self.boundaries.initialize(X=docs, Y=[self.boundaries.ops.alloc2f(len(doc), 2) for doc in docs])
            self.cfg[DECISION] = [*Decision(tree_weight=TREE_WEIGHT)]

    def update_boundaries(self, examples: Sequence[Example], drop: float) -> float:
        """Add the gradient of the network of boundaries, and return its loss, summed over tokens."""
        if self.boundaries is None or not self.finds_sentences:
            return 0.0
        gold = [gold_boundaries(example) for example in examples]
        docs = [example.predicted for example in examples]
        known = [i for i, of_doc in enumerate(gold) if (of_doc >= 0).any()]
        if not known:
            return 0.0
        set_dropout_rate(self.boundaries, drop)
        found, backprop = self.boundaries.begin_update([docs[i] for i in known])
        gradients, loss, ops = [], 0.0, self.boundaries.ops
        for probs, i in zip(found, known, strict=True):
            starts, is_known = gold[i] == 1, gold[i] >= 0
            of_start = _to_numpy(self.boundaries, probs)[:, 1]
            of_gold = np.where(starts, of_start, 1.0 - of_start)[is_known]
            loss -= float(np.log(np.maximum(of_gold, LEAST)).sum())
            error = np.where(is_known, of_start - starts, 0.0).astype(np.float32)
            gradients.append(ops.asarray2f(np.stack([-error, error], axis=1)))  # type: ignore[arg-type]
        backprop(gradients)
        return loss

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


def _with_margins(doc: Doc, start: int) -> Doc:
    """Return a Doc, or the words of a long one from a start for WINDOW tokens, with those around them."""
    if len(doc) <= WINDOW:
        return doc
    tokens = list(doc[max(0, start - MARGIN) : start + WINDOW + MARGIN])
    spaces = [bool(token.whitespace_) for token in tokens]
    return Doc(doc.vocab, words=[token.text for token in tokens], spaces=spaces)


def _to_numpy(model: BoundaryModel, probs: Floats2d) -> FloatArray:
    found: FloatArray = model.ops.to_numpy(probs)  # type: ignore[no-untyped-call]
    return found


def decide(
    is_start: BoolArray, log_odds: DoubleArray, rows: Iterable[Row], known: Known, tree_weight: float
) -> None:
    """Set which doubtful boundaries are real.

    is_start: Whether a sentence starts at each word, bool [words]; changed in place.
    log_odds: Log-odds above the threshold that a sentence starts at each word, float [words].
    rows: The doubtful boundaries.
    known: Parses of all possible sentences of the rows.
    tree_weight: Weight of the trees.
    """
    for row in rows:
        inner = row.edges[1:-1]
        scores = tree_weight * tree_scores(row, known)
        is_start[inner] = best_boundaries(log_odds[inner].tolist(), scores)


def tree_scores(row: Row, known: Known) -> DoubleArray:
    """Return the log-probability of the tree from edge i to edge j, float [edges, edges].

    It is the sum over heads and labels, each by itself. All readings have the same words, so sums compare.
    """
    n = len(row.edges)
    scores = np.zeros((n, n))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    for (i, j), span in zip(pairs, row.spans, strict=True):
        parse = known[span]
        probs = np.stack([parse.head_probs, parse.label_probs]).astype(np.float64)
        scores[i, j] = np.log(np.maximum(probs, LEAST)).sum()
    return scores
