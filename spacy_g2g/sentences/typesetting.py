"""Lay text out in lines and paragraphs, in random styles of people's text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from .rewriting import Segment

#: White space between sentences of a paragraph, and between paragraphs.
BETWEEN_SENTENCES = (" ", " ", " ", " ", "  ", "\n")
BETWEEN_PARAGRAPHS = ("\n", "\n", "\n\n", "\n\n", "\n\n\n", "\n    ", "\n \n", "\r\n", "\r\n\r\n")
#: Marks of items of lists and of headings.
MARKS = (("-",), ("*",), ("\u2022",), ("\u2013",), ("#",), ("1", "."), ("2", ")"))
#: Widths of wrapped lines.
WIDTHS = range(30, 101)


class Style(NamedTuple):
    """A way to lay out sentences.

    paragraph: Mean number of sentences in a paragraph.
    sentence_gap, paragraph_gap: White space between sentences and paragraphs.
    width: Maximum number of characters in a line; 0 if lines are not wrapped.
    marks: Marks before each paragraph.
    is_quoted: Whether each line begins with ">".
    """

    paragraph: float
    sentence_gap: str
    paragraph_gap: str
    width: int
    marks: tuple[str, ...]
    is_quoted: bool


def choose_style(chance: Random) -> Style:
    """Return a random style."""
    marks = chance.choice(MARKS) if chance.random() < 0.1 else ()
    return Style(
        paragraph=chance.choice([1, 1, 1, 2, 3, 4]),
        sentence_gap=chance.choice(BETWEEN_SENTENCES),
        paragraph_gap=chance.choice(BETWEEN_PARAGRAPHS),
        width=chance.choice(WIDTHS) if chance.random() < 0.5 else 0,
        marks=marks,
        is_quoted=not marks and chance.random() < 0.05,
    )


def typeset(sentences: Sequence[list[Segment]], chance: Random) -> list[Segment]:
    """Lay sentences out in lines and paragraphs. The style may change from one part of them to the next.

    Without white space after a sentence, its line has none before the next sentence.
    """
    segments: list[Segment] = []
    n_left = len(sentences)
    while n_left:
        n = chance.randint(1, n_left)
        part = sentences[len(sentences) - n_left :][:n]
        n_left -= n
        segments += _typeset_part(part, choose_style(chance), chance)
    return [*segments[:-1], segments[-1]._replace(gap="")]


def _typeset_part(sentences: Sequence[list[Segment]], style: Style, chance: Random) -> list[Segment]:
    """Lay sentences out in one style."""
    laid_out: list[Segment] = []
    starts_paragraph = True
    for i, sentence in enumerate(sentences):
        ends_paragraph = i == len(sentences) - 1 or chance.random() < 1 / style.paragraph
        marks = style.marks if starts_paragraph else ()
        laid_out += [Segment(-1, mark, " " if k == len(marks) - 1 else "") for k, mark in enumerate(marks)]
        gap = style.paragraph_gap if ends_paragraph else style.sentence_gap
        # A language without spaces has none between sentences.
        if gap.isspace() and "\n" not in gap and not sentence[-1].gap:
            gap = ""
        laid_out += [*sentence[:-1], sentence[-1]._replace(gap=gap)]
        starts_paragraph = "\n" in gap
    wrapped = _wrapped(laid_out, style.width)
    return list(_quoted(wrapped)) if style.is_quoted else wrapped


def _wrapped(segments: Sequence[Segment], width: int) -> list[Segment]:
    """Replace white space by line breaks, so that no line is longer than a width."""
    if not width:
        return list(segments)
    wrapped: list[Segment] = []
    column, last_gap = 0, -1
    for segment in segments:
        column += len(segment.text)
        if column > width and last_gap >= 0:
            wrapped[last_gap] = wrapped[last_gap]._replace(gap="\n")
            moved = wrapped[last_gap + 1 :]
            column = sum(len(other.text) + len(other.gap) for other in moved) + len(segment.text)
            last_gap = -1
        wrapped.append(segment)
        if "\n" in segment.gap:
            column, last_gap = len(segment.gap.rpartition("\n")[2]), -1
        elif segment.gap:
            last_gap = len(wrapped) - 1
            column += len(segment.gap)
    return wrapped


def _quoted(segments: Iterable[Segment]) -> Iterable[Segment]:
    """Put a mark of quotation at the beginning of each line."""
    starts_line = True
    for segment in segments:
        if starts_line:
            yield Segment(-1, ">", " ")
        yield segment
        starts_line = "\n" in segment.gap
