"""Rows of CoNLL-U, and the words and tokens in the rows of a sentence."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..errors import Errors
from .conllx import describe_row
from .misc import NO_SPACE, white_space

N_COLUMNS = 10
MAX_DIGITS = 19
COLUMNS = {"lemma": 2, "upos": 3, "xpos": 4, "feats": 5, "head": 6, "deprel": 7, "deps": 8, "misc": 9}


class Row(NamedTuple):
    """Line of a sentence.

    cells: The ten cells of a word, an empty node or a multiword token; one cell for an empty line; the parts
        between tabs for a comment.
    end: Line end, "" if the last line has none.
    """

    cells: tuple[str, ...]
    end: str = "\n"

    @classmethod
    def split(cls, line: str) -> "Row":
        """Split a line at its tabs."""
        text = line.rstrip("\r\n")
        return cls(tuple(text.split("\t")), line[len(text) :])

    @classmethod
    def join(cls, cells: Iterable[str], end: str = "\n") -> "Row":
        """Make a row of cells. A tab in a cell separates two cells, as in a text."""
        return cls.split("\t".join(cells) + end)

    def __str__(self) -> str:
        return "\t".join(self.cells) + self.end

    @property
    def is_comment(self) -> bool:
        """Whether the line is a comment."""
        return self.cells[0].startswith("#")

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in the line."""
        return self.cells == ("",)


EMPTY_ROW = Row(("",))


class ConlluWord(NamedTuple):
    """Syntactic word with the columns of its row. All columns except the head are unchanged text.

    head: ID of the head, counted from 1; 0 for the root, None for "_".
    """

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int | None
    deprel: str
    deps: str
    misc: str


class SurfaceToken(NamedTuple):
    """Token of the text: a word, or a multiword token with its words.

    form: Text of the token.
    words: Forms of its words.
    start: Number of its first word, counted from 1.
    is_multiword: Whether it has a row of its own before its words.
    misc: The column MISC.
    """

    form: str
    words: tuple[str, ...]
    start: int
    is_multiword: bool
    misc: str

    @property
    def end(self) -> int:
        """Number of the last word."""
        return self.start + len(self.words) - 1

    @property
    def gap(self) -> str:
        """White space after the token: SpacesAfter if it is set, nothing for SpaceAfter=No, else a space."""
        spaces = white_space(self.misc, name="SpacesAfter")
        return spaces or ("" if NO_SPACE in self.misc.split("|") else " ")

    @property
    def space_after(self) -> bool:
        """Whether white space follows the token in the text."""
        return bool(self.gap)


def parse_rows(
    rows: Sequence[Row], *, source: str, first_line: int
) -> tuple[tuple[ConlluWord, ...], tuple[int, ...], tuple[SurfaceToken, ...]]:
    """Return the words of a sentence, the index of each word's row, and the surface tokens.

    rows: All lines of the sentence.
    source, first_line: Where they were read, for error messages.
    Raises ValueError if they are not one sentence of CoNLL-U. Heads are not compared with the words.
    """
    words, places, tokens = list[ConlluWord](), list[int](), list[SurfaceToken]()
    ends: dict[int, int] = {}  # IDs of the last words of multiword tokens, by their index in tokens
    covered = n_empty = 0  # ID of the last word inside a multiword token; empty nodes since the last word
    for place, row in enumerate(rows):
        cells, last, line = row.cells, len(words), first_line + place
        id_ = cells[0] if place else cells[0].lstrip("\ufeff")
        if cells == EMPTY_ROW.cells or id_.startswith("#"):
            continue
        if id_ == str(last + 1):
            n_empty = 0
            word = make_word(row, source=source, line=line)
            words.append(word)
            places.append(place)
            if last + 1 > covered:
                tokens.append(SurfaceToken(word.form, (word.form,), last + 1, False, word.misc))
            continue
        _check_row(row, source, line)
        if id_ == f"{last}.{n_empty + 1}":
            n_empty += 1
        elif covered > last or not _is_range(id_, last + 1):
            where = location(source, line)
            raise ValueError(Errors.E303.format(where=where, value=id_[:80], expected=last + 1))
        else:
            ends[len(tokens)] = covered = int(id_.partition("-")[2])
            tokens.append(SurfaceToken(cells[1], (), last + 1, True, cells[9]))
    if not words:
        raise ValueError(Errors.E305.format(where=location(source, first_line)))
    if covered > len(words):
        where, value = location(source, first_line + places[-1]), f"...-{covered}"
        raise ValueError(Errors.E303.format(where=where, value=value, expected=len(words)))
    for i, end in ends.items():
        forms = [word.form for word in words[tokens[i].start - 1 : end]]
        tokens[i] = tokens[i]._replace(words=tuple(forms))
    return tuple(words), tuple(places), tuple(tokens)


def location(source: str, line: int) -> str:
    """Return the place of a line, for error messages."""
    return f"{source}, line {line}"


def make_word(row: Row, *, source: str, line: int) -> ConlluWord:
    """Make the word of a row. Raises ValueError with source and line if a cell is not valid."""
    _check_row(row, source, line)
    _, form, lemma, upos, xpos, feats, cell, deprel, deps, misc = row.cells
    head = None if cell == "_" else int(cell) if _is_number(cell) else -1
    if head == -1:
        raise ValueError(Errors.E304.format(where=location(source, line), head=repr(cell[:80])))
    return ConlluWord(form, lemma, upos, xpos, feats, head, deprel, deps, misc)


def _check_row(row: Row, source: str, line: int) -> None:
    """Raise ValueError if a row does not have ten cells, or no form."""
    if len(row.cells) != N_COLUMNS:
        text = "\t".join(row.cells)
        raise ValueError(Errors.E301.format(**describe_row(text, where=location(source, line))))
    if not row.cells[1]:
        raise ValueError(Errors.E309.format(where=location(source, line)))


def _is_range(id_: str, start: int) -> bool:
    """Return whether an ID is that of a multiword token that starts at a word."""
    first, _, last = id_.partition("-")
    return first == str(start) and _is_number(last) and int(last) >= start


def _is_number(cell: str) -> bool:
    """Return whether a cell is a number. Python does not convert thousands of digits."""
    return cell.isascii() and cell.isdigit() and len(cell) < MAX_DIGITS
