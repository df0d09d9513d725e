"""From the start of the process to its first page, and that page's bytes."""

from __future__ import annotations

import time

import httpx

from benchmarks import OURS, PEER, Row, median_row, serving

STARTS = 5


def run() -> list[Row]:
    """Ours and the peer started in turns, once each unmeasured so that the disk is warm."""
    times: tuple[list[float], list[float]] = ([], [])
    pages: list[tuple[httpx.Response, int]] = []
    for start in range(STARTS + 1):
        for which, command in enumerate((OURS, PEER)):
            began = time.perf_counter()
            with serving(command) as server:
                page = server.first_page()
                took = time.perf_counter() - began
                if start == 0:
                    pages.append((page, page.num_bytes_downloaded))
                else:
                    times[which].append(took)
    (ours, ours_sent), (theirs, theirs_sent) = pages
    return [
        median_row("start of the process to first page", *times, unit="s", target=1.25),
        Row("first page, HTML as sent (compressed)", ours_sent, theirs_sent, "B"),
        Row("first page, HTML", len(ours.content), len(theirs.content), "B"),
    ]
