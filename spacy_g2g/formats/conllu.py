"""CoNLL-U text, read sentence by sentence and written back byte for byte.

https://universaldependencies.org/format.html defines the format: ten tab-separated columns in a row and an
empty line after each sentence. A sentence keeps its raw lines. Content that this module does not interpret
(comments, empty nodes, enhanced dependencies, line ends) therefore survives a change of columns.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Literal, NamedTuple, Union

from ..errors import Errors
from .conllx import CONLLX_SUFFIXES, conllu_lines, describe_row
from .graph import MISSING, Graph, universal
from .misc import NO_SPACE, white_space

Lines = Iterable[str | bytes]
TreeCheck = Literal["any", "partial", "full"]

N_COLUMNS = 10
MAX_DIGITS = 19
COLUMNS = {"lemma": 2, "upos": 3, "xpos": 4, "feats": 5, "head": 6, "deprel": 7, "deps": 8, "misc": 9}


@dataclass(slots=True)
class ConlluWord:
    """Syntactic word with the columns of its row. All columns except the head are unchanged text.

    head: ID of the head, counted from 1; 0 for the root, None for "_".
    row: Index of the word's line in ``ConlluSentence.lines``.
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
    row: int


class SurfaceToken(NamedTuple):
    """Token of the text: a word, or a multiword token whose words have the IDs ``start`` to ``end``."""

    form: str
    misc: str
    start: int
    end: int
    is_multiword: bool

    @property
    def gap(self) -> str:
        """White space after the token in the text: SpacesAfter, or else a space, but for SpaceAfter=No."""
        return white_space(self.misc, "SpacesAfter") or ("" if NO_SPACE in self.misc.split("|") else " ")

    @property
    def space_after(self) -> bool:
        """Whether white space follows the token in the text."""
        return bool(self.gap)


