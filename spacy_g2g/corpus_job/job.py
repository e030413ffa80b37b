"""A job: what all its workers must agree on, and the folder that it writes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from spacy.util import dict_to_dot, get_package_path, is_package

from ..errors import Errors
from ..files import sha256_of
from .plan import Fields, Shard
from .store import Place, put

#: Version of plans, journals and outputs. From 2 on, small files share a shard.
FORMAT_VERSION = 2
FOLDERS = ("data", "errors", "_state")
#: Differences between two jobs that an error names.
SHOWN = 3


class OtherJobError(ValueError):
    """The folder belongs to a job with other inputs, another pipeline or other settings."""


@dataclass(frozen=True)
class Job:
    """What every worker of a job must know.

    pipeline: Folder or name of the pipeline.
    output: Folder of the job, absolute.
    fields: Names of the input's columns.
    annotations: Columns with annotation; None for those that the pipeline sets.
    text: Whether the output has a column with the text.
    max_errors: Share of a shard's documents that may be errors.
    timeout: Seconds that the pipeline may take for 100,000 characters.
    code: Python file with components of the pipeline.
    gpu_id: Number of the GPU to compute on, -1 for the CPU.
    fingerprint: Hash of all that decides what is written; see ``identity``.
    """

    pipeline: str
    output: Place
    fields: Fields = field(default_factory=Fields)
    annotations: tuple[str, ...] | None = None
    text: bool = True
    max_errors: float = 0.01
    timeout: float = 600.0
    code: Path | None = None
    gpu_id: int = -1
    fingerprint: str = ""

    def data_path(self, shard: Shard) -> Place:
        """Return the path of a shard's output. The shard is done when the file is there."""
        return self.output / "data" / f"{shard.name}.parquet"

    def done(self) -> set[str]:
        """Return the names of the shards whose output is there."""
        return {path.name.removesuffix(".parquet") for path in (self.output / "data").iterdir()}

    def errors_path(self, shard: Shard) -> Place:
        """Return the path of a shard's errors, which is there only if it has some."""
        return self.output / "errors" / f"{shard.name}.jsonl"

    @property
    def states(self) -> Place:
        """Folder of files that are gone when their shards are done."""
        return self.output / "_state"


def identity(job: Job, plan: Sequence[Shard], shard_bytes: int) -> dict[str, Any]:
    """Return all that decides what a job writes. Two jobs are the same if this is."""
    folder = get_package_path(job.pipeline) if is_package(job.pipeline) else Path(job.pipeline)
    meta = next(iter(sorted(folder.rglob("meta.json"), key=lambda path: len(path.parts))), None)
    if meta is None:
        raise FileNotFoundError(Errors.E1110.format(pipeline=job.pipeline))
    described = json.loads(meta.read_text(encoding="utf8"))
    return {
        "format_version": FORMAT_VERSION,
        "pipeline": {
            "name": f"{described.get('lang', '')}_{described.get('name', '')}",
            "version": described.get("version", ""),
            "hash": sha256_of(folder),
        },
        "code": sha256_of(job.code) if job.code else None,
        "versions": {name: version(name) for name in ("spacy-g2g", "spacy")},
        "fields": asdict(job.fields) | {"kept": list(job.fields.kept)},
        "annotations": None if job.annotations is None else list(job.annotations),
        "text": job.text,
        "shard_bytes": shard_bytes,
        "inputs": {part.path: part.state for shard in plan for part in shard.parts},
        # No document may fall between the shards of two plans, if a file could not be read when one was made.
        "plan": hashlib.sha256(repr(plan).encode()).hexdigest()[:16],
    }


def open_folder(output: Place, own: dict[str, Any]) -> str:
    """Make the folders of a job, or go on with a job that is there. Returns the job's fingerprint.

    output: Folder of the job.
    own: The job's ``identity``.
    Raises OtherJobError if the folder belongs to another job, with what differs, or is not a job's.
    """
    path = output / "job.json"
    strange = [name for name in FOLDERS if (output / name).exists() and any((output / name).iterdir())]
    # A job writes job.json first, so there is one if another process has just begun.
    if strange and not path.exists():
        raise OtherJobError(Errors.E1122.format(output=output, names=" and ".join(strange)))
    for name in FOLDERS if isinstance(output, Path) else ():
        Path(output, name).mkdir(parents=True, exist_ok=True)
    text = json.dumps(own, indent=1)
    if not path.exists():
        put(path, text)
    try:
        there = json.loads(path.read_text(encoding="utf8"))
        version_there = there["format_version"]
    except (ValueError, TypeError, KeyError, RecursionError):
        version_there = None
    if version_there != FORMAT_VERSION:
        raise OtherJobError(Errors.E1123.format(path=path, there=version_there, now=FORMAT_VERSION))
    before, now = dict_to_dot(there), dict_to_dot(own)
    different = [
        f"{key} (there {before.get(key)!r}, now {now.get(key)!r})"
        for key in {**now, **before}
        if before.get(key) != now.get(key)
    ]
    if different:
        raise OtherJobError(Errors.E1111.format(output=output, different="; ".join(different[:SHOWN])))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
