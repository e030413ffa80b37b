"""Functions that the commands share: input and output files, progress bars and error messages."""

import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

from spacy.tokens import Doc
from spacy.vocab import Vocab
from tqdm import tqdm

from ..amr.api import AmrBlock, doc_from_amr, read_amr_file, set_amrs
from ..data.doc_graphs import write_initial_graph
from ..data.docs import TOKEN_ANNOTATIONS, sentences_to_docs
from ..data.refiner_corpus import align_graphs
from ..errors import Errors
from ..files import is_stream, write_text
from ..formats.conllu import ConlluSentence, read_conllu, text_lines
from .messages import msg

T = TypeVar("T")

#: Pattern of a line that only AMR files have.
AMR_LINE = re.compile(r"\s*#\s*::(?:id|snt|tok)\s")
#: What PyTorch says when memory is short.
NO_MEMORY = re.compile("can't allocate memory|out of memory")


@contextmanager
def user_errors() -> Iterator[None]:
    """Print an error in the input, a missing package or a lack of memory as one line, and exit with status 1.

    SIGTERM ends the context as an error does, so that temporary files and processes go away.
    """
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    except (ValueError, OSError, ImportError) as error:
        msg.fail(str(error), exits=1)
    except (MemoryError, RuntimeError) as error:
        # PyTorch has no class of its own for a lack of memory on the CPU.
        if not isinstance(error, MemoryError) and not NO_MEMORY.search(str(error)):
            raise
        msg.fail(Errors.E916.format(error=error), exits=1)
    finally:
        signal.signal(signal.SIGTERM, before)


def write_json(path: Path, figures: Any) -> None:
    """Write figures as indented JSON."""
    write_text(path, json.dumps(figures, indent=2, ensure_ascii=False) + "\n")


def read_texts(path: Path, documents: str = "line") -> Iterator[str]:
    """Yield the documents of a text file that are not empty. White space within them stays as it is.

    path: Text file in UTF-8.
    documents: What a document is: "line", "paragraph" (lines without an empty one between), or "file".
    Raises ValueError with the line number if a line is not UTF-8 or belongs to an AMR file.
    """
    texts: Iterable[str] = _plain_lines(path)
    if documents == "file":
        texts = ["".join(texts)]
    elif documents == "paragraph":
        texts = ("".join(lines) for _, lines in groupby(texts, lambda line: not line.strip()))
    yield from (text.rstrip("\r\n") for text in texts if text.strip())


def _plain_lines(path: Path) -> Iterator[str]:
    for number, line in enumerate(text_lines(path), start=1):
        if AMR_LINE.match(line):
            raise ValueError(Errors.E908.format(path=path, number=number, line=line.strip()[:60]))
        yield line


def read_amr_words(path: Path, vocab: Vocab) -> Iterator[tuple[Doc, AmrBlock]]:
    """Yield for each AMR in a file a Doc with its words and without the AMR, and the AMR's block.

    path: AMR file.
    vocab: Vocabulary of the Docs.
    Raises ValueError with file, line and id if an AMR can't be read or has no words.
    """
    for block in read_amr_file(path):
        doc = doc_from_amr(block, vocab)
        set_amrs(doc, None)
        yield doc, block


def read_gold(path: Path, *, attach_roots: bool = False) -> list[ConlluSentence]:
    """Return the sentences of a treebank with full trees. Raises ValueError if it has none.

    attach_roots: Let every root of a sentence after the first depend on the first.
    """
    sentences = list(read_conllu(path, trees="full", attach_roots=attach_roots))
    if not sentences:
        raise ValueError(Errors.E925.format(path=path))
    return sentences


def with_initial_graphs(docs: Iterable[Doc], initial: Path | None, source: Path) -> Iterator[Doc]:
    """Give Docs their initial graphs.

    docs: Docs with words and sentences.
    initial: File with the initial graphs, or None to leave the Docs as they are.
    source: File that the Docs were read from, for error messages.
    """
    if initial is None:
        yield from docs
        return
    for doc, graphs in align_graphs(docs, initial, source):
        write_initial_graph(doc, graphs)
        yield doc


def gold_docs(
    sentences: Iterable[ConlluSentence],
    vocab: Vocab,
    source: Path,
    *,
    gold_tags: bool,
    initial: Path | None,
    keep_source: bool = True,
) -> Iterator[Doc]:
    """Yield a Doc with gold words for each sentence, as input of a pipeline.

    sentences: Gold sentences.
    vocab: Vocabulary of the Docs.
    source: File of the sentences, for error messages.
    gold_tags: Whether Docs get gold tags, features and lemmas as well.
    initial: File with the initial graphs, or None.
    keep_source: Whether Docs keep the text of their CoNLL-U sentences.
    """
    annotations = TOKEN_ANNOTATIONS if gold_tags else ("SENT_START",)
    docs = sentences_to_docs(sentences, vocab, annotations=annotations, keep_source=keep_source)
    yield from with_initial_graphs(docs, initial, source)


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
    """Say what to install if a package of an extra is missing.

    packages: Names of the extra's packages.
    text: Text of the error, in which "module" is the package that is missing.
    Raises ImportError with this text.
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
