"""Steps of the project that are killed, or run twice at once: the same command then gives what it should."""

import json
import multiprocessing
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import spacy

from project import adapt, amr_data, corpora, jackknife, package, score, train, treebank
from project.up_to_date import one_at_a_time
from spacy_g2g.conversion.convert import convert as make_corpus
from spacy_g2g.files import sha256_of, write_text

from ..faults import fault
from ..formats.samples import SAMPLE
from ..util import forks
from .workflows import pretend_to_package

TINY = Path(__file__).parents[2] / "configs/test/syntr_tiny.cfg"
AMRS = "\n\n".join(f"# ::id a.{i}\n# ::snt She ran .\n(r / run-01\n   :ARG0 (s / she))" for i in range(1, 7))


def download(folder: Path) -> None:
    where = [str(folder / "treebank"), str(folder / "checksums")]
    treebank.main(["get", "UD_Mine", "r1", *where, "--or-download", str(folder.parent / "base")])


def import_files(folder: Path) -> None:
    where = [str(folder / "treebank"), str(folder / "checksums")]
    paths = [f"--{split}={folder.parent / 'base/UD_Mine'}/x-ud-{split}.conllu" for split in ("train", "dev")]
    treebank.main(["get", "Mine", "r1", *where, *paths])


def convert(folder: Path) -> None:
    source = folder.parent / "base/UD_Mine/x-ud-train.conllu"
    corpora.convert_once({"treebank": source}, folder / "train.spacy", 1, {})


def convert_joined(folder: Path) -> None:
    source = folder.parent / "base/UD_Mine/x-ud-train.conllu"
    corpora.convert_once({"A": source, "B": source}, folder / "train.spacy", 1, {"A": "a", "B": "b"})


def fetch_amrs(folder: Path) -> None:
    ids = ["--train-ids", "a.1..4", "--dev-ids", "a.5..6"]
    amr_data.main(
        ["fetch", "mine", str(folder / "amr"), "--data", str(folder.parent / "base/amrs.txt"), *ids]
    )
    amr_data.main(["convert", str(folder / "amr"), str(folder / "corpus"), "--lang", "xx"])


def run_main(module: Any, *arguments: Any) -> None:
    sys.argv = [module.__name__, *map(str, arguments)]
    module.main()


def copy_corpora(folder: Path) -> list[Path]:
    """Make the folder this process's own, since settings of a training name the corpora."""
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    files = [Path(f"{split}.spacy") for split in ("train", "dev")]
    for path in files:
        shutil.copyfile(folder.parent / "base" / path, path)
    return files


def pretend_to_train(config: Path, folder: Path, **_: Any) -> None:
    (folder / "model-best").mkdir(parents=True)
    (folder / "model-best/meta.json").write_text('{"lang": "xx"}', encoding="utf8")
    (folder / "model-best/config.cfg").write_text("[training]\nmax_steps = 2", encoding="utf8")


def train_parser(folder: Path) -> None:
    train.spacy_train, train.time = pretend_to_train, SimpleNamespace(perf_counter=lambda: 0.0)
    train.calibrate = lambda folder, config: None
    run_main(train, *copy_corpora(folder), folder / "model", "--config", TINY, "--lang", "xx", "--steps", 2)


def adapt_parser(folder: Path) -> None:
    train.spacy_train, train.time = pretend_to_train, SimpleNamespace(perf_counter=lambda: 0.0)
    adapt.calibrate = lambda folder, config: None
    data = folder.parent / "base/renamed"
    base = SimpleNamespace(meta={"license": sha256_of(data)})  # So the facts differ with the data.
    adapt.spacy = SimpleNamespace(load=lambda _: base)
    run_main(adapt, folder.parent / "base/model", data, folder / "model")


def evaluate(folder: Path) -> None:
    score.write_trees = lambda model, gold, output, **_: write_text(output, sha256_of(gold))
    treebank_folder = folder.parent / "base/renamed"
    run_main(score, folder.parent / "base/model", treebank_folder, folder / "metrics")


def make_package(folder: Path) -> None:
    package.package = pretend_to_package
    model, data = folder.parent / "base/model", folder.parent / "base/renamed"
    run_main(package, model, data, folder / "metrics", folder / "out", "--name", "xx_g2g", "--version", "0.1")


def parse_folds(folder: Path) -> None:
    jackknife.train = pretend_to_train
    jackknife.parse = lambda model, held_out, output, gpu_id: shutil.copyfile(held_out, output)
    jackknife.sha256_of = lambda path: path.name
    files = copy_corpora(folder)
    options = ["--config", TINY, "--lang", "xx", "--steps", 2, "--folds", 2, "--block", 1]
    options += ["--work", folder / ".folds", "--dev", files[1]]
    jackknife.main([*map(str, [files[0], folder / "parsed.spacy", *options])])


