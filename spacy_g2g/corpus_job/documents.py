"""Read the documents of a shard. One that can't be read becomes an error and does not end the shard."""

import collections
import io
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..data.docs import read_bin
from ..data.input_files import unparsed_doc
from ..errors import Errors
from ..formats.conllu import parse_sentence
from ..sentences.rewriting import with_white_space
from .plan import PARQUET, Fields, Part, Shard
from .store import open_file, place_of, state_of

#: Maximum number of bytes of a line or document, so that memory stays bounded. A longer one is an error.
MAX_BYTES = 2**26
ROWS_AT_ONCE = 256
#: Bytes of a read, which is a request if the file is in a store.
BUFFER = 2**20
#: Suffixes of packed files, and their codecs.
CODECS = {".gz": "gzip", ".zst": "zstd"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Place of an error that stands for the unreadable rest of a file.
REST = -1


class ShardError(Exception):
    """A shard can't be parsed."""


@dataclass(frozen=True)
class Document:
    """A document to parse, or the reason why it can't be read.

    id: The input's id, or one made of the file's label and the place.
    place: Row or byte where the document begins, or its number in a .spacy file. It is unique in the file.
    content: Text, or a Doc of the input; None if there is an error.
    extra: Values of the further columns that go to the output, as text.
    error: Why the document can't be read.
    file: The file's label.
    number: Its number in the shard, which the journal uses.
    """

    id: str
    place: int
    content: str | Doc | None
    extra: tuple[str | None, ...] = ()
    error: str = ""
    file: str = ""
    number: int = 0

    @property
    def text(self) -> str:
        """Text of the document, or ""."""
        return self.content.text if isinstance(self.content, Doc) else self.content or ""


def read_documents(shard: Shard, fields: Fields, vocab: Vocab) -> Iterator[Document]:
    """Yield the documents of a shard in their order, without empty texts.

    If a file is damaged, an error at the place ``REST`` stands for its unreadable rest.

    Raises ShardError if the bytes of a file can't be read, or if it has changed since the plan was made.
    """
    numbers = itertools.count()
    for part in shard.parts:
        place = place_of(part.path)
        try:
            if (now := str(state_of(place))) != part.state:
                raise ShardError(Errors.E1124.format(path=place, then=part.state, now=now))
            for document in _read_part(part, fields, vocab):
                yield replace(document, file=part.label, number=next(numbers))
        except ShardError:
            raise
        except Exception as error:
            text = Errors.E1115.format(path=place, error=f"{type(error).__name__}: {error}")
            if isinstance(error, MemoryError) or not _is_damaged(part, fields, vocab):
                raise ShardError(text) from error
            yield Document(part.label, REST, None, (), text, part.label, next(numbers))


def _is_damaged(part: Part, fields: Fields, vocab: Vocab) -> bool:
    """Return whether a second reading also fails, although the storage gives all bytes of the file."""
    try:
        with open_file(place_of(part.path)) as file:
            while file.read(BUFFER):
                pass
    except OSError:
        return False
    try:
        collections.deque(_read_part(part, fields, vocab), maxlen=0)
    except Exception:
        return True
    return False


def _read_part(part: Part, fields: Fields, vocab: Vocab) -> Iterator[Document]:
    raw_documents: Iterator[tuple[int, Any]]
    if part.kind == PARQUET:
        raw_documents = _rows(part, fields)
    elif part.kind == ".spacy":
        with open_file(place_of(part.path)) as file:
            raw_documents = enumerate(read_bin(file.read(), vocab))
    else:
        raw_documents = _contents(part, fields.documents)
    is_file = fields.documents == "file" and ".txt" in part.kind
    for place, raw in raw_documents:
        id_ = part.label if is_file else f"{part.label}:{place}"
        try:
            record = _named_values(raw, part, fields, vocab)
            own_id = record.get(fields.id)
            id_ = id_ if own_id is None else _as_text(own_id)
            extra = tuple(_as_text(record.get(name)) for name in fields.keep)
            content = record.get(fields.text)
            if not isinstance(content, str | Doc):
                raise ValueError(Errors.E1106.format(column=fields.text, found=type(content).__name__))
            yield Document(id_, place, _as_text(content), extra)
        except MemoryError:
            raise
        except Exception as error:
            yield Document(id_, place, None, error=f"{type(error).__name__}: {error}")


def _named_values(raw: Any, part: Part, fields: Fields, vocab: Vocab) -> dict[str, Any]:
    """Return the values of a document by the names of columns. Invalid content raises any exception."""
    if raw is None:
        raise ValueError(Errors.E1104.format(limit=MAX_BYTES))
    if isinstance(raw, Exception):
        raise raw
    if isinstance(raw, pa.RecordBatch):
        raw = raw.to_pylist()[0]
    elif ".jsonl" in part.kind:
        raw = json.loads(raw.decode())
    elif part.kind == ".conllu":
        # Lines end at these bytes only. A form may have other characters that splitlines() splits at.
        lines = [line.decode() for line in io.BytesIO(raw)]
        sentence = parse_sentence(lines, source=part.label, trees="any")
        doc = unparsed_doc([sentence], vocab, keep_source=False)
        doc, _ = with_white_space(doc, [sentence])
        comments = {name: sentence.comment(name) for name in fields.keep}
        raw = {**comments, fields.id: sentence.comment("sent_id") or None, fields.text: doc}
    else:
        raw = {fields.text: raw if isinstance(raw, Doc) else raw.decode().rstrip("\r\n")}
    if not isinstance(raw, dict):
        raise ValueError(Errors.E1105.format(found=type(raw).__name__))
    return raw


def _as_text(value: Any) -> Any:
    """Return a value as text, but None and a Doc as they are. Raises ValueError for lone surrogates."""
    if value is None or isinstance(value, Doc):
        return value
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    text.encode()
    return text


def _contents(part: Part, documents: str) -> Iterator[tuple[int, bytes | None]]:
    """Yield the place and bytes of each document of a file of lines; None for one that is too long."""
    if part.kind == ".conllu":
        contents = _blocks(part, lambda line: not line.strip(b"\r\n"))
    elif documents == "line" or ".jsonl" in part.kind:
        contents = _lines(part)
    else:
        contents = _blocks(part, lambda line: documents == "paragraph" and not line.strip())
    return ((place, content) for place, content in contents if content is None or content.strip())


def _lines(part: Part) -> Iterator[tuple[int, bytes | None]]:
    """Yield the places and bytes of lines that begin in a part; None for a line that is too long."""
    with _open_lines(part) as file:
        place = part.start
        if place:
            # A line that the part cuts belongs to the part before.
            file.seek(place - 1)
            place += _skip_line(file) - 1
        while part.end < 0 or place < part.end:
            line = file.readline(MAX_BYTES)
            if not line:
                return
            is_whole = len(line) < MAX_BYTES or line.endswith(b"\n")
            text = line if place else line.removeprefix(BYTE_ORDER_MARK)
            yield place, text if is_whole else None
            place += len(line) + (0 if is_whole else _skip_line(file))


def _blocks(part: Part, is_end: Callable[[bytes], bool]) -> Iterator[tuple[int, bytes | None]]:
    """Yield the places and bytes of blocks of lines; None for a block that is too long.

    A block belongs to the part in which the separating line before it begins.
    """
    first, rows, n_bytes = -1, list[bytes](), 0
    is_inside = part.start == 0
    for place, line in _lines(replace(part, end=-1)):
        ends = line is not None and is_end(line)
        if ends and first >= 0:
            yield first, b"".join(rows) if n_bytes <= MAX_BYTES else None
            first, rows, n_bytes = -1, [], 0
        if 0 <= part.end <= place and (ends or not is_inside):
            return
        is_inside = is_inside or ends
        if is_inside and not ends:
            first = place if first < 0 else first
            n_bytes += MAX_BYTES + 1 if line is None else len(line)
            if line is not None and n_bytes <= MAX_BYTES:
                rows.append(line)
    if first >= 0:
        yield first, b"".join(rows) if n_bytes <= MAX_BYTES else None


def _open_lines(part: Part) -> io.BufferedReader:
    """Open a file of lines, and unpack it while it is read."""
    file = open_file(place_of(part.path))
    if codec := CODECS.get(PurePosixPath(part.kind).suffix):
        file = pa.CompressedInputStream(pa.BufferedInputStream(file, BUFFER), codec)
    return io.BufferedReader(file, BUFFER)


def _skip_line(file: io.BufferedReader) -> int:
    """Read up to the end of the line. Returns the number of bytes."""
    n_bytes = 0
    while chunk := file.readline(MAX_BYTES):
        n_bytes += len(chunk)
        if chunk.endswith(b"\n"):
            break
    return n_bytes


def _rows(part: Part, fields: Fields) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield each row of a part as a batch, since a value that can't be read would spoil a larger batch."""
    with open_file(place_of(part.path)) as source, pq.ParquetFile(source) as file:
        names = [name for name in (fields.text, fields.id, *fields.keep) if name in file.schema_arrow.names]
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        starts = [sum(sizes[:group]) for group in range(len(sizes))]
        end = file.metadata.num_rows if part.end < 0 else part.end
        groups = [
            group
            for group, (start, size) in enumerate(zip(starts, sizes, strict=True))
            if start < end and start + size > part.start
        ]
        place = starts[groups[0]] if groups else 0
        for batch in file.iter_batches(ROWS_AT_ONCE, groups, columns=list(dict.fromkeys(names))):
            for i in range(len(batch)):
                if part.start <= place < end:
                    yield place, batch.slice(i, 1)
                place += 1
