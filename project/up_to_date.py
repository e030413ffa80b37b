"""Outputs that are up to date: a file beside each output records what it was made from.

`spacy project run` remembers only the last run of each command, so work on a second treebank would make it
forget the first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wasabi import msg

from spacy_g2g.cli.common import atomic_path

#: File with the facts about a training or about scores, in their folder.
FACTS = "facts.json"


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of all files in a folder."""
    if path.is_dir():
        files = {
            file.relative_to(path).as_posix(): digest(file) for file in path.rglob("*") if file.is_file()
        }
        return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()
    sha = hashlib.sha256()
    with path.open("rb") as file_:
        while block := file_.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()


def sources_of(inputs: Mapping[str, Path], **settings: Any) -> dict[str, Any]:
    """Return what an output depends on: digests of its inputs by name, and settings."""
    return {"inputs": {name: digest(path) for name, path in inputs.items()}, "settings": settings}


def is_up_to_date(output: Path, sources: Mapping[str, Any]) -> bool:
    """Return whether an output was made from these sources and has not changed since; print it if so.

    output: File or folder.
    sources: Inputs and settings, see ``sources_of``.
    """
    stamp = _stamp(output)
    if not (output.exists() and stamp.exists()):
        return False
    up_to_date: bool = json.loads(stamp.read_text(encoding="utf8")) == {**sources, "output": digest(output)}
    if up_to_date:
        msg.info(f"{output} is up to date")
    return up_to_date


def record_sources(output: Path, sources: Mapping[str, Any]) -> None:
    """Record what a file or folder was made from."""
    with atomic_path(_stamp(output)) as path:
        text = json.dumps({**sources, "output": digest(output)}, indent=2)
        path.write_text(text + "\n", encoding="utf8")


def read_facts(folder: Path) -> dict[str, Any]:
    """Return the facts in a folder; an empty dictionary without any."""
    path = folder / FACTS
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    return found


def _stamp(output: Path) -> Path:
    return output.with_name(f".{output.name}.done")
