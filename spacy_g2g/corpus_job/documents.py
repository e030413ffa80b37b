"""Documents of a shard. A document that can't be read is an error of its own and does not end the shard."""

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..data.docs import TOKEN_ANNOTATIONS, remove_tree, restore_sentences, sentences_to_doc
from ..errors import Errors
from ..formats.conllu import parse_sentence
from .plan import PARQUET, Shard
from .store import open_file, place_of

#: Longest line in bytes. A longer one is an error, so that memory stays bounded.
LONGEST_LINE = 2**26
ROWS_AT_ONCE = 256
#: Bytes that are read at once, each time by a request to a store.
BUFFER = 2**20
#: Suffixes of packed files, and their codecs.
CODECS = {".gz": "gzip", ".zst": "zstd"}
#: Stands for a line of CoNLL-U that is too long, and is an error there.
TOO_LONG = b"a line that is too long\n"


@dataclass(frozen=True)
class Document:
    """A document to parse, or the reason why it can't be read.

    id: The input's id, or one made of the file's label and the place.
    place: Row or byte where the document begins; of .spacy its number. Each document of a file has its own.
    content: Text, or a Doc of the input; None if there is an error.
    kept: Values of the columns that go to the output, as text.
    error: Why the document can't be read.
    """

    id: str
    place: int
    content: str | Doc | None
    kept: tuple[str | None, ...] = ()
    error: str = ""

    @property
    def text(self) -> str:
        """Its text, "" if there is none."""
        return self.content.text if isinstance(self.content, Doc) else self.content or ""


@dataclass(frozen=True)
class Fields:
    """Names of the input's columns or keys.

    text: Column with the text.
    id: Column with the id. It may be missing.
    kept: Columns that go to the output.
    """

    text: str = "text"
    id: str = "id"
    kept: tuple[str, ...] = ()


def read_documents(shard: Shard, fields: Fields, vocab: Vocab) -> Iterator[Document]:
    """Yield the documents of a shard in their order. Empty lines of text are no documents.

    shard: The shard.
    fields: Names of columns and keys.
    vocab: Vocabulary of Docs.
    """
    if shard.kind == PARQUET:
        yield from _read_parquet(shard, fields)
    elif shard.kind == ".spacy":
        yield from _read_spacy(shard, vocab)
    elif shard.kind == ".conllu":
        yield from _read_conllu(shard, vocab)
    else:
        read = _json_document if ".jsonl" in shard.kind else _text_document
        for place, line in _lines(shard):
            if line is None:
                error = Errors.E1104.format(limit=LONGEST_LINE)
                yield Document(f"{shard.label}:{place}", place, None, (None,) * len(fields.kept), error)
            elif line.strip():
                yield read(line, f"{shard.label}:{place}", place, fields)


def _text_document(line: bytes, id_: str, place: int, fields: Fields) -> Document:
    kept = (None,) * len(fields.kept)
    try:
        text = line.decode("utf-8-sig" if place == 0 else "utf8")
    except UnicodeDecodeError as error:
        return Document(id_, place, None, kept, str(error))
    return Document(id_, place, text.rstrip("\r\n"), kept)


def _json_document(line: bytes, id_: str, place: int, fields: Fields) -> Document:
    kept: tuple[str | None, ...] = (None,) * len(fields.kept)
    try:
        record = json.loads(line.decode("utf-8-sig" if place == 0 else "utf8"))
        if not isinstance(record, dict):
            raise ValueError(Errors.E1105.format(found=type(record).__name__))
        given = record.get(fields.id)
        id_ = _checked(id_ if given is None else _as_text(given))
        kept = tuple(_checked(_as_text(record.get(name))) for name in fields.kept)
        return Document(id_, place, _checked(_text(record.get(fields.text), fields)), kept)
    except (ValueError, RecursionError) as error:
        return Document(id_, place, None, kept, f"{type(error).__name__}: {error}")


def _text(value: Any, fields: Fields) -> str:
    if not isinstance(value, str):
        raise ValueError(Errors.E1106.format(column=fields.text, found=type(value).__name__))
    return value


def _as_text(value: Any) -> Any:
    return value if isinstance(value, str) or value is None else json.dumps(value, default=str)


