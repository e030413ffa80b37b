"""The driver of a job: finds unfinished shards, lets an engine parse them, and writes the manifest."""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import spacy
from spacy.cli._util import import_code
from spacy.language import Language
from thinc.api import require_gpu

from ..data.doc_record import assigned_attributes
from ..errors import Errors, Warnings
from .documents import REST
from .job import Job, identity, open_folder
from .journal import is_busy, remove_attempt
from .plan import Shard, make_plan
from .shard import Record, parse_shard, read_record, settle_errors
from .store import Place, put

#: Parses shards, in any order, and yields their records.
Engine = Callable[[Sequence[Shard], Job], Iterable[Record]]
#: Seconds between two checks of the work of other processes.
POLL_SECONDS = 2.0
#: Attributes that components of spaCy declare to assign, and for which the output has no column.
NOT_WRITTEN = {"doc.ents", "doc.cats"}


@dataclass
class Outcome:
    """Result of a run.

    n_shards: Shards of the run.
    n_there: Shards that were done before the run.
    failed: Records of shards that failed.
    n_words: Words that this run has parsed.
    seconds: Seconds from the first shard's start to the last one's end.
    warnings: How often the pipeline gave each warning, by its code.
    manifest: The manifest if all shards of the job are done, otherwise None.
    """

    n_shards: int
    n_there: int
    failed: list[Record] = field(default_factory=list)
    n_words: int = 0
    seconds: float = 0.0
    warnings: Counter[str] = field(default_factory=Counter)
    manifest: dict[str, Any] | None = None


def run_job(
    job: Job,
    inputs: Sequence[Place],
    *,
    shard_bytes: int,
    engine: Engine,
    only: tuple[int, int] | None = None,
    report: Callable[[Iterator[Record], int], Iterable[Record]] = lambda records, _: records,
) -> Outcome:
    """Parse the unfinished shards of a corpus.

    job: The job. This function sets its fingerprint.
    shard_bytes: Approximate size of a shard in bytes of text.
    only: (I, N) for every Nth shard from the Ith, counted from 1; None for all.
    report: Wraps the stream of records, for a progress bar. Its second argument is the number of shards left.
    Raises OtherJobError if the folder belongs to another job, ValueError if it is a file or inside an input,
        and OSError if the output can't be written.
    """
    if job.output.exists() and not job.output.is_dir():
        raise ValueError(Errors.E1127.format(output=job.output))
    if any(job.output.is_relative_to(input_.resolve()) for input_ in inputs):
        raise ValueError(Errors.E1120.format(output=job.output))
    plan = make_plan(inputs, job.fields, shard_bytes)
    job = replace(job, fingerprint=open_folder(job.output, identity(job, plan, shard_bytes)))
    own = [shard for number, shard in enumerate(plan) if only is None or number % only[1] == only[0] - 1]
    done = job.done()
    left = [shard for shard in own if shard.name not in done]
    outcome = Outcome(len(own), len(own) - len(left))
    start = time.perf_counter()
    for record in report(_records(left, job, engine), len(left)):
        outcome.n_words += record.get("words", 0)
        outcome.warnings.update(record.get("warnings", {}))
        if record["status"] == "failed":
            outcome.failed.append(record)
            there = (read_record(job.data_path(shard), job) for shard in own if shard.name in done)
            if record["is_pipeline"] and not (outcome.n_words or any(other["words"] for other in there)):
                break  # No shard has ever worked: the pipeline must be wrong.
    outcome.seconds = time.perf_counter() - start
    if job.done() >= {shard.name for shard in plan}:
        outcome.manifest = write_manifest(job, plan)
    return outcome


def _records(shards: Sequence[Shard], job: Job, engine: Engine) -> Iterator[Record]:
    """Yield the records of shards as they are done. Waits for shards on which other processes work."""
    while shards:
        busy = set()
        for record in engine(shards, job):
            if record["status"] == "busy":
                busy.add(record["name"])
            else:
                yield record
        shards = [shard for shard in shards if shard.name in busy]
        while shards and all(is_busy(job.states, s.name) and not job.data_path(s).exists() for s in shards):
            time.sleep(POLL_SECONDS)


def parse_here(shards: Sequence[Shard], job: Job) -> Iterator[Record]:
    """Parse shards in this process, one after the other. This is the engine "none"."""
    nlp = load_pipeline(job)
    for shard in shards:
        yield parse_shard(nlp, shard, job)


def load_pipeline(job: Job) -> Language:
    """Load a job's pipeline, on the job's device."""
    import_code(job.code)
    if job.gpu_id >= 0:
        require_gpu(job.gpu_id)
    nlp = spacy.load(job.pipeline)
    lost = assigned_attributes(nlp) & NOT_WRITTEN
    if lost:
        warnings.warn(Warnings.W1170.format(names=sorted(lost)), stacklevel=2)
    return nlp


def write_manifest(job: Job, plan: Sequence[Shard]) -> dict[str, Any]:
    """Write ``manifest.json`` and errors from the footers of all shards' files, which must exist.

    Removes the files of dead processes, and returns the manifest.

    Raises ValueError if a file is damaged or was written by another job.
    """
    records, unread = [], list[str]()
    for shard in plan:
        record = read_record(job.data_path(shard), job)
        settle_errors(job, shard, record["errors"])
        unread += [error["error"] for error in record["errors"] if error["place"] == REST]
        records.append({**record, "errors": len(record["errors"])})
    names = {shard.name for shard in plan}
    for path in job.states.iterdir():
        if path.name.partition(".")[0] in names:
            remove_attempt(path)  # A process has died between a shard's commit and this.
    totals = dict.fromkeys(("docs", "words", "sentences", "errors"), 0)
    for record in records:
        totals = {name: total + record[name] for name, total in totals.items()}
    manifest = {"job": job.fingerprint, **totals, "unread": unread, "shards": records}
    put(job.output / "manifest.json", json.dumps(manifest, indent=1) + "\n")
    return manifest
