"""Jobs of a small pipeline, and processes that die."""

import json
import multiprocessing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow.parquet as pq
import spacy
from pyarrow.fs import LocalFileSystem, SubTreeFileSystem
from spacy.language import Language

from spacy_g2g.corpus_job.job import Job
from spacy_g2g.corpus_job.plan import Shard
from spacy_g2g.corpus_job.run import Outcome, run_job
from spacy_g2g.corpus_job.shard import Record, parse_shard

from . import chain  # registers the component

CODE = Path(chain.__file__)
#: Small shards: a few documents each.
SHARD_BYTES = 300


def stand_in(folder: Path) -> Callable[[str], Any]:
    """Return what finds the system of a store: one whose buckets are the folders of a local folder."""
    return lambda _: SubTreeFileSystem(str(folder), LocalFileSystem())


def save_chain(folder: Path) -> str:
    nlp = spacy.blank("xx")
    nlp.add_pipe("test_chain")
    nlp.to_disk(folder)
    return str(folder)


def write_jsonl(path: Path, texts: Iterable[str]) -> Path:
    lines = (json.dumps({"id": f"d{i}", "text": text}) + "\n" for i, text in enumerate(texts))
    path.write_text("".join(lines), encoding="utf8")
    return path


def write_files(folder: Path, texts: Iterable[str]) -> None:
    """Write each text to a file of its own: 000.txt and so on."""
    folder.mkdir()
    for i, text in enumerate(texts):
        (folder / f"{i:03}.txt").write_text(text, encoding="utf8")


def texts(n: int, others: Mapping[int, str] = MappingProxyType({})) -> list[str]:
    """Return texts, some of which are others, by their numbers."""
    usual = [f"Document {i} has words. It has {i % 7} more{' and more' * (i % 7)}." for i in range(n)]
    return [others.get(i, text) for i, text in enumerate(usual)]


@cache
def load(pipeline: str) -> Language:
    """Load a pipeline once, also for the processes that are forked later."""
    return spacy.load(pipeline)


def run(
    pipeline: str,
    source: Path,
    output: Path,
    *,
    only: tuple[int, int] | None = None,
    shard_bytes: int = SHARD_BYTES,
    **settings: Any,
) -> Outcome:
    """Parse a corpus in this process."""

    def engine(shards: Sequence[Shard], job: Job) -> Iterable[Record]:
        return (parse_shard(load(pipeline), shard, job) for shard in shards)

    job = Job(pipeline, output.resolve(), **settings)
    return run_job(job, [source], shard_bytes=shard_bytes, engine=engine, only=only)


def run_in_process(*arguments: Any, before: Callable[[], None] | None = None, **settings: Any) -> int | None:
    """Run a job in a forked process. Returns its exit code, negative for a signal.

    before: Called first in the process.
    """
    process = start_process(*arguments, before=before, **settings)
    process.join()
    return process.exitcode


def start_process(*arguments: Any, before: Callable[[], None] | None = None, **settings: Any) -> Any:
    load(arguments[0])

    def work() -> None:
        if before is not None:
            before()
        outcome = run(*arguments, **settings)
        raise SystemExit(1 if outcome.failed else 0)

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    return process


def files(output: Path) -> dict[str, bytes]:
    """Return each file of a job's output with its bytes."""
    found = [path for name in ("data", "errors") for path in sorted((output / name).iterdir())]
    return {path.name: path.read_bytes() for path in found}


def ids(output: Path) -> list[str]:
    paths = sorted((output / "data").iterdir())
    return [id_ for path in paths for id_ in pq.read_table(path, columns=["id"])["id"].to_pylist()]


def errors(output: Path) -> list[dict[str, Any]]:
    paths = sorted((output / "errors").iterdir())
    return [json.loads(line) for path in paths for line in path.read_text("utf8").splitlines()]


def rows(output: Path, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    return [
        row
        for path in sorted((output / "data").iterdir())
        for row in pq.read_table(path, columns=columns).to_pylist()
    ]
