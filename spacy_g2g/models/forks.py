"""Safe forks of a process whose threads compute, as in ``nlp.pipe(n_process=2)``.

A forked process has a single thread. If another thread held a lock at the fork, such as that of oneDNN's
cache, the forked process waits for it forever. It also waits forever for the threads of OpenMP. So a fork
waits until all networks have finished, and a forked process computes with one thread.
"""

import os
from contextlib import ContextDecorator
from functools import cache
from threading import Condition, local
from typing import Any

import torch

_FIRST_PROCESS = os.getpid()
#: Maximum number of seconds that a fork waits for networks.
MAX_WAIT = 60.0


class Computing(ContextDecorator):
    """Context and decorator for code that runs a network. Forks of other threads wait until it ends."""

    def __init__(self) -> None:
        self._thread = local()
        self._forget_threads()
        if hasattr(os, "register_at_fork"):  # Windows does not fork.
            os.register_at_fork(
                before=self._wait, after_in_parent=self._go_on, after_in_child=self._forget_threads
            )

    def _forget_threads(self) -> None:
        self._changed, self._is_forking = Condition(), False
        #: Number of threads that compute.
        self._n_running = int(self._depth > 0)

    @property
    def _depth(self) -> int:
        """Number of contexts that the current thread is in."""
        return getattr(self._thread, "depth", 0)

    def __enter__(self) -> None:
        adapt_to_fork(os.getpid())
        if not self._depth:
            with self._changed:
                self._changed.wait_for(lambda: not self._is_forking, MAX_WAIT)
                self._n_running += 1
        self._thread.depth = self._depth + 1

    def __exit__(self, *error: Any) -> None:
        self._thread.depth -= 1
        if not self._depth:
            with self._changed:
                self._n_running -= 1
                self._changed.notify_all()

    def _wait(self) -> None:
        """Wait until all other threads have finished, and keep them from starting again."""
        self._changed.acquire()
        self._is_forking = True
        self._changed.wait_for(lambda: self._n_running <= (self._depth > 0), MAX_WAIT)

    def _go_on(self) -> None:
        self._is_forking = False
        self._changed.notify_all()
        self._changed.release()


@cache
def adapt_to_fork(process: int) -> None:
    """Compute with one thread in a forked process."""
    if process != _FIRST_PROCESS:
        torch.set_num_threads(1)


#: The context of all networks of this process.
computing = Computing()
