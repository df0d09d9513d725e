"""Each headline figure beside a peer, measured in one run. `python -m benchmarks`.

Adding one is one file with `run()`, which gives rows, and its name in MODULES. Ours and
the peer are measured in turns, so that a busy machine is busy for both.
"""

from __future__ import annotations

import contextlib
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

MODULES = (
    "painted",
    "endpoint",
    "startup",
    "first_token",
    "training",
    "generation",
    "learners",
    "learning",
)
ROOT = Path(__file__).parent.parent
OURS = ("app.py",)
PEER = ("-m", "benchmarks.bare_app")
SECONDS_TO_START = 120


@dataclass(frozen=True)
class Row:
    """One figure beside its peer's, in `unit`.

    `target`, if there is one, is the largest ratio, or the smallest where more is better.
    """

    what: str
    ours: float
    theirs: float
    unit: str
    target: float | None = None
    peer: str = "bare app"
    more_is_better: bool = False

    @property
    def ratio(self) -> float:
        """How many times the peer's figure ours is."""
        return self.ours / self.theirs

    @property
    def met(self) -> bool:
        """Whether the ratio is on the right side of the target; always, where there is none."""
        if self.target is None:
            return True
        return self.ratio >= self.target if self.more_is_better else self.ratio <= self.target


def median_row(what: str, ours: list[float], theirs: list[float], **rest: Any) -> Row:
    """The medians of two lists of measurements, side by side; `rest` is the row's other fields."""
    return Row(what, statistics.median(ours), statistics.median(theirs), **rest)


@dataclass(frozen=True)
class Server:
    """A started process and the address it will serve."""

    url: str
    process: subprocess.Popen

    def first_page(self, pause: float = 0.005) -> httpx.Response:
        """The first page served, redirects followed, asked for until it comes.

        Raises `RuntimeError` when the process ends before, or is too slow.
        """
        deadline = time.perf_counter() + SECONDS_TO_START
        with httpx.Client(follow_redirects=True, timeout=30) as client:
            while self.process.poll() is None and time.perf_counter() < deadline:
                try:
                    page = client.get(self.url)
                    if page.status_code == 200:
                        return page
                except httpx.TransportError:
                    pass  # not listening yet
                time.sleep(pause)
        raise RuntimeError(f"{self.process.args} served no page")


@contextlib.contextmanager
def serving(command: tuple[str, ...]) -> Iterator[Server]:
    """`python *command --port <free>`, just started; stopped at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, *command, "--port", str(port)],
        cwd=ROOT,
        env={**os.environ, "GRADIO_ANALYTICS_ENABLED": "False"},
        stdout=subprocess.DEVNULL,
    )
    try:
        yield Server(f"http://127.0.0.1:{port}", process)
    finally:
        process.terminate()
        process.wait()