STEPS = [
    download,
    import_files,
    convert,
    convert_joined,
    fetch_amrs,
    train_parser,
    evaluate,
    make_package,
    parse_folds,
]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    spacy.blank("xx")  # Imports what entry points name, here and not in each fork.
    folder = tmp_path / "base/UD_Mine"
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (folder / f"x-ud-{split}.conllu").write_text(SAMPLE, encoding="utf8")
    (folder.parent / "amrs.txt").write_text(AMRS + "\n", encoding="utf8")
    renamed, model = folder.with_name("renamed"), folder.with_name("model")
    renamed.mkdir()
    for split in ("train", "dev", "test"):
        shutil.copyfile(folder / f"x-ud-{split}.conllu", renamed / f"{split}.conllu")
    for split in ("train", "dev"):
        make_corpus([folder / f"x-ud-{split}.conllu"], folder.parent / f"{split}.spacy", silent=True)
    model.mkdir()
    (model / "meta.json").write_text('{"lang": "xx", "pipeline": []}', encoding="utf8")
    (model / "config.cfg").write_text("[components]", encoding="utf8")
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
    """The files that count. Others are locks, stamps and what a kill leaves: they are hidden, or say so."""
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        name.as_posix(): path.read_bytes()
        for name, path in files.items()
        if not any(part.startswith(".") or part.endswith(".unfinished") for part in name.parts)
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


def change_inputs(base: Path) -> None:
    """Give all steps but ``download`` other inputs, so that they make their outputs anew."""
    folder = base / "base"
    for path in (*folder.glob("UD_Mine/*.conllu"), *folder.glob("renamed/*.conllu")):
        path.write_text(SAMPLE.replace("Duerme", "Come"), encoding="utf8")
    (folder / "amrs.txt").write_text(AMRS.replace("ran", "runs") + "\n", encoding="utf8")
    (folder / "model/meta.json").write_text('{"lang": "xx", "pipeline": [], "author": "me"}', "utf8")
    for split in ("train", "dev"):
        make_corpus([folder / f"UD_Mine/x-ud-{split}.conllu"], folder / f"{split}.spacy", silent=True)


def fail_at(n: int, step: Callable[[Path], None], folder: Path) -> None:
    """Run a step whose nth operation on files fails, and end this process.

    The exit code is 5 if there are fewer operations, 3 after a clear error, and 0 if the step went on.
    """
    with fault(folder, n) as faults:
        try:
            step(folder)
            code = 0
        except (OSError, SystemExit):
            code = 3
    os._exit(code if faults.failed else 5)


@pytest.mark.parametrize(
    "step",
    [
        import_files,
        convert,
        train_parser,
        make_package,
        *(pytest.param(step, marks=pytest.mark.thorough) for step in (fetch_amrs, adapt_parser)),
    ],
)
@forks
def test_a_step_whose_nth_operation_fails_leaves_the_old_output_or_the_new_one(step, base: Path):
    run(step, base / "old").join()
    template = shutil.copytree(base / "old", base / "template")
    change_inputs(base)
    run(step, base / "old").join()
    old, new = contents(template), contents(base / "old")
    assert old.keys() == new.keys()
    assert old != new
    codes = []
    while not codes or codes[-1] != 5:
        shutil.rmtree(base / "old")
        shutil.copytree(template, base / "old")
        process = run(partial(fail_at, len(codes) + 1, step), base / "old")
        process.join()
        codes.append(process.exitcode)
        found = contents(base / "old")
        told = f"{step.__name__}, {len(codes)}: {[name for name in old if name not in found]}"
        assert all(content in (old[name], new[name]) for name, content in found.items()), told
        assert found.keys() == old.keys(), told
        run(step, base / "old").join()
        assert contents(base / "old") == new, told
    assert set(codes) <= {0, 3, 5}
    assert codes.count(3) > 3


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


def enter(context: AbstractContextManager[Any]) -> None:
    """Enter a context and leave it."""
    with context:
        pass


def test_a_training_has_nothing_of_one_that_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    left = tmp_path / "out.unfinished/model-best/other_component"
    left.mkdir(parents=True)
    monkeypatch.setattr(train, "spacy_train", lambda config, folder, **_: (folder / "model-best").mkdir())
    enter(train.train_into(tmp_path / "out", train.Config({"training": {}}), gpu=-1))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "model-best",
        "train.cfg",
        "training.json",
    ]
    assert not list((tmp_path / "out/model-best").iterdir())


@pytest.mark.parametrize("changed", ["nothing", "config", "corpus"])
def test_a_training_goes_on_from_its_state_if_nothing_has_changed(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    corpus, out = tmp_path / "corpus.conllu", tmp_path / "out"
    corpus.write_text("1")
    paths, found = {"train": {"one": str(corpus)}, "state": None}, []

    def pretend(config: Path, folder: Path, use_gpu: int, overrides: dict[str, str]) -> None:
        found.append((folder / "state/file").exists())
        assert overrides == {"paths.state": str(folder / "state")}
        (folder / "state").mkdir(exist_ok=True)
        (folder / "state/file").touch()
        if len(found) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(train, "spacy_train", pretend)
    with pytest.raises(KeyboardInterrupt):
        enter(train.train_into(out, train.Config({"paths": dict(paths), "training": {"seed": 0}}), gpu=-1))
    if changed == "corpus":
        corpus.write_text("2")
    config = {"paths": dict(paths), "training": {"seed": int(changed == "config")}}
    enter(train.train_into(out, train.Config(config), gpu=-1))
    assert found == [False, changed == "nothing"]
    assert sorted(path.name for path in out.iterdir()) == ["train.cfg", "training.json"]


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
    (model / "meta.json").write_text(json.dumps({"lang": lang}))
    folders = [str(model), str(tmp_path), str(tmp_path / "metrics"), str(tmp_path / "a/b/c/out")]
    monkeypatch.setattr(sys, "argv", ["package", *folders, "--name", name, "--version", version])
    with pytest.raises(SystemExit, match="of the package is"):
        package.main()
    assert (victim / "file").read_text() == "keep"
