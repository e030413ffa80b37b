"""What the commands share: files, progress and how errors reach the user."""

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from spacy.tokens import Doc
from spacy.vocab import Vocab
from tqdm import tqdm
from wasabi import msg

from ..amr.api import AmrBlock, doc_from_amr, read_amr_file, set_amrs
from ..data.refiner_corpus import align_graphs
from ..errors import Errors
from ..evaluation.plots import check_matplotlib
from ..formats.conllu import decode_lines

T = TypeVar("T")

#: A line that only a file of AMRs has.
AMR_LINE = re.compile(r"\s*#\s*::(?:id|snt|tok)\s")

Pipeline = Annotated[str, typer.Argument(help="Folder or name of a pipeline")]
Initial = Annotated[
    Path | None,
    typer.Option(
        "--initial", help="CoNLL-U or .spacy file with the same words, whose trees a refiner begins with"
    ),
]
GoldTags = Annotated[
    bool, typer.Option("--gold-tags", help="Give the pipeline gold tags, features and lemmas as well")
]
BatchSize = Annotated[
    int | None, typer.Option("--batch-size", "-b", help="Docs a batch  [default: the pipeline's]")
]
GpuId = Annotated[int, typer.Option("--gpu-id", "-g", help="GPU, or -1 for the CPU")]
Silent = Annotated[bool, typer.Option("--silent", "-S", help="Print errors only")]


@contextmanager
def user_errors() -> Iterator[None]:
    """Print an error of the input, or a package that is missing, as one line and exit with status 1."""
    try:
        yield
    except (ValueError, OSError, ImportError) as error:
        msg.fail(str(error), exits=1)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that takes its name at the end, or goes away on an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_texts(path: Path) -> Iterator[str]:
    """The lines of a text file that are not empty.

    RAISES (ValueError): for a line that is not UTF-8, with its number; and for a file of AMRs.
    """
    with path.open("rb") as file_:
        for number, line in enumerate(decode_lines(file_, str(path)), start=1):
            if AMR_LINE.match(line):
                raise ValueError(Errors.E349.format(path=path, number=number, line=line.strip()[:60]))
            if line.strip():
                yield line.rstrip("\r\n")


def read_amr_words(path: Path, vocab: Vocab) -> Iterator[tuple[Doc, AmrBlock]]:
    """For each AMR of a file a Doc of its words, one sentence without AMR.

    RAISES (ValueError): for an AMR that can't be read or has no words, with file, line and id.
    """
    for block in read_amr_file(path):
        doc = doc_from_amr(block, vocab)
        set_amrs(doc, None)
        yield doc, block


def with_graphs(docs: Iterable[Doc], initial: Path | None, source: Path) -> Iterator[Doc]:
    """The Docs, from ``source``, with the graphs of a file to begin with, if there is one."""
    if initial is None:
        yield from docs
        return
    for doc, graph in align_graphs(docs, initial, source):
        graph.write(doc)
        yield doc


def check_suffix(path: Path, expected: Sequence[str]) -> str:
    """The suffix of a path, which must be one of those expected."""
    if path.suffix not in expected:
        raise ValueError(Errors.E340.format(path=path, suffix=path.suffix, expected=", ".join(expected)))
    return path.suffix


def check_can_plot() -> None:
    """Without matplotlib, say so and exit with status 1; to call before work that a plot ends."""
    try:
        check_matplotlib()
    except ImportError as error:
        msg.fail(str(error), exits=1)


def progress(items: Iterable[T], *, unit: str, silent: bool) -> Iterator[T]:
    """The items, with a progress bar on a terminal unless silent."""
    with tqdm(items, unit=f" {unit}", disable=True if silent else None) as bar:
        yield from bar
