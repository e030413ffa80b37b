"""From input files to shards. The same files and sizes always give the same shards."""

import itertools
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow.parquet as pq

from ..errors import Errors, Warnings
from .store import Place, files_in, open_file, size_of

#: Suffixes of files that are cut into ranges of bytes, each line belonging to the range it begins in.
LINES = (".jsonl", ".txt")
#: Suffixes of files that are one shard each.
WHOLE = (*(f"{suffix}{packed}" for suffix in LINES for packed in (".gz", ".zst")), ".conllu", ".spacy")
PARQUET = ".parquet"
#: Bytes of a file that is one shard, above which it should be split.
LARGE = 200 * 10**6
KINDS = (PARQUET, *LINES, *WHOLE)


@dataclass(frozen=True)
class Shard:
    """Part of an input file, and the unit of work: a shard is parsed by one process and has one output file.

    name: Name of the output file, without suffix. Names count up in the order of the input.
    path: Absolute path or URI of the input file.
    label: Path of the input file within the input. It begins the ids of documents that have none.
    kind: Suffix of the input file, from ``KINDS``.
    size: Bytes of the input file.
    start: First row (Parquet) or byte (lines) of the shard.
    end: End of the range, exclusive; -1 for the end of the file.
    """

    name: str
    path: str
    label: str
    kind: str
    size: int
    start: int = 0
    end: int = -1


def make_plan(
    inputs: Sequence[Place], *, shard_bytes: int, columns: Sequence[str] = ("text",)
) -> list[Shard]:
    """Return the shards of all files, in the order of the inputs.

    inputs: Files, and folders whose files are taken in the order of their paths. Files of other kinds and
        hidden files of a folder are left out. A file that is met again is left out, too.
    shard_bytes: Bytes of text that a shard should have.
    columns: Columns that Parquet files must have, first the one with the text.
    Raises FileNotFoundError if an input is missing, and ValueError if it has an unknown suffix, no documents'
        files, or not the columns.
    """
    ranges: list[tuple[Place, str, str, int, int, int]] = []
    for path, (label, size) in dict(_files(inputs)).items():
        kind = kind_of(path)
        if kind == PARQUET:
            cuts = _parquet_cuts(path, shard_bytes, columns)
        elif kind in LINES:
            cuts = _cuts(size, size, shard_bytes)
        else:
            cuts = [0, -1]
            if size > LARGE:
                warnings.warn(Warnings.W1101.format(path=path, limit=LARGE // 10**6), stacklevel=2)
        ranges += [(path, label, str(kind), size, start, end) for start, end in itertools.pairwise(cuts)]
    return [
        Shard(f"part-{number:06d}", str(path), label, kind, size, start, end)
        for number, (path, label, kind, size, start, end) in enumerate(ranges)
    ]


def kind_of(path: Place) -> str | None:
    """Return the suffix of ``KINDS`` that a file's name ends in, or None."""
    return next((kind for kind in KINDS if path.name.endswith(kind)), None)


def _files(inputs: Sequence[Place]) -> Iterator[tuple[Place, tuple[str, int]]]:
    """Yield the absolute path of each file, with its label and size."""
    for input_ in inputs:
        here = input_.resolve()
        if input_.is_dir():
            found = {path: size for path, size in files_in(here).items() if kind_of(path)}
            inside = {path: path.parts[len(here.parts) :] for path in found}
            visible = [path for path in found if not any(part.startswith(".") for part in inside[path])]
            if not visible:
                raise ValueError(Errors.E1101.format(path=input_, expected=", ".join(KINDS)))
            yield from ((path, ("/".join(inside[path]), found[path])) for path in visible)
        elif not input_.exists():
            raise FileNotFoundError(Errors.E1102.format(path=input_))
        elif kind_of(input_) is None:
            raise ValueError(Errors.E1101.format(path=input_, expected=", ".join(KINDS)))
        else:
            yield here, (input_.name, size_of(here))


def _parquet_cuts(path: Place, shard_bytes: int, columns: Sequence[str]) -> list[int]:
    """Return the rows that shards begin with, and the number of rows."""
    with open_file(path) as source, pq.ParquetFile(source) as file:
        names, metadata = file.schema_arrow.names, file.metadata
    missing = [name for name in columns if name not in names]
    if missing:
        raise ValueError(Errors.E1103.format(path=path, missing=missing, names=names))
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    chunks = [group.column(i) for group in groups for i in range(metadata.num_columns)]
    text = [chunk for chunk in chunks if chunk.path_in_schema == columns[0]]
    n_bytes = sum(chunk.total_uncompressed_size for chunk in text)
    return _cuts(metadata.num_rows, n_bytes, shard_bytes)


def _cuts(n: int, n_bytes: int, shard_bytes: int) -> list[int]:
    """Cut 0 to n evenly into parts of about ``shard_bytes``, of the ``n_bytes`` that there are in all."""
    n_parts = max(1, min(round(n_bytes / shard_bytes), n))
    return [n * i // n_parts for i in range(n_parts + 1)]
