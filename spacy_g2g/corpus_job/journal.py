"""What earlier attempts at a shard were parsing when they died.

The journal of a shard is a file that the process at work keeps locked. It is removed once the shard is done.
Each line is a JSON object: ``begin`` starts an attempt, ``docs`` says which documents are about to be parsed,
and ``end`` closes an attempt whose process went on. An attempt without ``end`` has died. Python itself adds
its last words if it crashes or takes too long (``faulthandler``). Documents go by their numbers in the shard.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ..errors import Errors
from .store import Place

#: Deaths of a process over one document alone, after which the document is blamed. Processes are also killed
#: from outside, so a single death proves nothing, unless Python has left its last words.
DEATHS_OF_BLAMED = 5
LAST_WORDS = ("Fatal Python error: ", "Timeout (")
#: Seconds that clocks of machines may differ, and that a process may need beyond what it announced.
SLACK = 60.0


@dataclass
class History:
    """What the lines of a journal say.

    suspects: Numbers of documents that were being parsed when an attempt died, and were not parsed since.
    deaths: Number of attempts in a row that died over a document alone, by its number.
    blamed: Why documents that are to blame for deaths are, by their numbers.
    n_idle_deaths: Number of attempts that died while they parsed nothing.
    temporary: Names of the files that attempts were writing.
    until: Unix time until which the last attempt may be silent.
    """

    suspects: set[int] = field(default_factory=set)
    deaths: Counter[int] = field(default_factory=Counter)
    blamed: dict[int, str] = field(default_factory=dict)
    n_idle_deaths: int = 0
    temporary: list[str] = field(default_factory=list)
    until: float = 0.0


def read_history(text: str) -> History:
    """Return what the lines of a journal say, all of whose attempts are over."""
    history = History()
    in_hand: list[int] | None = None
    last_words = ""
    for line in text.splitlines():
        entry = _entry_of(line)
        if entry is None:
            last_words = line if line.startswith(LAST_WORDS) else last_words
            continue
        history.until = entry["until"]
        if "begin" in entry:
            _note_death(history, in_hand, last_words)
            in_hand, last_words = [], ""
            history.temporary.append(entry["begin"])
        elif "docs" in entry:
            # The documents before these were parsed, so they are harmless.
            history.suspects.difference_update(in_hand or ())
            for number in in_hand or ():
                del history.deaths[number]
            in_hand = entry["docs"]
        elif "end" in entry:
            in_hand = None
    _note_death(history, in_hand, last_words)
    return history


def _entry_of(line: str) -> dict[str, Any] | None:
    """Return what a line says; None for last words, and for a line that no attempt has written to its end."""
    try:
        entry: dict[str, Any] = json.loads(line)
        is_right = isinstance(entry["until"], float) and isinstance(entry.get("begin", ""), str)
        return entry if is_right and {*map(type, entry.get("docs", ()))} <= {int} else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _note_death(history: History, in_hand: list[int] | None, last_words: str) -> None:
    if in_hand is None:
        return
    history.suspects.update(in_hand)
    history.n_idle_deaths += not in_hand
    if len(in_hand) == 1:
        (number,) = in_hand
        history.deaths[number] += 1
        if last_words or history.deaths[number] == DEATHS_OF_BLAMED:
            history.blamed[number] = last_words or Errors.E1112.format(n=DEATHS_OF_BLAMED)


class Journal:
    """The journal of a shard, locked and open for the lines of an attempt. Get one by ``claim``."""

    def __init__(self, path: Place, handle: int, history: History) -> None:
        self.path = path
        self.handle = handle
        self.history = history

    @classmethod
    def claim(cls, path: Place) -> Journal | None:
        """Lock the journal of a shard, and return it. Returns None while another process is at work.

        A process that holds the lock, but has been silent for longer than it announced, is no obstacle. On
        file systems without locks, a process counts as at work until then.
        """
        # Whatever a link leads to is no file of the job.
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(str(path), flags, 0o666)
        is_locked = lock(handle)
        history = read_history(read_all(handle))
        # A locked journal without a line belongs to a process that is just beginning.
        is_beginning = is_locked is False and not os.fstat(handle).st_size
        is_alive = is_beginning or (not is_locked and time.time() < history.until + SLACK)
        if is_alive:
            os.close(handle)
            return None
        return cls(path, handle, history)

    @classmethod
    def is_busy(cls, path: Place) -> bool:
        """Return whether another process is at work on a shard."""
        journal = cls.claim(path)
        if journal is not None:
            journal.release()
        return journal is None

    def begin(self, temporary: str, seconds: float) -> None:
        """Start an attempt, which writes to a temporary file and may be silent for some seconds."""
        self._write({"begin": temporary}, seconds)

    def note(self, numbers: list[int], seconds: float) -> None:
        """Say which documents are parsed next, and how many seconds that may take."""
        self._write({"docs": numbers}, seconds)

    def end(self) -> None:
        """Close the attempt: whatever ends it is no death."""
        self._write({"end": True}, -2 * SLACK)
        self.release()

    def release(self) -> None:
        """Unlock the journal and leave it as it was."""
        os.close(self.handle)

    def forget(self) -> None:
        """Remove the journal: the shard has its output."""
        # Another process may have removed it, too.
        self.path.unlink(missing_ok=True)
        self.release()

    def _write(self, entry: dict[str, Any], seconds: float) -> None:
        # The line break in front ends a line that a dying process has left unfinished.
        line = json.dumps({**entry, "until": round(time.time() + seconds, 1)})
        os.write(self.handle, f"\n{line}\n".encode())


def lock(handle: int) -> bool | None:
    """Lock a file. Returns False if another process has the lock, and None if there are no locks here."""
    try:
        import fcntl  # Windows has none.

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def read_all(handle: int) -> str:
    """Return the text of a file that is open."""
    with contextlib.closing(os.fdopen(os.dup(handle), "rb")) as file:
        file.seek(0)
        return file.read().decode("utf8", "replace")
