"""One shard: read, parse, write, commit. Knows no engine."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa
import pyarrow.parquet as pq
from spacy.language import Language

from ..errors import Errors
from .block import BlockParser, ErrorRecord, blocks
from .documents import Document, read_documents
from .job import FORMAT_VERSION, Job
from .journal import Journal, unfinished
from .plan import Shard
from .store import Place, commit, open_file, put
from .table import annotations_of, docs_to_table, make_schema

#: Key of a Parquet file's metadata, whose value is the shard's record.
METADATA_KEY = b"g2g"
#: Attempts that may die while they parse nothing.
MAX_IDLE_DEATHS = 20
#: Errors that no share is computed of.
FEW_ERRORS = 10

#: Words after which a pipeline is taken to know the frequent ones.
WORDS_TO_LEARN = 100_000
#: Number of words that each pipeline has parsed so far.
_learned: WeakKeyDictionary[Language, int] = WeakKeyDictionary()

#: What is known of a shard; "status" is "done", "there", "busy" or "failed".
Record = dict[str, Any]


class ShardError(Exception):
    """A shard can't be done."""


class PipelineError(ShardError):
    """A shard can't be done, since the pipeline raises errors for too many documents."""


def parse_shard(nlp: Language, shard: Shard, job: Job) -> Record:
    """Parse a shard, unless its output is there or another process is at work.

    Whatever happens to this process, the output is whole or absent. Documents that were in hand when an
    earlier attempt died are parsed alone. One that was alone at two deaths becomes an error.

    nlp: Pipeline.
    shard: Shard to parse.
    job: What workers must know.
    Returns the shard's record with its status.
    Raises OSError if the output can't be written.
    """
    final = job.data_path(shard)
    if final.exists():
        return {"name": shard.name, "status": "there"}
    journal = Journal.claim(job.states, shard.name, job.timeout)
    if journal is None:
        return {"name": shard.name, "status": "busy"}
    if final.exists():  # Another process has just finished it.
        journal.forget()
        return {"name": shard.name, "status": "there"}
    try:
        record, warnings = _attempt(nlp, shard, job, journal)
    except ShardError as error:
        journal.end()
        is_pipeline = isinstance(error, PipelineError)
        return {"name": shard.name, "status": "failed", "error": str(error), "is_pipeline": is_pipeline}
    except BaseException:
        journal.end()
        raise
    journal.forget()
    settle_errors(job, shard, record["errors"])
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)  # The C library glibc would keep free memory.
    return {**record, "status": "done", "warnings": warnings}


def _attempt(nlp: Language, shard: Shard, job: Job, journal: Journal) -> tuple[Record, dict[str, int]]:
    """Parse a shard and give its file the final name. Returns its record, and the number of each warning."""
    if journal.earlier.n_idle_deaths >= MAX_IDLE_DEATHS:
        raise ShardError(Errors.E1114.format(n=journal.earlier.n_idle_deaths))
    temporary = unfinished(journal.path)
    kept = job.fields.kept
    annotations = annotations_of(nlp) if job.annotations is None else job.annotations
    schema = make_schema(annotations, kept, text=job.text)
    parser = BlockParser(nlp, journal, job.timeout)
    counts = {"docs": 0, "words": 0, "sentences": 0}
    n_read = 0
    try:
        with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
            for block in blocks(_documents(shard, job, nlp)):
                n_read += len(block)
                with _memory(nlp):
                    table = docs_to_table(parser.parse(block), schema, kept)
                writer.write_table(table)
                _learned[nlp] = _learned.get(nlp, 0) + _count(counts, table)
                _check_share(parser, n_read, job)
            record = {
                **_head_of(nlp, shard, job),
                **counts,
                "errors": [parser.errors[number] for number in sorted(parser.errors)],
            }
            writer.add_key_value_metadata({METADATA_KEY: json.dumps(record)})
        commit(temporary, job.data_path(shard))
    finally:
        temporary.unlink(missing_ok=True)
    return record, dict(parser.warnings)


def _memory(nlp: Language) -> AbstractContextManager[Any]:
    """Have a pipeline forget a block's words at its end, so that memory stays flat.

    The words of the first blocks are remembered, so the tokenizer need not split frequent words again.
    """
    return nlp.memory_zone() if _learned.get(nlp, 0) > WORDS_TO_LEARN else nullcontext()


def _head_of(nlp: Language, shard: Shard, job: Job) -> Record:
    """Return the part of a record that is known before the shard is parsed."""
    return {
        "format_version": FORMAT_VERSION,
        "name": shard.name,
        "inputs": [{"path": part.path, "start": part.start, "end": part.end} for part in shard.parts],
        "job": job.fingerprint,
        "pipeline": f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}",
    }


def _documents(shard: Shard, job: Job, nlp: Language) -> Iterator[Document]:
    """Yield the documents of a shard. Raises ShardError if a file's bytes can't be read."""
    try:
        yield from read_documents(shard, job.fields, nlp.vocab)
    except OSError as error:
        raise ShardError(str(error)) from error


def _count(counts: dict[str, int], table: pa.Table) -> int:
    """Add a block to the counts of a shard. Returns the block's number of words."""
    n_words = len(table["words"].combine_chunks().flatten())
    counts["docs"] += len(table)
    counts["words"] += n_words
    if "sent_starts" in table.column_names:
        counts["sentences"] += len(table["sent_starts"].combine_chunks().flatten())
    return n_words


def _check_share(parser: BlockParser, n_read: int, job: Job) -> None:
    """Raise ShardError if so many documents are errors that the pipeline or the input must be wrong."""
    limit = max(FEW_ERRORS, job.max_errors * n_read)
    if len(parser.errors) > limit:
        first = next(iter(parser.errors.values()))["error"]
        kind = PipelineError if parser.n_raised > limit else ShardError
        raise kind(Errors.E1116.format(n=len(parser.errors), total=n_read, first=first))


def read_record(path: Place, job: Job) -> Record:
    """Return the record in the footer of a shard's output.

    Raises ValueError if the file is damaged or was written by another job.
    """
    try:
        with open_file(path) as file:
            record: Record = json.loads(pq.read_metadata(file).metadata[METADATA_KEY])
        if record["job"] != job.fingerprint:
            raise ValueError(record["job"])
    except (ValueError, OSError, KeyError, TypeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(Errors.E1117.format(path=path, error=reason)) from error
    return record


def settle_errors(job: Job, shard: Shard, errors: list[ErrorRecord]) -> None:
    """Write a shard's file of errors if it is not as the shard's record says. The record counts."""
    path = job.errors_path(shard)
    text = "".join(json.dumps(error) + "\n" for error in errors)
    # Ours is ASCII. Whatever else is there can be read as Latin-1, too.
    there = path.read_text(encoding="latin-1") if path.exists() else ""
    if there != text:
        if text:
            put(path, text)
        else:
            path.unlink(missing_ok=True)
