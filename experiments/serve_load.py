"""Measure what the longest requests cost `g2g serve`, and how long short ones wait behind them.

    python -m experiments.serve_load PIPELINE WORDS.conllu

The service runs in a process of its own. Requests are random words of WORDS.conllu as one sentence. Memory is
the resident set of the service, from /proc.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from spacy_g2g.formats.conllu import read_conllu

PORT = 8123
LONGEST, SHORT, CROWD = 500, 10, 8


def main() -> None:
    """Start the service, and print what was measured."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("pipeline")
    cli.add_argument("words", type=Path)
    cli.add_argument("--requests", type=int, default=60, help="number of long requests, one after another")
    args = cli.parse_args()
    words = [word.form for sentence in read_conllu(args.words) for word in sentence.words]
    draw = random.Random(0)
    command = [sys.executable, "-m", "spacy", "g2g", "serve", args.pipeline, "--port", str(PORT), "--silent"]
    command += ["--timeout", "600"]
    with subprocess.Popen(command) as service:
        try:
            wait_until_it_answers()
            print(f"at first: {memory(service.pid):.2f} GiB")
            for n in (SHORT, 100, LONGEST):
                before = cpu(service.pid)
                ask(draw.choices(words, k=n))
                print(f"{n} words: {cpu(service.pid) - before:.2f} s of CPU, {memory(service.pid):.2f} GiB")
            crowd(words, draw, service.pid)
            for i in range(1, args.requests + 1):
                ask(draw.choices(words, k=draw.randint(LONGEST // 2, LONGEST)))
                if i % 20 == 0:
                    print(f"after {i} more of up to {LONGEST} words: {memory(service.pid):.2f} GiB")
        finally:
            service.terminate()


def crowd(words: Sequence[str], draw: random.Random, pid: int) -> None:
    """Ask short and long questions at once, and print how long each kind waits."""
    sizes = [LONGEST] * CROWD + [SHORT]
    questions = [draw.choices(words, k=n) for n in sizes]
    with ThreadPoolExecutor(len(sizes)) as threads:
        *long, short = threads.map(late_if_short, questions)
    print(
        f"{SHORT} words behind {CROWD} requests of {LONGEST} words: {short:.1f} s, the others up to "
        f"{max(long):.1f} s; {memory(pid):.2f} GiB"
    )


def late_if_short(words: Sequence[str]) -> float:
    """Ask, and return the seconds until the answer. A short question comes half a second late."""
    time.sleep(0.5 if len(words) == SHORT else 0.0)
    return ask(words)


def ask(words: Sequence[str]) -> float:
    """Have one sentence parsed, and return the seconds until the answer."""
    body: dict[str, Any] = {"words": words, "sent_starts": [i == 0 for i in range(len(words))]}
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}/parse", json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    start = time.perf_counter()
    with urllib.request.urlopen(request) as reply:
        reply.read()
    return time.perf_counter() - start


def wait_until_it_answers() -> None:
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{PORT}/pipeline").close()
            return
        except OSError:
            time.sleep(0.2)


def cpu(pid: int) -> float:
    """Return the seconds of CPU time that a process has used; clocks have 100 ticks a second."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / 100


def memory(pid: int) -> float:
    """Return the memory of a process in GiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 2**20


if __name__ == "__main__":
    main()
