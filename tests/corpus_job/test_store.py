"""Object stores. A local folder stands in for one, and a server that speaks S3 where `moto` is installed.

This process never speaks S3 itself, since processes that are forked later could not.
"""

import functools
import multiprocessing
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import pytest

from spacy_g2g.corpus_job import block, store
from spacy_g2g.corpus_job import run as run_module
from spacy_g2g.corpus_job import shard as shard_module
from spacy_g2g.corpus_job.job import OtherJobError
from spacy_g2g.corpus_job.journal import Journal
from spacy_g2g.corpus_job.reading import read_docs
from spacy_g2g.corpus_job.store import StorePath, files_in, open_file, place_of

from ..chains import g2g
from ..util import forks
from .util import errors, files, ids, load, run, run_in_process, stand_in, start_process, texts, write_jsonl

N = 30
ALL = [f"d{i}" for i in range(N)]


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """The system's folder for temporary files, empty."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_uris_are_stores_and_all_else_are_paths():
    assert place_of("s3://bucket/a/") == StorePath("s3://bucket/a")
    assert place_of("a/b") == Path("a/b")
    with pytest.raises(ValueError, match=r"E1121.*'hdfs://a/b'.*s3://, gs://"):
        place_of("hdfs://a/b")
    key = StorePath("gs://bucket/a/b.txt")
    assert (key.name, str(key.parent), str(key / "c")) == ("b.txt", "gs://bucket/a", "gs://bucket/a/b.txt/c")
    assert key.is_relative_to(StorePath("gs://bucket/a"))
    assert not StorePath("gs://bucket/ab").is_relative_to(StorePath("gs://bucket/a"))
    assert not Path("/a/b").is_relative_to(key)
    assert pickle.loads(pickle.dumps(key)) == key


def test_a_job_in_a_store_gives_the_files_of_a_local_one(
    chain_pipeline, corpus, tmp_path, scratch, monkeypatch
):
    monkeypatch.setattr(store, "_system_of", stand_in(tmp_path))
    run(chain_pipeline, corpus, tmp_path / "here")
    (tmp_path / "in" / ".git").mkdir(parents=True)
    for name in ("corpus.jsonl", ".git/x.jsonl", "notes.md"):
        shutil.copy(corpus, tmp_path / "in" / name)
    for name in ("data", "errors", "_state"):  # A local folder is no store in that files need folders.
        (tmp_path / "out" / name).mkdir(parents=True)
    source, output = StorePath("s3://in"), StorePath("s3://out")
    outcome = run(chain_pipeline, source, output)
    assert files(tmp_path / "out").keys() == files(tmp_path / "here").keys()
    vocab = load(chain_pipeline).vocab
    assert [doc.to_bytes() for doc in read_docs(output, vocab)] == [
        doc.to_bytes() for doc in read_docs(tmp_path / "here", vocab)
    ]
    assert [*scratch.iterdir(), *(tmp_path / "out" / "_state").iterdir()] == []
    again = run(chain_pipeline, source, output)
    assert (again.n_there, again.n_words, again.manifest) == (outcome.n_shards, 0, outcome.manifest)
    with pytest.raises(OtherJobError, match=r"E1111.*s3://out.*text"):
        run(chain_pipeline, source, output, text=False)
    with pytest.raises(ValueError, match=r"E1120.*out"):
        run(chain_pipeline, StorePath("s3://out"), output / "inside")


# A server that speaks S3


@pytest.fixture
def bucket(tmp_path, monkeypatch):
    """URI of an empty bucket."""
    pytest.importorskip("moto", reason="moto[server] is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_ENDPOINT_URL", url)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-p", url.rpartition(":")[2]], stdout=log, stderr=log
        )
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(urllib.request.Request(f"{url}/bucket", method="PUT")).close()
                break
            except OSError:
                time.sleep(0.1)
        yield StorePath("s3://bucket")
    finally:
        server.kill()
        server.wait()


def in_process(work):
    """Call a function in a forked process. Raises AssertionError if it raises."""
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join()
    assert process.exitcode == 0


def upload(path, target):
    in_process(lambda: target.write_bytes(path.read_bytes()))


def download(source, folder):
    """Copy the objects of a store's folder."""

    def copy():
        for path in files_in(source):
            target = folder.joinpath(*path.parts[len(source.parts) :])
            target.parent.mkdir(parents=True, exist_ok=True)
            with open_file(path) as file:
                target.write_bytes(file.read())

    for name in ("data", "errors", "_state"):
        (folder / name).mkdir(parents=True)
    in_process(copy)
    return folder


