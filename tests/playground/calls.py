"""Calls of the named API, as any program makes them."""

from __future__ import annotations

import json
from typing import Any

import httpx


def post(client: httpx.Client, name: str, arguments: list[Any]) -> httpx.Response:
    """A raw POST; NaN and ∞ as Python's JSON writes them."""
    return client.post(
        f"/run/{name}",
        content=json.dumps({"data": arguments}),
        headers={"Content-Type": "application/json"},
    )


def call(client: httpx.Client, name: str, *arguments: Any) -> dict[str, Any]:
    """The answer of an endpoint that is called rightly."""
    answer = post(client, name, list(arguments))
    assert answer.status_code == 200, answer.text
    (result,) = answer.json()["data"]
    return result
