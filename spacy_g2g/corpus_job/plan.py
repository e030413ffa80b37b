"""Divide input files into shards. The same files and sizes always give the same shards."""

import itertools
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow.parquet as pq

from ..errors import Errors, Warnings
from .store import Place, State, files_in, open_file, state_of

#: Suffixes of files that are cut into ranges of bytes. Each line belongs to the range in which it begins.
LINES = (".jsonl", ".txt")
#: Suffixes of files that are never cut.
WHOLE = (".jsonl.gz", ".jsonl.zst", ".txt.gz", ".txt.zst", ".conllu", ".spacy")
PARQUET = ".parquet"
#: Maximum size in bytes of a file that is never cut. Users should split a larger one.
MAX_WHOLE_BYTES = 200 * 10**6
#: Minimum size in bytes with which a file counts, since opening it takes time.
MIN_BYTES = 1000
KINDS = (PARQUET, *LINES, *WHOLE)


@dataclass(frozen=True)
class Fields:
    """Names of columns or keys of the input, and how text is split into documents.

    text: Column with the text.
    id: Column with the id. It may be missing.
    keep: Further columns to copy to the output.
    documents: How .txt is split into documents: "line", "paragraph" or "file".
    """

    text: str = "text"
    id: str = "id"
    keep: tuple[str, ...] = ()
    documents: str = "line"


@dataclass(frozen=True)
class Part:
    """An input file, or a range of one.

    path: Absolute path or URI of the file.
    label: Path of the file within the input. It begins the ids that are made for documents without one.
    kind: Suffix of the file, from ``KINDS``.
    state: State of the file when the plan was made.
    start: First row (Parquet) or byte (lines).
    end: End of the range, exclusive; -1 for the end of the file.
    """

    path: str
    label: str
    kind: str
    state: str
    start: int = 0
    end: int = -1


@dataclass(frozen=True)
class Shard:
    """Unit of work: a shard is parsed by one process and has one output file.

    name: Name of the output file, without suffix. Names are numbered in the order of the input.
    parts: Its parts of the input, in their order. Small files share a shard.
    """

    name: str
    parts: tuple[Part, ...]


def make_plan(inputs: Sequence[Place], fields: Fields, shard_bytes: int) -> list[Shard]:
    """Return the shards of all files, in the order of the inputs.

    inputs: Files, and folders whose files are taken in the order of their paths. Hidden files of a folder,
        files of other kinds and repeated files are left out.
    fields: Names of columns. Parquet files must have those of the text and those to keep.
    shard_bytes: Approximate size of a shard in bytes of text.
    Raises FileNotFoundError if an input is missing, and ValueError if it has an unknown suffix, no files with
        documents, or not the columns.
    """
    shards: list[list[Part]] = [[]]
    n_bytes = 0
    for path, (label, state) in dict(_files(inputs)).items():
        kind = str(kind_of(path))
        if kind == PARQUET:
            size, cuts = _parquet_cuts(path, shard_bytes, (fields.text, *fields.keep))
        elif kind in LINES and (fields.documents != "file" or kind != ".txt"):
            size, cuts = state.size, _cuts(state.size, n_bytes=state.size, shard_bytes=shard_bytes)
        else:
            size, cuts = state.size, [0, -1]
            if size > MAX_WHOLE_BYTES:
                limit = MAX_WHOLE_BYTES // 10**6
                warnings.warn(Warnings.W1101.format(path=path, limit=limit), stacklevel=2)
        size = max(MIN_BYTES, size // (len(cuts) - 1))
        for start, end in itertools.pairwise(cuts):
            if shards[-1] and n_bytes + size > shard_bytes:
                shards.append([])
                n_bytes = 0
            shards[-1].append(Part(str(path), label, kind, str(state), start, end))
            n_bytes += size
    return [Shard(f"part-{number:06d}", tuple(parts)) for number, parts in enumerate(shards)]


def kind_of(path: Place) -> str | None:
    """Return the suffix of ``KINDS`` that a file's name ends in, or None."""
    return next((kind for kind in KINDS if path.name.endswith(kind)), None)


def _files(inputs: Sequence[Place]) -> Iterator[tuple[Place, tuple[str, State]]]:
    """Yield the absolute path of each file, with its label and state. Warns of skipped links."""
    for input_ in inputs:
        if not input_.exists():
            raise FileNotFoundError(Errors.E1102.format(path=input_))
        # The target of a link may have another suffix.
        here = input_.resolve() if input_.is_dir() else input_.parent.resolve() / input_.name
        n_files = 0
        for path, state in (files_in(here) if input_.is_dir() else {here: state_of(here)}).items():
            inside = path.parts[len(here.parts) :]
            if any(name.startswith(".") for name in inside):
                continue
            if state is None and (kind_of(path) or path.is_dir()):
                warnings.warn(Warnings.W1102.format(path=path), stacklevel=3)
            elif state is not None and kind_of(path):
                n_files += 1
                label = "/".join(inside) or path.name
                # Names of files need not be Unicode.
                yield path, (label.encode("utf8", "backslashreplace").decode(), state)
        if not n_files:
            raise ValueError(Errors.E1101.format(path=input_, expected=", ".join(KINDS)))


def _parquet_cuts(path: Place, shard_bytes: int, columns: Sequence[str]) -> tuple[int, list[int]]:
    """Return the size of a file's text in bytes, and the rows at which to cut it, from 0 to their number."""
    with open_file(path) as source:
        try:
            with pq.ParquetFile(source) as file:
                names, metadata = file.schema_arrow.names, file.metadata
        except (ValueError, OSError):  # The file is damaged. Reading it later is an error.
            return 0, [0, -1]
    missing = [name for name in columns if name not in names]
    if missing:
        raise ValueError(Errors.E1103.format(path=path, missing=missing, names=names))
    n_bytes = 0
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for chunk in map(group.column, range(metadata.num_columns)):
            if chunk.path_in_schema == columns[0]:
                n_bytes += chunk.total_uncompressed_size
    return n_bytes, _cuts(metadata.num_rows, n_bytes=n_bytes, shard_bytes=shard_bytes)


def _cuts(n: int, *, n_bytes: int, shard_bytes: int) -> list[int]:
    """Cut the range from 0 to n, which is ``n_bytes`` large, evenly into parts of about ``shard_bytes``."""
    n_parts = max(1, min(round(n_bytes / shard_bytes), n))
    return [n * i // n_parts for i in range(n_parts + 1)]
