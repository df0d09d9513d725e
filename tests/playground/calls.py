"""Calls of the named API, as any program makes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import httpx


def post(client: httpx.Client, name: str, arguments: list[Any]) -> httpx.Response:
    """A raw POST; NaN and ∞ as Python's JSON writes them."""
    return client.post(
        f"/run/{name}",
        content=json.dumps({"data": arguments}),
        headers={"Content-Type": "application/json"},
    )


def join(client: httpx.Client, name: str, arguments: list[Any]) -> str:
    """The address of a queued call's stream."""
    answer = client.post(
        f"/call/{name}",
        content=json.dumps({"data": arguments}),
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 200, answer.text
    return f"/call/{name}/{answer.json()['event_id']}"


def events(stream: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """The lines of a stream -> (event, its data)."""
    event = ""
    for line in stream:
        if line.startswith("event: "):
            event = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield event, json.loads(line.removeprefix("data: "))


def listen(client: httpx.Client, name: str, *arguments: Any) -> list[tuple[str, Any]]:
    """All events of a queued call, to its end."""
    return list(events(client.get(join(client, name, list(arguments))).text.splitlines()))


def streamed(client: httpx.Client, name: str, *arguments: Any) -> list[dict[str, Any]]:
    """The values of a queued call that is called rightly."""
    heard = listen(client, name, *arguments)
    *kinds, last = (event for event, _ in heard)
    assert (set(kinds) <= {"generating", "heartbeat"}, last) == (True, "complete"), heard
    return [data[0] for event, data in heard if event != "heartbeat"]


def call(client: httpx.Client, name: str, *arguments: Any) -> dict[str, Any]:
    """The answer of an endpoint that is called rightly."""
    answer = post(client, name, list(arguments))
    assert answer.status_code == 200, answer.text
    (result,) = answer.json()["data"]
    return result
