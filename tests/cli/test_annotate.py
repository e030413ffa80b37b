import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_g2g.cli.annotate import annotate
from spacy_g2g.cli.common import user_errors
from spacy_g2g.cli.parse import parse

from ..util import forks

#: Text whose Doc is larger than what a pipe between processes holds.
LONG_TEXT = "word " * 10_000
SECONDS = 30


class StopError(Exception):
    """An error that is no ValueError."""


@pytest.fixture
def nlp():
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    return nlp


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    assert multiprocessing.active_children() == []


def wait_for(condition) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def children_of(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def is_alive(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rsplit(")")[-1].split()[0] not in "ZX"


def add_component(nlp: Language, name: str, function) -> None:
    Language.component(name, func=function)
    nlp.add_pipe(name)


def tasks(n, text="A text. And more."):
    return [(text, {"number": i}) for i in range(n)]


@pytest.mark.parametrize("numbers", [{"batch_size": 0}, {"batch_size": -1}, {"n_process": 0}])
def test_numbers_below_one_are_errors(nlp, numbers):
    with pytest.raises(ValueError, match="E917"), annotate(nlp, tasks(2), **numbers) as results:
        list(results)


@pytest.mark.parametrize(
    "n_process", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)]
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("n", [0, 1, 7])
def test_results_keep_order_and_keys(nlp, n_process, n):
    with annotate(nlp, tasks(n), batch_size=2, n_process=n_process) as results:
        found = [(doc.text, len(list(doc.sents)), keys) for doc, keys in results]
    assert found == [("A text. And more.", 2, {"number": i}) for i in range(n)]


@forks
def test_an_error_in_the_input_ends_all(nlp):
    def broken():
        yield from tasks(9, LONG_TEXT)
        raise StopError

    with pytest.raises(StopError), annotate(nlp, broken(), batch_size=3, n_process=2) as results:
        list(results)


@forks
def test_an_error_in_what_takes_results_ends_all(nlp):
    def take(results):
        for _ in results:
            raise StopError

    with pytest.raises(StopError), annotate(nlp, tasks(9, LONG_TEXT), batch_size=3, n_process=2) as results:
        take(results)


@forks
def test_an_error_of_a_component_is_shown_and_ends_all(nlp):
    def fail(doc: Doc) -> Doc:
        if "bad" in doc.text:
            raise ValueError("the text is bad")
        return doc

    add_component(nlp, "test_fail", fail)
    texts = [*tasks(9, LONG_TEXT), ("bad", {}), *tasks(9, LONG_TEXT)]
    with (
        pytest.raises(ValueError, match=r"^the text is bad$"),
        annotate(nlp, texts, batch_size=3, n_process=2) as results,
    ):
        list(results)


@forks
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_that_is_killed_ends_all(nlp, number):
    def fall(doc: Doc) -> Doc:
        if len(doc) == 2:
            os.kill(os.getpid(), int(doc[1].text))
        return doc

    add_component(nlp, "test_fall", fall)
    texts = [*tasks(9, LONG_TEXT), (f"bad {int(number)}", {}), *tasks(9, LONG_TEXT)]
    with (
        pytest.raises(ValueError, match=f"E918.*-{int(number)}"),
        annotate(nlp, texts, batch_size=3, n_process=2) as results,
    ):
        list(results)


def slowly(doc: Doc) -> Doc:
    time.sleep(0.1)
    return doc


def run_command(folder: Path) -> None:
    # Shells start commands in the background with this signal ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with user_errors():
        parse(
            str(folder / "slow"), folder / "in.txt", folder / "out" / "out.jsonl", n_process=2, batch_size=2
        )


@forks
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_ends_a_command_and_its_processes(tmp_path, number):
    nlp = spacy.blank("xx")
    add_component(nlp, "test_slow", slowly)
    nlp.to_disk(tmp_path / "slow")
    (tmp_path / "in.txt").write_text("word\n" * 1000)
    command = multiprocessing.Process(target=run_command, args=[tmp_path])
    command.start()
    wait_for(lambda: len(children_of(command.pid)) == 2)
    workers = children_of(command.pid)
    time.sleep(0.5)
    os.kill(command.pid, number)
    command.join(SECONDS)
    assert command.exitcode
    wait_for(lambda: not any(map(is_alive, workers)))
    if number != signal.SIGKILL:
        assert list((tmp_path / "out").iterdir()) == []
