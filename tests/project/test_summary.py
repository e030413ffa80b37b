"""What a workflow tells at its end."""

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from project import package as packaging
from project.model_card import weakest_of
from project.summary import summary

SPEED = {"p50_ms": 28.4, "sentence_words": 21.0, "document_wps": 1912.0, "load_s": 0.84, "memory_mb": 584.0}
META: dict[str, Any] = {
    "lang": "en",
    "name": "g2g_open",
    "version": "0.1.0",
    "description": "Tags, lemmas, dependency trees, trained on English-Open: a, b (58 MB).",
    "pipeline": ["g2g_encoder", "g2g_parser", "rng_refiner"],
    "performance": {
        "dev_las": 0.829,
        "dev_upos": 0.963,
        "dev_raw_las": 0.802,
        "dev_raw_sentences": 0.756,
        "ud_las_per_type": {"acl": {"f": 0.6}, "det": {"f": 0.99}, "goeswith": {"f": 0.0}},
    },
    "spacy_g2g": {
        "size_in_bytes": 58e6,
        "speed": SPEED,
        "frequent_labels": ["acl", "det"],
        "treebank": {"treebank": "English-Open", "tag": "0.1.0"},
    },
}


def fail(printed: bytes, reason: str) -> None:
    """Print as a process does, and raise an error."""
    os.write(1, printed)
    raise OSError(reason)


def make_package(folder: Path, **changes: Any) -> Path:
    (folder / "dist").mkdir()
    (folder / "dist" / "en_g2g_open-0.1.0-py3-none-any.whl").touch()
    (folder / "meta.json").write_text(json.dumps({**META, **changes}), encoding="utf8")
    return folder


@pytest.mark.parametrize("installed", [False, True])
def test_ten_lines_tell_what_was_made_and_what_to_type(tmp_path: Path, installed: bool):
    lines = summary(make_package(tmp_path), installed=installed)
    assert len(lines) <= 10
    assert lines[0] == "en_g2g_open 0.1.0: Tags, lemmas, dependency trees, trained on English-Open (58 MB)."
    assert "from gold words LAS 82.9, UPOS 96.3; from raw text LAS 80.2, sentences 75.6." in lines[1]
    assert "28 ms of CPU time for a sentence of 21 words, 1,912 words a second in documents" in lines[2]
    assert any("pip install --no-deps" in line for line in lines) != installed
    assert any(line.endswith("-m spacy g2g parse en_g2g_open your.txt your.conllu") for line in lines)
    assert "add_pipe('rng_refiner'" in lines[-1]


def test_what_is_not_there_is_not_told(tmp_path: Path):
    lines = summary(make_package(tmp_path, lang="tr", performance={}, spacy_g2g={}, pipeline=["g2g_parser"]))
    assert not any(line.startswith(("Scores", "Speed")) for line in lines)
    assert not any("rng_refiner" in line for line in lines)


@pytest.mark.parametrize(
    ("lang", "text"),
    [
        ("tr", "Neredesin?"),
        ("fr", "Où es-tu ?"),
        ("en", "Hello, who is there?"),
        ("qqq", "Hello, who is there?"),
    ],
)
def test_the_text_to_try_is_in_the_language_of_the_pipeline(tmp_path: Path, lang: str, text: str):
    (line,) = (
        line
        for line in summary(make_package(tmp_path, lang=lang))
        if "import spacy" in line and " -c " in line
    )
    assert f"nlp({text!r})" in line
    assert shlex.split(line)[1] == "-c"


def test_the_weakest_labels_are_frequent_ones():
    told = weakest_of(META)
    assert "acl (60), det (99)" in told
    assert "goeswith" not in told
    assert "sentence boundaries in raw text (76)" in told
    assert "named entities" in told
    assert "named entities" not in weakest_of({**META, "pipeline": ["ner"]})


def test_the_log_of_a_step_is_shown_only_if_it_fails(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    with packaging.log_of_failure(tmp_path / "log"):
        os.write(1, b"building")
    assert capfd.readouterr() == ("", "")
    with pytest.raises(OSError, match="failing"), packaging.log_of_failure(tmp_path / "log"):
        fail(b"built: 0", "failing")
    assert capfd.readouterr() == ("", "built: 0")
