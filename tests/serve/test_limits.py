"""What holds for all requests, whatever they ask for."""

import asyncio
import json
import time
from typing import Any

import pytest

from .conftest import Client, talk

BODY = json.dumps({"text": "dogs bark"}).encode()


async def send_raw(app: Any, *messages: dict[str, Any]) -> list[int]:
    """The statuses that a request gets whose client sends some messages, and then nothing."""
    left, statuses = list(messages), []

    async def receive() -> dict[str, Any]:
        return left.pop(0) if left else await asyncio.Event().wait()

    async def send(message: dict[str, Any]) -> None:
        statuses.extend([message["status"]] if "status" in message else [])

    headers = [(b"content-type", b"application/json"), (b"host", b"localhost:8000")]
    scope = {"type": "http", "method": "POST", "path": "/parse", "query_string": b"", "headers": headers}
    await app(scope, receive, send)
    return statuses


def part(body: bytes, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:80", 200), ("[::1]:8000", 200), ("LOCALHOST", 200), ("evil.example", 421), ("[", 421)],
)
def test_the_service_answers_by_its_own_names_alone(app, host: str, status: int):
    reply = talk(app, lambda client: client.get("/pipeline", headers={"Host": host}))
    assert reply.status_code == status
    assert status == 200 or f"is for the host '{host}'. Expected an IP address, localhost, or" in reply.text


def while_others_send(app: Any, n: int, body: bytes, **request: Any) -> list[Any]:
    """The replies to a request while n others have sent a part of their bodies, and to one after them."""

    async def conversation(client: Client) -> list[Any]:
        late = [asyncio.create_task(send_raw(app, part(body, more=True))) for _ in range(n)]
        await asyncio.sleep(0)
        reply = await client.post("/parse", **request)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        return [reply, await client.post("/parse", json={"text": "dogs bark"})]

    return talk(app, conversation)


def test_requests_that_never_arrive_hold_no_place(app):
    replies = while_others_send(app, 40, b"{", json={"text": "dogs bark"})
    assert [reply.status_code for reply in replies] == [200, 200]


def test_bodies_that_wait_are_bounded_together(app):
    refused, reply = while_others_send(app, 4, b" " * 190_000, content=b" " * 50_000)
    assert (refused.status_code, reply.status_code) == (429, 200)
    assert "The service is busy: its requests have 810000 bytes together." in refused.text


def test_a_request_ends_with_its_client(app, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("spacy_g2g.serve.limits.MAX_REQUESTS", 1)
    never = asyncio.Event()
    monkeypatch.setattr(app.state.worker, "ask", lambda _: never.wait())

    async def conversation() -> list[int]:
        return [
            *await send_raw(app, part(BODY), {"type": "http.disconnect"}),
            *await send_raw(app, part(b"{}")),
        ]

    start = time.monotonic()
    assert asyncio.run(conversation()) == [422]
    assert time.monotonic() - start < 5
