"""Text laid out in lines and paragraphs at random, in ways in which people lay it out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

from .rewriting import Piece

#: White space between sentences of a paragraph, and between paragraphs.
BETWEEN_SENTENCES = (" ", " ", " ", " ", "  ", "\n")
BETWEEN_PARAGRAPHS = ("\n", "\n", "\n\n", "\n\n", "\n\n\n", "\n    ", "\n \n", "\r\n", "\r\n\r\n")
#: Marks of items of lists and of headings.
MARKS = (("-",), ("*",), ("\u2022",), ("\u2013",), ("#",), ("1", "."), ("2", ")"))
#: Widths of wrapped lines.
WIDTHS = range(30, 101)


class Style(NamedTuple):
    """How sentences are laid out.

    paragraph: Mean number of sentences in a paragraph.
    sentence_gap, paragraph_gap: White space between sentences and paragraphs.
    width: Largest number of characters in a line; 0 for lines that are not wrapped.
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


def typeset(sentences: Sequence[list[Piece]], chance: Random) -> list[Piece]:
    """Lay sentences out in lines and paragraphs. Parts of them may have other styles.

    Where no white space follows a sentence, none is put between it and the next one of its line.
    """
    pieces: list[Piece] = []
    n_left = len(sentences)
    while n_left:
        n = chance.randint(1, n_left)
        part = sentences[len(sentences) - n_left :][:n]
        n_left -= n
        pieces += _typeset_part(part, choose_style(chance), chance)
    return [*pieces[:-1], pieces[-1]._replace(gap="")]


def _typeset_part(sentences: Sequence[list[Piece]], style: Style, chance: Random) -> list[Piece]:
    """Lay sentences out in one style."""
    laid_out: list[Piece] = []
    starts_paragraph = True
    for i, sentence in enumerate(sentences):
        ends_paragraph = i == len(sentences) - 1 or chance.random() < 1 / style.paragraph
        marks = style.marks if starts_paragraph else ()
        laid_out += [Piece(-1, mark, " " if k == len(marks) - 1 else "") for k, mark in enumerate(marks)]
        gap = style.paragraph_gap if ends_paragraph else style.sentence_gap
        # Languages without spaces have none between sentences either.
        if gap.isspace() and "\n" not in gap and not sentence[-1].gap:
            gap = ""
        laid_out += [*sentence[:-1], sentence[-1]._replace(gap=gap)]
        starts_paragraph = "\n" in gap
    wrapped = _wrapped(laid_out, style.width)
    return list(_quoted(wrapped)) if style.is_quoted else wrapped


def _wrapped(pieces: Sequence[Piece], width: int) -> list[Piece]:
    """Return pieces with line breaks in place of white space where a line would be longer than a width."""
    if not width:
        return list(pieces)
    wrapped: list[Piece] = []
    column, last_gap = 0, -1
    for piece in pieces:
        column += len(piece.text)
        if column > width and last_gap >= 0:
            wrapped[last_gap] = wrapped[last_gap]._replace(gap="\n")
            column = sum(len(p.text) + len(p.gap) for p in wrapped[last_gap + 1 :]) + len(piece.text)
            last_gap = -1
        wrapped.append(piece)
        if "\n" in piece.gap:
            column, last_gap = len(piece.gap.rpartition("\n")[2]), -1
        elif piece.gap:
            last_gap = len(wrapped) - 1
            column += len(piece.gap)
    return wrapped


def _quoted(pieces: Iterable[Piece]) -> Iterable[Piece]:
    """Yield pieces with a mark of quotation at the beginning of each line."""
    starts_line = True
    for piece in pieces:
        if starts_line:
            yield Piece(-1, ">", " ")
        yield piece
        starts_line = "\n" in piece.gap
