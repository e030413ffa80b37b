"""A job: the settings that all its workers share, and the folder that they write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from spacy.util import dict_to_dot, get_package_path, is_package

from ..errors import Errors
from ..files import files_in, sha256_of
from .plan import Fields, Shard
from .store import Place, put

#: Version of plans, journals and outputs. From 2 on, small files share a shard.
FORMAT_VERSION = 2
FOLDERS = ("data", "errors", "_state")
#: Maximum number of differences between two jobs in an error.
MAX_DIFFERENCES = 3


class OtherJobError(ValueError):
    """The folder belongs to a job with other inputs, another pipeline or other settings."""


@dataclass(frozen=True)
class Job:
    """Settings of a job, for every worker.

    pipeline: Folder or name of the pipeline.
    output: Folder of the job, absolute.
    annotations: Columns with annotation; None for all columns that the pipeline sets.
    text: Whether the output has a column with the text.
    max_errors: Maximum share of errors among a shard's documents.
    timeout: Seconds that the pipeline may take for 100,000 characters.
    code: Python file with components of the pipeline.
    gpu_id: Number of the GPU to compute on, -1 for the CPU.
    fingerprint: Hash of everything that decides the output; see ``identity``.
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
        """Return the path of a shard's output. If the file exists, the shard is done."""
        return self.output / "data" / f"{shard.name}.parquet"

    def done(self) -> set[str]:
        """Return the names of the shards whose output exists."""
        return {path.name.removesuffix(".parquet") for path in (self.output / "data").iterdir()}

    def errors_path(self, shard: Shard) -> Place:
        """Return the path of a shard's errors. The file exists only if there are errors."""
        return self.output / "errors" / f"{shard.name}.jsonl"

    @property
    def states(self) -> Place:
        """Folder of temporary files, which are removed when their shards are done."""
        return self.output / "_state"


def identity(job: Job, plan: Sequence[Shard], shard_bytes: int) -> dict[str, Any]:
    """Return everything that decides the output of a job. Two jobs are the same if these are equal."""
    folder = get_package_path(job.pipeline) if is_package(job.pipeline) else Path(job.pipeline)
    meta = next(iter(sorted(files_in(folder, "meta.json"), key=lambda path: len(path.parts))), None)
    if meta is None:
        raise FileNotFoundError(Errors.E1110.format(pipeline=job.pipeline))
    about = json.loads(meta.read_text(encoding="utf8"))
    fields, inputs = job.fields, dict[str, str]()
    for shard in plan:
        inputs.update((part.path, part.state) for part in shard.parts)
    return {
        "format_version": FORMAT_VERSION,
        "pipeline": {
            "name": f"{about.get('lang', '')}_{about.get('name', '')}",
            "version": about.get("version", ""),
            "hash": sha256_of(folder),
        },
        "code": sha256_of(job.code) if job.code else None,
        "versions": {name: version(name) for name in ("spacy-g2g", "spacy")},
        "fields": {
            "text": fields.text,
            "id": fields.id,
            "kept": [*fields.keep],
            "documents": fields.documents,
        },
        "annotations": None if job.annotations is None else list(job.annotations),
        "text": job.text,
        "shard_bytes": shard_bytes,
        "inputs": inputs,
        # Plans differ if a file could not be read for one of them. Their shards must not be mixed.
        "plan": hashlib.sha256(repr(plan).encode()).hexdigest()[:16],
    }


def open_folder(output: Place, own: dict[str, Any]) -> str:
    """Make the folders of a job, or continue a job that exists. Returns the job's fingerprint.

    own: The job's ``identity``.
    Raises OtherJobError if the folder belongs to another job, with the differences, or does not belong to a
        job.
    """
    path = output / "job.json"
    filled = [name for name in FOLDERS if (output / name).exists() and any((output / name).iterdir())]
    # A job writes job.json first, so it exists even if another process has just begun.
    if filled and not path.exists():
        raise OtherJobError(Errors.E1122.format(output=output, names=" and ".join(filled)))
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
        raise OtherJobError(
            Errors.E1111.format(output=output, different="; ".join(different[:MAX_DIFFERENCES]))
        )
    return hashlib.sha256(text.encode()).hexdigest()[:16]
