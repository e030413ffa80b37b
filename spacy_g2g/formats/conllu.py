"""CoNLL-U text, read sentence by sentence and written back byte for byte.

https://universaldependencies.org/format.html defines the format: ten tab-separated columns in a row and an
empty line after each sentence. A sentence keeps all its lines as rows. Content that this module does not
interpret (comments, empty nodes, enhanced dependencies, line ends) therefore survives a change of columns.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Literal, Union

from ..errors import Errors
from .conllx import CONLLX_SUFFIXES, conllu_lines
from .graph import MISSING, Graph, universal
from .rows import (
    COLUMNS,
    EMPTY_ROW,
    ConlluWord,
    SurfaceToken,
    join_row,
    line_end,
    location,
    make_word,
    parse_rows,
    split_row,
)

Lines = Iterable[str | bytes]
TreeCheck = Literal["any", "partial", "full"]


@dataclass(frozen=True, slots=True)
class ConlluSentence:
    """Sentence with its rows, words and surface tokens.

    rows: All lines with their line ends, including the empty line at the end.
    words: Syntactic words.
    word_rows: Index of each word's row in ``rows``.
    tokens: Surface tokens, which cover all words.
    source: Name of the file or text that the sentence was read from, for error messages.
    first_line: Number of the sentence's first line in the source, counted from 1.
    """

    rows: tuple[str, ...]
    words: tuple[ConlluWord, ...]
    word_rows: tuple[int, ...]
    tokens: tuple[SurfaceToken, ...]
    source: str = "<text>"
    first_line: int = 1

    def __str__(self) -> str:
        return "".join(self.rows)

    @property
    def comments(self) -> list[str]:
        """Comment lines without line ends."""
        rows = [row.lstrip("\ufeff").rstrip("\r\n") for row in self.rows]
        return [row for row in rows if row.startswith("#")]

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

    def location(self, word: int = 0) -> str:
        """Return source and line number of the word with this index, for error messages."""
        return location(self.source, self.first_line + self.word_rows[word])

    def column(self, name: str) -> list[str]:
        """Return the cells of the words in a column (see ``COLUMNS``), as they are in the text."""
        return [split_row(self.rows[place])[COLUMNS[name]] for place in self.word_rows]

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
        old = {"head": self._heads(), "deprel": [word.deprel for word in self.words]}
        is_same = all([*columns.get(name, cells)] == cells for name, cells in old.items())
        return self.replace(**(columns if is_same else {"deps": ["_"] * len(self.words), **columns}))

    def replace(self, **columns: Sequence[str]) -> "ConlluSentence":
        """Return a copy with some columns replaced. The rest of the sentence stays the same, byte for byte.

        columns: One value for each word, by name of the column (see ``COLUMNS``).
        Raises ValueError if the number of values differs from the number of words, or if a value is not
            valid in CoNLL-U.
        """
        for name, values in columns.items():
            if len(values) != len(self.words):
                raise ValueError(Errors.E308.format(name=name, found=len(values), expected=len(self.words)))
        rows, words = [*self.rows], list[ConlluWord]()
        for i, place in enumerate(self.word_rows):
            cells = split_row(rows[place])
            for name, values in columns.items():
                cells[COLUMNS[name]] = values[i]
            rows[place] = join_row(cells, end=line_end(rows[place]))
            cells = split_row(rows[place])
            words.append(make_word(cells, source=self.source, line=self.first_line + place))
        tokens = self.tokens
        if "misc" in columns:
            tokens = tuple(
                token if token.is_multiword else token._replace(misc=words[token.start - 1].misc)
                for token in tokens
            )
        changed = dataclasses.replace(self, rows=tuple(rows), words=tuple(words), tokens=tokens)
        _check_heads(changed, "any")
        return changed

    def with_comments(self, comments: Mapping[str, str]) -> "ConlluSentence":
        """Return a copy with further comments ``# name = value`` behind those that are there.

        comments: Values by their names, each without line ends.
        """
        end = line_end(self.rows[0]) or EMPTY_ROW
        added = [f"# {name} = {value}{end}" for name, value in comments.items()]
        n = next(i for i, row in enumerate(self.rows) if row.lstrip("\ufeff\r\n")[:1] not in ("#", ""))
        rows = (*self.rows[:n], *added, *self.rows[n:])
        return dataclasses.replace(
            self, rows=rows, word_rows=tuple(place + len(added) for place in self.word_rows)
        )

    def merge_multiword(self) -> "ConlluSentence":
        """Return a copy whose words are the surface tokens, without empty nodes and enhanced dependencies.

        A multiword token has the columns of that of its words which is nearest to the root, and the
        dependents of all its words.
        """
        rows, numbers = [comment + "\n" for comment in self.comments], {0: 0}
        for number, token in enumerate(self.tokens, start=1):
            numbers |= dict.fromkeys(range(token.start, token.end + 1), number)
        for number, token in enumerate(self.tokens, start=1):
            word = min(self.words[token.start - 1 : token.end], key=self._depth)
            head = "_" if word.head is None else str(numbers[word.head])
            tags = (word.lemma, word.upos, word.xpos, word.feats)
            rows.append(join_row([str(number), token.form, *tags, head, word.deprel, "_", token.misc]))
        return parse_sentence([*rows, EMPTY_ROW], source=self.source, first_line=self.first_line)

    def attach_roots(self, trees: TreeCheck = "partial") -> "ConlluSentence":
        """Return a copy in which every root after the first depends on the first.

        The root keeps its label unless that is root or the label of the first root. Then it gets punct if it
        is punctuation, else parataxis. ``read_conllu`` describes ``trees`` and the errors.
        """
        sentence, roots = self, [i for i, word in enumerate(self.words) if word.head == 0]
        if len(roots) > 1:
            heads = self._heads()
            deps = [word.deprel for word in self.words]
            for i in roots[1:]:
                heads[i] = str(roots[0] + 1)
                if deps[i] in {"root", "ROOT", deps[roots[0]]} - {"_", ""}:
                    deps[i] = "punct" if self.words[i].upos == "PUNCT" else "parataxis"
            sentence = self.replace(head=heads, deprel=deps)
        _check_heads(sentence, trees)
        return sentence

    def _heads(self) -> list[str]:
        return ["_" if word.head is None else str(word.head) for word in self.words]

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
            where, byte = location(name, number), error.object[error.start]
            raise ValueError(Errors.E302.format(where=where, value=byte)) from error


def text_lines(path: Union[str, "PathLike[str]"]) -> Iterator[str]:
    """Yield the lines of a text file, without a byte order mark. Raises ValueError as ``decode_lines``."""
    with open(path, "rb") as file_:
        for number, line in enumerate(decode_lines(file_, fspath(path))):
            yield line if number else line.removeprefix("\ufeff")


def write_conllu(sentences: Iterable[ConlluSentence]) -> Iterator[str]:
    """Yield the text of sentences in pieces. Missing empty lines between sentences are added."""
    last = EMPTY_ROW
    for sentence in sentences:
        if last.strip("\r\n"):
            yield "\n" if last.endswith("\n") else "\n\n"
        yield str(sentence)
        last = sentence.rows[-1]


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


def parse_sentence(
    rows: Iterable[str], *, source: str = "<text>", first_line: int = 1, trees: TreeCheck = "partial"
) -> ConlluSentence:
    """Parse the rows of one sentence, with line ends. ``read_conllu`` describes ``trees`` and the errors."""
    rows = tuple(rows)
    words, places, tokens = parse_rows(rows, source=source, first_line=first_line)
    sentence = ConlluSentence(rows, words, places, tokens, source, first_line)
    _check_heads(sentence, trees)
    return sentence


def _check_heads(sentence: ConlluSentence, trees: TreeCheck) -> None:
    """Raise ValueError if a head is not a word of the sentence, or in the cases of ``read_conllu``."""
    n, heads = len(sentence.words), [word.head for word in sentence.words]
    for i, head in enumerate(heads):
        if head is not None and head > n:
            text = f"{head} in a sentence of {n} words"
            raise ValueError(Errors.E304.format(where=sentence.location(i), head=text))
    if trees == "any":
        return
    roots = [i for i, head in enumerate(heads) if head == 0]
    if len(roots) > 1:
        raise ValueError(Errors.E306.format(where=sentence.location(roots[1]), roots=[i + 1 for i in roots]))
    if trees == "full" and None in heads:
        raise ValueError(Errors.E304.format(where=sentence.location(heads.index(None)), head="'_'"))
    cycle = sentence.graph().find_cycle()
    if cycle:
        ids = " -> ".join(map(str, cycle))
        raise ValueError(Errors.E307.format(where=sentence.location(cycle[0] - 1), cycle=ids))
