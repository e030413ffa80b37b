"""Outputs that are up to date: a file beside each output records what it was made from.

`spacy project run` remembers only the last run of each command, so work on a second treebank would make it
forget the first.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from wasabi import msg

from spacy_g2g.files import sha256_of
from spacy_g2g.terminal.common import write_json

#: File with the facts about a training or about scores, in their folder.
FACTS = "facts.json"


@contextmanager
def one_at_a_time(output: Path) -> Iterator[None]:
    """Wait until no other process makes an output. On file systems without locks, do not wait.

    output: File or folder.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    path = output.with_name(f".{output.name}.lock")
    handle = _open_locked(path, output)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows does not remove open files
            path.unlink()
        os.close(handle)


def _open_locked(path: Path, output: Path) -> int:
    """Open and lock a file. Try again if the last owner of the lock has removed the file meanwhile."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        _lock(handle, output)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), path.stat()):
                return handle
        os.close(handle)


def _lock(handle: int, output: Path) -> None:
    with suppress(ImportError, OSError):
        import fcntl  # missing on Windows

        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            msg.info(f"Another process is making {output}: waiting for it")
            fcntl.flock(handle, fcntl.LOCK_EX)


@contextmanager
def out_of_the_way(folder: Path) -> Iterator[None]:
    """Move a folder aside while another takes its name. After an error, it is there again."""
    old = folder.with_name(f".{folder.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    try:
        yield
    except BaseException:
        if old.exists() and not folder.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """Yield a new folder, which replaces another one at the end. After an error, the old one is there."""
    new = folder.with_name(f".{folder.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        with out_of_the_way(folder):
            new.rename(folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def sources_of(inputs: Mapping[str, Path], **settings: Any) -> dict[str, Any]:
    """Return what an output depends on: digests of its inputs by name, and settings."""
    return {"inputs": {name: sha256_of(path) for name, path in inputs.items()}, "settings": settings}


def is_up_to_date(output: Path, sources: Mapping[str, Any]) -> bool:
    """Return whether an output was made from these sources and has not changed since. Print it if so.

    output: File or folder.
    sources: Inputs and settings, see ``sources_of``.
    """
    stamp = read_json(_stamp(output)) if output.exists() else {}
    up_to_date = bool(stamp) and stamp == {**sources, "output": sha256_of(output)}
    if up_to_date:
        msg.info(f"{output} is up to date")
    return up_to_date


def record_sources(output: Path, sources: Mapping[str, Any]) -> None:
    """Record what a file or folder was made from."""
    write_json(_stamp(output), {**sources, "output": sha256_of(output)})


def read_facts(folder: Path) -> dict[str, Any]:
    """Return the facts in a folder; an empty dictionary without any."""
    return read_json(folder / FACTS)


def read_json(path: Path) -> dict[str, Any]:
    """Return the content of a JSON file; an empty dictionary without a file."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    return content


def today() -> str:
    """Return the date, as records of sources and facts have it."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%d")


def _stamp(output: Path) -> Path:
    return output.with_name(f".{output.name}.done")
