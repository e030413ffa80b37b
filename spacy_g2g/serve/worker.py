"""The thread that runs the pipeline for all requests, and parses waiting Docs in batches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import count, islice
from queue import Empty, PriorityQueue
from threading import Thread
from time import monotonic
from typing import Any, TypeVar

from spacy.language import Language
from spacy.tokens import Doc

from ..parser.g2g_parser import G2GParser
from .limits import Limits

T = TypeVar("T")

#: Maximum number of waiting sentences of one request, so that others get their turn.
SENTENCES_AT_ONCE = 32
#: Threads that read documents. Each needs memory for its document.
READERS = 2
#: Maximum number of words in a batch, unless its first Doc has more.
MAX_BATCH_WORDS = 500
#: Delay of a Doc's turn in seconds for each of its words. So short requests overtake long ones that came
#: shortly before, and no request waits forever.
SECONDS_PER_WORD = 0.02
#: Seconds that ``Worker.close`` waits for a thread.
CLOSING_SECONDS = 0.2


@dataclass(frozen=True)
class Task:
    """A Doc to parse, and the answer to build.

    n_words: About how many words the Doc has.
    make: Makes the Doc.
    render: Builds the answer from the parsed Doc. It must not hold the Doc or parts of it.
    future: Receives the answer.
    """

    n_words: int
    make: Callable[[], Doc]
    render: Callable[[Doc], Any]
    future: Future[Any] = field(default_factory=Future)


class Worker:
    """A thread that parses the Docs of all requests. Docs that wait together are one batch.

    nlp: Pipeline. Only this thread may use it from now on.
    parser: Its final parser, which keeps its scores from now on if it has any.
    """

    def __init__(self, nlp: Language, parser: G2GParser, limits: Limits) -> None:
        self.nlp = nlp
        self.parser = parser
        self.limits = limits
        self.has_scores = parser.scores_arcs
        parser.keep_scores = self.has_scores
        #: Tasks by the time of their turn and a number; at the end, None before all others.
        self._waiting: PriorityQueue[tuple[float, int, Task | None]] = PriorityQueue()
        self._numbers = count()
        self._readers = ThreadPoolExecutor(READERS)
        #: Documents that are still being read.
        self._unread = set[Future[Any]]()
        # Thinc keeps the choice of a device in the context of a thread.
        self._thread = Thread(target=copy_context().run, args=(self._run,), daemon=True)
        self._thread.start()

    async def ask(self, tasks: Sequence[Task]) -> list[Any]:
        """Return the answers to tasks in their order. Raises the first error of a task."""
        for task in tasks:
            self._put(monotonic() + SECONDS_PER_WORD * task.n_words, task)
        futures = [asyncio.wrap_future(task.future) for task in tasks]
        answers = await asyncio.gather(*futures, return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return answers

    async def ask_in_turn(self, tasks: Iterator[Task]) -> list[Any]:
        """Return the answers to any number of tasks. Makes only a few at a time."""
        answers = list[Any]()
        while next_tasks := await self.read(lambda: list(islice(tasks, SENTENCES_AT_ONCE))):
            answers += await self.ask(next_tasks)
        return answers

    async def read(self, reads: Callable[[], T]) -> T:
        """Let a function read a document in another thread, and return its result.

        If the request ends early, the function goes on, and its result is dropped.
        """
        future = self._readers.submit(reads)
        self._unread.add(future)
        future.add_done_callback(self._unread.discard)
        return await asyncio.wrap_future(future)

    def close(self) -> bool:
        """End the threads after their current work. Returns False if one of them is still at work."""
        self._put(0.0, None)
        self._readers.shutdown(wait=False, cancel_futures=True)
        self._thread.join(CLOSING_SECONDS)
        return not (self._thread.is_alive() or wait(set(self._unread), CLOSING_SECONDS).not_done)

    def _put(self, turn: float, task: Task | None) -> None:
        self._waiting.put((turn, next(self._numbers), task))

    def _run(self) -> None:
        while (first := self._waiting.get()[2]) is not None:
            batch = self._fill([first])
            # A request that has ended in the meantime has canceled its tasks.
            tasks = [task for task in batch if task.future.set_running_or_notify_cancel()]
            if not self._parse(tasks) and len(tasks) > 1:
                for task in tasks:
                    self._parse([task])

    def _fill(self, batch: list[Task]) -> list[Task]:
        """Add waiting tasks to a batch, and return it."""
        n_words = batch[0].n_words
        while len(batch) < SENTENCES_AT_ONCE:
            try:
                waiting = self._waiting.get_nowait()
            except Empty:
                break
            task = waiting[2]
            if task is None or n_words + task.n_words > MAX_BATCH_WORDS:
                self._waiting.put(waiting)
                break
            n_words += task.n_words
            batch.append(task)
        return batch

    def _parse(self, tasks: Sequence[Task]) -> bool:
        """Answer tasks. Returns False if one of them fails. Then only a task that is alone gets its error.

        The strings of a batch are forgotten after it, so memory does not grow with the requests.
        """
        try:
            with self.nlp.memory_zone():
                docs = [task.make() for task in tasks]
                for doc in docs:
                    self.limits.check_words(len(doc), n_characters=len(doc.text))
                parsed = self.nlp.pipe(docs, batch_size=len(docs) or 1)
                answers = [task.render(doc) for task, doc in zip(tasks, parsed, strict=True)]
        except Exception as error:
            if len(tasks) == 1:
                tasks[0].future.set_exception(error)
            return False
        for task, answer in zip(tasks, answers, strict=True):
            task.future.set_result(answer)
        return True
