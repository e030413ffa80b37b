"""Rows of CoNLL-U, and the words and tokens in the rows of a sentence."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..errors import Errors
from .conllx import describe_row
from .misc import NO_SPACE, white_space

N_COLUMNS = 10
MAX_DIGITS = 19
COLUMNS = {"lemma": 2, "upos": 3, "xpos": 4, "feats": 5, "head": 6, "deprel": 7, "deps": 8, "misc": 9}


#: The empty line after a sentence.
EMPTY_ROW = "\n"


def split_row(row: str) -> list[str]:
    """Return the cells of a line: ten for a word, an empty node or a multiword token."""
    return row.rstrip("\r\n").split("\t")


def join_row(cells: Iterable[str], *, end: str = "\n") -> str:
    """Return the line with these cells. A tab in a cell separates two cells."""
    return "\t".join(cells) + end


def line_end(row: str) -> str:
    """Return the line end of a row, "" if the last line has none."""
    return row[len(row.rstrip("\r\n")) :]


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
    rows: Sequence[str], *, source: str, first_line: int
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
        cells, last, line = split_row(row), len(words), first_line + place
        id_ = cells[0] if place else cells[0].lstrip("\ufeff")
        if cells == [""] or id_.startswith("#"):
            continue
        if id_ == str(last + 1):
            n_empty = 0
            word = make_word(cells, source=source, line=line)
            words.append(word)
            places.append(place)
            if last + 1 > covered:
                tokens.append(SurfaceToken(word.form, (word.form,), last + 1, False, word.misc))
            continue
        _check_cells(cells, source, line)
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


def make_word(cells: Sequence[str], *, source: str, line: int) -> ConlluWord:
    """Make a word from its cells. Raises ValueError with source and line if one is not valid."""
    _check_cells(cells, source, line)
    _, form, lemma, upos, xpos, feats, cell, deprel, deps, misc = cells
    head = None if cell == "_" else int(cell) if _is_number(cell) else -1
    if head == -1:
        raise ValueError(Errors.E304.format(where=location(source, line), head=repr(cell[:80])))
    return ConlluWord(form, lemma, upos, xpos, feats, head, deprel, deps, misc)


def _check_cells(cells: Sequence[str], source: str, line: int) -> None:
    """Raise ValueError if a row does not have ten cells, or has no form."""
    if len(cells) != N_COLUMNS:
        text = "\t".join(cells)
        raise ValueError(Errors.E301.format(**describe_row(text, where=location(source, line))))
    if not cells[1]:
        raise ValueError(Errors.E309.format(where=location(source, line)))


def _is_range(id_: str, start: int) -> bool:
    """Return whether an ID is that of a multiword token that starts at a word."""
    first, _, last = id_.partition("-")
    return first == str(start) and _is_number(last) and int(last) >= start


def _is_number(cell: str) -> bool:
    """Return whether a cell is a number. Python does not convert thousands of digits."""
    return cell.isascii() and cell.isdigit() and len(cell) < MAX_DIGITS
