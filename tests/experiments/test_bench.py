"""`experiments.bench` measures what must not get worse, and fails where it did."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import spacy

from experiments import bench
from experiments.__main__ import scripts

from ..page_commands import Command, check
from .util import write_corpora

ROOT = Path(__file__).parents[2]
COMMITTED: dict[str, Any] = json.loads((ROOT / "experiments" / "bench.json").read_text(encoding="utf8"))


def changed(group: str, key: str, value: float) -> dict[str, Any]:
    found = copy.deepcopy(COMMITTED)
    found[group][key] = value
    return found


def lost(now: dict[str, Any]) -> list[str]:
    return bench.worse(now, before=COMMITTED)


@pytest.mark.parametrize("key", ["LAS", "LAS from text"])
def test_a_score_may_be_lower_by_less_than_its_bound(key: str):
    old = COMMITTED["scores"][key]
    assert not lost(changed("scores", key, old - 0.29))
    (loss,) = lost(changed("scores", key, old - 0.31))
    assert loss.startswith(f"{bench.TITLES['scores', key]}: ")


@pytest.mark.parametrize("key", [bench.GIVEN, bench.FOUND])
def test_a_ratio_may_be_lower_by_less_than_its_share(key: str):
    old = COMMITTED["ratios"][key]
    assert not lost(changed("ratios", key, 0.971 * old))
    assert len(lost(changed("ratios", key, 0.969 * old))) == 1


def test_times_are_not_compared_and_what_is_better_is_no_loss():
    assert not lost(COMMITTED)
    slower = {**COMMITTED, "times": {name: 9 * value for name, value in COMMITTED["times"].items()}}
    assert not lost(slower)
    assert not lost(changed("ratios", bench.FOUND, 2.0))


def test_what_was_not_measured_is_an_error():
    without = {**COMMITTED, "ratios": {}}
    with pytest.raises(KeyError, match=bench.GIVEN):
        lost(without)


def test_the_page_has_the_committed_values():
    page = ROOT / "docs" / "results" / "bench.md"
    assert page.read_text(encoding="utf8") == bench.page(COMMITTED)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*G2G-(W402|W80[12])")
def test_a_run_writes_values_and_a_page_and_fails_where_it_is_worse(
    trained_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    write_corpora(tmp_path)
    nlp = spacy.load(trained_folder)
    nlp.add_pipe("sentencizer", first=True)
    nlp.to_disk(tmp_path / "nlp")
    output, page = tmp_path / "out" / "bench.json", tmp_path / "out" / "bench.md"
    arguments = [str(tmp_path / "nlp"), "--json", str(output), "--page", str(page), "--runs", "1"]
    arguments += ["--gold", str(tmp_path / "dev.conllu")]
    bench.main(arguments)
    found = json.loads(output.read_text(encoding="utf8"))
    assert found["scores"]["LAS"] == pytest.approx(100 * 39 / 44)
    assert min(value for group in ("ratios", "times", "sizes") for value in found[group].values()) > 0
    assert page.read_text(encoding="utf8") == bench.page(found)
    better = tmp_path / "better.json"
    found["scores"]["LAS"] += 1
    better.write_text(json.dumps(found), encoding="utf8")
    with pytest.raises(SystemExit, match="Worse than before:\nLAS, gold words and sentences"):
        bench.main([*arguments, "--against", str(better)])


def test_each_script_that_measures_is_listed_with_a_command_that_is_there():
    listed = dict(scripts())
    experiments = (
        "bench",
        "facts",
        "first_minute",
        "peers",
        "short_sentences",
        "speed",
        "stability",
        "table",
    )
    modules = {command.split()[2] for command in listed if command.startswith("python -m ")}
    assert modules >= {*(f"experiments.{name}" for name in experiments), "project.score", "project.timing"}
    for command, purpose in listed.items():
        assert purpose.endswith(".")
        assert not check(Command(0, command.replace("[", "").replace("]", "").split(), whole=False)), command
