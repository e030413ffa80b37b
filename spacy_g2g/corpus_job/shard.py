"""Read, parse, write and commit one shard, under any engine."""

from __future__ import annotations

import ctypes
import json
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from spacy.language import Language

from ..errors import Errors
from .block import BLOCK_CHARS, BLOCK_DOCS, BlockParser, ErrorRecord, PipelineError, group
from .documents import ShardError, read_documents
from .job import FORMAT_VERSION, Job
from .journal import Journal, unfinished
from .plan import Shard
from .store import Place, commit, open_file, put
from .table import annotations_of, docs_to_table, make_schema

#: Key of a Parquet file's metadata, whose value is the shard's record.
METADATA_KEY = b"g2g"
#: Maximum number of attempts that die before they parse a document.
MAX_IDLE_DEATHS = 20
#: Size of a vocabulary that should have the frequent words.
FREQUENT_WORDS = 20_000

#: Facts about a shard; "status" is "done", "there", "busy" or "failed".
Record = dict[str, Any]


class TakenOverError(Exception):
    """Another process has taken over the shard, because this one was stopped for too long."""


def parse_shard(nlp: Language, shard: Shard, job: Job) -> Record:
    """Parse a shard, unless its output exists or another process is at work. Returns its record.

    Whatever happens to this process, the output is complete or absent. Documents that an earlier attempt was
    parsing when it died are parsed alone. A document at which attempts die again and again becomes an error.

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
    except TakenOverError:
        journal.end()
        return {"name": shard.name, "status": "busy"}
    except BaseException:
        journal.end()
        raise
    journal.forget()
    settle_errors(job, shard, record["errors"])
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)  # Otherwise, the C library glibc would keep free memory.
    return {**record, "status": "done", "warnings": warnings}


def _attempt(nlp: Language, shard: Shard, job: Job, journal: Journal) -> tuple[Record, dict[str, int]]:
    """Parse a shard and give its file the final name. Returns its record, and the number of each warning."""
    if journal.earlier.n_idle_deaths >= MAX_IDLE_DEATHS:
        raise ShardError(Errors.E1114.format(n=journal.earlier.n_idle_deaths))
    temporary = unfinished(journal.path)
    record: Record = {
        "format_version": FORMAT_VERSION,
        "name": shard.name,
        "inputs": [{"path": part.path, "start": part.start, "end": part.end} for part in shard.parts],
        "job": job.fingerprint,
        "pipeline": f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}",
        "docs": 0,
        "words": 0,
        "sentences": 0,
    }
    parser = BlockParser(nlp, journal, job.timeout)
    try:
        _parse_to(temporary, record, parser, shard, job)
        commit(temporary, job.data_path(shard))
    except FileNotFoundError as error:
        if temporary.exists():
            raise
        raise TakenOverError from error
    finally:
        temporary.unlink(missing_ok=True)
    return record, dict(parser.warnings)


def _parse_to(path: Path, record: Record, parser: BlockParser, shard: Shard, job: Job) -> None:
    """Parse a shard to a file, and complete its record."""
    nlp, keep = parser.nlp, job.fields.keep
    annotations = annotations_of(nlp) if job.annotations is None else job.annotations
    schema = make_schema(annotations, keep=keep, text=job.text)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        documents = read_documents(shard, job.fields, nlp.vocab)
        for block in group(documents, max_docs=BLOCK_DOCS, max_chars=BLOCK_CHARS):
            # The strings of a block are forgotten at its end, so memory stays constant. Those of the first
            # blocks stay, so the tokenizer does not split frequent words again.
            with nlp.memory_zone() if len(nlp.vocab) > FREQUENT_WORDS else nullcontext():
                table = docs_to_table(parser.parse(block), schema, keep)
            writer.write_table(table)
            _add_counts(record, table)
            parser.check_share(job.max_errors)
        record["errors"] = [parser.errors[number] for number in sorted(parser.errors)]
        writer.add_key_value_metadata({METADATA_KEY: json.dumps(record)})


def _add_counts(record: Record, table: pa.Table) -> None:
    """Add a block to the numbers of a shard's documents, words and sentences."""
    record["docs"] += len(table)
    for name, column in (("words", "words"), ("sentences", "sent_starts")):
        if column in table.column_names:
            record[name] += len(table[column].combine_chunks().flatten())


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
    """Write a shard's file of errors, unless it has the errors of the shard's record."""
    path = job.errors_path(shard)
    text = "".join(json.dumps(error) + "\n" for error in errors)
    # Our text is ASCII. Latin-1 decodes any other content of the file.
    there = path.read_text(encoding="latin-1") if path.exists() else ""
    if there != text:
        if text:
            put(path, text)
        else:
            path.unlink(missing_ok=True)
