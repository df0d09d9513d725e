"""`python -m tests.playground.own_training PORT`: the app, saying after how many steps a training ended."""

from __future__ import annotations

import functools
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playground import api, train_api
from playground.server import serve
from tests.conftest import ROOT, AppServer, answers, free_port


@functools.wraps(train_api.train)
def told(*arguments: Any) -> Iterator[dict]:
    step = 0
    try:
        for value in train_api.train(*arguments):
            step = value.get("step", step)
            yield value
    finally:
        print(f"ended after {step} steps", flush=True)


@contextmanager
def started(folder: Path) -> Iterator[AppServer]:
    port, log_file = free_port(), folder / "log.txt"
    with log_file.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.playground.own_training", str(port)],
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    app = AppServer(f"http://127.0.0.1:{port}", process, log_file)
    try:
        while not answers(app.url):
            assert process.poll() is None, app.log()
            time.sleep(0.05)
        yield app
    finally:
        process.terminate()
        process.wait(timeout=10)


if __name__ == "__main__":
    api.QUEUED["train"] = told
    raise SystemExit(serve(["--port", sys.argv[1]]))
