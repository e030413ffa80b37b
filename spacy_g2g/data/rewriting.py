"""Docs written anew: without some tokens, with other white space, with marks at the beginning of lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from spacy.strings import get_string_id
from spacy.tokens import Doc

from ..arrays import BoolArray, IntArray
from .docs import TOKEN_ANNOTATIONS, write_tree

#: Label of marks, if the Doc has it.
_PUNCT = "punct"


class Piece(NamedTuple):
    """A token of a Doc, or a mark that it lacks.

    source: Index of the token; -1 for a mark.
    text: Its text.
    gap: White space after it.
    """

    source: int
    text: str
    gap: str


def pieces_of(doc: Doc, is_kept: BoolArray) -> list[Piece]:
    """Return the kept tokens of a Doc. The last one before a gap has the white space that ended the gap.

    doc: The Doc.
    is_kept: Whether each token is kept, bool [tokens].
    """
    kept = np.flatnonzero(is_kept).tolist()
    ends = [*(i - 1 for i in kept[1:]), len(doc) - 1]
    return [Piece(i, doc[i].text, doc[end].whitespace_) for i, end in zip(kept, ends, strict=True)]


def rewrite(doc: Doc, pieces: Sequence[Piece], *, lower: bool = False) -> Doc:
    """Make a Doc of pieces, with the annotations and the trees of its tokens, if any.

    White space becomes tokens as spaCy's tokenizer would make them, without annotations. A mark that begins a
    sentence depends on the root, if the Doc has the label "punct"; any other has no annotation.

    doc: The Doc.
    pieces: Its tokens in their order, and marks. A token that is there must not depend on one that is not.
    lower: Put words into lower case.
    """
    words: list[str] = []
    spaces: list[bool] = []
    sources: list[int] = []
    for piece in pieces:
        own, rest = (" ", piece.gap[1:]) if piece.gap.startswith(" ") else ("", piece.gap)
        words += [piece.text.lower() if lower else piece.text, *([rest] if rest else [])]
        spaces += [bool(own), *([False] if rest else [])]
        sources += [piece.source, *([-1] if rest else [])]
    written = Doc(doc.vocab, words=words, spaces=None if doc.has_unknown_spaces else spaces)
    _annotate(written, doc, np.array(sources, dtype=np.int64))
    return written


def _annotate(written: Doc, doc: Doc, sources: IntArray) -> None:
    """Copy annotations.

    sources: Index of the token of ``doc`` for each token, -1 for new ones; int [tokens].
    """
    own = np.flatnonzero(sources >= 0)
    number = np.zeros(len(doc), dtype=np.int64)
    number[sources[own]] = own
    names: list[Any] = [name for name in TOKEN_ANNOTATIONS if name != "SENT_START"]
    values: Any = np.zeros((len(written), len(names)), dtype=np.uint64)
    values[own] = doc.to_array(names)[sources[own]]
    written.from_array(names, values)
    starts = np.zeros(len(written), dtype=np.int64)
    starts[own] = doc.to_array("SENT_START").astype(np.int64)[sources[own]]
    if (starts == 1).any():
        starts[sources < 0] = -1
    tree = np.zeros((len(written), 2), dtype=np.uint64)
    heads = np.arange(len(doc)) + doc.to_array("HEAD").astype(np.int64)
    tree[own, 0] = (number[heads[sources[own]]] - own).view(np.uint64)
    tree[own, 1] = doc.to_array("DEP")[sources[own]]
    punct = get_string_id(_PUNCT)
    has_punct = bool((tree[:, 1] == punct).any())
    for first in np.flatnonzero(starts == 1).tolist():
        for mark in _marks_before(written, sources, first):
            starts[[mark, mark + 1]] = 1, -1
            if has_punct:
                root = first
                while tree[root, 0]:
                    root += int(tree[root, 0].astype(np.int64))
                tree[mark] = np.uint64(root - mark), punct
    write_tree(written, tree, starts.view(np.uint64))


def _marks_before(doc: Doc, sources: IntArray, first: int) -> Iterable[int]:
    """Yield the marks right before the first word of a sentence, from right to left."""
    mark = first - 1
    while mark >= 0 and sources[mark] < 0 and not doc[mark].is_space:
        yield mark
        mark -= 1
