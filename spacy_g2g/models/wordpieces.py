"""Split words into pieces, and batch sentences as padded rows.

A row is ``CLS ROOT pieces SEP``; some networks read rows without ROOT. A sentence may have more pieces than
the encoder has positions. Then each word keeps its first k pieces, for the largest k that fits. If even one
piece per word is too much, the sentence becomes several rows, overlapping windows of words. The vector of a
word then comes from the row in which the shorter side of its context is longest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from tokenizers import Tokenizer

from ..arrays import IntArray
from ..errors import Errors
from ..layers.checkpoints.families import SPECIAL_PIECES
from .batch import PieceBatch
from .types import Coverage, Sentence, pad_trees

N_FRAME_PIECES = 3  # CLS, ROOT and SEP; rows without ROOT leave its place free
#: Words that vocabularies lack. Normalizers may drop the first; the second is too long for wordpieces.
UNKNOWN_WORDS = ("\U000f0000", "\ua66e" * 1000)
#: Words that show how a tokenizer treats spaces.
PROBES = ("a", "e", "1", ".")
MAX_CACHED_WORDS = 100_000
# Words of special pieces.
NO_WORD, ROOT = -1, 0
# Tag ids: special pieces have no tag, then the vectors of missing and of unknown tags.
NO_TAG, MISSING_TAG, UNKNOWN_TAG, N_SPECIAL_TAGS = 0, 1, 2, 3


@dataclass
class _Row:
    """One row before padding: pieces, their tags and words; and its words with their positions in the row."""

    pieces: list[int]
    tags: list[int]
    words_of_pieces: list[int]
    words: list[int]
    positions: list[int]


class WordPieces:
    """Table of the pieces of words. A tokenizer of ``tokenizers`` splits one word at a time.

    tokenizer: Content of a ``tokenizer.json``.
    n_positions: Number of positions of the encoder.
    root_id: Piece id of ROOT, the first id after the encoder's vocabulary.
    tags: Tags with a vector; None for a parser that does not read tags.
    has_root: Whether rows have ROOT as their second piece.
    Raises ValueError when the tokenizer has no special pieces of a known family in the encoder's vocabulary.
    """

    def __init__(
        self,
        tokenizer: str,
        n_positions: int,
        root_id: int,
        tags: Sequence[str] | None,
        *,
        has_root: bool = True,
    ) -> None:
        self.tokenizer = load_tokenizer(tokenizer)
        self.prefix = find_prefix(self.tokenizer)
        self.max_pieces = n_positions - N_FRAME_PIECES
        self.root_id = root_id
        self.has_root = has_root
        self.cls_id, self.sep_id, self.pad_id, self.unk_id = _special_ids(self.tokenizer, root_id)
        self.tag_ids = None if tags is None else {tag: i + N_SPECIAL_TAGS for i, tag in enumerate(tags)}
        self._pieces: dict[str, tuple[int, ...]] = {}

    def split(
        self, sentences: Sequence[Sentence], unknown: Collection[str] = ()
    ) -> list[list[tuple[int, ...]]]:
        """Split each word into piece ids. A word without pieces becomes one unknown piece.

        A piece beyond the encoder's vocabulary also becomes an unknown piece.

        unknown: Words that become one unknown piece.
        """
        if len(self._pieces) > MAX_CACHED_WORDS:
            # Not cleared: another thread may read the table.
            self._pieces = {}
        table = self._pieces
        words = {*chain.from_iterable(sentence.words for sentence in sentences)}
        for word in words - table.keys():
            # Each word is a separate sequence, so that its pieces do not depend on other words. The threads
            # of ``encode_batch`` would not survive the fork of ``nlp.pipe(n_process=2)``.
            ids = encode(self.tokenizer, self.prefix + word)
            table[word] = tuple(i if i < self.root_id else self.unk_id for i in ids) or (self.unk_id,)
        pieces = {word: (self.unk_id,) if word in unknown else table[word] for word in words}
        return [[*map(pieces.__getitem__, sentence.words)] for sentence in sentences]

    def unknown_words(self, sentences: Sequence[Sentence]) -> Counter[str]:
        """Return the words that have an unknown piece, with their frequencies."""
        pieces = chain.from_iterable(self.split(sentences))
        words = chain.from_iterable(sentence.words for sentence in sentences)
        return Counter(word for word, ids in zip(words, pieces, strict=True) if self.unk_id in ids)

    def batches(
        self, sentences: Sequence[Sentence], max_padded: int, unknown: Collection[str] = ()
    ) -> Iterator[tuple[list[int], PieceBatch]]:
        """Batch sentences with similar numbers of pieces, the longest first.

        sentences: The sentences.
        max_padded: Maximum number of pieces of a batch, with padding. A longer sentence is a separate batch.
        unknown: Words that become one unknown piece.
        Yields the indices of each batch's sentences in the input, and the batch.
        """
        split = self.split(sentences, unknown)
        widths = [min(sum(map(len, pieces)), self.max_pieces) + N_FRAME_PIECES for pieces in split]
        order = sorted(range(len(sentences)), key=lambda i: (-widths[i], i))
        groups: list[list[int]] = []
        n_rows = 0
        for i in order:
            n_windows = len(_windows(len(split[i]), self.max_pieces))
            if not groups or (n_rows + n_windows) * widths[groups[-1][0]] > max_padded:
                groups.append([])
                n_rows = 0
            groups[-1].append(i)
            n_rows += n_windows
        for members in groups:
            own = [sentences[i] for i in members]
            yield members, self.batch(own, [split[i] for i in members])

    def batch(
        self, sentences: Sequence[Sentence], split: Sequence[list[tuple[int, ...]]] | None = None
    ) -> PieceBatch:
        """Make one batch of all the sentences, in their order."""
        split = self.split(sentences) if split is None else split
        fitted = [_fit(pieces, self.max_pieces) for pieces in split]
        rows = []
        for sentence, (pieces, _) in zip(sentences, fitted, strict=True):
            windows = _windows(len(pieces), self.max_pieces)
            rows.append([self._row(pieces, sentence.tags, *window) for window in windows])
        flat = [*chain.from_iterable(rows)]
        piece_ids = [row.pieces for row in flat]
        tags = [row.tags for row in flat]
        words = [row.words_of_pieces for row in flat]
        n_rows = [len(sentence_rows) for sentence_rows in rows]
        lengths = np.array([len(row) for row in piece_ids], dtype=np.int64)
        width = int(lengths.max())
        n_words = np.array([len(pieces) for pieces, _ in fitted], dtype=np.int64)
        word_index = np.zeros((len(sentences), int(n_words.max()) + 1), dtype=np.int64)
        offset = 0
        for i, sentence_rows in enumerate(rows):
            word_index[i, 0] = offset + 1 if self.has_root else 0
            _place_words(word_index[i], sentence_rows, offset, width)
            offset += width * len(sentence_rows)
        coverages = [coverage for _, coverage in fitted]
        graphs = [sentence.graph for sentence in sentences]
        heads, labels = None, None
        if any(graph is not None for graph in graphs):
            heads, labels = pad_trees(graphs, int(n_words.max()))
        return PieceBatch(
            piece_ids=_pad_rows(piece_ids, width, self.pad_id),
            lengths=lengths,
            word_index=word_index,
            n_words=n_words,
            tag_ids=None if self.tag_ids is None else _pad_rows(tags, width, NO_TAG),
            coverages=coverages,
            sentences=sentences,
            sentence_of=np.repeat(np.arange(len(rows)), n_rows),
            words=_pad_rows(words, width, NO_WORD),
            heads=heads,
            labels=labels,
        )

    def _row(self, pieces: list[tuple[int, ...]], tags: Sequence[str] | None, start: int, end: int) -> _Row:
        """Return CLS, ROOT if wanted, the pieces of the words from start to end, and SEP."""
        row = _Row([self.cls_id], [NO_TAG], [NO_WORD], list(range(start + 1, end + 1)), [])
        if self.has_root:
            row.pieces.append(self.root_id)
            row.tags.append(NO_TAG)
            row.words_of_pieces.append(ROOT)
        for word in range(start, end):
            row.positions.append(len(row.pieces))
            row.pieces.extend(pieces[word])
            row.words_of_pieces.extend([word + 1] * len(pieces[word]))
            if self.tag_ids is not None:
                tag = tags[word] if tags is not None else ""
                tag_id = self.tag_ids.get(tag, UNKNOWN_TAG) if tag else MISSING_TAG
                row.tags.extend([tag_id] * len(pieces[word]))
        row.pieces.append(self.sep_id)
        row.tags.append(NO_TAG)
        row.words_of_pieces.append(NO_WORD)
        return row


def load_tokenizer(text: str) -> Tokenizer:
    """Load a tokenizer without padding or truncation."""
    try:
        tokenizer = Tokenizer.from_str(text)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        # Some tokenizers lack the piece for words that they do not know.
        for word in UNKNOWN_WORDS:
            encode(tokenizer, word)
    except Exception as error:  # tokenizers raises bare Exception
        raise ValueError(Errors.E401.format(error=error)) from error
    return tokenizer


def find_prefix(tokenizer: Tokenizer) -> str:
    """Return the text to put before a word, so that its pieces are the same as within a text.

    It is a space if pieces include the space before them, as in most byte-level BPE and in Gemma. Other
    tokenizers drop spaces, or put a space before each word themselves.
    """
    for word in PROBES:
        together = encode(tokenizer, f"{word} {word}")
        alone = encode(tokenizer, word)
        if together != alone + alone and together == alone + encode(tokenizer, f" {word}"):
            return " "
    return ""


def encode(tokenizer: Tokenizer, text: str) -> list[int]:
    """Return the pieces of a text, without special pieces."""
    ids: list[int] = tokenizer.encode([text], is_pretokenized=True, add_special_tokens=False).ids
    return ids


def _special_ids(tokenizer: Tokenizer, n_pieces: int) -> list[int]:
    for pieces in SPECIAL_PIECES:
        ids: list[int | None] = [tokenizer.token_to_id(piece) for piece in pieces]
        valid = [id_ for id_ in ids if id_ is not None and id_ < n_pieces]
        if len(valid) == len(ids):
            return valid
    families = " or ".join(" ".join(pieces) for pieces in SPECIAL_PIECES)
    raise ValueError(Errors.E402.format(families=families, n=n_pieces))


def _fit(pieces: list[tuple[int, ...]], limit: int) -> tuple[list[tuple[int, ...]], Coverage]:
    """Cut words to their first k pieces, with the largest k that leaves at most limit pieces."""
    if sum(map(len, pieces)) <= limit:
        return pieces, "whole"
    if len(pieces) > limit:
        return [word[:1] for word in pieces], "windows"
    counts = np.array([len(word) for word in pieces])
    k = 1
    while np.minimum(counts, k + 1).sum() <= limit:
        k += 1
    return [word[:k] for word in pieces], "truncated"


def _windows(n_words: int, size: int) -> list[tuple[int, int]]:
    """Cover a sentence with spans of at most ``size`` words, each of which overlaps half of the last one."""
    starts = range(0, max(1, n_words - size), max(1, size // 2))
    windows = [(start, start + size) for start in starts if start + size < n_words]
    return [*windows, (max(0, n_words - size), n_words)]


def _place_words(index: IntArray, rows: list[_Row], offset: int, width: int) -> None:
    """Write the place of each word in its best row into an index whose first cell belongs to ROOT."""
    if len(rows) == 1:
        index[1 : len(rows[0].words) + 1] = np.array(rows[0].positions, dtype=np.int64) + offset
        return
    best = np.full(len(index), -1)
    for i, row in enumerate(rows):
        words = np.array(row.words)
        context = np.minimum(words - words[0], words[-1] - words)
        better = context > best[words]
        best[words[better]] = context[better]
        index[words[better]] = offset + i * width + np.array(row.positions)[better]


def _pad_rows(rows: list[list[int]], width: int, value: int) -> IntArray:
    padded = np.full((len(rows), width), value, dtype=np.int64)
    for target, row in zip(padded, rows, strict=True):
        target[: len(row)] = row
    return padded
