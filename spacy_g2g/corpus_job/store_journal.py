"""The journal of a shard in an object store."""

from __future__ import annotations

import os
import random
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from .journal import SLACK, History, Journal, lock, read_all, read_history
from .store import Place, StorePath, write_text


class StoreJournal(Journal):
    """Journal with an object for each attempt, since nothing can be appended to one.

    A local file has the same lines, and is locked as long as the process lives. So processes of the same
    machine see at once that it has died, and Python's last words; others when it is silent for too long.
    """

    def __init__(self, path: Place, history: History) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        super().__init__(path, os.open(_local(path), flags, 0o666), history)
        lock(self.handle)

    @classmethod
    def claim(cls, path: Place) -> StoreJournal | None:
        """Begin an attempt at a shard. Returns None while another process is at work."""
        found = [_look(attempt) for attempt in _attempts(path)]
        if any(is_alive for _, is_alive in found):
            return None
        name = f"{path.name}.{time.time():.3f}-{uuid.uuid4().hex}"
        journal = cls(path.parent / name, read_history("\n".join(text for text, _ in found)))
        journal._write({"claim": True}, 0.0)
        # Another process may have looked before it could see this attempt. If both see each other now, both
        # give way.
        if any(_look(other)[1] for other in _attempts(path) if other.name != name):
            remove_attempt(journal.path)
            journal.release()
            time.sleep(random.random())
            return None
        return journal

    @classmethod
    def is_busy(cls, path: Place) -> bool:
        """Return whether a process is at work on a shard."""
        return any(_look(attempt)[1] for attempt in _attempts(path))

    def end(self) -> None:
        """Close the attempt: whatever ends it is no death."""
        super().end()
        _local(self.path).unlink(missing_ok=True)

    def forget(self) -> None:
        """Remove all attempts: the shard has its output."""
        folder, name = self.path.parent, self.path.name.rpartition(".journal.")[0]
        for attempt in _attempts(folder / f"{name}.journal"):
            remove_attempt(attempt)
        self.release()

    def _write(self, entry: dict[str, Any], seconds: float) -> None:
        super()._write(entry, seconds)
        write_text(self.path, read_all(self.handle))


def journal_at(path: Place) -> type[Journal]:
    """Return the kind of journal that can be at a place."""
    return StoreJournal if isinstance(path, StorePath) else Journal


def remove_attempt(path: Place) -> None:
    """Remove a file of a folder of states, and the local file if it is an attempt in a store."""
    path.unlink(missing_ok=True)
    _local(path).unlink(missing_ok=True)


def _attempts(path: Place) -> list[Place]:
    """Return the attempts at a shard, the oldest first."""
    attempts: list[Place] = [*path.parent.glob(f"{path.name}.*")]
    return sorted(attempts, key=lambda attempt: attempt.name)


def _local(attempt: Place) -> Path:
    """Return the path of an attempt's local file."""
    return Path(tempfile.gettempdir()) / f"spacy-g2g.{attempt.name}"


def _look(attempt: Place) -> tuple[str, bool]:
    """Return the lines of an attempt, and whether its process is at work."""
    is_free = None
    try:
        handle = os.open(_local(attempt), os.O_RDONLY)
    except OSError:  # It belongs to another machine or user.
        try:
            text = attempt.read_text(encoding="utf8")
        except FileNotFoundError:  # It has just ended.
            return "", False
    else:
        is_free, text = lock(handle), read_all(handle)
        os.close(handle)
    return text, not is_free and time.time() < read_history(text).until + SLACK
