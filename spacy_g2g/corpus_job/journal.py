"""Journals: the documents that earlier attempts at a shard were parsing when they died.

The journal of an attempt is a file that its process keeps locked. All journals of a shard are removed when it
is done. Each line is a JSON object: ``begin`` starts the attempt, ``docs`` names the documents to be parsed
next, and ``end`` closes an attempt whose process went on. An attempt without ``end`` has died. If Python
crashes or takes too long, it adds its last words (``faulthandler``). Documents have their numbers in the
shard.

An object store can't append or lock. So the file is in the system's folder for temporary files, and is
uploaded after each line. Processes of the same machine see at once that a process has died, and read Python's
last words. Processes of other machines notice that it is silent for too long.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import Errors
from .store import Place, StorePath

SUFFIX = ".journal"
#: Number of deaths of processes that parsed one document alone, after which the document is blamed. Processes
#: are also killed from outside, so a single death proves nothing, unless Python has left its last words.
MAX_DEATHS = 5
LAST_WORDS = ("Fatal Python error: ", "Timeout (")
#: Maximum difference between clocks of machines, and maximum delay of a process, in seconds.
SLACK = 60.0


@dataclass
class Attempts:
    """Content of journals.

    suspects: Numbers of documents that an attempt was parsing when it died, and that were not parsed since.
    deaths: By number of a document, how many attempts in a row died while they parsed it alone.
    blamed: By number of a document, why it is blamed for deaths.
    n_idle_deaths: Number of attempts that died while they parsed nothing.
    until: Unix time until which the last attempt may be silent.
    """

    suspects: set[int] = field(default_factory=set)
    deaths: Counter[int] = field(default_factory=Counter)
    blamed: dict[int, str] = field(default_factory=dict)
    n_idle_deaths: int = 0
    until: float = 0.0


def read_attempts(text: str) -> Attempts:
    """Read the lines of journals after the end of their attempts."""
    attempts = Attempts()
    in_hand: list[int] | None = None
    last_words = ""
    for line in text.splitlines():
        if (entry := _entry(line)) is None:
            last_words = line if line.startswith(LAST_WORDS) else last_words
            continue
        attempts.until = entry["until"]
        if "begin" in entry:
            _note_death(attempts, in_hand, last_words)
            in_hand, last_words = [], ""
        elif "docs" in entry:
            # The documents before these were parsed, so they are harmless.
            attempts.suspects.difference_update(in_hand or ())
            for number in in_hand or ():
                del attempts.deaths[number]
            in_hand = entry["docs"]
        elif "end" in entry:
            in_hand = None
    _note_death(attempts, in_hand, last_words)
    return attempts


def _entry(line: str) -> dict[str, Any] | None:
    """Return the object of a line, or None if it is damaged, incomplete, or one of Python's last words."""
    try:
        entry: dict[str, Any] = json.loads(line)
        until, docs = entry["until"], entry.get("docs", [])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    is_whole = isinstance(until, float) and until < float("inf") and isinstance(docs, list)
    return entry if is_whole and all(type(number) is int for number in docs) else None


def _note_death(attempts: Attempts, in_hand: list[int] | None, last_words: str) -> None:
    if in_hand is None:
        return
    attempts.suspects.update(in_hand)
    attempts.n_idle_deaths += not in_hand
    if len(in_hand) == 1:
        (number,) = in_hand
        attempts.deaths[number] += 1
        if last_words or attempts.deaths[number] == MAX_DEATHS:
            attempts.blamed[number] = last_words or Errors.E1112.format(n=MAX_DEATHS)


