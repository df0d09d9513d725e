"""One call of /attention, 6 tokens × 3 dimensions, beside an endpoint that returns a constant."""

from __future__ import annotations

import random
import time
from typing import Any

import httpx

from benchmarks import OURS, PEER, Row, median_row, serving

WARM_UP, CALLS = 50, 500


def run() -> list[Row]:
    """Both servers up, raw POSTs over a kept connection, in turns."""
    draw = random.Random(1)
    vectors = [[draw.gauss(0, 1) for _ in range(3)] for _ in range(6)]
    w = [[[draw.gauss(0, 1) for _ in range(3)] for _ in range(3)] for _ in range(3)]
    with serving(OURS) as ours, serving(PEER) as theirs, httpx.Client() as client:
        ours.first_page()
        theirs.first_page()
        times: tuple[list[float], list[float]] = ([], [])
        for call in range(WARM_UP + CALLS):
            took = (
                milliseconds(
                    client, f"{ours.url}/gradio_api/run/attention", [vectors, *w, True, True]
                ),
                milliseconds(client, f"{theirs.url}/gradio_api/run/constant", []),
            )
            if call >= WARM_UP:
                times[0].append(took[0])
                times[1].append(took[1])
    return [median_row("/attention 6 × 3, one call", *times, unit="ms", target=1.5)]


def milliseconds(client: httpx.Client, url: str, arguments: list[Any]) -> float:
    """How long one call takes; raises unless it is answered rightly."""
    start = time.perf_counter()
    answer = client.post(url, json={"data": arguments})
    took = time.perf_counter() - start
    answer.raise_for_status()
    return took * 1000
