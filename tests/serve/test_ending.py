"""What is left of requests when the service ends, in a process of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx", reason="the tests send requests by httpx")
pytest.importorskip("uvicorn", reason="the extra 'serve' is not installed")
pytestmark = pytest.mark.slow

#: Starts a service for each line that it reads, and writes its process and then its exit status. The first
#: component of the service takes its time in PyTorch.
SERVICES = """
import os, signal, sys, time
import torch
from spacy.language import Language
from spacy_g2g.terminal.common import user_errors
from spacy_g2g.serve.app import run
from tests.serve.conftest import make_pipeline, make_service

@Language.component("slow")
def slow(doc):
    end = time.monotonic() + len(doc) * seconds
    while time.monotonic() < end:
        torch.mm(torch.ones(600, 600), torch.ones(600, 600))
    return doc

# Tests that run under nohup ignore SIGHUP, and so would the service.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
torch.set_num_threads(1)
nlp = make_pipeline()
nlp.add_pipe("slow", first=True)
print(flush=True)
for line in sys.stdin:
    port, seconds, timeout = map(float, line.split())
    process = os.fork()
    if process == 0:
        with user_errors():
            run(make_service(nlp, timeout=timeout), "127.0.0.1", int(port))
    print(process, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""


class Service:
    """A service in a process of its own.

    services: Process that starts it.
    log: File that the service writes its log to.
    seconds: Seconds that it takes for each word.
    timeout: Seconds that a request may take.
    """

    def __init__(self, services: subprocess.Popen[str], log: Path, seconds: float, timeout: float) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.services, self.log, self.begin = services, log, log.stat().st_size
        print(self.port, seconds, timeout, file=services.stdin, flush=True)
        self.process = int(services.stdout.readline())
        #: A connection that says nothing.
        self.idle = self.connect()

    def connect(self) -> socket.socket:
        end = time.monotonic() + 60
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), timeout=60)
            except OSError:
                assert time.monotonic() < end
                time.sleep(0.05)

    def ask(self, path: str = "/parse", body: Any = None, n_bytes: int | None = None) -> "Request":
        """Send a request, or its first bytes."""
        return Request(self.port, path, body or {"words": ["a"] * 2}, n_bytes)

    def end(self, *signals: int) -> tuple[int, str]:
        """Send signals, and return the exit status and the log."""
        for number in signals:
            os.kill(self.process, number)
            time.sleep(0.2)
        status = int(self.services.stdout.readline())
        return status, self.log.read_text()[self.begin :]


class Request(threading.Thread):
    """A request that waits for its answer."""

    def __init__(self, port: int, path: str, body: Any, n_bytes: int | None) -> None:
        super().__init__()
        content = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        self.sent = f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.sendall(self.sent[:n_bytes])
        self.n_sent = n_bytes
        self.answer = b""
        self.start()

    def run(self) -> None:
        while chunk := self.socket.recv(1 << 16):
            self.answer += chunk
            head, _, body = self.answer.partition(b"\r\n\r\n")
            if b"content-length: %d\r\n" % len(body) in head + b"\r\n":
                break
        self.socket.close()

    def status(self) -> int:
        self.join(60)
        assert self.answer, "the connection was closed without an answer"
        return int(self.answer.split()[1])


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[float, float], Service]]:
    """Starts services, one after another."""
    log = tmp_path_factory.mktemp("services") / "log"
    command = [sys.executable, "-W", "ignore", "-c", SERVICES]
    with (
        log.open("w") as file_,
        subprocess.Popen(
            command,
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file_,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        process.stdout.readline()
        yield lambda seconds, timeout: Service(process, log, seconds, timeout)
        os.killpg(process.pid, signal.SIGKILL)


def check_log(log: str) -> None:
    assert "Traceback" not in log
    assert "terminate called" not in log


@pytest.mark.parametrize(
    ("signals", "statuses"),
    [
        ([signal.SIGTERM], {143}),
        ([signal.SIGTERM, signal.SIGTERM], {143}),
        ([signal.SIGINT], {0}),
        ([signal.SIGHUP], {143}),
    ],
)
def test_requests_that_were_accepted_are_answered(start, signals: list[int], statuses: set[int]):
    service = start(0.3, 30.0)
    whole = [service.ask() for _ in range(5)]
    late = service.ask(n_bytes=-5)
    time.sleep(1)
    soon = [service.ask() for _ in range(10)]  # They may still wait at the socket.
    asked = [service.ask("/conllu", {"name": "a", "text": ""}), service.ask("/inception/train")]
    threading.Timer(1.0, lambda: late.socket.sendall(late.sent[-5:])).start()
    status, log = service.end(*signals)
    assert status in statuses
    assert [request.status() for request in (*whole, late, *soon)] == [200] * 16
    assert [request.status() for request in asked] == [422, 204]
    with service.idle as idle:
        assert idle.recv(1) == b""
    check_log(log)
    with pytest.raises(ConnectionRefusedError):
        service.ask()


@pytest.mark.parametrize(
    ("signals", "timeout", "status"),
    [([signal.SIGTERM], 4.0, 143), ([signal.SIGINT, signal.SIGINT], 60.0, 0)],
)
def test_requests_that_cannot_be_answered_are_told_so(start, signals: list[int], timeout: float, status: int):
    service = start(20.0, timeout)
    waiting = [service.ask() for _ in range(4)]
    waiting.append(service.ask(n_bytes=-5))
    time.sleep(1)
    begin = time.monotonic()
    service.idle.close()
    found, log = service.end(*signals)
    assert time.monotonic() - begin < timeout + 10
    assert found == status
    assert {request.status() for request in waiting} == {503}
    assert all(b"G2G-E1275" in request.answer for request in waiting)
    check_log(log)
