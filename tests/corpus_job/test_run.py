import errno
import json
import os
import random
import re
import shutil
import signal
import time
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import spacy

from spacy_g2g.corpus_job import block
from spacy_g2g.corpus_job import documents as documents_module
from spacy_g2g.corpus_job import journal as journal_module
from spacy_g2g.corpus_job import plan as plan_module
from spacy_g2g.corpus_job import run as run_module
from spacy_g2g.corpus_job import shard as shard_module
from spacy_g2g.corpus_job.documents import Document
from spacy_g2g.corpus_job.job import Job, OtherJobError
from spacy_g2g.corpus_job.journal import Journal
from spacy_g2g.corpus_job.plan import Fields
from spacy_g2g.corpus_job.reading import read_docs

from ..util import forks
from .util import errors, files, ids, run, run_in_process, start_process, texts, write_files, write_jsonl

N = 30
ALL = [f"d{i}" for i in range(N)]


@pytest.fixture
def undisturbed(chain_pipeline, corpus, tmp_path):
    """Files of a job that nothing disturbs, with their bytes."""
    outcome = run(chain_pipeline, corpus, tmp_path / "undisturbed")
    assert outcome.n_shards > 5
    return files(tmp_path / "undisturbed")


def test_trees_are_those_of_pipe_in_the_order_of_the_input(chain_pipeline, corpus, tmp_path):
    outcome = run(chain_pipeline, corpus, tmp_path / "out")
    nlp = spacy.load(chain_pipeline)
    expected = list(nlp.pipe(texts(N)))
    found = list(read_docs(tmp_path / "out", nlp.vocab))
    assert [doc.user_data["id"] for doc in found] == ALL
    for attribute in ("ORTH", "HEAD", "DEP", "TAG", "SENT_START", "SPACY"):
        assert [doc.to_array(attribute).tolist() for doc in found] == [
            doc.to_array(attribute).tolist() for doc in expected
        ]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf8"))
    assert manifest == outcome.manifest
    assert (manifest["docs"], manifest["errors"]) == (N, 0)
    assert manifest["words"] == sum(map(len, expected)) == outcome.n_words
    assert manifest["sentences"] == sum(len(list(doc.sents)) for doc in expected)
    assert [p.name for p in (tmp_path / "out" / "_state").iterdir()] == []


def test_a_second_run_does_nothing_and_a_manifest_can_be_made_again(chain_pipeline, corpus, tmp_path):
    first = run(chain_pipeline, corpus, tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "data").iterdir()}
    (tmp_path / "out" / "manifest.json").unlink()
    again = run(chain_pipeline, corpus, tmp_path / "out")
    assert (again.n_words, again.n_there, again.manifest) == (0, first.n_shards, first.manifest)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "data").iterdir()} == before


def test_parts_of_an_array_give_the_same_files(chain_pipeline, corpus, tmp_path, undisturbed):
    outcomes = [run(chain_pipeline, corpus, tmp_path / "out", only=(i, 3)) for i in (1, 2, 3)]
    assert [outcome.manifest is None for outcome in outcomes] == [True, True, False]
    assert files(tmp_path / "out") == undisturbed


def test_another_job_in_the_folder_is_refused_with_what_differs(chain_pipeline, corpus, tmp_path):
    run(chain_pipeline, corpus, tmp_path / "out")
    with pytest.raises(OtherJobError, match=r"E1111.*text \(there True, now False\)"):
        run(chain_pipeline, corpus, tmp_path / "out", text=False)
    other = str(shutil.copytree(chain_pipeline, tmp_path / "other"))
    (tmp_path / "other" / "vocab" / "strings.json").write_text('["x"]')
    with pytest.raises(OtherJobError, match=r"pipeline\.hash"):
        run(other, corpus, tmp_path / "out")
    write_jsonl(corpus, texts(N + 1))
    with pytest.raises(OtherJobError, match=r"inputs\..*corpus\.jsonl"):
        run(chain_pipeline, corpus, tmp_path / "out")


def test_an_input_that_has_changed_is_another_job_even_if_its_size_is_the_same(chain_pipeline, tmp_path):
    source = tmp_path / "in.txt"
    source.write_text("One two")
    run(chain_pipeline, source, tmp_path / "out")
    source.write_text("Six six")
    with pytest.raises(OtherJobError, match=r"E1111.*inputs\..*in\.txt \(there '7 bytes, changed at "):
        run(chain_pipeline, source, tmp_path / "out")


