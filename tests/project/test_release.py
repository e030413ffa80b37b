"""Releases on GitHub: notes from the changelog, pipelines.json and cards from wheels, licenses."""

import hashlib
import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import pytest

import spacy_g2g
from project import release

VERSION = spacy_g2g.__version__
CHANGES = f"# Changes\n\n## 9.0.0 (2030-01-01)\n\n- New.\n\n## {VERSION} (2026-12-01)\n\n- One.\n"
CHANGES += "\n## 0.0.1 (2020-01-01)\n\n- Old.\n"
META: dict[str, Any] = {
    "lang": "en",
    "name": "tiny",
    "version": "1.2.3",
    "description": "Dependency trees.",
    "pipeline": ["g2g_parser"],
    "requirements": ["spacy-g2g>=0.1.0,<1.0.0"],
    "license": "CC BY-SA 4.0",
    "sources": [
        {"name": "UD_English-EWT r2.14", "license": "CC BY-SA 4.0"},
        {"name": "code", "license": "MIT"},
    ],
    "performance": {"test_las": 0.875, "dev_raw_words": 0.99, "ud_las": 0.5},
    "spacy_g2g": {"treebank": {"treebank": "UD_English-EWT", "tag": "r2.14"}},
}


@pytest.fixture
def changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "CHANGELOG.md"
    path.write_text(CHANGES, encoding="utf8")
    monkeypatch.setattr(release, "CHANGES", path)
    return path


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], str]]:
    """Commands that were run, with their input."""
    found: list[tuple[list[str], str]] = []

    def run(command: list[str], **options: Any) -> SimpleNamespace:
        found.append((command, options["input"]))
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", run)
    return found


def make_wheel(folder: Path, license_of_source: str = "CC BY-SA 4.0") -> Path:
    sources = [{**META["sources"][0], "license": license_of_source}, META["sources"][1]]
    wheel = folder / "en_tiny-1.2.3-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        archive.writestr("en_tiny/meta.json", "{}")
        archive.writestr("en_tiny/en_tiny-1.2.3/meta.json", json.dumps({**META, "sources": sources}))
        archive.writestr("en_tiny/en_tiny-1.2.3/README.md", "# The card\n")
    return wheel


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    monkeypatch.setattr("sys.argv", ["release", *map(str, arguments)])
    release.main()


def test_notes_are_the_section_of_the_changelog(changes: Path):
    assert release.release_notes(f"v{VERSION}") == "- One.\n"


@pytest.mark.parametrize("tag", ["v9.0.0", VERSION, "v", ""])
def test_a_tag_of_another_version_is_an_error(changes: Path, tag: str):
    with pytest.raises(SystemExit, match=f"Expected v{VERSION}"):
        release.release_notes(tag)


@pytest.mark.parametrize(
    ("old", "new"), [("(2026-12-01)", "(not released yet)"), ("- One.\n", ""), ("## ", "# ")]
)
def test_a_section_without_date_or_text_is_an_error(changes: Path, old: str, new: str):
    changes.write_text(CHANGES.replace(old, new), encoding="utf8")
    with pytest.raises(SystemExit, match="YYYY-MM-DD"):
        release.release_notes(f"v{VERSION}")


def test_the_library_is_released_with_its_files_and_notes(
    changes: Path, calls: list[tuple[list[str], str]], monkeypatch: pytest.MonkeyPatch
):
    run(monkeypatch, "library", f"v{VERSION}", "dist/a.whl", "dist/a.tar.gz")
    ((command, notes),) = calls
    assert command[:6] == ["gh", "release", "create", f"v{VERSION}", "dist/a.whl", "dist/a.tar.gz"]
    assert notes == "- One.\n"


@pytest.mark.parametrize("tag", [f"v{VERSION}", "pipelines", "pipelines-", "pipelines-1;x", "pipelines-1\n"])
def test_another_tag_than_one_of_pipelines_is_an_error(
    tmp_path: Path, calls: list[tuple[list[str], str]], monkeypatch: pytest.MonkeyPatch, tag: str
):
    make_wheel(tmp_path)
    with pytest.raises(SystemExit, match="Expected one of pipelines, such as"):
        run(monkeypatch, "pipelines", tag, tmp_path)
    assert not calls


def test_pipelines_are_released_with_cards_and_a_list(
    tmp_path: Path, calls: list[tuple[list[str], str]], monkeypatch: pytest.MonkeyPatch
):
    wheel = make_wheel(tmp_path)
    run(monkeypatch, "pipelines", "pipelines-1", tmp_path)
    ((command, notes),) = calls
    assert [Path(name).name for name in command[4:7]] == [
        "en_tiny-1.2.3-py3-none-any.whl",
        "en_tiny-1.2.3.md",
        "pipelines.json",
    ]
    assert "| en_tiny-1.2.3-py3-none-any.whl | g2g_parser | 87.50 | CC BY-SA 4.0 | 0 |" in notes
    assert (tmp_path / "en_tiny-1.2.3.md").read_text(encoding="utf8") == "# The card\n"
    (entry,) = json.loads((tmp_path / "pipelines.json").read_text(encoding="utf8"))
    assert entry["sha256"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert entry["size"] == wheel.stat().st_size
    assert entry["scores"] == {"test_las": 0.875, "dev_raw_words": 0.99}
    assert entry["license"] == "CC BY-SA 4.0"
    assert entry["treebank"]["tag"] == "r2.14"


@pytest.mark.parametrize(
    "terms", ["MIT", "CC BY 4.0", "CC BY-SA 3.0", "CC-BY-SA-4.0", "CC0 1.0", "Apache-2.0"]
)
def test_open_licenses_are_taken(tmp_path: Path, terms: str):
    make_wheel(tmp_path, terms)
    assert len(release.describe_pipelines(tmp_path)) == 1


@pytest.mark.parametrize("terms", ["CC BY-NC-SA 4.0", "CC BY-ND 4.0", "unknown", "GPL-3.0", ""])
def test_other_licenses_are_refused(tmp_path: Path, terms: str):
    make_wheel(tmp_path, terms)
    with pytest.raises(SystemExit, match=r"UD_English-EWT r2\.14"):
        release.describe_pipelines(tmp_path)


def test_a_folder_without_wheels_is_an_error(tmp_path: Path):
    with pytest.raises(SystemExit, match="no wheel"):
        release.describe_pipelines(tmp_path)


def test_a_failure_of_gh_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=4))
    with pytest.raises(SystemExit, match="status 4"):
        release.create_release("v1", [], "")
