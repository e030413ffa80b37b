"""Files of AMRs in PENMAN notation: blocks of comments with metadata and one graph, an empty line between.

The format is that of the AMR releases: ``# ::id ...``, ``# ::snt ...`` and, where the text was tokenised,
``# ::tok ...``. Needs the package penman (the extra ``amr``), which is imported when a graph is read.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ...errors import Errors, Warnings

#: (variable, [(role, str or tree), ...]), as the package penman has it.
AmrTree = tuple[str, list[tuple[str, Any]]]
OnError = Literal["raise", "skip"]

#: Metadata whose value is the rest of the line, whatever that holds.
TEXTS = ("snt", "tok")

_KEY = re.compile(r"::(\S+)")
_RANGE = re.compile(r"(.*?)([0-9]+)\.\.([0-9]+)$")
_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_BRACKET = re.compile(r"[()]")
_TOKEN = re.compile(r"<[^<>\s]+>|\w+(?:[-'.\u2019]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class AmrBlock:
    """A graph of a file with its metadata.

    text (str): The graph as it is written, without comments.
    tree (AmrTree): The graph as nested branches; well-formed, see ``parse_penman``.
    metadata (dict[str, str]): From the comments, as in {"id": ..., "snt": ...}.
    where (str): File, line and id, for messages.
    """

    text: str
    tree: AmrTree
    metadata: dict[str, str]
    where: str

    @property
    def id(self) -> str:
        """The id; "" where there is none."""
        return self.metadata.get("id", "")

    @property
    def sentence(self) -> str:
        """The text of the sentence: ``::snt``, else the tokens; "" where there are none."""
        return self.metadata.get("snt", self.metadata.get("tok", ""))

    @property
    def tokens(self) -> list[str]:
        """The words: ``::tok``, else ``::snt``, split at white space."""
        return self.metadata.get("tok", self.sentence).split()


class AmrFile(NamedTuple):
    """What a file has.

    blocks (list[AmrBlock]): The graphs, in order.
    skipped (list[str]): A message for each block that can't be read.
    """

    blocks: list[AmrBlock]
    skipped: list[str]


def read_amr_file(
    path: str | Path, *, on_error: OnError = "raise", ids: Iterable[str] | None = None, limit: int = 0
) -> AmrFile:
    """Read a file of AMRs.

    path (str | Path): The file.
    on_error (str): What a block that can't be read leads to: an error ("raise"), or a warning that counts
        such blocks, which are left out ("skip").
    ids (Optional[Iterable[str]]): Which blocks to take, see ``select_ids``; None for all. Other blocks are
        not looked into.
    limit (int): The most blocks to take; 0 for all.
    RAISES (ValueError): For an unknown `on_error`, text that is not UTF-8, a block that can't be read, and a
        file without any graph.
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(Errors.E137.format(on_error=on_error))
    path = Path(path)
    is_wanted = select_ids(ids) if ids is not None else None
    found = AmrFile([], [])
    for block in read_file_blocks(path, is_wanted):
        if isinstance(block, AmrBlock):
            found.blocks.append(block)
        elif on_error == "raise":
            raise block
        else:
            found.skipped.append(str(block))
        if limit and len(found.blocks) == limit:
            break
    if found.skipped:
        warnings.warn(
            Warnings.W513.format(n=len(found.skipped), path=path, first=found.skipped[0]), stacklevel=2
        )
    if not found.blocks:
        raise ValueError(Errors.E136.format(path=path, n=len(found.skipped)))
    return found


def read_file_blocks(
    path: Path, is_wanted: Callable[[str], bool] | None = None
) -> Iterator[AmrBlock | ValueError]:
    """The blocks of a file; see ``read_blocks``.

    RAISES (ValueError): For text that is not UTF-8, with its line.
    """
    return read_blocks(_lines(path), str(path), is_wanted)


def read_blocks(
    lines: Iterable[str], source: str, is_wanted: Callable[[str], bool] | None = None
) -> Iterator[AmrBlock | ValueError]:
    """The blocks of lines, or for a block that can't be read its error.

    Blocks with neither graph nor ``::id``, ``::snt`` or ``::tok``, such as a file's header, are passed over.

    source (str): The name of the file, for messages.
    is_wanted (Optional[Callable]): Whether to take the block of an id; None for all.
    """
    for number, block in _split(lines):
        comments = [line for line in block if line.startswith("#")]
        text = "\n".join(line for line in block if not line.startswith("#"))
        metadata = read_metadata(comments)
        is_header = not text and not metadata.keys() & {"id", *TEXTS}
        if is_header or (is_wanted is not None and not is_wanted(metadata.get("id", ""))):
            continue
        where = f"{source}, line {number}, id {metadata.get('id', '(none)')}"
        try:
            yield AmrBlock(text, parse_penman(text, where), metadata, where)
        except ValueError as error:
            yield error


