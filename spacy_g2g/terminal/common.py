"""Functions that all commands share: checks of files, progress bars and error messages."""

import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

from ..errors import Errors
from ..files import is_stream, write_text
from .messages import msg

T = TypeVar("T")

#: Messages of PyTorch when it is out of memory.
NO_MEMORY = re.compile("can't allocate memory|out of memory")


@contextmanager
def user_errors() -> Iterator[None]:
    """Print an input error, a missing package or a lack of memory as one line, and exit with status 1.

    SIGTERM ends the context like an error, so temporary files and processes are removed.
    """
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    except (ValueError, OSError, ImportError) as error:
        msg.fail(str(error), exits=1)
    except (MemoryError, RuntimeError) as error:
        # PyTorch has no error class for a lack of memory on the CPU.
        if not isinstance(error, MemoryError) and not NO_MEMORY.search(str(error)):
            raise
        msg.fail(Errors.E916.format(error=error), exits=1)
    finally:
        signal.signal(signal.SIGTERM, before)


def write_json(path: Path, figures: Any) -> None:
    """Write figures as indented JSON."""
    write_text(path, json.dumps(figures, indent=2, ensure_ascii=False) + "\n")


def check_suffix(path: Path, expected: Sequence[str]) -> str:
    """Return the suffix of a path. Raises ValueError if the suffix is not expected."""
    if path.suffix not in expected:
        raise ValueError(Errors.E903.format(path=path, suffix=path.suffix, expected=", ".join(expected)))
    return path.suffix


def check_distinct(paths: Sequence[Path]) -> None:
    """Raise ValueError if a file is named twice."""
    counts = Counter(path.resolve() for path in paths if not is_stream(path))
    twice = [str(path) for path, count in counts.items() if count > 1]
    if twice:
        raise ValueError(Errors.E927.format(paths=", ".join(twice)))


@contextmanager
def needs_extra(packages: Collection[str], text: str) -> Iterator[None]:
    """Name the extra to install if one of its packages is missing.

    text: Text of the ImportError, with a field "module" for the missing package.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in packages:
            raise
        raise ImportError(text.format(module=error.name)) from error


def progress(items: Iterable[T], *, unit: str, silent: bool) -> Iterator[T]:
    """Yield items, with a progress bar if the output is a terminal and silent is not set."""
    with tqdm(items, unit=f" {unit}", disable=True if silent else None) as bar:
        yield from bar
