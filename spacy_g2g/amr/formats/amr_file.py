"""Files of AMRs in PENMAN notation: blocks of metadata comments and one graph, separated by empty lines.

The format is that of the AMR releases: ``# ::id ...``, ``# ::snt ...``, and ``# ::tok ...`` for tokenized
text.
"""

import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal

from ...errors import Errors
from ...formats.conllu import text_lines
from ...formats.rows import MAX_DIGITS
from ..parsing.tree import AmrTree
from .penman_text import parse_penman

OnError = Literal["raise", "skip"]

#: Keys of metadata whose value is the rest of the line.
TEXT_KEYS = ("snt", "tok")

_KEY = re.compile(r"::(\S+)")
_ID_RANGE = re.compile(r"(.*?)([0-9]+)\.\.([0-9]+)$")


@dataclass(frozen=True)
class AmrBlock:
    """A graph of a file with its metadata.

    text: The graph as written in the file, without comments.
    tree: The graph as nested branches; well-formed, see ``parse_penman``.
    metadata: Values of the comments, as in {"id": ..., "snt": ...}.
    where: File, line and id, for messages.
    """

    text: str
    tree: AmrTree
    metadata: dict[str, str]
    where: str

    @property
    def id(self) -> str:
        """Id of the graph; "" if it has none."""
        return self.metadata.get("id", "")

    @property
    def sentence(self) -> str:
        """Text of the sentence: ``::snt``; without it ``::tok``; "" without both."""
        return self.metadata.get("snt", self.metadata.get("tok", ""))

    @property
    def tokens(self) -> list[str]:
        """Words of the sentence: ``::tok``, or without it ``::snt``, split at white space."""
        return self.metadata.get("tok", self.sentence).split()


def read_amr_file(path: str | Path, *, ids: Iterable[str] | None = None) -> list[AmrBlock]:
    """Read the graphs of a file in order. ``data.corpus.AmrReader`` can skip broken graphs.

    path: The file.
    ids: Blocks to take, see ``select_ids``; None for all. Other blocks are not parsed.
    Raises ValueError for text that is not UTF-8, for a block that cannot be read, and if no graph is found.
    """
    blocks = []
    for block in read_file_blocks(Path(path), select_ids(ids)):
        if isinstance(block, ValueError):
            raise block
        blocks.append(block)
    if not blocks:
        raise ValueError(Errors.E1007.format(path=path, n=0))
    return blocks


def read_file_blocks(path: Path, is_wanted: Callable[[str], bool]) -> Iterator[AmrBlock | ValueError]:
    """Yield the blocks of a file, and an error in place of each block that cannot be read.

    Blocks with neither graph nor ``::id``, ``::snt`` or ``::tok``, such as a file's header, are skipped.

    path: The file.
    is_wanted: Says whether to take the block of an id.
    Raises ValueError for text that is not UTF-8, with its line.
    """
    for number, block in _read_blocks(text_lines(path)):
        comments = [line for line in block if line.startswith("#")]
        text = "\n".join(line for line in block if not line.startswith("#"))
        metadata = read_metadata(comments)
        is_header = not text and not metadata.keys() & {"id", *TEXT_KEYS}
        if is_header or not is_wanted(metadata.get("id", "")):
            continue
        where = f"{path}, line {number}, id {metadata.get('id', '(none)')}"
        try:
            yield AmrBlock(text, parse_penman(text, where=where), metadata, where)
        except ValueError as error:
            yield error


def write_amrs(amrs: Iterable[tuple[Mapping[str, str], str]]) -> Iterator[str]:
    """Yield the blocks of a file, each with an empty line at its end.

    Line ends within a value become spaces, and empty lines within an AMR are left out.

    amrs: Pairs of metadata, in the order to write it, and a graph in PENMAN notation.
    """
    for metadata, text in amrs:
        comments = [f"# ::{key} {' '.join(value.splitlines())}".rstrip() for key, value in metadata.items()]
        lines = [line.rstrip() for line in text.splitlines() if line.strip()]
        yield "\n".join([*comments, *lines, "", ""])


def read_metadata(comments: Iterable[str]) -> dict[str, str]:
    """Read the metadata of comments such as ``# ::id a.1 ::date 2012``. The first value of a key counts."""
    metadata: dict[str, str] = {}
    for comment in comments:
        matches = list(_KEY.finditer(comment))
        if matches and matches[0][1] in TEXT_KEYS:
            metadata.setdefault(matches[0][1], comment[matches[0].end() :].strip())
            continue
        ends = [*(match.start() for match in matches[1:]), len(comment)]
        for match, end in zip(matches, ends, strict=False):
            metadata.setdefault(match[1], comment[match.end() : end].strip())
    return metadata


def select_ids(ids: Iterable[str] | None) -> Callable[[str], bool]:
    """Return a function that says whether an id is wanted.

    If the start of a range has leading zeros, as in "a.008..145", its ids may have them or not: a.009, a.9.

    ids: Ids, and ranges of ids such as "lpp_1943.1..145" that include both ends; None for all ids.
    Raises ValueError for a range that ends before it starts.
    """
    if ids is None:
        return lambda _: True
    names: set[str] = set()
    # Ranges by prefix, with the width of numbers with leading zeros, or 0 without leading zeros.
    ranges: dict[str, list[tuple[range, int]]] = {}
    for entry in ids:
        match = _ID_RANGE.match(entry)
        if match is None:
            names.add(entry)
            continue
        prefix, start, end = match[1], int(match[2]), int(match[3])
        if end < start:
            raise ValueError(Errors.E1009.format(entry=entry))
        width = len(match[2]) if match[2].startswith("0") else 0
        ranges.setdefault(prefix, []).append((range(start, end + 1), width))

    def is_wanted(name: str) -> bool:
        # The number of an id may begin at any of its final digits.
        for at in range(len(name.rstrip(string.digits)), len(name)):
            for numbers, width in ranges.get(name[:at], ()) if len(name) - at < MAX_DIGITS else ():
                number = int(name[at:])
                if number in numbers and name[at:] in (str(number), f"{number:0{width}}"):
                    return True
        return name in names

    return is_wanted


def _read_blocks(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield each run of nonempty lines, with the number of its first line."""
    rows = ((number, line.rstrip()) for number, line in enumerate(lines, start=1))
    for has_text, block in groupby(rows, key=lambda row: bool(row[1])):
        if has_text:
            numbers, texts = zip(*block, strict=True)
            yield numbers[0], [text.strip() if text.lstrip().startswith("#") else text for text in texts]
