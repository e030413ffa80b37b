import os
import tempfile
import time
import uuid

import pytest

from spacy_g2g.corpus_job import journal as module
from spacy_g2g.corpus_job import store
from spacy_g2g.corpus_job.journal import SLACK, Journal, is_busy
from spacy_g2g.corpus_job.store import StorePath

from .util import stand_in

SHARD = "part-000000"


@pytest.fixture(params=["folder", "store"])
def states(request, tmp_path, monkeypatch):
    """Folder of journals, as a path and as that of an object store."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "states").mkdir()
    if request.param == "folder":
        return tmp_path / "states"
    monkeypatch.setattr(store, "_system_of", stand_in(tmp_path))
    return StorePath("s3://states")


def claim(states):
    return Journal.claim(states, SHARD, 100.0)


def die(journal):
    """Leave a journal as a process that dies does."""
    os.close(journal.handle)


def attempt(states, *batches, last_words=""):
    """An attempt that dies after it has told of some batches. Returns what a next one knows."""
    journal = claim(states)
    for numbers in batches:
        journal.note(numbers, 0.0)
    os.write(journal.handle, last_words.encode())
    die(journal)
    return read(states)


def read(states):
    after = claim(states)
    after.end()
    return after.earlier


def test_documents_in_hand_at_a_death_are_suspects(states):
    earlier = attempt(states, [1, 2], [3, 4])
    assert (earlier.suspects, earlier.blamed, earlier.n_idle_deaths) == ({3, 4}, {}, 0)


def test_five_deaths_over_a_document_alone_are_blamed_on_it(states):
    attempt(states, [1, 2, 3])
    for other in (1, 3, 4, 5):
        assert not attempt(states, [other], [2]).blamed
    earlier = attempt(states, [2])
    assert earlier.suspects == {2}
    assert list(earlier.blamed) == [2]
    assert "5 processes died" in earlier.blamed[2]


def test_last_words_of_python_are_proof(states):
    words = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1\n"
    assert not attempt(states, [1, 2], last_words=words).blamed
    blamed = attempt(states, [1], last_words=words).blamed
    assert blamed == {1: "Fatal Python error: Segmentation fault"}
    assert attempt(states, [2]).blamed == blamed


@pytest.mark.parametrize(
    "damage",
    [
        *("[]", "5", "null", '"x"', '{"begin": true}', '{"docs": 5, "until": 0.0}', "[" * 100_000),
        *('{"docs": ["a"], "until": 0.0}', '{"docs": [[1]], "until": 0.0}', '{"docs": null, "until": 0.0}'),
        *('{"end": true, "until": "x"}', '{"end": true, "until": Infinity}', '{"end": true, "until": null}'),
        '{"end": true, "until": %s}' % ("9" * 4000),
    ],
    ids=lambda damage: damage[:30],
)
def test_a_damaged_line_is_left_out(states, damage):
    earlier = attempt(states, [1, 2], last_words=f"{damage}\n")
    assert (earlier.suspects, earlier.blamed, earlier.n_idle_deaths) == ({1, 2}, {}, 0)


def test_a_suspect_that_is_parsed_alone_is_cleared(states):
    attempt(states, [1, 2])
    attempt(states, [1])
    earlier = attempt(states, [1], [2])
    assert (earlier.suspects, earlier.deaths) == ({2}, {2: 1})
    assert not attempt(states, [1]).blamed


def test_deaths_without_a_document_in_hand_are_counted(states):
    assert attempt(states).n_idle_deaths == 1
    assert attempt(states, [1], []).n_idle_deaths == 2
    claim(states).end()
    assert read(states).n_idle_deaths == 2


def test_an_unfinished_line_is_no_harm(states):
    attempt(states, [1, 2], last_words='\n{"docs": [7')
    assert attempt(states, [1]).suspects == {1, 2}


def test_one_process_at_a_time_has_a_shard(states, tmp_path):
    first = claim(states)
    assert claim(states) is None
    assert is_busy(states, SHARD)
    assert not is_busy(states, "part-000001")
    first.note([1, 2], 100.0)
    die(first)
    assert not is_busy(states, SHARD)
    second = claim(states)
    assert second.earlier.suspects == {1, 2}
    second.end()
    claim(states).forget()
    assert [*(tmp_path / "states").iterdir(), *(tmp_path / "temporary").iterdir()] == []


def test_a_process_that_is_silent_for_too_long_is_no_obstacle(states, monkeypatch):
    first = claim(states)
    now = time.time()
    monkeypatch.setattr(module.time, "time", lambda: now + 100 + SLACK - 1)
    assert claim(states) is None
    monkeypatch.setattr(module.time, "time", lambda: now + 100 + SLACK + 1)
    second = claim(states)
    assert second.earlier.n_idle_deaths == 1
    second.forget()
    first.note([1], 0.0)  # It wakes up.
    first.end()


def test_without_locks_a_process_lives_as_long_as_it_announced(states, monkeypatch):
    monkeypatch.setattr(module, "lock", lambda handle, **_: None)
    first = claim(states)
    assert claim(states) is None
    first.end()
    assert claim(states) is not None


@pytest.mark.parametrize("states", ["store"], indirect=True)
def test_processes_of_other_machines_live_as_long_as_they_announced(states, tmp_path, monkeypatch):
    first = claim(states)
    first.note([7], 100.0)
    die(first)
    for local in (tmp_path / "temporary").iterdir():
        local.unlink()  # It was on another machine.
    now = time.time()
    assert claim(states) is None
    monkeypatch.setattr(module.time, "time", lambda: now + 100 + SLACK + 1)
    assert claim(states).earlier.suspects == {7}


def test_of_two_that_begin_at_once_one_goes_on(states, tmp_path, monkeypatch):
    others, make_name = [], uuid.uuid4

    def begin_another():
        """Have another process begin just after the first look of this one."""
        monkeypatch.setattr(uuid, "uuid4", make_name)
        others.append(claim(states))
        return make_name()

    monkeypatch.setattr(uuid, "uuid4", begin_another)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    assert claim(states) is None
    assert [path.name for path in (tmp_path / "states").iterdir()] == [others[0].path.name]


def test_the_journal_of_a_former_version_is_read_and_removed(tmp_path):
    """Until 0.1.0, all attempts of a shard were in one file, and named the files that they were writing."""
    old = tmp_path / f"{SHARD}.journal"
    lines = ('{"begin": "part-000000.0a.parquet", "until": 0.0}', '{"docs": [3], "until": 0.0}')
    old.write_text("\n".join(lines * 2))
    journal = claim(tmp_path)
    assert (journal.earlier.suspects, journal.earlier.deaths) == ({3}, {3: 2})
    journal.forget()
    assert list(tmp_path.iterdir()) == []
