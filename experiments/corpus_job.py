"""Long checks of `g2g parse-corpus`: random kills, cost over `nlp.pipe`, memory of a worker.

    python -m experiments.corpus_job kills PIPELINE TEXTS.jsonl [--documents 20000 --kills 200]
    python -m experiments.corpus_job cost PIPELINE TEXTS.jsonl [--rounds 5]
    python -m experiments.corpus_job memory PIPELINE TEXTS.jsonl [--shards 20]

TEXTS.jsonl has objects with a "text". `kills` has two drivers at work on one folder, each of which parses in
its own process (`--engine none`). It kills one or both after random times, starts them again, and compares
the output with that of an undisturbed run, byte by byte.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import spacy
from spacy.language import Language

from spacy_g2g.corpus_job.block import BlockParser
from spacy_g2g.corpus_job.job import Job
from spacy_g2g.corpus_job.plan import Shard
from spacy_g2g.corpus_job.run import Outcome, run_job
from spacy_g2g.corpus_job.shard import Record, parse_shard

MEGABYTE = 10**6


def read_texts(path: Path) -> list[str]:
    with path.open(encoding="utf8") as file:
        return [json.loads(line)["text"] for line in file]


def write_corpus(path: Path, texts: Sequence[str], n: int, n_words: int | None = None) -> None:
    """Write n documents: the texts again and again, each cut to some words, with ids of their own."""
    with path.open("w", encoding="utf8") as file:
        for i, text in zip(range(n), itertools.cycle(texts), strict=False):
            shortened = " ".join(text.split()[:n_words])
            file.write(json.dumps({"id": f"d{i}", "text": shortened}) + "\n")


def run(nlp: Language, pipeline: str, corpus: Path, output: Path, shard_bytes: int) -> Outcome:
    def engine(shards: Sequence[Shard], job: Job) -> Iterator[Record]:
        return (parse_shard(nlp, shard, job) for shard in shards)

    return run_job(Job(pipeline, output), [corpus], shard_bytes=shard_bytes, engine=engine)


def kills(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    chance, nlp = random.Random(args.seed), spacy.load(args.pipeline)
    corpus, output = folder / "corpus.jsonl", folder / "killed"
    write_corpus(corpus, read_texts(args.texts), args.documents, n_words=args.words)
    shard_bytes = corpus.stat().st_size // args.shards
    start = time.perf_counter()
    undisturbed = run(nlp, args.pipeline, corpus, folder / "undisturbed", shard_bytes)
    seconds = time.perf_counter() - start
    n_kills = n_both = 0
    drivers: list[Any] = []
    while n_kills < args.kills:
        while len(drivers) < 2:
            drivers.append(start_driver(nlp, args.pipeline, corpus, output, shard_bytes))
        time.sleep(chance.expovariate(args.kills / (args.patience * seconds)))
        doomed = [driver for driver in chance.sample(drivers, chance.choice((1, 2))) if driver.is_alive()]
        for driver in doomed:
            driver.kill()
            driver.join()
        n_kills += len(doomed)
        n_both += len(doomed) == 2
        drivers = [driver for driver in drivers if driver.is_alive()]
    for driver in drivers:
        driver.kill()
        driver.join()
    n_done = len(list((output / "data").iterdir()))
    outcome = run(nlp, args.pipeline, corpus, output, shard_bytes)
    ids = [id_ for path in data(output) for id_ in pq.read_table(path, columns=["id"])["id"].to_pylist()]
    return {
        "documents": args.documents,
        "shards": outcome.n_shards,
        "kills": n_kills,
        "both_at_once": n_both,
        "shards_done_after_the_last_kill": n_done,
        "lost": args.documents - len(set(ids)),
        "twice": len(ids) - len(set(ids)),
        "errors": outcome.manifest["errors"] if outcome.manifest else None,
        "manifests_equal": outcome.manifest == undisturbed.manifest,
        "files_that_differ": sum(
            one.read_bytes() != other.read_bytes()
            for one, other in zip(data(output), data(folder / "undisturbed"), strict=True)
        ),
        "left_over": [path.name for path in (output / "_state").iterdir()],
    }


def start_driver(*arguments: Any) -> Any:
    process = multiprocessing.get_context("fork").Process(target=run, args=arguments)
    process.start()
    return process


def data(output: Path) -> list[Path]:
    return sorted((output / "data").iterdir())


def cost(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """CPU time of a job and of `nlp.pipe`, by turns; and the share of a job outside of `nlp.pipe`."""
    nlp, texts = spacy.load(args.pipeline), read_texts(args.texts)
    corpus = folder / "corpus.jsonl"
    write_corpus(corpus, texts, len(texts))
    inside = [0.0]
    original: Callable[..., Any] = BlockParser._run

    def timed(self: BlockParser, contents: Any) -> Any:
        start = time.process_time()
        try:
            return original(self, contents)
        finally:
            inside[0] += time.process_time() - start

    BlockParser._run = timed  # type: ignore[method-assign]
    plain, job, starts, shares = [], [], [], []
    in_shards = [0.0]

    def engine(shards: Sequence[Shard], settings: Job) -> Iterator[Record]:
        start = time.process_time()
        yield from [parse_shard(nlp, shard, settings) for shard in shards]
        in_shards[0] = time.process_time() - start

    for i in range(args.rounds):
        start = time.process_time()
        n_words = sum(len(doc) for doc in nlp.pipe(texts))
        plain.append(time.process_time() - start)
        inside[0], start = 0.0, time.process_time()
        run_job(Job(args.pipeline, folder / f"out{i}"), [corpus], shard_bytes=2 * MEGABYTE, engine=engine)
        starts.append(time.process_time() - start - in_shards[0])
        job.append(in_shards[0])
        shares.append((job[-1] - inside[0]) / inside[0])
    n_bytes = sum(path.stat().st_size for path in data(folder / "out0"))
    return {
        "words": n_words,
        "pipe_words_per_cpu_second": round(n_words / min(plain)),
        "job_words_per_cpu_second": round(n_words / min(job)),
        "job_over_pipe": round(min(job) / min(plain), 4),
        "outside_of_pipe": [round(share, 4) for share in shares],
        "seconds_of_plan_and_manifest": round(min(starts), 3),
        "bytes_per_word": round(n_bytes / n_words, 2),
    }


def memory(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Resident memory after each shard of some that are all different."""
    nlp, texts = spacy.load(args.pipeline), read_texts(args.texts)
    corpus, sizes = folder / "corpus.jsonl", []
    # New words in each document, so that memory of words shows.
    n = len(texts) * args.shards
    with corpus.open("w", encoding="utf8") as file:
        for i, text in zip(range(n), itertools.cycle(texts), strict=False):
            file.write(json.dumps({"id": f"d{i}", "text": f"{text} new{i}a new{i}b new{i}c"}) + "\n")

    def engine(shards: Sequence[Shard], job: Job) -> Iterator[Record]:
        for shard in shards:
            yield parse_shard(nlp, shard, job)
            sizes.append(resident_mib())

    run_job(
        Job(args.pipeline, folder / "out"),
        [corpus],
        shard_bytes=corpus.stat().st_size // args.shards,
        engine=engine,
    )
    return {"shards": len(sizes), "mib_after_each": sizes, "last_over_second": round(sizes[-1] / sizes[1], 3)}


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf8").split()[1])
    return round(pages * 4096 / 2**20, 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("check", choices=["kills", "cost", "memory"])
    parser.add_argument("pipeline", help="Folder")
    parser.add_argument("texts", type=Path)
    parser.add_argument("--documents", type=int, default=20000)
    parser.add_argument("--words", type=int, default=12, help="longest document of `kills`")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--shards", type=int, default=100)
    parser.add_argument(
        "--patience", type=float, default=3.0, help="time with kills, the undisturbed run's = 1"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check = {"kills": kills, "cost": cost, "memory": memory}[args.check]
        print(json.dumps(check(args, Path(folder)), indent=2))


if __name__ == "__main__":
    main()
