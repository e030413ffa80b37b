"""Places of files: local paths, and keys of object stores (``s3://bucket/key``) through ``pyarrow.fs``.

A store can't rename, append or lock, but an object appears complete when its upload ends. So files are
finished on this machine and then uploaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
from pyarrow.fs import FileInfo, FileSelector, FileSystem, FileType

from ..errors import Errors
from ..files import write_text

#: Stores in which an object appears complete.
SCHEMES = ("s3://", "gs://")


class State(NamedTuple):
    """Size of a file in bytes, and the Unix time of its last change in nanoseconds."""

    size: int
    changed: int

    def __str__(self) -> str:
        return f"{self.size} bytes, changed at {self.changed / 10**9:.6f}"


class StorePath(PurePosixPath):
    """Key of an object store, "s3://bucket/key", with the methods of ``pathlib.Path`` that a job needs.

    A folder exists if it has objects.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return super().__str__().replace(":/", "://", 1)  # A path has no two slashes in a row.

    @property
    def _key(self) -> str:
        return "/".join(self.parts[1:])

    @property
    def _system(self) -> Any:
        return _system_of("//".join(self.parts[:2]))

    def info(self) -> FileInfo:
        """Return the store's information on an object, which need not exist."""
        return self._system.get_file_info(self._key)

    def resolve(self) -> StorePath:
        """Return this path, which is absolute."""
        return self

    def exists(self) -> bool:
        """Return whether there is an object, or a folder with objects."""
        return bool(self.info().type != FileType.NotFound)

    def is_dir(self) -> bool:
        """Return whether there is a folder with objects."""
        return bool(self.info().type == FileType.Directory)

    def infos(self, *, recursive: bool = False) -> Iterator[tuple[StorePath, FileInfo]]:
        """Yield the objects in this folder, and recursively those in folders below."""
        selector = FileSelector(self._key, allow_not_found=True, recursive=recursive)
        for info in self._system.get_file_info(selector):
            if info.type == FileType.File:
                yield self / info.path[len(self._key) + 1 :], info

    def iterdir(self) -> Iterator[StorePath]:
        """Yield the objects in this folder."""
        return (path for path, _ in self.infos())

    def open_file(self) -> pa.NativeFile:
        """Open an object to read."""
        return self._system.open_input_file(self._key)

    def read_text(self, encoding: str) -> str:
        """Return the text of an object."""
        with self.open_file() as file:
            return str(file.read().decode(encoding))

    def write_bytes(self, content: bytes) -> None:
        """Upload an object. If this process dies, the object does not change."""
        # An interrupt between opening and writing would close the stream and end the upload too early.
        # Interrupts reach the main thread only.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(self._upload, content).result()

    def _upload(self, content: bytes) -> None:
        with self._system.open_output_stream(self._key) as stream:
            stream.write(content)

    def unlink(self, *, missing_ok: bool) -> None:
        """Delete an object. Raises FileNotFoundError if it does not exist, unless that is allowed."""
        try:
            self._system.delete_file(self._key)
        except FileNotFoundError:
            if not missing_ok:
                raise


#: Path of a file, or its key in a store.
Place: TypeAlias = Path | StorePath


@cache
def _system_of(root: str) -> Any:
    """Return the file system of a bucket."""
    try:
        # A small object then needs one request instead of three.
        return FileSystem.from_uri(f"{root}/?allow_delayed_open=true")[0]
    except ValueError:  # Other stores and older versions of pyarrow lack this option.
        return FileSystem.from_uri(f"{root}/")[0]


def place_of(name: str | Place) -> Place:
    """Return the place of a path or a URI.

    Raises ValueError if a URI does not begin with one of ``SCHEMES``.
    """
    if not isinstance(name, str):
        return name
    if name.startswith(SCHEMES):
        return StorePath(name)
    if "://" in name:
        raise ValueError(Errors.E1121.format(name=name, expected=", ".join(SCHEMES)))
    return Path(name)


def open_file(place: Place) -> pa.NativeFile:
    """Open a file to read. Its name need not be Unicode."""
    return place.open_file() if isinstance(place, StorePath) else pa.OSFile(os.fsencode(place))


def _state_in(info: FileInfo) -> State:
    # Some stores give fractions of seconds in a listing, but not for a single object.
    return State(info.size, (info.mtime_ns or 0) // 10**9 * 10**9)


def state_of(place: Place) -> State:
    """Return the state of a file."""
    if isinstance(place, StorePath):
        return _state_in(place.info())
    status = place.stat()
    return State(status.st_size, status.st_mtime_ns)


def files_in(folder: Place) -> dict[Place, State | None]:
    """Return the files in a folder and in those below, in the order of their paths, with their states.

    The state is None for a broken link, a link to a folder, a pipe, and a folder that can't be read.
    """
    states: dict[Place, State | None] = {}
    if isinstance(folder, StorePath):
        states.update((path, _state_in(info)) for path, info in folder.infos(recursive=True))
    else:
        walk = os.walk(folder, onerror=lambda error: states.update({Path(error.filename): None}))
        for root, folders, names in walk:
            links = [name for name in folders if Path(root, name).is_symlink()]
            for path in (Path(root, name) for name in (*names, *links)):
                states[path] = state_of(path) if path.is_file() else None
    return {path: states[path] for path in sorted(states, key=lambda path: path.parts)}


def put(place: Place, text: str) -> None:
    """Write a text file in one step. If this process dies, the file does not change."""
    if isinstance(place, StorePath):
        place.write_bytes(text.encode())
    else:
        if place.is_symlink():  # Its target does not belong to the job.
            place.unlink()
        write_text(place, text)


def commit(temporary: Path, final: Place) -> None:
    """Give a finished file its final name in one step. In a store, it gets a copy."""
    if isinstance(final, StorePath):
        final.write_bytes(temporary.read_bytes())
        return
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    os.replace(temporary, final)