POINTS = {
    "an attempt is announced": (Journal, "_write"),
    "a batch is parsed": (block.BlockParser, "_run"),
    "before the upload": (shard_module, "commit"),
    "after the upload": (Journal, "forget"),
    "before errors are written": (shard_module, "settle_errors"),
    "between two objects": (StorePath, "_upload"),
}


@pytest.mark.slow
@forks
def test_a_job_in_s3_goes_on_after_a_death_at_any_point(bucket, chain_pipeline, tmp_path, scratch):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", texts(N, {4: "RAISE"}))
    run(chain_pipeline, corpus, tmp_path / "here")
    upload(corpus, bucket / "in/corpus.jsonl")

    def die_at(owner, name, n):
        original, calls = getattr(owner, name), []

        def die(*arguments, **settings):
            calls.append(1)
            if len(calls) == n:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments, **settings)

        setattr(owner, name, die)

    # In the third shard's time, or when the seventh object is written.
    for i, (owner, name) in enumerate(POINTS.values()):
        out = bucket / f"out{i}"
        death = functools.partial(die_at, owner, name, 7 if name == "_upload" else 3)
        assert run_in_process(chain_pipeline, bucket / "in", out, before=death) == -signal.SIGKILL
        assert run_in_process(chain_pipeline, bucket / "in", out) == 0
        found = download(out, tmp_path / f"found{i}")
        assert ids(found) == ids(tmp_path / "here")
        assert [error["id"] for error in errors(found)] == ["d4"]
        assert (found / "manifest.json").exists()
        assert [*(found / "_state").iterdir(), *scratch.iterdir()] == []


@pytest.mark.slow
@forks
def test_two_drivers_share_a_job_in_s3_and_documents_that_end_them_are_errors(
    bucket, chain_pipeline, tmp_path, scratch
):
    bad = {2: "KILL me", 3: "EXIT now", 4: "HANG on", 22: "CRASH all"}
    corpus = write_jsonl(tmp_path / "corpus.jsonl", texts(N, bad))
    upload(corpus, bucket / "in/corpus.jsonl")
    drivers = []
    for _ in range(40):
        drivers = [driver for driver in drivers if driver.is_alive() or driver.exitcode == 0]
        if len(drivers) == 2 and all(driver.exitcode == 0 for driver in drivers):
            break
        while len(drivers) < 2:
            arguments = (chain_pipeline, bucket / "in", bucket / "out")
            drivers.append(start_process(*arguments, timeout=0.5, before=poll_often))
        for driver in drivers:
            driver.join(0.5)
    found = download(bucket / "out", tmp_path / "found")
    assert ids(found) == [id_ for id_ in ALL if int(id_[1:]) not in bad]
    assert {error["text"] for error in errors(found)} == set(bad.values())
    reasons = {error["text"]: error["error"] for error in errors(found)}
    assert "Timeout" in reasons["HANG on"]
    assert "Segm" in reasons["CRASH all"]
    assert [*(found / "_state").iterdir()] == []

    def read_and_run_again():
        vocab = load(chain_pipeline).vocab
        assert [doc.user_data["id"] for doc in read_docs(str(bucket / "out"), vocab)] == ids(found)
        for source, code in (("in", 2), ("nothing", 1)):
            places = [str(bucket / source), str(bucket / "out")]
            assert g2g("parse-corpus", chain_pipeline, *places, "--engine", "none").exit_code == code

    in_process(read_and_run_again)


def poll_often():
    run_module.POLL_SECONDS = 0.05
