"""Parse blocks of documents, each in memory at once. A document that can't be parsed harms no other."""

import contextlib
import faulthandler
import os
import re
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ..errors import Errors
from .documents import Document, ShardError
from .journal import Journal

#: Maximum number of documents and characters in a block.
BLOCK_DOCS, BLOCK_CHARS = 2000, 2_000_000
#: Maximum number of characters that the pipeline gets at once.
BATCH_CHARS = 100_000
#: Exit status after an error that makes all further calls fail as well.
BROKEN_DEVICE = 70
#: Number of errors that are always allowed, even if it is a large share of the documents.
ALLOWED_ERRORS = 10
#: Pattern of the code at the start of warnings of this library and of spaCy.
WARNING_CODE = re.compile(r"\[([\w-]+)\]")
#: A line of an errors file.
ErrorRecord = dict[str, Any]


class PipelineError(ShardError):
    """A shard can't be parsed: the pipeline raises errors for too many documents."""


def group(documents: Iterable[Document], *, max_docs: int, max_chars: int) -> Iterator[list[Document]]:
    """Yield documents in groups of limited size. A document with more characters is a group of its own."""
    members: list[Document] = []
    n_chars = 0
    for document in documents:
        if members and (len(members) == max_docs or n_chars + len(document.text) > max_chars):
            yield members
            members, n_chars = [], 0
        members.append(document)
        n_chars += len(document.text)
    if members:
        yield members


class BlockParser:
    """Parser of a shard's blocks. Documents that can't be parsed become errors.

    journal: Journal of this attempt. Earlier suspects are parsed alone, and blamed documents are not parsed.
    timeout: Seconds that the pipeline may take for 100,000 characters. After that the process ends.

    ``n_read`` counts all documents, and ``n_raised`` those at which the pipeline raised an error. ``errors``
    has the errors by the document's number. ``warnings`` counts the pipeline's warnings by their codes.
    """

    def __init__(self, nlp: Language, journal: Journal, timeout: float) -> None:
        self.nlp = nlp
        self.journal = journal
        self.timeout = timeout
        self.n_read = 0
        self.errors: dict[int, ErrorRecord] = {}
        self.n_raised = 0
        self.warnings: Counter[str] = Counter()

    def parse(self, block: Sequence[Document]) -> list[tuple[Document, Doc]]:
        """Parse a block. Returns the documents that can be parsed, in their order, with their Docs."""
        earlier = self.journal.earlier
        self.n_read += len(block)
        # Suspects are parsed alone. A suspect that was alone at a death comes last: another death soon after
        # the process has started would prove little.
        first, others, last = list[list[Document]](), list[Document](), list[list[Document]]()
        for document in block:
            if document.error:
                self._add_error(document, document.error)
            elif document.number in earlier.blamed:
                self._add_error(document, f"ProcessDied: {earlier.blamed[document.number]}")
            elif document.number not in earlier.suspects:
                others.append(document)
            else:
                (last if earlier.deaths[document.number] else first).append([document])
        parsed: dict[int, Doc] = {}
        others.sort(key=lambda document: -len(document.text))
        for batch in [*first, *group(others, max_docs=BLOCK_DOCS, max_chars=BATCH_CHARS), *last]:
            parsed.update(self._parse_batch(batch))
        self.journal.note([], self.timeout)
        return [(document, parsed[document.number]) for document in block if document.number in parsed]

    def check_share(self, max_errors: float) -> None:
        """Raise ShardError for too many errors: the pipeline or the input must be wrong."""
        limit = max(ALLOWED_ERRORS, max_errors * self.n_read)
        if len(self.errors) > limit:
            first = next(iter(self.errors.values()))["error"]
            kind = PipelineError if self.n_raised > limit else ShardError
            raise kind(Errors.E1116.format(n=len(self.errors), total=self.n_read, first=first))

    def _parse_batch(self, batch: Sequence[Document]) -> dict[int, Doc]:
        """Return the Docs of a batch by their numbers. After an error, each document is parsed alone."""
        try:
            return {document.number: doc for document, doc in zip(batch, self._run(batch), strict=True)}
        except Exception as error:
            _exit_if_device_is_broken(error)
            if len(batch) == 1:
                self.n_raised += 1
                self._add_error(batch[0], f"{type(error).__name__}: {error}")
                return {}
        parsed: dict[int, Doc] = {}
        for document in batch:
            parsed.update(self._parse_batch([document]))
        return parsed

    def _run(self, batch: Sequence[Document]) -> list[Doc]:
        contents = [document.content for document in batch if document.content is not None]
        seconds = self.timeout * max(1.0, sum(len(document.text) for document in batch) / BATCH_CHARS)
        # The journal must name the documents before they crash the process.
        self.journal.note([document.number for document in batch], seconds)
        # Warnings are only counted, since Python would keep the text of each warning that it has shown.
        with last_words(seconds, self.journal.handle), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            docs = list(self.nlp.pipe(contents, batch_size=len(contents)))
        for warning in caught:
            code = WARNING_CODE.match(str(warning.message))
            self.warnings[code[1] if code else warning.category.__name__] += 1
        return docs

    def _add_error(self, document: Document, error: str) -> None:
        record = {
            "id": document.id,
            "file": document.file,
            "place": document.place,
            "error": error[:500],
            "text": document.text[:200],
        }
        self.errors[document.number] = record


@contextlib.contextmanager
def last_words(seconds: float, handle: int) -> Iterator[None]:
    """Let Python write to a file if it crashes, and end this process by SIGALRM after some seconds.

    Only a signal interrupts compiled code. The handle is the descriptor of the file.
    """
    was_enabled, has_timer = faulthandler.is_enabled(), hasattr(signal, "setitimer")
    faulthandler.enable(handle)
    faulthandler.dump_traceback_later(seconds, file=handle, exit=not has_timer)
    if has_timer:
        signal.setitimer(signal.ITIMER_REAL, seconds + 1)
    try:
        yield
    finally:
        if has_timer:
            signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        faulthandler.disable()
        if was_enabled and sys.__stderr__ is not None:
            faulthandler.enable(sys.__stderr__)


def _exit_if_device_is_broken(error: Exception) -> None:
    """End the process after a CUDA error: all later calls would fail and blame other documents."""
    if "CUDA error" in str(error) or type(error).__name__ == "AcceleratorError":
        print(error, file=sys.stderr, flush=True)
        os._exit(BROKEN_DEVICE)
