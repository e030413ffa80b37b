"""Kill the processes of `g2g parse-corpus` at random times, and compare the output with an undisturbed run.

    python -m experiments.corpus_job PIPELINE TEXTS.jsonl [--documents 20000 --kills 200]
    python -m experiments.corpus_job CHAIN TEXTS.jsonl --engine ray --poison --code CHAIN.py

TEXTS.jsonl has objects with a "text". Two drivers are at work on one folder, each of which parses in its own
process or by workers of one Ray. Drivers and workers are killed after random times; drivers start again.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from spacy.language import Language

from spacy_g2g.corpus_job.job import Job
from spacy_g2g.corpus_job.plan import Shard, make_plan
from spacy_g2g.corpus_job.run import Outcome, load_pipeline, run_job
from spacy_g2g.corpus_job.shard import Record, parse_shard

#: Share of kills that meet a worker of Ray. A driver takes much longer to start again.
WORKERS_SHARE = 0.95


def write_corpus(path: Path, source: Path, n: int, n_words: int) -> None:
    """Write n documents: the texts again and again, each cut to some words, with ids of their own."""
    texts = [json.loads(line)["text"] for line in source.read_text(encoding="utf8").splitlines()]
    with path.open("w", encoding="utf8") as file:
        for i, text in zip(range(n), itertools.cycle(texts), strict=False):
            shortened = " ".join(text.split()[:n_words])
            file.write(json.dumps({"id": f"d{i}", "text": shortened}) + "\n")


def run(nlp: Language, job: Job, corpus: Path, shard_bytes: int) -> Outcome:
    def engine(shards: Sequence[Shard], job: Job) -> Iterator[Record]:
        return (parse_shard(nlp, shard, job) for shard in shards)

    return run_job(job, [corpus], shard_bytes=shard_bytes, engine=engine)


def run_with_ray(job: Job, corpus: Path, shard_bytes: int, workers: int, address: str) -> None:
    from spacy_g2g.corpus_job.ray_engine import RayEngine

    run_job(job, [corpus], shard_bytes=shard_bytes, engine=RayEngine(workers, address=address))


class Drivers:
    """Two drivers of a job, which are killed and started again.

    start: Starts a driver of a job.
    workers: Returns the ids of processes that work for the drivers; None if drivers parse themselves.
    """

    def __init__(self, start: Callable[[Job], Any], workers: Callable[[], list[int]] | None) -> None:
        self.start, self.workers = start, workers
        self.running: list[Any] = []
        self.counts: Counter[str] = Counter()

    def kill_some(self, chance: random.Random) -> bool:
        """Kill a driver, both, or a worker that is in a shard. Returns whether any was killed.

        While no worker is in a shard, none is: a process that has just started has nothing to lose.
        """
        running = [driver for driver in self.running if driver.is_alive()]
        at_work = None if self.workers is None else [pid for pid in self.workers() if is_in_a_shard(pid)]
        if at_work and chance.random() < WORKERS_SHARE:
            self.counts["workers"] += 1
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(at_work), signal.SIGKILL)
            return True
        if at_work == []:
            return False
        doomed = chance.sample(running, min(len(running), chance.choice((1, 2))))
        self.counts["drivers"] += len(doomed)
        self.counts["both_at_once"] += len(doomed) == 2
        self._end(doomed)
        return bool(doomed)

    def start_missing(self, job: Job) -> None:
        """Start drivers until there are two."""
        self.running = [driver for driver in self.running if driver.is_alive()]
        while len(self.running) < 2:
            self.running.append(self.start(job))

    @property
    def n_kills(self) -> int:
        return self.counts["workers"] + self.counts["drivers"]

    def end(self) -> None:
        self._end(list(self.running))

    def _end(self, doomed: list[Any]) -> None:
        for driver in doomed:
            driver.kill()
            driver.join()
            self.running.remove(driver)


def kills(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Kill processes at random times until all shards are done; then begin another job if kills are left.

    With Ray, a shard must have been done since the last kill, however long processes take to start.
    """
    chance, nlp = random.Random(args.seed), load_pipeline(Job(args.pipeline, Path(), code=args.code))
    corpus = folder / "corpus.jsonl"
    write_corpus(corpus, args.texts, args.documents, args.words)
    shard_bytes = corpus.stat().st_size // args.shards
    job = Job(args.pipeline, folder / "undisturbed", code=args.code, timeout=args.timeout)
    start = time.perf_counter()
    run(nlp, job, corpus, shard_bytes)
    seconds = time.perf_counter() - start
    poison = add_poison(corpus) if args.poison else {}
    os.environ["SECONDS_OF_DOCUMENT"] = str(args.sleep)
    n_shards = len(make_plan([corpus], job.fields, shard_bytes))
    drivers = make_drivers(args, nlp, corpus, shard_bytes)
    pause = args.pause or args.patience * seconds / args.kills
    jobs = []
    while drivers.n_kills < args.kills and time.perf_counter() - start < 60 * args.minutes:
        own = replace(job, output=folder / f"killed{len(jobs)}")
        n_before, n_done, n_at_kill = drivers.n_kills, 0, -1
        drivers.start_missing(own)
        while drivers.n_kills < args.kills and time.perf_counter() - start < 60 * args.minutes:
            time.sleep(chance.expovariate(1 / pause))
            n_done = len(list((own.output / "data").glob("*.parquet")))
            if n_done == n_shards:
                break
            if drivers.workers is None or n_done > n_at_kill:
                n_at_kill = n_done if drivers.kill_some(chance) else n_at_kill
                drivers.start_missing(own)
                print(drivers.n_kills, "kills", n_done, "shards", file=sys.stderr, flush=True)
        drivers.end()
        jobs.append({"kills": drivers.n_kills - n_before, "shards_done_under_kills": n_done})
        last = drivers.start(own)
        last.join()
        jobs[-1] |= compare(own.output, job.output, poison)
    return {"documents": args.documents, "shards": n_shards, **drivers.counts, "jobs": jobs}


