"""Atomic writing of files, files of folders, and digests of files."""

import fnmatch
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Folders of devices, and of the streams that a process has open.
STREAMS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))


def is_stream(path: Path) -> bool:
    """Return whether a path is a device, a pipe or a standard stream, which can only be written to."""
    return path.absolute().parent in STREAMS or (path.exists() and not path.is_file())


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside a file. It replaces the file at the end, or is removed after an error.

    The target of a link is replaced, not the link. For a stream, its own path is yielded.
    """
    if is_stream(path):
        yield path
        return
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file, which is replaced only when the new text is complete; see ``atomic_path``."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf8", newline="\n")


def files_in(folder: Path, pattern: str = "*", *, deep: bool = True) -> list[Path]:
    """Return the files of a folder, sorted; none if there is no such folder.

    ``Path.rglob`` leaves out a folder that can't be read, so files would be lost in silence. Before Python
    3.13, it did so only without permission.

    pattern: Pattern of the names of files, as in a shell.
    deep: Whether to look in the folder's own folders, too.
    Raises OSError if a folder can't be read.
    """

    def stop(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise error

    found: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=stop):
        found += (Path(parent, name) for name in fnmatch.filter(names, pattern))
        if not deep:
            folders.clear()
    return sorted(found)


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of all files in a folder, in hexadecimal.

    Compiled Python files do not count.
    """
    sha = hashlib.sha256()
    if path.is_dir():
        for file in files_in(path):
            if file.is_file() and file.suffix != ".pyc":
                sha.update(f"{file.relative_to(path).as_posix()}\n{sha256_of(file)}\n".encode())
        return sha.hexdigest()
    with path.open("rb") as content:
        while block := content.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()