class Journal:
    """The journal of an attempt, open for its lines. Get one by ``claim``.

    path: Place of the journal.
    earlier: Content of the journals of earlier attempts.
    """

    def __init__(self, path: Place, earlier: Attempts) -> None:
        self.path = path
        self.earlier = earlier
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND
        self.handle = os.open(_local(path), flags, 0o666)
        lock(self.handle, waits=True)

    @classmethod
    def claim(cls, folder: Place, shard: str, seconds: float) -> Journal | None:
        """Begin an attempt at a shard. Returns None while another process is at work.

        A process that has been silent for longer than it announced does not count. On file systems without
        locks, a process counts as at work until then.

        seconds: Seconds that the attempt may be silent.
        """
        before = _journals(folder, shard)
        states = [_look(path) for path in before]
        if any(is_alive for _, is_alive in states):
            return None
        path = folder / f"{shard}.{time.time_ns()}-{uuid.uuid4().hex}{SUFFIX}"
        journal = cls(path, read_attempts("\n".join(text for text, _ in states)))
        is_first = False
        try:
            journal._write({"begin": True}, seconds)
            # Another process may have looked before this attempt was visible. If both see each other now,
            # both give way.
            is_first = not any(_look(path)[1] for path in _journals(folder, shard) if path != journal.path)
        finally:
            if not is_first:
                os.close(journal.handle)
                _remove(journal.path)
        if not is_first:
            time.sleep(random.random())
            return None
        for path in before:
            unfinished(path).unlink(missing_ok=True)
        return journal

    def note(self, numbers: list[int], seconds: float) -> None:
        """Write the numbers of the documents to parse next, and the maximum time for them."""
        self._write({"docs": numbers}, seconds)

    def end(self) -> None:
        """Close an attempt whose process goes on."""
        try:
            self._write({"end": True}, -2 * SLACK)
        finally:
            os.close(self.handle)
        if _local(self.path) != self.path:
            _local(self.path).unlink(missing_ok=True)

    def forget(self) -> None:
        """Remove all journals of the shard, whose output exists."""
        os.close(self.handle)
        for path in _journals(self.path.parent, self.path.name.partition(".")[0]):
            _remove(path)

    def _write(self, entry: dict[str, Any], seconds: float) -> None:
        # The first line break ends a line that a dying process has left unfinished.
        line = json.dumps({**entry, "until": round(time.time() + seconds, 1)})
        os.write(self.handle, f"\n{line}\n".encode())
        if isinstance(self.path, StorePath):
            os.lseek(self.handle, 0, os.SEEK_SET)
            self.path.write_bytes(os.read(self.handle, os.fstat(self.handle).st_size))


def is_busy(folder: Place, shard: str) -> bool:
    """Return whether a process is at work on a shard."""
    return any(_look(path)[1] for path in _journals(folder, shard))


def unfinished(journal: Place) -> Path:
    """Return the path of the local file to which an attempt writes its output."""
    return _local(journal).with_suffix(".parquet")


def remove_attempt(journal: Place) -> None:
    """Remove the files of an attempt that is over."""
    _remove(journal)
    unfinished(journal).unlink(missing_ok=True)


def _remove(journal: Place) -> None:
    for path in (journal, _local(journal)):
        path.unlink(missing_ok=True)  # Another process may have removed it.


def lock(handle: int, *, waits: bool = False) -> bool | None:
    """Lock a file. Returns False if another process has the lock, and None if the system has no locks."""
    try:
        import fcntl  # Windows has none.

        fcntl.flock(handle, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def _journals(folder: Place, shard: str) -> list[Place]:
    """Return the journals of a shard, the oldest first."""
    paths = [path for path in folder.iterdir() if path.name.startswith(f"{shard}.")]
    return sorted(path for path in paths if path.suffix == SUFFIX)


def _local(journal: Place) -> Path:
    """Return the path of a journal's local file, which is a copy if the journal is in a store."""
    if isinstance(journal, StorePath):
        return Path(tempfile.gettempdir()) / f"spacy-g2g.{journal.name}"
    return journal


def _look(journal: Place) -> tuple[str, bool]:
    """Return the lines of a journal, and whether its process is at work."""
    is_free = None
    try:
        with _local(journal).open("rb+") as file:
            is_free, text = lock(file.fileno()), file.read().decode("latin-1")
    except OSError:  # It belongs to another machine or user.
        try:
            text = journal.read_text(encoding="latin-1")
        except FileNotFoundError:  # It has just ended.
            return "", False
    return text, not is_free and time.time() < read_attempts(text).until + SLACK
