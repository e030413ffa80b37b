"""What a continued training depends on, and what is scored where nothing is given."""

import argparse
from pathlib import Path
from types import SimpleNamespace

import pytest

from project import adapt, score
from spacy_g2g.files import write_text

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


def test_the_base_may_be_a_package(folder, monkeypatch):
    seen: list[Path] = []
    packages = {"en_mine": SimpleNamespace(path=folder / "base")}
    monkeypatch.setattr(score.spacy, "load", lambda name: packages[name])  # a Path is no name
    monkeypatch.setattr(
        score, "write_trees", lambda model, gold, output, **_: (seen.append(model), write_text(output, "{}"))
    )
    monkeypatch.setattr("sys.argv", ["project.score", "en_mine", str(folder), "metrics"])
    score.main()
    assert seen == [folder / "base"]


def test_a_package_that_is_not_there_is_named(folder, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["project.score", "en_missing", str(folder), "metrics"])
    with pytest.raises(SystemExit):
        score.main()
    assert "en_missing" in capsys.readouterr().out