def test_other_shards_of_the_same_input_are_another_job(chain_pipeline, tmp_path, monkeypatch):
    """As if a Parquet file could not be read for a moment, when one process made its plan."""
    (tmp_path / "in").mkdir()
    for name in "ab":
        pq.write_table(pa.table({"text": texts(8)}), tmp_path / "in" / f"{name}.parquet")
    opened, calls = plan_module.pq.ParquetFile, []

    def fail_once(source):
        calls.append(source)
        if len(calls) == 1:
            raise OSError("Input/output error")
        return opened(source)

    with monkeypatch.context() as patch:
        patch.setattr(plan_module.pq, "ParquetFile", fail_once)
        run(chain_pipeline, tmp_path / "in", tmp_path / "out", only=(1, 2))
    with pytest.raises(OtherJobError, match=r"E1111.*plan"):
        run(chain_pipeline, tmp_path / "in", tmp_path / "out")
    calls.clear()
    with monkeypatch.context() as patch:
        patch.setattr(plan_module.pq, "ParquetFile", fail_once)
        assert run(chain_pipeline, tmp_path / "in", tmp_path / "out").manifest["docs"] == 16


@pytest.mark.parametrize(
    ("change", "error"),
    [(lambda path: path.write_text("Six six"), "E1124"), (lambda path: path.unlink(), "E1115")],
    ids=["written", "removed"],
)
def test_an_input_that_changes_during_a_job_is_not_read(chain_pipeline, tmp_path, monkeypatch, change, error):
    source = tmp_path / "in.txt"
    source.write_text("One two")
    make_plan = run_module.make_plan
    monkeypatch.setattr(run_module, "make_plan", lambda *a, **b: (make_plan(*a, **b), change(source))[0])
    (failed,) = run(chain_pipeline, source, tmp_path / "out").failed
    assert re.search(rf"{error}.*in\.txt", failed["error"])


# Files that are not the job's