def make_drivers(args: argparse.Namespace, nlp: Language, corpus: Path, shard_bytes: int) -> Drivers:
    """Return drivers that parse in their own processes, or by workers of one Ray."""
    if args.engine == "none":
        return Drivers(lambda job: start_process("fork", run, nlp, job, corpus, shard_bytes), None)
    import ray

    from spacy_g2g.corpus_job.ray_engine import start_ray

    start_ray(None, 2 * args.workers + 1)
    address = ray.get_runtime_context().gcs_address
    arguments = (corpus, shard_bytes, args.workers, address)
    return Drivers(lambda job: start_process("spawn", run_with_ray, job, *arguments), ray_workers)


def start_process(method: str, target: Callable[..., Any], *arguments: Any) -> Any:
    process = multiprocessing.get_context(method).Process(target=target, args=arguments)  # type: ignore[attr-defined]
    process.start()
    return process


def ray_workers() -> list[int]:
    """Return the ids of our Ray's actors. Its raylet is our child, and they are the raylet's children."""
    parents, names = {}, {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            pid = int(path.name)
            parents[pid] = int((path / "stat").read_text("utf8").rpartition(")")[2].split()[1])
            names[pid] = (path / "cmdline").read_bytes()
    return [
        pid
        for pid, name in names.items()
        if name.startswith(b"ray::MapWorker") and parents.get(parents[pid]) == os.getpid()
    ]


def is_in_a_shard(pid: int) -> bool:
    """Return whether a process has the journal of a shard open."""
    with contextlib.suppress(OSError):
        return any(link.readlink().suffix == ".journal" for link in Path(f"/proc/{pid}/fd").iterdir())
    return False


def add_poison(corpus: Path) -> dict[str, str]:
    """Replace some documents by those that can't be parsed. Returns them by their ids.

    The words are those that the component of ``tests/corpus_job/chain.py`` obeys.
    """
    lines = corpus.read_text(encoding="utf8").splitlines()
    long = "long " * 250_000
    texts = ["RAISE", "EXIT", "HANG", "KILL", "CRASH", long, "\ud800", None]
    places = range(len(lines) // 10, len(lines), len(lines) // 10)
    for place, text in zip(places, texts, strict=False):
        lines[place] = json.dumps({"id": f"d{place}", "text": text})
    lines[3] = '{"id": "d3", "text": broken'
    corpus.write_text("\n".join(lines) + "\n", encoding="utf8")
    return {"d3": "broken"} | {f"d{place}": str(text)[:9] for place, text in zip(places, texts, strict=False)}


def compare(output: Path, undisturbed: Path, poison: dict[str, str]) -> dict[str, Any]:
    """Return what a job's output lacks or has too much, and how it differs from an undisturbed one."""
    found, expected = rows(output), rows(undisturbed)
    ids, wanted = (
        [row["id"] for row in found],
        {row["id"]: row for row in expected if row["id"] not in poison},
    )
    errors = [
        json.loads(line)
        for path in sorted((output / "errors").iterdir())
        for line in path.read_text(encoding="utf8").splitlines()
    ]
    differences = {
        "lost": len(set(wanted) - set(ids)),
        "twice": len(ids) - len(set(ids)),
        "other_documents": len(set(ids) - set(wanted)),
        "rows_that_differ": sum(
            {**row, "place": 0} != {**wanted.get(row["id"], {}), "place": 0} for row in found
        ),
        "errors": {error["id"]: error["error"][:60] for error in errors},
        "errors_lost_or_twice": len(poison) - len(errors),
        "left_over": [path.name for path in (output / "_state").iterdir()],
    }
    if not poison:
        pairs = zip(data(output), data(undisturbed), strict=True)
        differences["files_that_differ"] = sum(a.read_bytes() != b.read_bytes() for a, b in pairs)
    return differences


def rows(output: Path) -> list[dict[str, Any]]:
    return [row for path in data(output) for row in pq.read_table(path).to_pylist()]


def data(output: Path) -> list[Path]:
    return sorted((output / "data").iterdir())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pipeline", help="Folder")
    parser.add_argument("texts", type=Path)
    parser.add_argument("--documents", type=int, default=20000)
    parser.add_argument("--words", type=int, default=12, help="words of the longest document")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--shards", type=int, default=100)
    parser.add_argument("--engine", choices=["none", "ray"], default="none")
    parser.add_argument("--workers", type=int, default=2, help="workers of Ray for each driver")
    parser.add_argument("--code", type=Path, help="file with components of the pipeline")
    parser.add_argument(
        "--poison", action="store_true", help="documents that tests/corpus_job/chain.py obeys"
    )
    parser.add_argument("--sleep", type=float, default=0.0, help="seconds that chain.py sleeps at a document")
    parser.add_argument("--timeout", type=float, default=600.0)
    parser.add_argument("--minutes", type=float, default=600.0, help="longest time with kills")
    parser.add_argument("--pause", type=float, default=0.0, help="mean seconds between kills, not --patience")
    parser.add_argument(
        "--patience", type=float, default=3.0, help="time with kills, the undisturbed run's = 1"
    )
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(kills(args, Path(folder)), indent=2))


if __name__ == "__main__":
    main()
