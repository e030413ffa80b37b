"""Steps that are done once: a file beside an output says what it was made from.

`spacy project run` remembers the last run of each command only, so that work on a second treebank would make
it forget the first.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wasabi import msg

from spacy_g2g.cli.common import atomic_path

#: What was noted of a training or of scores, in their folder.
FACTS = "facts.json"


def digest(path: Path) -> str:
    """SHA-256 of a file, or of the names and contents of all files in a folder."""
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


def made_from(inputs: Mapping[str, Path], **settings: Any) -> dict[str, Any]:
    """What an output depends on: names and digests of its inputs, and settings."""
    return {"inputs": {name: digest(path) for name, path in inputs.items()}, "settings": settings}


def is_done(output: Path, sources: Mapping[str, Any]) -> bool:
    """Whether a file or folder was made from these (see ``made_from``) and is as it was then; says so."""
    stamp = _stamp(output)
    if not (output.exists() and stamp.exists()):
        return False
    done: bool = json.loads(stamp.read_text(encoding="utf8")) == {**sources, "output": digest(output)}
    if done:
        msg.info(f"{output} is done already")
    return done


def mark_done(output: Path, sources: Mapping[str, Any]) -> None:
    """Note what a file or folder was made from."""
    with atomic_path(_stamp(output)) as path:
        text = json.dumps({**sources, "output": digest(output)}, indent=2)
        path.write_text(text + "\n", encoding="utf8")


def read_facts(folder: Path) -> dict[str, Any]:
    """What was noted in a folder; empty where nothing was."""
    path = folder / FACTS
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    return found


def _stamp(output: Path) -> Path:
    return output.with_name(f".{output.name}.done")
