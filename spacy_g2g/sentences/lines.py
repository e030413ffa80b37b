"""Read the lines of a text, and features of its sentences from lines and other white space.

A line may end because its text ends, or because the next word would not fit (a wrapped line). The lines
around it show which. Blank lines, and marks such as those of Markdown at the beginning of a line, divide a
text into blocks: paragraphs, headings, items of lists, rows of tables, quotations. The times of a chat or log
are such marks, too, and so is a name before a colon. A sentence never crosses the boundary of a block.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple
from unicodedata import category

import numpy as np
from spacy.strings import get_string_id
from spacy.tokens import Doc

from ..arrays import BoolArray, FloatArray, HashArray, IntArray
from ..data.segmentation import Segmentation

#: Kinds of lines, by their beginning after the marks of a quotation.
KINDS = ("item", "number", "heading", "row", "rule", "capital", "small", "other")
_QUOTE = re.compile(r"(?:>[ \t]?)+")
#: A time of day, and a date before it.
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[AaPp]\.?[Mm]\b\.?)?"
_DATE = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4},?[ \tT]+"
#: Who speaks, or what a value is of: one to three words and a colon; a name in angle brackets.
_WORD = r"[^\s:\uff1a|,;!?()\[\]<>\"]"
_LABEL = (
    rf"[^\W\d_]{_WORD}*(?:[ ]{_WORD}+){{0,2}}(?:[ \xa0\u202f]?:(?=\s\S)|\uff1a(?=\S))|<[\w@.+-]+>(?=\s\S)"
)
_BEGINNING = re.compile(
    rf"""(?P<rule>(?:[-=*_~]{{2,}}|(?:[-*_][ \t]+){{2,}}[-*_]|`{{3,}}\w*)\s*$)
    |(?P<item>(?:[-*+\u2022\u25e6\u25aa\u00b7\u2013\u2014]
        |[\[(](?:{_DATE})?{_TIME}[\])]|{_DATE}{_TIME}Z?)(?=\s\S)|{_LABEL})
    |(?P<number>\(?(?:\d{{1,3}}|[^\W\d_]|[ivx]{{2,4}})[.)](?=\s\S))
    |(?P<heading>\#{{1,6}}(?=\s)|\S+(?:[ ]\S+){{0,3}}(?=(?:[ ]{{2,}}|[ ]?\t\s*){_TIME}$))
    |(?P<row>\||[^|]*\S\s\|\s|[^\t]+\t)""",
    re.VERBOSE,
)
#: Kinds of lines that each form a block.
_WHOLE = frozenset({"heading", "row", "rule"})
_ITEMS = frozenset({"item", "number"})
#: Kinds of lines with a mark before their text.
_MARKED = _ITEMS | {"heading"}
#: Minimum width of wrapped lines, in characters.
_MIN_WIDTH = 30
#: Number of lines on either side of a line from which the width of wrapped lines is inferred.
NEAR = 5
#: Marks that end sentences: of Latin, Chinese, Indic, Arabic, Urdu, Armenian, Ethiopic, Khmer, Burmese and
#: Tibetan script.
_END_MARKS = (
    ".!?\u2026\u3002\uff01\uff1f\uff61\u0964\u0965\u061f\u06d4\u0589\u1362\u1367\u17d4\u17d5\u104b\u0f0d"
)
#: The end of a line that ends a sentence: such a mark, and emoji or smileys after it. One full stop may be an
#: abbreviation's, and after quotation marks or brackets the sentence may go on: "Why?" he asked.
_ENDED = re.compile(
    rf"""(?:[{_END_MARKS[1:]}\u037e]|(?<=[\u0370-\u03ff\u1f00-\u1fff]);|\.\.)[!?.;\u2026]*
    (?:\s*[^\w\s.,;:"'`*_~<>()\[\]{{}}\u00ab\u00bb\u2018-\u201f-]|\s+[:;=][-']?[()DPp/\\|*]+|\s*<3)*$""",
    re.VERBOSE,
)
#: Maximum number of characters of a line's end.
_END_LENGTH = 40
_ENDS = np.array([get_string_id(mark) for mark in _END_MARKS], dtype=np.uint64)
#: Number of features of a word: of a gap without line breaks, of a line break, of the text and its blocks.
_N_GAP, _N_BREAK, _N_TEXT = 2, 12 + 2 * len(KINDS), 6
N_FEATURES = _N_GAP + _N_BREAK + _N_TEXT
#: Maximum size of a block or line in features, in words.
_MAX_WORDS = 255


class Line(NamedTuple):
    """A line that has words.

    word: Index in the Doc of the first word.
    text: Index in the Doc of the first word after the marks of quotations, items and headings.
    n_breaks: Number of line breaks before the line. With 2 or more there is a blank line. The first line of
        a Doc has 2.
    indent: Number of characters before the text.
    length: Number of characters, without white space at the end.
    first: Number of characters before the first white space of the text.
    depth: Number of marks of a quotation (>) at the beginning.
    kind: One of ``KINDS``.
    is_ended: Whether a sentence ends with it, by its last marks.
    """

    word: int
    text: int
    n_breaks: int
    indent: int
    length: int
    first: int
    depth: int
    kind: str
    is_ended: bool


#: The joiner of emoji, and skin tones.
_JOINED = "\u200d\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


class WhiteSpace(NamedTuple):
    """The white space before the words of Docs.

    features: Kind of the white space, relation of the lines before and after it, and sizes of blocks;
        float32 [words, N_FEATURES].
    is_block: Whether a block starts at each word; bool [words].
    is_joined: Whether each word repeats the mark right before it, as in "???", or goes on with the same
        character, as the parts of an emoji do; bool [words].
    is_closing: Whether each word closes brackets or a quotation right after the word before; bool [words].
    is_inside: Whether each word continues a block. It is the text after a mark, as in "1. Tea", or begins an
        indented line of an item with a small letter; bool [words].
    is_bare: Whether each word follows a word that does not end in punctuation or a symbol, on the same line
        and after at most one space; bool [words].
    """

    features: FloatArray
    is_block: BoolArray
    is_joined: BoolArray
    is_closing: BoolArray
    is_inside: BoolArray
    is_bare: BoolArray


def read_white_space(docs: Sequence[Doc], segmentation: Segmentation) -> WhiteSpace:
    """Describe the white space before each word.

    docs: The Docs.
    segmentation: Where their words are.
    """
    arrays = [doc.to_array(["LENGTH", "SPACY", "PREFIX", "ORTH"]) for doc in docs]
    table = np.concatenate([np.zeros((0, 4), dtype=np.uint64), *arrays])
    lengths, spaces = table[:, :2].astype(np.int64).T
    prefixes, forms = table[segmentation.words, 2:].T
    offsets = np.cumsum(lengths + spaces) - lengths - spaces
    starts = offsets[segmentation.words]
    gap = np.diff(starts, prepend=0)
    gap[1:] -= lengths[segmentation.words[:-1]]
    first_words = np.searchsorted(segmentation.words, segmentation.doc_starts)
    is_first = np.zeros(len(gap) + 1, dtype=np.bool_)
    is_first[first_words] = True
    features = np.zeros((len(gap), N_FEATURES), dtype=np.float32)
    features[:, :_N_GAP] = np.stack([gap == 0, gap > 1], axis=1) & ~is_first[:-1, None]
    # A Doc begins as if after a blank line.
    features[is_first[:-1], _N_GAP : _N_GAP + 2] = 1.0
    is_block, is_inside = is_first[:-1].copy(), np.zeros(len(gap), dtype=np.bool_)
    for doc, token, (first, end) in zip(
        docs, segmentation.doc_starts, pairwise(first_words.tolist()), strict=False
    ):
        if end - first < len(doc):  # A Doc without white-space tokens has no line breaks.
            lines = list(find_lines(doc.text, (starts[first:end] - offsets[token]).tolist()))
            blocks = block_starts(lines)
            for k, (line, continues) in enumerate(zip(lines, continues_item(lines, blocks), strict=True)):
                word = first + line.word
                is_inside[word] = continues
                is_inside[word + 1 : first + line.text + 1] = blocks[k]
                if k:
                    is_block[word] = blocks[k]
                    features[word, _N_GAP:-_N_TEXT] = _break_features(lines, blocks, k)
    is_end, starts_line = np.isin(forms, _ENDS), features[:, _N_GAP] > 0
    features[:, -_N_TEXT:] = _text_features(first_words, is_block, starts_line, is_end)
    is_flag, joins = _are(_is_flag_letter, forms, docs), _are(_ends_in_joiner, forms, docs)
    is_joined = np.roll(joins, 1) | (is_flag & np.roll(is_flag, 1)) | _are(_goes_on, forms, docs)
    is_joined |= _repeats(prefixes, docs)
    is_joined &= (gap == 0) & ~is_first[:-1]
    is_closing = _are(_is_closing, forms, docs)
    is_closing |= _are(_may_close, forms, docs) & (is_first[1:] | (np.append(gap, 1)[1:] > 0))
    is_closing &= (gap == 0) & ~is_first[:-1]
    ends_in_mark = np.roll(_are(_ends_in_mark, forms, docs), 1)
    is_bare = (gap <= 1) & ~starts_line & ~is_first[:-1] & ~ends_in_mark
    return WhiteSpace(features, is_block & ~is_first[:-1], is_joined, is_closing, is_inside, is_bare)


def _are(kind: Callable[[str], bool], forms: HashArray, docs: Sequence[Doc]) -> BoolArray:
    """Return whether each word is of a kind; bool [words].

    forms: Hashes of the words.
    """
    unique, number = np.unique(forms, return_inverse=True)
    words = (docs[0].vocab.strings[form] for form in unique.tolist())
    return np.array([*map(kind, words)], dtype=np.bool_)[number]


def _ends_in_mark(word: str) -> bool:
    """Return whether a word ends in punctuation or a symbol."""
    return word != "" and category(word[-1])[0] in "PS"


def _is_closing(word: str) -> bool:
    """Return whether a word is closing brackets or quotation marks."""
    return {*map(category, word)} in ({"Pe"}, {"Pf"})


def _may_close(word: str) -> bool:
    """Return whether a word is quotation marks that close in some places or languages: ", „Ja“, »Ja«."""
    return word in ('"', "'", "''") or {*map(category, word)} == {"Pi"}


def _goes_on(word: str) -> bool:
    """Return whether a word begins with a part of the character before it: an accent, joiner or skin tone."""
    return word != "" and (category(word[0])[0] == "M" or word[0] in _JOINED)


def _ends_in_joiner(word: str) -> bool:
    return word.endswith("\u200d")


def _is_flag_letter(word: str) -> bool:
    """Return whether a word is one of the two letters that make a flag."""
    return len(word) == 1 and "\U0001f1e6" <= word <= "\U0001f1ff"


def _repeats(prefixes: HashArray, docs: Sequence[Doc]) -> BoolArray:
    """Return whether each word begins with the same mark as the one before it, bool [words]."""
    is_same: BoolArray = np.append([False], prefixes[1:] == prefixes[:-1])[: len(prefixes)]
    for prefix in np.unique(prefixes[is_same]).tolist():
        # Letters and digits are not marks. Neither is 0, the prefix in a vocabulary without rules for it.
        if not prefix or docs[0].vocab.strings[prefix][:1].isalnum():
            is_same &= prefixes != prefix
    return is_same


def _text_features(
    first_words: IntArray, is_block: BoolArray, starts_line: BoolArray, is_end: BoolArray
) -> FloatArray:
    """Return features of the text and of the block of each word, float32 [words, 6].

    The features are the share of marks that end sentences, the length of the block and the place of the word
    in it, and the mean lengths of the text's blocks and lines.

    first_words: Index of the first word of each text, and the number of words; int [texts + 1].
    is_block, starts_line: Whether a block or a line starts at each word; bool [words].
    is_end: Whether each word is a mark that ends sentences; bool [words].
    """
    n_texts, n_words = len(first_words) - 1, np.diff(first_words)
    text = np.repeat(np.arange(n_texts), n_words)
    n_ends, n_blocks, n_lines = (np.bincount(text, x, n_texts)[text] for x in (is_end, is_block, starts_line))
    edges = np.append(np.flatnonzero(is_block), len(is_block))
    words, block = np.arange(len(is_block)), np.cumsum(is_block) - 1
    own = edges[block + 1] - edges[block], words - edges[block], edges[block + 1] - words
    sizes = np.stack([*own, n_words[text] / n_blocks, n_words[text] / n_lines], axis=1)
    scaled = np.log2(1 + np.minimum(sizes, _MAX_WORDS)) / 4 - 1
    features: FloatArray = np.concatenate([10 * (n_ends / n_words[text])[:, None], scaled], axis=1)
    return features.astype("f")


def find_lines(text: str, offsets: Sequence[int]) -> Iterator[Line]:
    """Yield the lines of a text that start with a word.

    text: The text.
    offsets: Character offsets of the words, in ascending order.
    """
    word_at = {offset: word for word, offset in enumerate(offsets)}
    start, n_breaks, last_depth = 0, 2, 0
    for raw in text.splitlines(keepends=True):
        line = raw.strip()
        indent = len(raw) - len(raw.lstrip())
        quote = _QUOTE.match(line)
        depth = quote.group().count(">") if quote else 0
        body = line[quote.end() :] if quote else line
        # Inside a quotation, a line of its marks alone counts as a blank line.
        is_blank = not body and (not line or (n_breaks == 1 and depth == last_depth))
        word = None if is_blank else word_at.get(start + indent)
        if word is not None:
            body = body or line
            kind, mark = _kind_of(body)
            text_word = word_at.get(start + indent + len(line) - len(body[mark:].lstrip()), word)
            first = len(body.split(None, 1)[0])
            is_ended = _ENDED.search(body[-_END_LENGTH:]) is not None
            yield Line(word, text_word, n_breaks, indent, len(raw.rstrip()), first, depth, kind, is_ended)
            n_breaks, last_depth = 0, depth
        n_breaks += 1
        start += len(raw)


def _kind_of(text: str) -> tuple[str, int]:
    """Return the kind of a line, and the length of the mark before its words."""
    mark = _BEGINNING.match(text)
    if mark is not None and mark.lastgroup is not None:
        return mark.lastgroup, mark.end() if mark.lastgroup in _MARKED else 0
    return "capital" if text[0].isupper() else "small" if text[0].islower() else "other", 0


def block_starts(lines: Sequence[Line]) -> list[bool]:
    """Return whether a block starts at each line.

    A block starts after a blank line, where the depth of quotation changes, and at and after a heading, a row
    of a table or a ruled line. An item of a list starts a block unless it looks like a wrapped line that
    begins with a dash: the line before it is full, and its paragraph has no other items. After an item, a
    line that is not indented starts a block if the line before it is not full. So does a line after the end
    of a sentence, whatever its first letter, as in a chat.
    """
    parts = [0] * min(1, len(lines))
    for before, line in pairwise(lines):
        is_apart = line.n_breaks > 1 or line.depth != before.depth
        parts.append(parts[-1] + (is_apart or line.kind in _WHOLE or before.kind in _WHOLE))
    n_items = Counter(part for part, line in zip(parts, lines, strict=True) if line.kind in _ITEMS)
    starts: list[bool] = []
    indent = -1  # of the last item
    for k, line in enumerate(lines):
        starts_block = k == 0 or parts[k] != parts[k - 1]
        if not starts_block and line.kind in _ITEMS:
            starts_block = n_items[parts[k]] > 1 or not _is_full(lines, k - 1)
        elif not starts_block and line.indent <= indent and line.kind != "small":
            starts_block = room(lines, k) >= 0
        if not starts_block and lines[k - 1].is_ended:
            starts_block = not _is_full(lines, k - 1)
        if starts_block:
            indent = line.indent if line.kind in _ITEMS else -1
        starts.append(starts_block)
    return starts


def continues_item(lines: Sequence[Line], blocks: Sequence[bool]) -> Iterator[bool]:
    """Yield whether each line continues an item: it is indented more, and begins with a small letter."""
    indent: float = np.inf  # of the item
    for line, starts_block in zip(lines, blocks, strict=True):
        if starts_block:
            indent = line.indent if line.kind in _ITEMS else np.inf
        yield not starts_block and line.indent > indent and line.kind == "small"


def _is_full(lines: Sequence[Line], k: int) -> bool:
    """Return whether line k is long, and the longest near it if it also had the first word of the next."""
    return lines[k].length >= _MIN_WIDTH and room(lines, k + 1) < 0


def room(lines: Sequence[Line], k: int) -> int:
    """Return the number of characters left on the line before line k if it also had the first word of line k.

    Below 0, the word would make that line longer than all lines near it, so line k may be a wrapped line.
    """
    width = max(line.length for line in lines[max(0, k - NEAR - 1) : k + NEAR + 1])
    return width - lines[k - 1].length - 1 - lines[k].first


def _break_features(lines: Sequence[Line], blocks: Sequence[bool], k: int) -> list[float]:
    """Return the features of the line break before line k."""
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
        # Share of the other lines nearby that end early, and whether there are other lines.
        sum(ends) / len(ends) if ends else 0.5,
        float(bool(ends)),
        before.length / max(1, width),
        line.length / max(1, width),
        min(1.0, before.length / 120),
        float(blocks[k]),
        *_one_hot(before.kind),
        *_one_hot(line.kind),
    ]


def _one_hot(kind: str) -> list[float]:
    return [float(kind == other) for other in KINDS]
