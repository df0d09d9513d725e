"""A server with a model of its own, which transformers holds as well."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from transformers import GPT2LMHeadModel

from model.checkpoint import Checkpoint, save_checkpoint
from model.tokenizer import Tokenizer
from tests.conftest import ROOT, AppServer, answers, free_port
from tests.model.small import with_theirs

BLOCK_SIZE = 112
NOWHERE = dict.fromkeys(("https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")  # nobody listens


@dataclass(frozen=True)
class Own:
    """The server, a connection to its named API, and its model `mine` in transformers."""

    client: httpx.Client
    app: AppServer
    theirs: GPT2LMHeadModel


@contextmanager
def started(folder: Path) -> Iterator[Own]:
    """`mine` reads bytes; no file of GPT-2's tokenizer, and no network to get them."""
    gpt, theirs = with_theirs(vocab_size=256, block_size=BLOCK_SIZE, n_layer=3, n_head=4, n_embd=32)
    theirs.half().float().set_attn_implementation("eager")  # as it is saved
    save_checkpoint(folder / "mine", Checkpoint(gpt, Tokenizer.from_merges([]), {}))
    (folder / "nothing").mkdir()
    port, log_file = free_port(), folder / "log.txt"
    with log_file.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.playground.own_model", str(folder / "mine"), str(port)],
            cwd=ROOT,
            env={**os.environ, **NOWHERE, "TIKTOKEN_CACHE_DIR": str(folder / "nothing")},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    app = AppServer(f"http://127.0.0.1:{port}", process, log_file)
    try:
        while not answers(app.url):
            assert process.poll() is None, app.log()
            time.sleep(0.05)
        with httpx.Client(base_url=f"{app.url}/gradio_api", timeout=60) as client:
            yield Own(client, app, theirs)
    finally:
        process.terminate()
        process.wait(timeout=10)


def ended(app: AppServer, before: int) -> int:
    """After how many tokens a generation ended, when more than `before` of them have."""
    while True:
        assert app.process.poll() is None, app.log()
        counts = [line for line in app.log().splitlines() if line.startswith("ended after ")]
        if len(counts) > before:
            return int(counts[before].split()[2])
        time.sleep(0.05)