@dataclass(slots=True)
class ConlluSentence:
    """Sentence with its raw lines, words and surface tokens.

    lines: Raw lines with their line ends, including the empty line at the end.
    words: Syntactic words.
    tokens: Surface tokens, which cover all words.
    source: Name of the file or text that the sentence was read from, for error messages.
    first_line: Number of the sentence's first line in the source, counted from 1.
    """

    lines: list[str]
    words: list[ConlluWord] = field(default_factory=list)
    tokens: list[SurfaceToken] = field(default_factory=list)
    source: str = "<text>"
    first_line: int = 1

    def __str__(self) -> str:
        return "".join(self.lines)

    @property
    def comments(self) -> list[str]:
        """Comment lines without line ends."""
        return [line.rstrip("\r\n") for line in self.lines if line.startswith("#")]

    def comment(self, name: str) -> str | None:
        """Return the value of the comment ``# name = value``; "" if it is empty, None without the comment."""
        for line in self.comments:
            key, _, value = line[1:].partition("=")
            if key.split()[:1] == [name]:
                return value.strip()
        return None

    @property
    def text(self) -> str:
        """Text made from forms and SpaceAfter, without white space after the last token."""
        parts = [token.form + (" " if token.space_after else "") for token in self.tokens]
        return "".join(parts).rstrip(" ")

    @property
    def spaces(self) -> list[bool]:
        """Whether white space follows each word, which is never the case inside a multiword token."""
        spaces = [False] * len(self.words)
        for token in self.tokens:
            spaces[token.end - 1] = token.space_after
        return spaces

    def surface_tokens(self) -> list[tuple[str, tuple[str, ...]]]:
        """List the tokens of the text, each with the forms of its words."""
        forms = [word.form for word in self.words]
        return [(token.form, tuple(forms[token.start - 1 : token.end])) for token in self.tokens]

    def location(self, word: int = 0) -> str:
        """Return source and line number of the word with this index, for error messages."""
        return _location(self.source, self.first_line + self.words[word].row)

    def graph(self, *, subtypes: bool = True) -> Graph:
        """Return heads and labels of the words.

        subtypes: Whether labels keep their subtypes; without them nmod:poss becomes nmod.
        """
        heads = [MISSING if word.head is None else word.head for word in self.words]
        deps = ["" if word.deprel == "_" else word.deprel for word in self.words]
        return Graph(heads, deps if subtypes else [*map(universal, deps)])

    def with_tree(self, **columns: Sequence[str]) -> "ConlluSentence":
        """Return a copy as ``replace`` does. The graph in DEPS is removed if it belongs to another tree.

        columns: As for ``replace``. Values for DEPS are kept.
        """
        heads = ["_" if word.head is None else str(word.head) for word in self.words]
        old = [*zip(heads, (word.deprel for word in self.words), strict=True)]
        new_heads, new_deps = columns.get("head", heads), columns.get("deprel", [dep for _, dep in old])
        is_same = [*zip(new_heads, new_deps, strict=True)] == old
        return self.replace(**(columns if is_same else {"deps": ["_"] * len(old), **columns}))

    def replace(self, **columns: Sequence[str]) -> "ConlluSentence":
        """Return a copy with some columns replaced. The rest of the sentence stays the same, byte for byte.

        columns: One value for each word, by name of the column (see ``COLUMNS``).
        Raises ValueError if the number of values differs from the number of words, or if a value is not
            valid in CoNLL-U.
        """
        lines = list(self.lines)
        for name, values in columns.items():
            if len(values) != len(self.words):
                raise ValueError(Errors.E308.format(name=name, found=len(values), expected=len(self.words)))
        for i, word in enumerate(self.words):
            end_of_line = lines[word.row][len(lines[word.row].rstrip("\r\n")) :]
            cells = lines[word.row].rstrip("\r\n").split("\t")
            for name, values in columns.items():
                cells[COLUMNS[name]] = values[i]
            lines[word.row] = "\t".join(cells) + end_of_line
        return parse_sentence(lines, source=self.source, first_line=self.first_line, trees="any")

    def with_comments(self, comments: Mapping[str, str]) -> "ConlluSentence":
        """Return a copy with further comments ``# name = value`` behind those that are there.

        comments: Values by their names, each without line ends.
        """
        end_of_line = self.lines[0][len(self.lines[0].rstrip("\r\n")) :]
        added = [f"# {name} = {value}{end_of_line}" for name, value in comments.items()]
        n = len(self.comments)
        lines = [*self.lines[:n], *added, *self.lines[n:]]
        return parse_sentence(lines, source=self.source, first_line=self.first_line, trees="any")

    def merge_multiword(self) -> "ConlluSentence":
        """Return a copy whose words are the surface tokens, without empty nodes and enhanced dependencies.

        A multiword token has the columns of that of its words which is nearest to the root, and the
        dependents of all its words.
        """
        rows, tokens = [], {0: 0}
        for i, token in enumerate(self.tokens, start=1):
            tokens |= dict.fromkeys(range(token.start, token.end + 1), i)
        for i, token in enumerate(self.tokens, start=1):
            word = min(self.words[token.start - 1 : token.end], key=self._depth)
            head = "_" if word.head is None else tokens[word.head]
            cells = (word.lemma, word.upos, word.xpos, word.feats, head, word.deprel, "_", token.misc)
            rows.append("\t".join(map(str, (i, token.form, *cells))) + "\n")
        lines = [*(f"{comment}\n" for comment in self.comments), *rows, "\n"]
        return parse_sentence(lines, source=self.source, first_line=self.first_line)

    def attach_roots(self, trees: TreeCheck = "partial") -> "ConlluSentence":
        """Return a copy in which every root after the first depends on the first.

        It keeps its label, unless that is root or the label of the first root: then it gets punct if it is
        punctuation, else parataxis. ``read_conllu`` describes ``trees`` and the errors.
        """
        sentence, roots = self, [i for i, word in enumerate(self.words) if word.head == 0]
        if len(roots) > 1:
            heads = ["_" if word.head is None else str(word.head) for word in self.words]
            deps = [word.deprel for word in self.words]
            for i in roots[1:]:
                heads[i] = str(roots[0] + 1)
                if deps[i] in {"root", "ROOT", deps[roots[0]]} - {"_", ""}:
                    deps[i] = "punct" if self.words[i].upos == "PUNCT" else "parataxis"
            sentence = self.replace(head=heads, deprel=deps)
        _check_sentence(sentence, 0, trees)
        return sentence

    def _depth(self, word: ConlluWord) -> int:
        """Return the number of words above a word of a sentence without cycles."""
        depth = 0
        while word.head:
            word, depth = self.words[word.head - 1], depth + 1
        return depth


