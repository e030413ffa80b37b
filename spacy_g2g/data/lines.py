"""The lines of a text, and what they and other white space say of its sentences.

A line may end because its text ends, or because the next word would not fit (a wrapped line). The lines
around it tell. Blank lines, and marks such as those of Markdown at the beginning of a line, cut a text into
blocks: paragraphs, headings, items of lists, rows of tables, quotations. No sentence goes beyond a block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from spacy.tokens import Doc

from ..arrays import BoolArray, FloatArray
from .layout import Layout

#: Kinds of beginnings of lines, behind the marks of a quotation.
KINDS = ("item", "number", "heading", "row", "rule", "capital", "small", "other")
_QUOTE = re.compile(r"(?:>[ \t]?)+")
_BEGINNING = re.compile(
    r"""(?P<item>[-*+\u2022\u25e6\u25aa\u00b7\u2013\u2014](?=\s\S))
    |(?P<number>\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{2,4})[.)](?=\s\S))
    |(?P<heading>\#{1,6}(?=\s))
    |(?P<row>\|)
    |(?P<rule>(?:[-=*_~]{2,}|`{3,}\w*)\s*$)""",
    re.VERBOSE,
)
#: Kinds of lines that are blocks of their own.
_WHOLE = frozenset({"heading", "row", "rule"})
#: Number of lines before and after a line that tell where lines are wrapped.
NEAR = 5
#: Number of features of the white space before a word.
N_FEATURES = 14 + 2 * len(KINDS)


class Line(NamedTuple):
    """A line that has words.

    word: Number of its first word in the Doc.
    n_breaks: Number of line breaks before it; from 2 on there is a blank line. A blank line is thought of
        before a Doc.
    indent: Number of characters before its text.
    length: Number of its characters, without white space at the end.
    first: Number of characters of its text before the first white space.
    depth: Number of marks of a quotation (>) at its beginning.
    kind: Its beginning behind these marks, of ``KINDS``.
    """

    word: int
    n_breaks: int
    indent: int
    length: int
    first: int
    depth: int
    kind: str


class WhiteSpace(NamedTuple):
    """The white space before the words of Docs.

    features: What kind it is, and how the lines before and after it relate; float32 [words, N_FEATURES].
    is_block: Whether a block starts at each word; bool [words].
    is_repeated: Whether each word goes on with the punctuation mark right before it, as in "???"; bool
        [words].
    """

    features: FloatArray
    is_block: BoolArray
    is_repeated: BoolArray


def read_white_space(docs: Sequence[Doc], layout: Layout) -> WhiteSpace:
    """Describe the white space before each word.

    docs: The Docs.
    layout: Where their words are.
    """
    arrays = [doc.to_array(["LENGTH", "SPACY", "PREFIX"]).view(np.int64) for doc in docs]
    lengths, spaces, prefixes = np.concatenate([np.zeros((0, 3), dtype=np.int64), *arrays]).T
    starts = np.cumsum(lengths + spaces) - lengths - spaces
    gap = np.diff(starts[layout.words], prepend=0)
    gap[1:] -= lengths[layout.words[:-1]]
    features = np.zeros((len(gap), N_FEATURES), dtype=np.float32)
    features[:, 0], features[:, 1] = gap == 0, gap > 1
    marks = prefixes[layout.words]
    is_repeated = (gap == 0) & (np.diff(marks, prepend=0) == 0)
    for mark in np.unique(marks[is_repeated]).tolist():
        # Letters and digits are no marks. Nor is an unknown prefix, 0.
        if not mark or docs[0].vocab.strings[mark % 2**64][:1].isalnum():
            is_repeated &= marks != mark
    is_block = np.zeros(len(gap), dtype=np.bool_)
    firsts = np.searchsorted(layout.words, layout.doc_starts)
    for i, (first, end) in enumerate(pairwise(firsts.tolist())):
        features[first : first + 1, :4] = 0.0, 0.0, 1.0, 1.0
        is_repeated[first : first + 1] = False
        # Only these Docs can have a line break between words.
        if end - first < len(docs[i]):
            tokens = layout.words[first:end] - layout.doc_starts[i]
            offsets = starts[layout.words[first:end]] - starts[layout.doc_starts[i]]
            assert len(tokens) == len(offsets)
            lines = list(find_lines(docs[i].text, offsets.tolist()))
            blocks = block_starts(lines)
            for k in range(1, len(lines)):
                word = first + lines[k].word
                is_block[word] = blocks[k]
                features[word, 2:] = _features(lines, blocks, k)
    return WhiteSpace(features, is_block, is_repeated)


def find_lines(text: str, offsets: Sequence[int]) -> Iterator[Line]:
    """Yield the lines of a text that start with a word.

    text: The text.
    offsets: Where its words start, in characters, from left to right.
    """
    word_at = {offset: word for word, offset in enumerate(offsets)}
    start, n_breaks = 0, 2
    for raw in text.splitlines(keepends=True):
        line = raw.strip()
        indent = len(raw) - len(raw.lstrip())
        quote = _QUOTE.match(line)
        body = line[quote.end() :] if quote else line
        word = word_at.get(start + indent) if body else None
        if word is not None:
            kind = _kind_of(body)
            depth = quote.group().count(">") if quote else 0
            yield Line(word, n_breaks, indent, len(raw.rstrip()), len(body.split(None, 1)[0]), depth, kind)
            n_breaks = 0
        n_breaks += 1
        start += len(raw)


def _kind_of(text: str) -> str:
    """Return the kind of a line by its text."""
    mark = _BEGINNING.match(text)
    if mark is not None and mark.lastgroup is not None:
        return mark.lastgroup
    return "capital" if text[0].isupper() else "small" if text[0].islower() else "other"


def block_starts(lines: Sequence[Line]) -> list[bool]:
    """Return whether a block starts at each line.

    A line after a blank line starts one, and so does a line of another quotation, and a heading, a row of a
    table or a ruled line, and the line after it. An item of a list starts one unless it looks like a wrapped
    line that begins with a dash: the line before it is full, and its paragraph has no other items.
    """
    starts = [True] * min(1, len(lines))
    is_list = False
    for k in range(1, len(lines)):
        before, line = lines[k - 1], lines[k]
        starts_block = line.n_breaks > 1 or line.depth != before.depth
        starts_block |= line.kind in _WHOLE or before.kind in _WHOLE
        is_list = (is_list and not starts_block) or before.kind in ("item", "number")
        if line.kind in ("item", "number"):
            starts_block |= is_list or room(lines, k) >= 0
        starts.append(starts_block)
    return starts


def room(lines: Sequence[Line], k: int) -> int:
    """Return the number of characters that the line before line k had left after the first word of line k.

    Below 0, the word would have made that line longer than all lines near it, so it may be a wrapped line.
    """
    width = max(line.length for line in lines[max(0, k - NEAR - 1) : k + NEAR + 1])
    return width - lines[k - 1].length - 1 - lines[k].first


def _features(lines: Sequence[Line], blocks: Sequence[bool], k: int) -> list[float]:
    """Return the features of the line break before line k, from the third on."""
    before, line = lines[k - 1], lines[k]
    near = range(max(1, k - NEAR), min(len(lines), k + NEAR + 1))
    ends = [room(lines, i) >= 0 for i in near if i != k and not blocks[i]]
    width = max(lines[i].length for i in (near[0] - 1, *near))
    free = room(lines, k)
    return [
        1.0,
        float(line.n_breaks > 1),
        float(line.indent > 0),
        float(np.sign(line.indent - before.indent)),
        float(free >= 0),
        min(2.0, max(-1.0, free / 20)),
        # How many of the other lines nearby ended early, and whether there are such lines.
        sum(ends) / len(ends) if ends else 0.5,
        float(bool(ends)),
        before.length / max(1, width),
        line.length / max(1, width),
        min(1.0, before.length / 120),
        float(blocks[k]),
        *(float(of.kind == kind) for of in (before, line) for kind in KINDS),
    ]
