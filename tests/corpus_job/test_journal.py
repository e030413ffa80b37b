import time

from spacy_g2g.corpus_job import journal as module
from spacy_g2g.corpus_job.journal import Journal, read_history


def attempt(path, *batches):
    """An attempt that dies after it has told of some batches: its lines stay without an end."""
    journal = Journal.claim(path)
    journal.begin("temporary", 0.0)
    for places in batches:
        journal.note(places, 0.0)
    journal.release()
    return read_history(path.read_text("utf8"))


def test_documents_in_hand_at_a_death_are_suspects(tmp_path):
    history = attempt(tmp_path / "j", [1, 2], [3, 4])
    assert (history.suspects, history.blamed, history.n_idle_deaths) == ({3, 4}, {}, 0)


def test_five_deaths_over_a_document_alone_are_blamed_on_it(tmp_path):
    attempt(tmp_path / "j", [1, 2, 3])
    for other in (1, 3, 4, 5):
        assert not attempt(tmp_path / "j", [other], [2]).blamed
    history = attempt(tmp_path / "j", [2])
    assert history.suspects == {2}
    assert list(history.blamed) == [2]
    assert "5 processes ended" in history.blamed[2]


def test_last_words_of_python_are_proof(tmp_path):
    for places in ([1, 2], [1]):
        attempt(tmp_path / "j", places)
        with (tmp_path / "j").open("a") as file:
            file.write("Fatal Python error: Segmentation fault\n\nCurrent thread 0x1\n")
        blamed = read_history((tmp_path / "j").read_text("utf8")).blamed
    assert blamed == {1: "Fatal Python error: Segmentation fault"}
    assert attempt(tmp_path / "j", [2]).blamed == blamed


def test_a_suspect_that_is_parsed_alone_is_cleared(tmp_path):
    attempt(tmp_path / "j", [1, 2])
    attempt(tmp_path / "j", [1])
    history = attempt(tmp_path / "j", [1], [2])
    assert (history.suspects, history.deaths) == ({2}, {2: 1})
    assert not attempt(tmp_path / "j", [1]).blamed


def test_deaths_without_a_document_in_hand_are_counted(tmp_path):
    assert attempt(tmp_path / "j").n_idle_deaths == 1
    assert attempt(tmp_path / "j", [1], []).n_idle_deaths == 2
    journal = Journal.claim(tmp_path / "j")
    journal.begin("temporary", 0.0)
    journal.end()
    assert read_history((tmp_path / "j").read_text("utf8")).n_idle_deaths == 2


def test_an_unfinished_line_is_no_harm(tmp_path):
    attempt(tmp_path / "j", [1, 2])
    with (tmp_path / "j").open("a") as file:
        file.write('\n{"docs": [7')
    assert attempt(tmp_path / "j", [1]).suspects == {1, 2}


def test_one_process_at_a_time_has_a_shard(tmp_path):
    first = Journal.claim(tmp_path / "j")
    assert Journal.claim(tmp_path / "j") is None
    first.begin("temporary", 100.0)
    assert Journal.claim(tmp_path / "j") is None
    first.end()
    second = Journal.claim(tmp_path / "j")
    second.forget()
    assert not (tmp_path / "j").exists()


def test_a_process_that_is_silent_for_too_long_is_no_obstacle(tmp_path, monkeypatch):
    first = Journal.claim(tmp_path / "j")
    first.begin("temporary", 100.0)
    now = time.time()
    monkeypatch.setattr(module.time, "time", lambda: now + 100 + module.SLACK - 1)
    assert Journal.claim(tmp_path / "j") is None
    monkeypatch.setattr(module.time, "time", lambda: now + 100 + module.SLACK + 1)
    second = Journal.claim(tmp_path / "j")
    assert second.history.n_idle_deaths == 1
    first.release()
    second.release()


def test_without_locks_a_process_lives_as_long_as_it_announced(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "lock", lambda handle: None)
    first = Journal.claim(tmp_path / "j")
    first.begin("temporary", 100.0)
    assert Journal.claim(tmp_path / "j") is None
    first.end()
    assert Journal.claim(tmp_path / "j") is not None