def read_conllu(
    source: Union[str, "PathLike[str]", Lines], *, trees: TreeCheck = "partial", attach_roots: bool = False
) -> Iterator[ConlluSentence]:
    """Read sentences one by one.

    source: Path, or the lines of a text (an open file, for instance) as str or UTF-8 bytes. A file that ends
        in .conllx or .conll is read as CoNLL-X.
    trees: Check of the heads. "any" accepts integers in range and "_". "partial" also forbids cycles and a
        second root. "full" demands a tree with exactly one root and no missing head.
    attach_roots: Let every root after the first depend on the first, before the check.
    Raises ValueError with source, line number and the bad value if the text is not CoNLL-U.
    """
    if attach_roots:
        yield from (sentence.attach_roots(trees) for sentence in read_conllu(source, trees="any"))
    elif isinstance(source, (str, PathLike)):
        path = fspath(source)
        with open(path, "rb") as file_:
            lines = decode_lines(file_, path)
            yield from read_lines(
                conllu_lines(lines, path) if path.endswith(CONLLX_SUFFIXES) else lines, path, trees
            )
    else:
        yield from read_lines(source, str(getattr(source, "name", "<text>")), trees)


def decode_lines(lines: Lines, name: str) -> Iterator[str]:
    """Yield lines as str. Raises ValueError with line number and byte if a line is not UTF-8."""
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf8") if isinstance(line, bytes) else line
        except UnicodeDecodeError as error:
            where, byte = _location(name, number), error.object[error.start]
            raise ValueError(Errors.E302.format(where=where, value=byte)) from error


def text_lines(path: Union[str, "PathLike[str]"]) -> Iterator[str]:
    """Yield the lines of a text file, without a byte order mark. Raises ValueError as ``decode_lines``."""
    with open(path, "rb") as file_:
        for number, line in enumerate(decode_lines(file_, fspath(path))):
            yield line if number else line.removeprefix("\ufeff")


def write_conllu(sentences: Iterable[ConlluSentence]) -> Iterator[str]:
    """Yield the text of sentences in pieces. Missing empty lines between sentences are added."""
    last = "\n"
    for sentence in sentences:
        if last.rstrip("\r\n"):
            yield "\n" if last.endswith("\n") else "\n\n"
        yield str(sentence)
        last = sentence.lines[-1]


def parse_sentence(
    lines: list[str], *, source: str = "<text>", first_line: int = 1, trees: TreeCheck = "partial"
) -> ConlluSentence:
    """Parse the lines of one sentence, with line ends. ``read_conllu`` describes ``trees`` and the errors."""
    sentence = ConlluSentence(lines, source=source, first_line=first_line)
    covered = 0  # ID of the last word inside a multiword token
    n_empty = 0  # empty nodes since the last word
    for row, line in enumerate(lines):
        stripped = line.rstrip("\r\n")
        if not stripped or stripped[0] == "#" or (row == 0 and stripped.startswith("\ufeff#")):
            continue
        where = _location(source, first_line + row)
        cells = stripped.split("\t")
        if len(cells) != N_COLUMNS:
            raise ValueError(Errors.E301.format(**describe_row(stripped, where)))
        if not cells[1]:
            raise ValueError(Errors.E309.format(where=where))
        id_ = cells[0].lstrip("\ufeff") if row == 0 else cells[0]
        last = len(sentence.words)
        if id_ == str(last + 1):
            n_empty = 0
            sentence.words.append(_word(cells, row, where))
            if last + 1 > covered:
                sentence.tokens.append(SurfaceToken(cells[1], cells[9], last + 1, last + 1, False))
        elif id_ == f"{last}.{n_empty + 1}":
            n_empty += 1
        else:
            start, end = _range(id_, where, last, covered)
            sentence.tokens.append(SurfaceToken(cells[1], cells[9], start, end, True))
            covered = end
    _check_sentence(sentence, covered, trees)
    return sentence


