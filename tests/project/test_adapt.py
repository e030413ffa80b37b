"""What a continued training depends on, and what is scored where nothing is given."""

import argparse
from pathlib import Path

import pytest

from project import adapt, score

from ..formats.samples import SAMPLE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with sets of its own and a base."""
    monkeypatch.chdir(tmp_path)
    for split in ("train", "dev"):
        Path(f"{split}.conllu").write_text(SAMPLE, encoding="utf8")
    base = tmp_path / "base"
    base.mkdir()
    (base / "config.cfg").write_text("[components]", encoding="utf8")
    return tmp_path


@pytest.mark.parametrize(("replay", "expected"), [("", set()), ("null", set()), ("dev.conllu", {"replay"})])
def test_a_training_depends_on_the_paths_that_are_given(folder, monkeypatch, replay, expected):
    seen: list[dict[str, Path]] = []
    monkeypatch.setattr(adapt, "sources_of", lambda inputs, **_: seen.append(inputs))
    monkeypatch.setattr(adapt, "is_up_to_date", lambda *_: True)
    args = argparse.Namespace(base="base", folder=folder, output=folder / "out", replay=replay, steps=0)
    adapt.adapt(args, {})
    assert set(seen[0]) == {"train", "dev", "config", "base"} | expected


def test_without_a_folder_nothing_is_scored(folder, monkeypatch):
    monkeypatch.setattr(score, "write_trees", lambda *_, **__: pytest.fail("there is nothing to score"))
    monkeypatch.setattr("sys.argv", ["project.score", "base", "", "metrics"])
    score.main()
    assert not Path("metrics/dev.json").exists()
    assert Path("metrics/facts.json").exists()
