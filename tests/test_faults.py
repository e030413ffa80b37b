"""Commands whose nth file operation, write or allocation fails: the old output or the new one, an error."""

import json
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import spacy

from spacy_g2g.data.docs import doc_to_sentences

from .chains import g2g
from .faults import REMOVALS, contents, fault, no_file_beyond, no_memory_at
from .formats.samples import SAMPLE
from .util import parser_of, random_nlp, treebank_docs

pytestmark = pytest.mark.slow

TEXTS = [f"Text {i} has words. It has more." for i in range(12)]
#: Arguments of each command in a folder with ``pipeline`` and ``in``. The command writes to ``out``.
COMMANDS: dict[str, list[str]] = {
    "convert": ["convert", "in/a.conllu", "out/a.spacy"],
    "parse to CoNLL-U": ["parse", "pipeline", "in/a.conllu", "out/a.conllu"],
    "parse to Docs": ["parse", "pipeline", "in/a.txt", "out/a.spacy"],
    "parse-corpus": ["parse-corpus", "pipeline", "in/a.jsonl", "out/job", "--engine", "none", "--silent"],
}
#: Words of arguments that are no paths.
PLAIN = {"--engine", "none", "--silent"}
#: Function that catches errors.
CATCHING = "user_errors"
#: What a command tells of a failure: of the disk, and of memory.
REASONS = ("No space left", "Input/output error", "File too large", "E916")


@pytest.fixture
def place(tmp_path: Path, pipeline: str) -> Path:
    """A folder with a pipeline, inputs, and outputs of an earlier time."""
    folder = tmp_path / "place"
    (folder / "in").mkdir(parents=True)
    (folder / "out").mkdir()
    shutil.copytree(pipeline, folder / "pipeline")
    lines = (json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate(TEXTS))
    for name, text in {"jsonl": "".join(lines), "conllu": SAMPLE, "txt": "\n".join(TEXTS)}.items():
        (folder / f"in/a.{name}").write_text(text, encoding="utf8")
    for suffix in ("spacy", "conllu"):
        (folder / f"out/a.{suffix}").write_text("old", encoding="utf8")
    return folder


class Trial:
    """Runs a command in a folder again and again, and checks what a fault leaves there."""

    def __init__(self, place: Path, arguments: list[str]) -> None:
        self.place, self.arguments = place, arguments
        self.template = shutil.copytree(place, place.with_name("template"))
        self.before = contents(place)
        assert self.run().exit_code == 0
        self.expected = contents(place)
        assert self.expected != self.before

    def run(self) -> Any:
        command, *words = self.arguments
        return g2g(command, *(word if word in PLAIN else str(self.place / word) for word in words))

    def check(self, context: Callable[[], AbstractContextManager[Any]]) -> tuple[Any, Any]:
        """Run the command in a context, and check what is left. Return the result and the faults.

        A job goes on from what is left, so its command is run again.
        """
        shutil.rmtree(self.place)
        shutil.copytree(self.template, self.place)
        with context() as faults:
            result = self.run()
        found, told = contents(self.place), f"{faults and faults.failed}\n{result.output}"
        if result.exit_code:
            assert isinstance(result.exception, SystemExit), told
            assert any(text in " ".join(result.output.split()) for text in REASONS), told
        # A file that could not be removed stays: it is temporary, and says so.
        if faults and faults.failed.startswith(tuple(REMOVALS)):
            found = {path: text for path, text in found.items() if not Path(path).name.startswith(".")}
        in_hand = {path for path in found if "/_state/" in path}
        for path in {*found, *self.before} - in_hand:
            assert found.get(path) in (self.before.get(path), self.expected.get(path)), f"{path}: {told}"
        if not result.exit_code:
            assert found == self.expected, told
        if (self.place / "out/job").exists():
            assert self.run().exit_code == 0, told
            again = contents(self.place)
            assert {path: again[path] for path in self.expected} == self.expected, told
        return result, faults


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_whose_nth_operation_fails_leaves_the_old_output_or_the_new_one(name, place):
    trial, codes = Trial(place, COMMANDS[name]), list[int]()
    for n in count(1):
        result, faults = trial.check(lambda n=n: fault(place, n))
        if not faults.failed:
            break
        codes.append(result.exit_code)
    assert len(codes) > 5
    assert codes.count(1) > len(codes) / 2


def test_a_calibration_whose_nth_operation_fails_leaves_a_pipeline_that_loads(place: Path):
    """It has the old temperatures or the new ones, and no other file is left. Reads are not tried."""
    folder, gold = place / "trained", place / "in/gold.conllu"
    nlp = random_nlp()
    nlp.to_disk(folder)
    gold.write_text(
        "".join(str(s) for doc in nlp.pipe(treebank_docs(nlp.vocab)) for s in doc_to_sentences(doc))
    )
    template, before = shutil.copytree(place, place.with_name("template")), parser_of(nlp).temperatures
    assert g2g("calibrate", folder, gold).exit_code == 0
    after, codes = parser_of(spacy.load(folder)).temperatures, list[int]()
    assert before != after
    with fault(place, 0) as loading:
        spacy.load(folder)
    for n in count(loading.n_operations):
        shutil.rmtree(place)
        shutil.copytree(template, place)
        with fault(place, n) as faults:
            result = g2g("calibrate", folder, gold)
        told = f"{faults.failed}\n{result.output}"
        found = parser_of(spacy.load(folder)).temperatures
        assert found in ((before, after) if result.exit_code else (after,)), told
        if not faults.failed:
            break
        assert contents(place).keys() == contents(template).keys() or faults.failed.startswith(
            tuple(REMOVALS)
        )
        if result.exit_code:
            assert any(text in " ".join(result.output.split()) for text in REASONS), told
        codes.append(result.exit_code)
    assert codes.count(1) > 10


@pytest.mark.linux
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_whose_writes_fail_leaves_the_old_output(name, place):
    trial = Trial(place, COMMANDS[name])
    sizes = {len(text) for path, text in trial.expected.items() if text != trial.before.get(path)}
    for size in sorted({0, 1, *(size // 2 for size in sizes), *(size - 1 for size in sizes)}):
        result, _ = trial.check(lambda size=size: no_file_beyond(size))
        assert result.exit_code == 1, size


@pytest.mark.thorough
# The error may come when a generator is closed.
@pytest.mark.filterwarnings("ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "parse-corpus"])
def test_a_command_that_runs_out_of_memory_leaves_the_old_output(name, place):
    trial = Trial(place, COMMANDS[name])
    with no_memory_at(0) as calls:
        assert trial.run().exit_code == 0
    # In `parse-corpus`, a document that finds no memory is an error of the document.
    # The first call of each function of this library, but of the one that catches errors.
    for n in sorted(n for function, n in calls.first.items() if not function.endswith(CATCHING)):
        trial.check(lambda n=n: no_memory_at(n))
