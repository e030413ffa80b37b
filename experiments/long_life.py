"""Measure whether memory stays flat while a pipeline, or `g2g serve`, parses very many short texts.

    python -m experiments.long_life PIPELINE [--kinds same new zones serve] [--texts 200000] [--every 10000]

Texts are sentences of 3 to 6 made-up words. The kind `same` has the same 1,000 words again and again, and the
others have ever new words: `zones` has `nlp.memory_zone()` around each batch, and `serve` sends each text to
`g2g serve`. A table has the resident memory (Linux), the number of strings in spaCy's vocabulary, of words in
tables of pieces, and of results in the caches of functions. The exit status is 1 if the memory grows by more
than --bound MiB in the last half. Each string that spaCy's vocabulary keeps may add 500 bytes.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from http.client import HTTPConnection
from itertools import chain, islice
from pathlib import Path
from string import ascii_lowercase
from typing import NamedTuple

import spacy
import torch
from spacy.language import Language

from spacy_g2g.models.network_shim import find_shims

MIB, PAGE_BYTES = 2**20, 4096
#: Bytes that a new word may take in spaCy's vocabulary: its text, its lexeme and their places in tables.
STRING_BYTES = 500
HEADER = "| texts | MiB | strings | pieces of words | cached results |\n| --- | --- | --- | --- | --- |"
BATCH, N_SAME_WORDS = 256, 1_000
KINDS = {
    "same": "The same words",
    "new": "New words",
    "zones": "New words in zones",
    "serve": "New words in requests to `g2g serve`",
}


class Row(NamedTuple):
    """Memory after some texts: bytes, and the sizes of tables and caches; None where they are unknown."""

    n_texts: int
    resident: int
    strings: int | None = None
    pieces: int | None = None
    cached: int | None = None


def sentences(chance: random.Random, *, new: bool) -> Iterator[str]:
    """Yield sentences of ever new words, or of the same 1,000."""
    known = [_word(chance) for _ in range(N_SAME_WORDS)]
    while True:
        words = [_word(chance) if new else chance.choice(known) for _ in range(chance.randint(3, 6))]
        yield " ".join(words).capitalize() + "."


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(ascii_lowercase, k=chance.randint(5, 9)))


def resident(process: int | str = "self") -> int:
    """Return the resident memory of a process in bytes."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE_BYTES


def sizes(nlp: Language, n_texts: int) -> Row:
    """Return the memory of this process, and the sizes of what the pipeline and the library remember."""
    models = [model for _, pipe in nlp.pipeline if (model := getattr(pipe, "model", None)) is not None]
    shims = chain.from_iterable(map(find_shims, models))
    tables = {id(table): table for shim in shims if (table := shim._wordpieces) is not None}
    pieces = sum(len(table._pieces) for table in tables.values())
    return Row(n_texts, resident(), len(nlp.vocab.strings), pieces, cached_results())


def cached_results() -> int:
    """Return the number of results in all caches of this library's functions."""
    modules = [module for name, module in sys.modules.items() if name.startswith("spacy_g2g")]
    functions = {id(each): each for each in chain.from_iterable(map(dict.values, map(vars, modules)))}
    caches = [each for each in functions.values() if hasattr(each, "cache_info")]
    return sum(each.cache_info().currsize for each in caches)


def parse(
    nlp: Language,
    texts: Iterator[str],
    *,
    n: int,
    every: int,
    zone: Callable[[], AbstractContextManager[None]],
) -> list[Row]:
    """Parse n texts in batches, each of them in a zone. Return a row after each ``every`` texts, or later."""
    rows, done, told = list[Row](), 0, 0
    while done < n:
        batch = [*islice(texts, min(BATCH, n - done))]
        with zone():
            for _ in nlp.pipe(batch, batch_size=BATCH):
                pass
        done += len(batch)
        if done // every > told or done == n:
            told = done // every
            rows.append(tell(sizes(nlp, done)))
    return rows


@contextmanager
def service(pipeline: str) -> Iterator[tuple[int, int]]:
    """Run `g2g serve`, and yield the number of its process and its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "spacy", "g2g", "serve", pipeline, "--port", str(port), "--silent"]
    process = subprocess.Popen(command)
    try:
        while process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.2)
        yield process.pid, port
    finally:
        process.terminate()
        process.wait()


def ask(pipeline: str, texts: Iterator[str], *, n: int, every: int) -> list[Row]:
    """Send n requests to `g2g serve`. Return a row after each ``every`` requests."""
    rows = list[Row]()
    with service(pipeline) as (process, port):
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        for i, text in enumerate(islice(texts, n), start=1):
            body = json.dumps({"text": text})
            connection.request("POST", "/parse", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"The service answered {text!r} with {answer.status}. Expected 200.")
            if i % every == 0 or i == n:
                rows.append(tell(Row(i, resident(process))))
    return rows


def tell(row: Row) -> Row:
    """Print a row of a table at once, and return it."""
    numbers = ("" if n is None else f"{n:,}" for n in row[2:])
    print("|", " | ".join([f"{row.n_texts:,}", f"{row.resident / MIB:.0f}", *numbers]), "|", flush=True)
    return row


def growth(rows: Sequence[Row]) -> tuple[float, int]:
    """Return the growth of the memory in the last half, in MiB, and the number of strings that it added."""
    middle, last = next(row for row in rows if 2 * row.n_texts >= rows[-1].n_texts), rows[-1]
    return (last.resident - middle.resident) / MIB, (last.strings or 0) - (middle.strings or 0)


def judge(rows: Sequence[Row], bound: float) -> bool:
    """Print and return whether the memory stayed within its bound."""
    grown, n_strings = growth(rows)
    allowed = bound + STRING_BYTES * n_strings / MIB
    verdict = "flat" if grown <= allowed else "NOT FLAT"
    print(f"\n{verdict}: {grown:+.1f} MiB in the last half ({allowed:.1f} allowed)", flush=True)
    return grown <= allowed


def main(argv: Sequence[str] | None = None) -> None:
    """Run the measurements, and print tables."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline", help="trained pipeline")
    cli.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="kinds of texts")
    cli.add_argument("--texts", type=int, default=200_000, help="number of texts of each kind")
    cli.add_argument("--every", type=int, default=10_000, help="texts between two rows of a table")
    cli.add_argument("--bound", type=float, default=64, help="MiB that the last half may add")
    args = cli.parse_args(argv)
    torch.set_num_threads(1)
    are_flat = []
    for kind in args.kinds:
        texts = sentences(random.Random(0), new=kind != "same")
        print(f"\n{KINDS[kind]}:\n\n{HEADER}", flush=True)
        numbers = {"n": args.texts, "every": args.every}
        if kind == "serve":
            rows = ask(args.pipeline, texts, **numbers)
        else:
            nlp = spacy.load(args.pipeline)
            rows = parse(nlp, texts, zone=nlp.memory_zone if kind == "zones" else nullcontext, **numbers)
        are_flat.append(judge(rows, args.bound))
    raise SystemExit(not all(are_flat))


if __name__ == "__main__":
    main()
