"""File operations that fail on purpose: the nth one in a folder, and each write beyond a size."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import spacy_g2g

PACKAGE = os.path.dirname(spacy_g2g.__file__)
#: What Python tells before it opens, makes, names or removes a file, with the number of paths that it tells.
EVENTS = {
    "open": 1,
    "os.chmod": 1,
    "os.link": 2,
    "os.listdir": 1,
    "os.mkdir": 1,
    "os.remove": 1,
    "os.rename": 2,
    "os.rmdir": 1,
    "os.scandir": 1,
}
#: Operations that undo and clean up. If one of them fails, a temporary file stays.
REMOVALS = {"os.remove", "os.rmdir", "os.scandir", "os.listdir"}


class Faults:
    """The operations in a folder, the nth of which fails. With n = 0, none fails.

    folder: Folder with all files that count.
    """

    def __init__(self, folder: Path, n: int) -> None:
        self.folder, self.n = os.path.realpath(folder), n
        self.n_operations, self.failed = 0, ""

    def check(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Count an operation. Raises OSError if it is the nth."""
        paths = [path for path in arguments[: EVENTS[event]] if isinstance(path, str | bytes | os.PathLike)]
        inside = [path for path in map(os.fsdecode, paths) if self._has(path)]
        if not inside:
            return
        self.n_operations += 1
        if self.n_operations == self.n:
            self.failed = f"{event} {inside[-1]}"
            reads = event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR)
            number = errno.EIO if reads or event in REMOVALS else errno.ENOSPC
            raise OSError(number, os.strerror(number), inside[-1])

    def _has(self, path: str) -> bool:
        return os.path.realpath(path).startswith(self.folder + os.sep)


#: The faults that are made now.
current: Faults | None = None


def _check(event: str, arguments: tuple[Any, ...]) -> None:
    global current
    if current is not None and event in EVENTS:
        faults, current = current, None  # What the check itself does is no operation.
        try:
            faults.check(event, arguments)
        finally:
            current = faults


sys.addaudithook(_check)


@contextmanager
def fault(folder: Path, n: int) -> Iterator[Faults]:
    """Have the nth operation on the files of a folder fail; see ``Faults``."""
    global current
    current = faults = Faults(folder, n)
    try:
        yield faults
    finally:
        current = None


@contextmanager
def no_file_beyond(size: int) -> Iterator[None]:
    """Have each write fail that makes a file larger than a size in bytes, whatever library writes."""
    import resource  # Windows has none.

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class Calls:
    """The calls of this library's functions, the nth of which fails. With n = 0, none fails.

    Attributes: ``first``, the number of each function's first call; ``failed``, the function that failed.
    """

    def __init__(self, n: int) -> None:
        self.n, self.n_calls, self.failed = n, 0, ""
        self.first: dict[str, int] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """Count a call. Raises MemoryError if it is the nth."""
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            self.n_calls += 1
            self.first.setdefault(f"{code.co_filename}:{code.co_firstlineno} {code.co_name}", self.n_calls)
            if self.n_calls == self.n:
                self.failed = f"{code.co_filename}:{code.co_firstlineno} {code.co_name}"
                raise MemoryError("no memory")


@contextmanager
def no_memory_at(n: int) -> Iterator[Calls]:
    """Have the nth call of a function of this library find no memory; see ``Calls``."""
    calls, before = Calls(n), sys.getprofile()
    sys.setprofile(calls)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder and those below, by their paths."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
