"""Steps of the project that are killed, or run twice at once: the same command then gives what it should."""

import multiprocessing
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from project import amr_data, corpora, package, train, treebank
from project.up_to_date import one_at_a_time

from ..formats.samples import SAMPLE
from ..util import forks

AMRS = "\n\n".join(f"# ::id a.{i}\n# ::snt She ran .\n(r / run-01\n   :ARG0 (s / she))" for i in range(1, 7))


def download(folder: Path) -> None:
    where = [str(folder / "treebank"), str(folder / "checksums")]
    treebank.main(["download", str(folder.parent / "base"), "UD_Mine", "r1", *where])


def import_files(folder: Path) -> None:
    where = [str(folder / "treebank"), str(folder / "checksums")]
    paths = [f"--{split}={folder.parent / 'base/UD_Mine'}/x-ud-{split}.conllu" for split in ("train", "dev")]
    treebank.main(["download", "base", "Mine", "r1", *where, *paths])


def convert(folder: Path) -> None:
    source = folder.parent / "base/UD_Mine/x-ud-train.conllu"
    corpora.convert_once(source, folder / "train.spacy", 1)


def fetch_amrs(folder: Path) -> None:
    ids = ["--train-ids", "a.1..4", "--dev-ids", "a.5..6"]
    amr_data.main(
        ["fetch", "mine", str(folder / "amr"), "--data", str(folder.parent / "base/amrs.txt"), *ids]
    )
    amr_data.main(["convert", str(folder / "amr"), str(folder / "corpus"), "--lang", "xx"])


STEPS = [download, import_files, convert, fetch_amrs]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    folder = tmp_path / "base/UD_Mine"
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (folder / f"x-ud-{split}.conllu").write_text(SAMPLE, encoding="utf8")
    (folder.parent / "amrs.txt").write_text(AMRS + "\n", encoding="utf8")
    return tmp_path


def run(step: Callable[[Path], None], folder: Path, before: Callable[..., Any] = id, *arguments: Any) -> Any:
    """A process of a step.

    before: Called first in the process, with the arguments.
    """

    def work() -> None:
        before(*(arguments or [folder]))
        step(folder)

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    return process


def die_at(n: int) -> None:
    """Have this process killed at the nth change of a file or folder, or in the middle of a text."""
    calls = []

    def dying(original: Callable[..., Any], *, has_half: bool = False) -> Callable[..., Any]:
        def call(*arguments: Any, **settings: Any) -> Any:
            calls.append(1)
            if len(calls) == n:
                if has_half:
                    original(arguments[0], arguments[1][: len(arguments[1]) // 2], **settings)
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments, **settings)

        return call

    for name in ("rename", "replace", "mkdir"):
        setattr(Path, name, dying(getattr(Path, name)))
    Path.write_text = dying(Path.write_text, has_half=True)  # type: ignore[method-assign]
    shutil.rmtree = dying(shutil.rmtree)  # type: ignore[assignment]


def contents(folder: Path) -> dict[str, bytes]:
    """The files that count: hidden ones are locks, stamps and what a kill leaves."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }


@pytest.mark.parametrize("step", STEPS)
@forks
def test_a_step_that_was_killed_anywhere_goes_on_with_the_same_command(step, base: Path):
    run(step, base / "undisturbed").join()
    expected = contents(base / "undisturbed")
    assert expected
    n, codes = 0, []
    while not codes or codes[-1]:
        n += 1
        folder = base / str(n)
        process = run(step, folder, die_at, n)
        process.join()
        codes.append(process.exitcode)
        assert all(expected[name] == content for name, content in contents(folder).items())
        process = run(step, folder)
        process.join()
        assert process.exitcode == 0
        assert contents(folder) == expected
    assert len(codes) > 3
    assert set(codes) == {-signal.SIGKILL, 0}


@pytest.mark.parametrize("step", [download, import_files])
@forks
def test_a_step_waits_for_another_process_that_makes_the_same(step, base: Path):
    folder, start = base / "out", multiprocessing.get_context("fork").Event()
    processes = [run(step, folder, start.wait, 60) for _ in range(2)]
    with one_at_a_time(folder / "treebank"):
        start.set()
        time.sleep(0.3)
        assert not (folder / "treebank").exists()
        assert all(process.is_alive() for process in processes)
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    run(step, base / "undisturbed").join()
    assert contents(folder) == contents(base / "undisturbed")


def test_a_training_has_nothing_of_one_that_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    left = tmp_path / "out.unfinished/model-best/other_component"
    left.mkdir(parents=True)
    monkeypatch.setattr(train, "spacy_train", lambda config, folder, use_gpu: (folder / "model-best").mkdir())
    train.train_into(tmp_path / "out", train.Config({"training": {}}), gpu=-1)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "model-best",
        "train.cfg",
        "training.json",
    ]
    assert not list((tmp_path / "out/model-best").iterdir())


@pytest.mark.parametrize(
    ("lang", "name", "version"),
    [
        ("../../..", "g2g", "0.1"),
        ("en", "../../victim", "0.1"),
        ("en", "g2g", "0.1/../../victim"),
        ("en", "g2g\nimport os", "0.1"),
        ("", "g2g", "0.1"),
    ],
)
def test_a_hostile_name_of_a_package_is_an_error(lang, name, version, tmp_path, monkeypatch):
    model, victim = tmp_path / "model", tmp_path / "a/b/victim"
    model.mkdir()
    victim.mkdir(parents=True)
    (victim / "file").write_text("keep")
    (model / "meta.json").write_text(package.json.dumps({"lang": lang}))
    folders = [str(model), str(tmp_path), str(tmp_path / "metrics"), str(tmp_path / "a/b/c/out")]
    monkeypatch.setattr(sys, "argv", ["package", *folders, "--name", name, "--version", version])
    with pytest.raises(SystemExit, match="of the package is"):
        package.main()
    assert (victim / "file").read_text() == "keep"