@pytest.mark.parametrize("name", ["data", "errors", "_state"])
def test_a_folder_that_no_job_has_made_is_left_alone(chain_pipeline, corpus, tmp_path, name):
    (tmp_path / "out" / name).mkdir(parents=True)
    (tmp_path / "out" / name / "mine.txt").write_text("mine")
    with pytest.raises(OtherJobError, match=f"E1122.*out.*{name}"):
        run(chain_pipeline, corpus, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").rglob("*")] == [name, "mine.txt"]


@pytest.mark.linux
def test_a_job_removes_its_own_files_only(chain_pipeline, corpus, tmp_path):
    out, victim = tmp_path / "out", tmp_path / "victim.txt"
    run(chain_pipeline, corpus, out, only=(1, 2))
    victim.write_text("mine")
    for name in ("part-000001.txt", "mine.txt"):
        (out / "_state" / name).write_text("mine")
    for name in ("part-000003.journal", "part-000003.parquet"):
        (out / "_state" / name).symlink_to(victim)
    (out / "manifest.json").symlink_to(victim)
    assert run(chain_pipeline, corpus, out).manifest["docs"] == N
    assert victim.read_text() == "mine"
    assert [path.name for path in (out / "_state").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("text", ["[]", "null", "{broken", '{"format_version": 1}'])
def test_a_job_of_another_format_is_refused_and_stays(chain_pipeline, corpus, tmp_path, text):
    run(chain_pipeline, corpus, tmp_path / "out", only=(1, 2))
    (tmp_path / "out" / "job.json").write_text(text)
    before = files(tmp_path / "out")
    with pytest.raises(OtherJobError, match=r"E1123.*job\.json.*not 2"):
        run(chain_pipeline, corpus, tmp_path / "out")
    assert files(tmp_path / "out") == before


@pytest.mark.linux
def test_errors_that_are_damaged_are_written_again(chain_pipeline, tmp_path):
    source = write_jsonl(tmp_path / "corpus.jsonl", ["RAISE", *texts(N)])
    run(chain_pipeline, source, tmp_path / "out")
    before = files(tmp_path / "out")
    (tmp_path / "out" / "errors" / "part-000000.jsonl").write_bytes(b"\xff")
    (tmp_path / "out" / "errors" / "part-000001.jsonl").symlink_to(source)
    run(chain_pipeline, source, tmp_path / "out")
    assert files(tmp_path / "out") == before
    assert "RAISE" in source.read_text("utf8")


def test_an_output_that_is_damaged_is_named(chain_pipeline, corpus, tmp_path):
    run(chain_pipeline, corpus, tmp_path / "out")
    path = tmp_path / "out" / "data" / "part-000002.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"E1117.*part-000002\.parquet"):
        run(chain_pipeline, corpus, tmp_path / "out")
    path.unlink()
    assert run(chain_pipeline, corpus, tmp_path / "out").manifest["docs"] == N


def test_a_job_does_not_read_its_own_output(chain_pipeline, corpus, tmp_path):
    with pytest.raises(ValueError, match=r"E1120.*out"):
        run(chain_pipeline, tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_output_that_is_a_file_stays(chain_pipeline, corpus, tmp_path):
    (tmp_path / "out").write_text("kept")
    with pytest.raises(ValueError, match=r"E1127.*out"):
        run(chain_pipeline, corpus, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "kept"


# Documents that can't be parsed


def test_documents_that_raise_or_cannot_be_read_are_errors_and_their_neighbors_are_parsed(
    chain_pipeline, tmp_path
):
    bad = {3: "This does RAISE .", 5: "a " * 600_000, 6: "RAISE", 20: "also RAISE"}
    source = write_jsonl(tmp_path / "corpus.jsonl", texts(N, bad))
    lines = source.read_text("utf8").splitlines()
    lines[8:11] = '{"broken', '{"id": "d9", "text": null}', '{"id": "d10", "text": "\\ud800"}'
    lines[11:13] = '{"id": "d11", "text": ""}', '{"id": "d12", "text": " \\n "}'
    source.write_text("\n".join(lines), "utf8")
    outcome = run(chain_pipeline, source, tmp_path / "out", shard_bytes=10**6)
    found = {error["id"].partition(":")[0]: error["error"] for error in errors(tmp_path / "out")}
    reasons = ["ValueError: a word", "E088", "ValueError: a word", "JSONDecodeError", "E1106", "surrogates"]
    assert list(found) == ["d3", "d5", "d6", "corpus.jsonl", "d9", "d10", "d20"]
    for error, reason in zip(found.values(), [*reasons, "ValueError: a word"], strict=True):
        assert reason in error
    assert ids(tmp_path / "out") == [id_ for id_ in ALL if id_ not in {*found, "d8"}]
    assert (outcome.manifest["docs"], outcome.manifest["errors"]) == (N - 7, 7)
    docs = read_docs(tmp_path / "out", spacy.blank("xx").vocab)
    words = {doc.user_data["id"]: [token.text for token in doc] for doc in docs}
    assert (words["d11"], words["d12"]) == ([], [" \n "])


def test_a_pipeline_that_always_raises_ends_the_job_in_its_first_shard(chain_pipeline, tmp_path):
    source = write_jsonl(tmp_path / "corpus.jsonl", ["RAISE"] * 100)
    outcome = run(chain_pipeline, source, tmp_path / "out")
    (failed,) = outcome.failed
    assert (failed["name"], outcome.manifest) == ("part-000000", None)
    assert re.search(r"(?s)E1116.*a word that raises", failed["error"])
    assert files(tmp_path / "out") == {}


def test_a_bad_shard_ends_no_job_that_has_worked(chain_pipeline, tmp_path):
    source = write_jsonl(tmp_path / "corpus.jsonl", [*texts(5), *["RAISE"] * 60, *texts(5)])
    outcome = run(chain_pipeline, source, tmp_path / "out", shard_bytes=600)
    assert len(outcome.failed) > 1
    assert {"d0", "d69"} <= set(ids(tmp_path / "out"))
    assert outcome.manifest is None
    allowed = run(chain_pipeline, source, tmp_path / "out", shard_bytes=600, max_errors=1.0)
    assert (allowed.manifest["docs"], allowed.manifest["errors"]) == (10, 60)


def test_a_first_shard_of_bad_input_ends_no_job(chain_pipeline, tmp_path):
    """The pipeline is not to blame: the job must come past the shard, in this run and in the next."""
    source = write_jsonl(tmp_path / "corpus.jsonl", texts(N))
    source.write_text("{broken\n" * 400 + source.read_text("utf8"), "utf8")
    for _ in range(2):
        outcome = run(chain_pipeline, source, tmp_path / "out", shard_bytes=2000)
        assert outcome.failed[0]["name"] == "part-000000"
        assert "E1116" in outcome.failed[0]["error"]
        assert ids(tmp_path / "out")[-1] == f"d{N - 1}"


def test_a_shard_without_words_does_not_show_that_a_pipeline_works(chain_pipeline, tmp_path):
    source = write_jsonl(tmp_path / "corpus.jsonl", [""] * 60 + ["RAISE"] * 120)
    first = run(chain_pipeline, source, tmp_path / "out", shard_bytes=1000)
    second = run(chain_pipeline, source, tmp_path / "out", shard_bytes=1000)
    assert second.n_there > 0
    assert [len(outcome.failed) for outcome in (first, second)] == [1, 1]


@pytest.mark.parametrize("name", ["a.txt.gz", "b.parquet", "z.spacy"])
def test_a_file_that_is_damaged_costs_no_other_file_and_is_named(chain_pipeline, corpus, tmp_path, name):
    (tmp_path / "in").mkdir()
    corpus.rename(tmp_path / "in" / "c.jsonl")
    (tmp_path / "in" / name).write_bytes(b"this is no such file")
    for _ in range(2):
        outcome = run(chain_pipeline, tmp_path / "in", tmp_path / "out", shard_bytes=10**6)
        (unread,) = outcome.manifest["unread"]
        assert re.search(f"E1115.*{name}", unread)
        assert ids(tmp_path / "out") == ALL
    (error,) = errors(tmp_path / "out")
    assert (error["id"], error["file"], error["place"], error["error"]) == (name, name, -1, unread)


@pytest.mark.parametrize("n_failures", [1, 99])
def test_a_file_that_cannot_be_read_fails_its_shard(chain_pipeline, tmp_path, monkeypatch, n_failures):
    """It may be there again in the next run, unlike what is damaged."""
    failures = []
    write_files(tmp_path / "in", ["A text ."] * 3)
    opened = documents_module.open_file

    def open_file(place):
        if place.name == "001.txt" and len(failures) < n_failures:
            failures.append(place)
            raise OSError(errno.EIO, "Input/output error")
        return opened(place)

    with monkeypatch.context() as patch:
        patch.setattr(documents_module, "open_file", open_file)
        (failed,) = run(chain_pipeline, tmp_path / "in", tmp_path / "out").failed
    assert re.search(r"E1115.*001\.txt.*Input/output error", failed["error"])
    assert run(chain_pipeline, tmp_path / "in", tmp_path / "out").manifest["docs"] == 3


def test_a_full_disk_ends_the_run_and_leaves_nothing_half(chain_pipeline, corpus, tmp_path, monkeypatch):
    class Full(shard_module.pq.ParquetWriter):
        def write_table(self, *arguments, **settings):
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(shard_module.pq, "ParquetWriter", Full)
        with pytest.raises(OSError, match="No space left"):
            run(chain_pipeline, corpus, tmp_path / "out")
    assert [path.suffix for path in (tmp_path / "out" / "_state").iterdir()] == [".journal"]
    assert run(chain_pipeline, corpus, tmp_path / "out").manifest["docs"] == N


def test_warnings_are_counted_by_their_code(chain_pipeline, corpus, tmp_path, monkeypatch):
    def warn(self, texts, **settings):
        for text in texts:
            warnings.warn(f"[G2G-W803] something about {text}", stacklevel=1)
        return pipe(self, texts, **settings)

    pipe = spacy.language.Language.pipe
    monkeypatch.setattr(spacy.language.Language, "pipe", warn)
    assert run(chain_pipeline, corpus, tmp_path / "out").warnings == {"G2G-W803": N}


@pytest.mark.parametrize("names", [["entity_ruler"], ["textcat"], []])
def test_entities_and_categories_that_are_not_written_are_named(names, chain_pipeline, tmp_path):
    nlp = spacy.blank("en")
    for name in names:
        nlp.add_pipe(name)
    nlp.to_disk(tmp_path / "nlp")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run_module.load_pipeline(Job(str(tmp_path / "nlp"), tmp_path / "out", Fields()))
    found = [str(warning.message) for warning in caught if "W1170" in str(warning.message)]
    expected = {"entity_ruler": "['doc.ents']", "textcat": "['doc.cats']"}
    assert [expected[name] in found[0] for name in names] == [True] * len(found) == [True] * len(names)


# Deaths


POINTS = {
    "a temporary file is open": (shard_module, "group"),
    "a batch is parsed": (block.BlockParser, "_run"),
    "a block is parsed": (shard_module, "_add_counts"),
    "a file is written": (os, "fsync"),
    "before the rename": (os, "replace"),
    "after the rename": (Journal, "forget"),
    "before errors are written": (shard_module, "settle_errors"),
}


@pytest.mark.parametrize("point", POINTS)
@forks
def test_a_job_goes_on_after_a_death_at_any_point(point, chain_pipeline, tmp_path):
    corpus = write_jsonl(tmp_path / "corpus.jsonl", texts(N, {4: "RAISE"}))
    run(chain_pipeline, corpus, tmp_path / "undisturbed")
    calls = []

    def die(*arguments, **settings):
        calls.append(1)
        if len(calls) == (3 if name == "replace" else 2):  # job.json gets its name first.
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments, **settings)

    owner, name = POINTS[point]
    original = getattr(owner, name)
    out = tmp_path / "out"
    assert (
        run_in_process(chain_pipeline, corpus, out, before=lambda: setattr(owner, name, die))
        == -signal.SIGKILL
    )
    assert 1 <= len(list((out / "data").iterdir())) <= 2
    assert run_in_process(chain_pipeline, corpus, out) == 0
    assert files(out) == files(tmp_path / "undisturbed")
    assert list((out / "_state").iterdir()) == []


# The job ends processes by SIGALRM, which the other method of pytest-timeout takes for itself.
@pytest.mark.timeout(600, method="thread")
@forks
def test_documents_that_end_or_hang_processes_are_errors_in_the_end(chain_pipeline, tmp_path):
    # The first three are in one batch.
    bad = {2: "KILL me", 3: "EXIT now", 4: "HANG on", 22: "CRASH all"}
    source = write_jsonl(tmp_path / "corpus.jsonl", texts(N, bad))
    codes = []
    while not codes or codes[-1]:
        codes.append(run_in_process(chain_pipeline, source, tmp_path / "out", timeout=0.2))
        assert len(codes) < 20
    assert set(codes) == {-signal.SIGKILL, 3, -signal.SIGALRM, -signal.SIGSEGV, 0}
    assert codes.count(-signal.SIGSEGV) == 2
    found = {error["text"]: error["error"] for error in errors(tmp_path / "out")}
    assert list(found) == list(bad.values())
    reasons = ["5 processes", "5 processes", "Timeout (0:00:00.200000)!", "Fatal Python error: Segm"]
    assert all(reason in error for reason, error in zip(reasons, found.values(), strict=True))
    assert ids(tmp_path / "out") == [id_ for id_ in ALL if int(id_[1:]) not in bad]


def test_a_suspect_that_was_alone_at_a_death_is_parsed_last(tmp_path, monkeypatch):
    journal = Journal.claim(tmp_path, "part-000000", 100.0)
    journal.earlier.suspects.update([0, 1])
    journal.earlier.deaths[0] = 1
    nlp, batches = spacy.blank("xx"), []
    parser = block.BlockParser(nlp, journal, 60.0)

    def parse(batch):
        batches.append([document.number for document in batch])
        return [nlp.make_doc(document.text) for document in batch]

    monkeypatch.setattr(parser, "_run", parse)
    parser.parse([Document(f"d{i}", i, "a b", number=i) for i in range(4)])
    journal.end()
    assert batches == [[1], [2, 3], [0]]


@forks
def test_a_document_that_ends_processes_is_known_among_those_of_other_small_files(chain_pipeline, tmp_path):
    """All documents have the place 0. Three shards of ten files each."""
    bad = {2: "KILL me", 4: "EXIT now", 15: "RAISE"}
    write_files(tmp_path / "in", texts(N, bad))
    arguments = (chain_pipeline, tmp_path / "in", tmp_path / "out")
    codes = [run_in_process(*arguments, shard_bytes=10_000)]
    while codes[-1]:
        codes.append(run_in_process(*arguments, shard_bytes=10_000))
        assert len(codes) < 20
    assert len(list((tmp_path / "out" / "data").iterdir())) == 3
    assert {error["file"]: error["text"] for error in errors(tmp_path / "out")} == {
        f"{i:03}.txt": text for i, text in bad.items()
    }
    assert ids(tmp_path / "out") == [f"{i:03}.txt:0" for i in range(N) if i not in bad]
    assert list((tmp_path / "out" / "_state").iterdir()) == []


@pytest.mark.parametrize("is_one_file", [True, False])
@forks
def test_random_kills_lose_nothing_and_double_nothing(chain_pipeline, tmp_path, is_one_file):
    """Two drivers work at the folder, and one or both are killed, twenty times."""
    corpus, out, chance, shard_bytes = tmp_path / "in", tmp_path / "out", random.Random(0), 300
    if is_one_file:
        corpus = write_jsonl(tmp_path / "in.jsonl", texts(160))
    else:
        shard_bytes = 5000  # five files
        write_files(corpus, texts(160))
    n_shards = run(chain_pipeline, corpus, tmp_path / "undisturbed", shard_bytes=shard_bytes).n_shards

    def slow():
        # Most of the time no document is alone, as in a job with batches of many documents.
        count = shard_module._add_counts
        shard_module._add_counts = lambda *arguments: time.sleep(0.06) or count(*arguments)

    n_kills = 0
    while n_kills < 20:
        drivers = [
            start_process(chain_pipeline, corpus, out, before=slow, shard_bytes=shard_bytes) for _ in range(2)
        ]
        for driver in chance.sample(drivers, chance.choice((1, 2))):
            time.sleep(chance.uniform(0.03, 0.12))
            driver.kill()
            n_kills += 1
        for driver in drivers:
            driver.kill()
            driver.join()
    assert len(list((out / "data").iterdir())) < n_shards
    assert run(chain_pipeline, corpus, out, shard_bytes=shard_bytes).manifest["docs"] == 160
    assert files(out) == files(tmp_path / "undisturbed")


@forks
def test_two_drivers_share_the_work(chain_pipeline, corpus, tmp_path, undisturbed, monkeypatch):
    monkeypatch.setattr(run_module, "POLL_SECONDS", 0.02)
    drivers = [start_process(chain_pipeline, corpus, tmp_path / "out") for _ in range(2)]
    for driver in drivers:
        driver.join()
    assert [driver.exitcode for driver in drivers] == [0, 0]
    assert files(tmp_path / "out") == undisturbed
    assert list((tmp_path / "out" / "_state").iterdir()) == []


# The job ends processes by SIGALRM, which the other method of pytest-timeout takes for itself.
@pytest.mark.timeout(600, method="thread")
@forks
def test_a_process_that_is_stopped_and_goes_on_later_harms_no_other(
    chain_pipeline, corpus, tmp_path, undisturbed, monkeypatch
):
    """It is stopped for so long that another process takes over its shard."""
    monkeypatch.setattr(run_module, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(journal_module, "SLACK", 0.1)
    monkeypatch.setenv("SECONDS_OF_DOCUMENT", "0.01")
    for trial in range(8):
        out = tmp_path / str(trial)
        stopped = start_process(chain_pipeline, corpus, out, timeout=0.5)
        time.sleep(0.02 + 0.05 * trial)
        os.kill(stopped.pid, signal.SIGSTOP)
        assert run_in_process(chain_pipeline, corpus, out, timeout=0.5) == 0
        assert files(out) == undisturbed
        os.kill(stopped.pid, signal.SIGCONT)
        stopped.join()
        assert stopped.exitcode in (0, -signal.SIGALRM)
        assert files(out) == undisturbed
        assert run(chain_pipeline, corpus, out, timeout=0.5).manifest["docs"] == N
        assert list((out / "_state").iterdir()) == []