def read_lines(lines: Lines, name: str, trees: TreeCheck) -> Iterator[ConlluSentence]:
    """Cut lines into sentences. Additional empty lines after a sentence stay with the sentence.

    lines: Lines of CoNLL-U with their line ends.
    name: Name of the source, for error messages.
    trees: Check of the heads, see ``read_conllu``.
    Raises ValueError in the cases of ``read_conllu``.
    """
    block: list[str] = []
    first_line, has_rows, ended = 1, False, False
    for number, line in enumerate(decode_lines(lines, name), start=1):
        is_blank = not line.rstrip("\r\n")
        if ended and not is_blank:
            yield parse_sentence(block, source=name, first_line=first_line, trees=trees)
            block, first_line, has_rows, ended = [], number, False, False
        block.append(line)
        has_rows = has_rows or not is_blank
        ended = has_rows and is_blank
    if has_rows:
        yield parse_sentence(block, source=name, first_line=first_line, trees=trees)


def _location(source: str, line: int) -> str:
    return f"{source}, line {line}"


def _word(cells: list[str], row: int, where: str) -> ConlluWord:
    head = cells[6]
    if head != "_" and not _is_number(head):
        raise ValueError(Errors.E304.format(where=where, head=repr(head[:80])))
    _, form, lemma, upos, xpos, feats, _, deprel, deps, misc = cells
    return ConlluWord(
        form, lemma, upos, xpos, feats, None if head == "_" else int(head), deprel, deps, misc, row
    )


def _is_number(cell: str) -> bool:
    """Return whether a cell is a number. Python does not convert thousands of digits."""
    return cell.isascii() and cell.isdigit() and len(cell) < MAX_DIGITS


def _range(id_: str, where: str, last: int, covered: int) -> tuple[int, int]:
    """Return the IDs of first and last word of a multiword token, which must start at the next word."""
    start, dash, end = id_.partition("-")
    is_range = dash and start == str(last + 1) and _is_number(end)
    if not is_range or int(end) <= last or covered > last:
        raise ValueError(Errors.E303.format(where=where, value=id_[:80], expected=last + 1))
    return last + 1, int(end)


def _check_sentence(sentence: ConlluSentence, covered: int, trees: TreeCheck) -> None:
    n = len(sentence.words)
    if n == 0:
        raise ValueError(Errors.E305.format(where=_location(sentence.source, sentence.first_line)))
    if covered > n:
        raise ValueError(
            Errors.E303.format(where=sentence.location(n - 1), value=f"...-{covered}", expected=n)
        )
    heads = [word.head for word in sentence.words]
    for i, head in enumerate(heads):
        if head is not None and head > n:
            raise ValueError(
                Errors.E304.format(where=sentence.location(i), head=f"{head} in a sentence of {n} words")
            )
    if trees != "any":
        _check_tree(sentence, heads, is_full=trees == "full")


def _check_tree(sentence: ConlluSentence, heads: list[int | None], is_full: bool) -> None:
    roots = [i for i, head in enumerate(heads) if head == 0]
    if len(roots) > 1:
        raise ValueError(Errors.E306.format(where=sentence.location(roots[1]), roots=[i + 1 for i in roots]))
    if is_full and None in heads:
        raise ValueError(Errors.E304.format(where=sentence.location(heads.index(None)), head="'_'"))
    cycle = sentence.graph().find_cycle()
    if cycle:
        ids = " -> ".join(str(i) for i in cycle)
        raise ValueError(Errors.E307.format(where=sentence.location(cycle[0] - 1), cycle=ids))
