"""Docs through a pipeline, in this process or in several that end with any error.

``nlp.pipe(n_process=2)`` waits for ever after an error in its input or in what takes its output, and its
processes outlive it when it is killed: each holds the pipes of the others open. Here, only this process holds
the end that a process reads from.
"""

import signal
import traceback
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import islice
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens.underscore import Underscore
from spacy.vocab import Vocab

from ..errors import Errors

#: Text or Doc to annotate, with further keys that go to the output.
Task = tuple[str | Doc, dict[str, Any]]
#: Annotated Doc with these keys.
Result = tuple[Doc, dict[str, Any]]


@contextmanager
def annotate(
    nlp: Language, tasks: Iterable[Task], *, batch_size: int | None = None, n_process: int = 1
) -> Iterator[Iterator[Result]]:
    """Give the results of tasks in their order. All processes end with the context.

    nlp: The pipeline.
    tasks: Texts or Docs, read as results are taken.
    batch_size: Number of Docs in a batch; None for the pipeline's own.
    n_process: Number of processes.
    Raises ValueError if a number is below 1, and for an error in a process or its end.
    """
    size = nlp.batch_size if batch_size is None else batch_size
    if size < 1 or n_process < 1:
        raise ValueError(Errors.E917.format(batch_size=size, n_process=n_process))
    results: Any = nlp.pipe(tasks, as_tuples=True, batch_size=size)
    if n_process > 1:
        results = _in_processes(nlp, tasks, size, n_process)
    with closing(results):
        yield results


def _in_processes(nlp: Language, tasks: Iterable[Task], size: int, n_process: int) -> Iterator[Result]:
    """Give a batch to each process in turn, and the next one when its results were taken."""
    tasks = iter(tasks)
    workers: list[_Worker] = []
    busy: deque[_Worker] = deque()
    try:
        while batch := list(islice(tasks, size)):
            results: list[Result] = []
            if len(workers) < n_process:
                worker = _Worker(nlp, workers)
                workers.append(worker)
            else:
                worker = busy.popleft()
                results = worker.take(nlp.vocab)
            worker.give(batch)
            busy.append(worker)
            yield from results
        for worker in busy:
            yield from worker.take(nlp.vocab)
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process with a copy of a pipeline, which annotates one batch at a time.

    nlp: The pipeline.
    others: Processes that were started before.
    """

    def __init__(self, nlp: Language, others: Sequence["_Worker"]) -> None:
        self._connection, theirs = Pipe()
        not_theirs = [self._connection, *(worker._connection for worker in others)]
        arguments = (nlp, theirs, not_theirs, Underscore.get_state())
        self._process = Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        # Each end is now open in one process alone, so the connection breaks when either process ends.
        theirs.close()
        self._records: list[dict[str, Any]] = []

    def give(self, batch: Sequence[Task]) -> None:
        """Send a batch. The process must be waiting for one."""
        self._records = [record for _, record in batch]
        with self._alive():
            self._connection.send([doc if isinstance(doc, str) else doc.to_bytes() for doc, _ in batch])

    def take(self, vocab: Vocab) -> list[Result]:
        """Wait for the results of the batch. Raises ValueError with the error of a component."""
        with self._alive():
            found = self._connection.recv()
        if isinstance(found, str):
            raise ValueError(found)
        docs = (Doc(vocab).from_bytes(data) for data in found)
        return list(zip(docs, self._records, strict=True))

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()

    @contextmanager
    def _alive(self) -> Iterator[None]:
        """Raise ValueError if the process ends in this context."""
        try:
            yield
        except (EOFError, OSError) as error:
            self._process.join()
            raise ValueError(Errors.E918.format(code=self._process.exitcode)) from error


def _work(nlp: Language, connection: Connection, inherited: Sequence[Connection], underscore: Any) -> None:
    """Annotate batches until the connection breaks.

    nlp: The pipeline.
    connection: Where batches come from and results go.
    inherited: Connections to close, which belong to the process that started this one.
    underscore: Extension attributes of that process.
    """
    for other in inherited:
        other.close()
    # Ctrl-C reaches all processes; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    Underscore.load_state(underscore)
    with suppress(EOFError, OSError):
        while True:
            connection.send(_results(nlp, connection.recv()))


def _results(nlp: Language, batch: Sequence[str | bytes]) -> list[bytes] | str:
    """Return the Docs of a batch, or the text of an error."""
    try:
        docs = [doc if isinstance(doc, str) else Doc(nlp.vocab).from_bytes(doc) for doc in batch]
        return [doc.to_bytes() for doc in nlp.pipe(docs, batch_size=len(docs))]
    except (ValueError, OSError) as error:
        return str(error)
    except Exception:
        return traceback.format_exc()