def write_amrs(amrs: Iterable[tuple[Mapping[str, str], str]]) -> Iterator[str]:
    """The blocks of a file, each with an empty line at its end, such as ``read_blocks`` reads.

    Line ends within a value become spaces, and empty lines of an AMR go away.

    amrs: Metadata, in the order in which it is written, and the graph in PENMAN notation.
    """
    for metadata, text in amrs:
        comments = [f"# ::{key} {' '.join(value.splitlines())}".rstrip() for key, value in metadata.items()]
        lines = [line.rstrip() for line in text.splitlines() if line.strip()]
        yield "\n".join([*comments, *lines, "", ""])


def read_metadata(comments: Iterable[str]) -> dict[str, str]:
    """The metadata of comments such as ``# ::id a.1 ::date 2012``; of a key that comes twice the first."""
    found: dict[str, str] = {}
    for comment in comments:
        matches = list(_KEY.finditer(comment))
        if matches and matches[0][1] in TEXTS:
            found.setdefault(matches[0][1], comment[matches[0].end() :].strip())
            continue
        ends = [*(match.start() for match in matches[1:]), len(comment)]
        for match, end in zip(matches, ends, strict=False):
            found.setdefault(match[1], comment[match.end() : end].strip())
    return found


def parse_penman(text: str, where: str = "<text>") -> AmrTree:
    """The tree of one graph in PENMAN notation, which is checked.

    Each variable has one tree with a concept, and each role has a target. Alignment markers (~e.5) stay.

    text (str): The graph; comments before it are passed over.
    where (str): Where the text is from, for messages.
    RAISES (ValueError): If the text is not that of one well-formed graph.
    RAISES (ImportError): If penman is not installed.
    """
    penman = _import_penman()
    try:
        tree: AmrTree = penman.parse(text).node
    except penman.PenmanError as error:
        message = str(error).strip().splitlines()[-1].strip()
        raise ValueError(Errors.E131.format(where=where, error=message, text=_start(text))) from error
    except RecursionError:
        error_text = "its trees are nested too deep"
        raise ValueError(Errors.E131.format(where=where, error=error_text, text=_start(text))) from None
    if rest := _after_graph(text):
        raise ValueError(Errors.E132.format(where=where, rest=_start(rest)))
    _check(tree, where)
    return tree


def select_ids(ids: Iterable[str]) -> Callable[[str], bool]:
    """Whether an id is one of `ids`, which may have ranges such as "lpp_1943.1..145" with both ends.

    Where the start of a range is padded with zeros, as in "a.008..145", numbers may be: a.009, a.9 and a.010.

    RAISES (ValueError): For a range whose end is before its start.
    """
    names: set[str] = set()
    for entry in ids:
        match = _RANGE.match(entry)
        if match is None:
            names.add(entry)
            continue
        prefix, start, end = match[1], int(match[2]), int(match[3])
        if end < start:
            raise ValueError(Errors.E138.format(entry=entry))
        widths = {0, len(match[2]) if match[2].startswith("0") else 0}
        names.update(f"{prefix}{number:0{w}}" for number in range(start, end + 1) for w in widths)
    return names.__contains__


def simple_tokens(text: str) -> list[str]:
    """Words and punctuation marks of raw text, for files without ``::tok`` whose text is not tokenised."""
    return _TOKEN.findall(text)


def _import_penman() -> Any:
    try:
        import penman
    except ImportError as error:
        raise ImportError(Errors.E139.format(error=error)) from error
    return penman


def _lines(path: Path) -> Iterator[str]:
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf8").rstrip("\r")
        except UnicodeDecodeError as error:
            where, byte = f"{path}, line {number}", error.object[error.start]
            raise ValueError(Errors.E302.format(where=where, value=byte)) from error


def _split(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Runs of lines that are not empty, with the number of the first one."""
    block: list[str] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        if line.strip():
            block.append(line.strip() if line.lstrip().startswith("#") else line.rstrip())
        elif block:
            yield number - len(block), block
            block = []
    if block:
        yield number + 1 - len(block), block


def _after_graph(text: str) -> str:
    """What follows the first graph of a text, which is one that can be read."""
    plain = _COMMENT.sub("", text)
    strings = _STRING.sub(lambda match: "_" * len(match[0]), plain)
    depth = 0
    for match in _BRACKET.finditer(strings):
        depth += 1 if match[0] == "(" else -1
        if depth == 0:
            return plain[match.end() :].strip()
    return ""


def _check(tree: AmrTree, where: str) -> None:
    """Raise an error unless each variable has one tree, with a concept, and each role a target."""
    seen: set[str] = set()
    agenda = [tree]
    while agenda:
        variable, branches = agenda.pop()
        if variable is None:
            raise ValueError(Errors.E133.format(where=where))
        if variable in seen:
            raise ValueError(Errors.E134.format(where=where, variable=variable))
        seen.add(variable)
        if not any(role == "/" for role, _ in branches):
            raise ValueError(Errors.E135.format(where=where, variable=variable, role="/"))
        for role, target in branches:
            if target is None or role == ":":
                raise ValueError(Errors.E135.format(where=where, variable=variable, role=role))
            if not isinstance(target, str):
                agenda.append(target)


def _start(text: str) -> str:
    return repr(text[:60])
