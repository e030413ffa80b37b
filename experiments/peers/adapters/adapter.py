"""Base of the adapters. It runs in the peers' virtual environments, so it needs only Python's own library.

An adapter is run as `ADAPTER.py train JOB RESULT` or `ADAPTER.py parse JOB RESULT`; both are JSON files. The
job says what to do (see `make_job` of the command), the result what it took. Parsed sentences go to the
job's "output" as CoNLL-U: words with heads and labels.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

#: Number of sentences that are parsed before the clock starts.
N_WARM_UP = 64

Job = dict[str, Any]
Words = list[str]
#: ID of the head (0 for the root) and label of each word of a sentence.
Tree = list[tuple[int, str]]


class Sentence(NamedTuple):
    words: Words
    tree: Tree


class LoadedParser(NamedTuple):
    """A trained parser.

    parse: Function that is timed, from words to the parser's own output.
    trees: Function from that output to trees.
    parameters: Number of parameters.
    """

    parse: Callable[[list[Words]], Any]
    trees: Callable[[Any], list[Tree]]
    parameters: int


def read_sentences(path: str | Path) -> Iterator[Sentence]:
    """Yield the sentences of a prepared file, which has ten columns and only words."""
    rows: list[list[str]] = []
    with open(path, encoding="utf8") as lines:
        for line in lines:
            if line.strip():
                rows.append(line.rstrip("\n").split("\t"))
            elif rows:
                yield _sentence(rows)
                rows = []
    if rows:
        yield _sentence(rows)


def _sentence(rows: Sequence[Sequence[str]]) -> Sentence:
    words = [row[1] for row in rows]
    return Sentence(words, [(int(row[6]), row[7]) for row in rows])


def write_sentences(path: str | Path, sentences: Iterable[Sentence], tag: str = "_") -> None:
    """Write sentences as ``read_sentences`` reads them.

    path: File to write.
    sentences: Sentences to write.
    tag: Part of speech of all words, for a parser that wants one.
    """
    with open(path, "w", encoding="utf8") as file:
        for words, tree in sentences:
            for i, (word, (head, label)) in enumerate(zip(words, tree, strict=True), 1):
                file.write(f"{i}\t{word}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_\n")
            file.write("\n")


def main(
    train: Callable[[Job], dict[str, Any]],
    load: Callable[[Job], LoadedParser],
    packages: Sequence[str],
) -> None:
    """Do the job of the command line.

    train: Function that trains by a job and returns facts.
    load: Function that loads the parser of a job.
    packages: Packages whose versions are recorded.
    """
    task, job_file, result_file = sys.argv[1:]
    job = json.loads(Path(job_file).read_text(encoding="utf8"))
    result = run_training(job, train) if task == "train" else run_parsing(job, load)
    versions = {"python": platform.python_version()} | {name: version(name) for name in packages}
    facts = {"peak_mib": peak_memory(), "load": os.getloadavg()[0], "versions": versions}
    Path(result_file).write_text(json.dumps(result | facts, indent=2) + "\n", encoding="utf8")


def peak_memory() -> float:
    """Return the peak memory of this process in MiB."""
    status = Path("/proc/self/status")
    if status.exists():
        # The figure of getrusage includes the peak of the process that started this one.
        lines = status.read_text(encoding="utf8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 if sys.platform == "darwin" else 1024)


def run_training(job: Job, train: Callable[[Job], dict[str, Any]]) -> dict[str, Any]:
    start = time.perf_counter()
    facts = train(job)
    minutes = (time.perf_counter() - start) / 60
    return {"minutes": minutes, "cpu_minutes": time.process_time() / 60, **facts}


def run_parsing(job: Job, load: Callable[[Job], LoadedParser]) -> dict[str, Any]:
    """Parse the job's "input" several times and write the trees of the last run.

    Returns seconds of the clock and of the processor. Other work on the machine changes the latter little.
    """
    sentences = [sentence.words for sentence in read_sentences(job["input"])]
    parser = load(job)
    parsed = parser.parse(sentences[:N_WARM_UP])
    seconds, cpu_seconds = [], []
    for _ in range(job["runs"]):
        start, cpu_start = time.perf_counter(), time.process_time()
        parsed = parser.parse(sentences)
        seconds.append(time.perf_counter() - start)
        cpu_seconds.append(time.process_time() - cpu_start)
    trees = parser.trees(parsed)
    write_sentences(job["output"], [Sentence(*pair) for pair in zip(sentences, trees, strict=True)])
    words = sum(map(len, sentences))
    times = {"seconds": seconds, "cpu_seconds": cpu_seconds}
    return {**times, "words": words, "parameters": parser.parameters}


def use_threads(n: int) -> None:
    """Set the number of PyTorch's threads."""
    import torch

    torch.set_num_threads(n)


def sentences_of(words: int, path: str | Path) -> int:
    """Return how many sentences of a file have about so many words together, at least 1."""
    lengths = [len(sentence.words) for sentence in read_sentences(path)]
    return max(1, round(words * len(lengths) / sum(lengths)))


def count_filled(lengths: Sequence[int], size: int) -> int:
    """Return the number of batches of up to ``size`` words, of sentences that are sorted by length."""
    n, filled = 0, size
    for length in sorted(lengths):
        if filled + length > size:
            n, filled = n + 1, 0
        filled += length
    return n