def _checked(text: Any) -> Any:
    """Raise ValueError if a text has characters that are no Unicode (lone surrogates)."""
    if text is not None:
        text.encode("utf8")
    return text


def _lines(shard: Shard) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines that begin in the shard, with their first bytes' places; None for one too long."""
    with _open_lines(shard) as file:
        place = shard.start
        if place:
            # The line that a cut falls into belongs to the shard before.
            file.seek(place - 1)
            place += _skip_line(file) - 1
        while shard.end < 0 or place < shard.end:
            line = file.readline(LONGEST_LINE)
            if not line:
                return
            is_whole = len(line) < LONGEST_LINE or line.endswith(b"\n")
            yield place, line if is_whole else None
            place += len(line) + (0 if is_whole else _skip_line(file))


def _open_lines(shard: Shard) -> io.BufferedReader:
    """Open a file of lines, which is unpacked as it is read."""
    file = open_file(place_of(shard.path))
    if codec := CODECS.get(PurePosixPath(shard.kind).suffix):
        file = pa.CompressedInputStream(pa.BufferedInputStream(file, BUFFER), codec)
    return io.BufferedReader(file, BUFFER)


def _skip_line(file: io.BufferedReader) -> int:
    """Read up to the end of the line. Returns the number of bytes."""
    n_bytes = 0
    while piece := file.readline(LONGEST_LINE):
        n_bytes += len(piece)
        if piece.endswith(b"\n"):
            break
    return n_bytes


def _read_parquet(shard: Shard, fields: Fields) -> Iterator[Document]:
    with open_file(place_of(shard.path)) as source, pq.ParquetFile(source) as file:
        names = [name for name in (fields.text, fields.id, *fields.kept) if name in file.schema_arrow.names]
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        starts = [sum(sizes[:group]) for group in range(len(sizes))]
        groups = [
            group
            for group, (start, size) in enumerate(zip(starts, sizes, strict=True))
            if start < shard.end and start + size > shard.start
        ]
        place = starts[groups[0]] if groups else 0
        batches = file.iter_batches(ROWS_AT_ONCE, groups, columns=list(dict.fromkeys(names)))
        for row in (row for batch in batches for row in batch.to_pylist()):
            if shard.start <= place < shard.end:
                yield _row_document(row, place, shard, fields)
            place += 1


def _row_document(row: dict[str, Any], place: int, shard: Shard, fields: Fields) -> Document:
    given = row.get(fields.id)
    id_ = f"{shard.label}:{place}" if given is None else _as_text(given)
    kept = tuple(_as_text(row.get(name)) for name in fields.kept)
    try:
        return Document(id_, place, _text(row.get(fields.text), fields), kept)
    except ValueError as error:
        return Document(id_, place, None, kept, f"{type(error).__name__}: {error}")


def _read_spacy(shard: Shard, vocab: Vocab) -> Iterator[Document]:
    with open_file(place_of(shard.path)) as file:
        docs = DocBin().from_bytes(file.read())
    for place, doc in enumerate(docs.get_docs(vocab)):
        restore_sentences(doc)
        remove_tree(doc)
        yield Document(f"{shard.label}:{place}", place, doc)


def _read_conllu(shard: Shard, vocab: Vocab) -> Iterator[Document]:
    """Yield a document for each sentence, as ``parse`` does."""
    for place, rows in _sentences(_lines(shard)):
        id_ = f"{shard.label}:{place}"
        try:
            lines = [row.decode("utf8") for row in rows]
            sentence = parse_sentence(lines, source=PurePosixPath(shard.label).name, trees="any")
            doc = sentences_to_doc([sentence], vocab, annotations=TOKEN_ANNOTATIONS, keep_source=False)
        except ValueError as error:
            yield Document(id_, place, None, (), f"{type(error).__name__}: {error}")
        else:
            yield Document(sentence.comment("sent_id") or id_, place, doc)


def _sentences(lines: Iterable[tuple[int, bytes | None]]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the lines of each sentence of CoNLL-U, with the place of the first one."""
    first, rows = 0, list[bytes]()
    for place, line in lines:
        if line is None or line.strip(b"\r\n"):
            first, rows = (first, rows) if rows else (place, [])
            rows.append(TOO_LONG if line is None else line)
        elif rows:
            yield first, rows
            rows = []
    if rows:
        yield first, rows
