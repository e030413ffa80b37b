"""Forks of a process whose threads compute."""

import os
import subprocess
import sys
from threading import Event, Thread

import pytest

from spacy_g2g.models.forks import computing

CHILD = """
import os, threading, time
from spacy_g2g.models.forks import computing

begun, went_on = threading.Event(), []

def compute():
    with computing:
        begun.set()
        time.sleep(0.3)
        with computing:
            went_on.append(True)

thread = threading.Thread(target=compute)
thread.start()
begun.wait()
process = os.fork()
if process == 0:
    with computing:
        # The other thread, which is not here, has ended its computation before the fork.
        os._exit(0 if went_on else 1)
assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
with computing:
    thread.join()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_waits_until_other_threads_have_computed():
    subprocess.run([sys.executable, "-W", "ignore", "-c", CHILD], check=True, timeout=120)


def test_threads_compute_at_the_same_time_and_in_nested_contexts():
    both = [Event(), Event()]

    def compute(own: Event, other: Event) -> None:
        with computing, computing:
            own.set()
            assert other.wait(60)

    threads = [Thread(target=compute, args=order) for order in (both, both[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(event.is_set() for event in both)


def test_an_error_ends_the_context():
    with pytest.raises(ZeroDivisionError), computing:
        _ = 1 / 0
    assert computing._n_running == computing._depth == 0
