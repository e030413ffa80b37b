"""Ray is no part of the set-up for tests: `pip install ".[corpus]"` to run these."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spacy_g2g.corpus_job.reading import read_docs

from .util import CODE, errors, ids, load, save_chain, texts, write_jsonl

pytest.importorskip("ray", reason="Ray is not installed")
N = 120
BAD = {3: "RAISE this", 40: "KILL it", 41: "HANG on", 70: "CRASH here", 90: "EXIT now"}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-W", "ignore", "-m", "spacy", "g2g", "parse-corpus", *arguments]


def kill_a_worker(driver: subprocess.Popen[bytes], data: Path) -> None:
    """Kill a worker of a driver after the second shard."""
    while driver.poll() is None:
        if data.exists() and len(list(data.iterdir())) >= 2:
            (pid, *_) = workers()
            return os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    raise AssertionError("The driver has ended before a worker could be killed.")


def workers() -> list[int]:
    """Process ids of actors that parse, of all of this machine's Rays."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::MapWorker"):
                found.append(int(path.parent.name))
        except OSError:  # It has just ended.
            continue
    return found


@pytest.mark.slow
def test_ray_gives_the_files_of_an_undisturbed_run_whatever_dies(tmp_path):
    """Documents that raise, kill, hang and crash; a worker that is killed; a driver that is killed."""
    pipeline = save_chain(tmp_path / "pipeline")
    corpus = write_jsonl(tmp_path / "in.jsonl", texts(N, BAD))
    out = tmp_path / "out"
    settings = ["--shard-mb", "0.001", "--timeout", "2", "--workers", "2"]
    run_of = [pipeline, str(corpus), str(out), "--code", str(CODE), *settings]
    first = subprocess.Popen(command(*run_of))
    kill_a_worker(first, out / "data")
    while first.poll() is None and len(list((out / "data").iterdir())) < 4:
        time.sleep(0.02)
    first.kill()
    first.wait()
    assert len(list((out / "data").iterdir())) < 12
    subprocess.run(command(*run_of), check=True)
    assert ids(out) == [f"d{i}" for i in range(N) if i not in BAD]
    nlp = load(pipeline)
    for doc in read_docs(out, nlp.vocab):
        expected = nlp(doc.text)
        assert [token.head.i for token in doc] == [token.head.i for token in expected]
    assert {error["text"]: error["id"] for error in errors(out)} == {text: f"d{i}" for i, text in BAD.items()}
