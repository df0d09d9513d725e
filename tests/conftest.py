"""What all tests share: the app as people run it, started once."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import torch

torch.set_num_threads(1)  # as the server does: small products only fight over cores

ROOT = Path(__file__).parent.parent
SECONDS_TO_START = 60


@dataclass(frozen=True)
class AppServer:
    """A running `python app.py`: its address, its process and all it printed."""

    url: str
    process: subprocess.Popen
    log_file: Path

    def log(self) -> str:
        """Standard output and standard error so far."""
        return self.log_file.read_text(encoding="utf-8")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal; the exit status, or `TimeoutExpired` after two seconds."""
        self.process.send_signal(number)
        return self.process.wait(timeout=2)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_app(log_file: Path, *arguments: str) -> AppServer:
    """`python app.py --port <free> *arguments`, waited for until it answers."""
    port = free_port()
    with log_file.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "app.py", "--port", str(port), *arguments],
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    app = AppServer(f"http://127.0.0.1:{port}", process, log_file)
    deadline = time.monotonic() + SECONDS_TO_START
    while not answers(app.url):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            process.wait()
            pytest.fail(f"app.py did not start:\n{app.log()}")
        time.sleep(0.05)
    return app


def answers(url: str) -> bool:
    """Whether a page is served at `url`."""
    try:
        return httpx.get(url, follow_redirects=True, timeout=10).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """The app on a free port, one for all tests; they change nothing in it."""
    app = start_app(tmp_path_factory.mktemp("app") / "log.txt")
    yield app
    app.process.terminate()
    try:
        app.process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        app.process.kill()
        app.process.wait()
        raise


@pytest.fixture(scope="session")
def client(app_url: AppServer) -> Iterator[httpx.Client]:
    """One kept connection to the named API."""
    with httpx.Client(base_url=f"{app_url.url}/gradio_api", timeout=30) as client:
        yield client
