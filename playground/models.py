"""The trained models that visitors share: loaded once, never changed.

A person who runs the app may add one of their own with `--model`.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from pathlib import Path

from model.checkpoint import (
    CONFIG,
    NAMES,
    Checkpoint,
    check_vocabulary,
    load_checkpoint,
    load_gpt2,
)
from model.errors import GPT2FilesError
from model.tokenizer import Tokenizer, gpt2_tokenizer
from playground import input_errors as errors

GPT2 = "gpt2"  # a tokenizer, without a model
SECONDS = 3.0  # that a visitor waits for a download
own: dict[str, Checkpoint] = {}  # filled once, before the server starts


def add_own(folder_or_hub_name: str) -> str:
    """Load a model of the person's own; the name it is offered under.

    A folder with our own layout, or with Hugging Face's GPT-2, or a name on the hub.
    Raises a `CheckpointError`.
    """
    if os.path.isdir(folder_or_hub_name) or folder_or_hub_name in NAMES:
        checkpoint = load_checkpoint(folder_or_hub_name)
    else:
        gpt, tokenizer = load_gpt2(folder_or_hub_name), gpt2_tokenizer()
        check_vocabulary(tokenizer, gpt.config, Path(folder_or_hub_name), CONFIG)
        checkpoint = Checkpoint(gpt, tokenizer, {})
    name = Path(folder_or_hub_name).resolve().name  # also of "."
    if name == GPT2:
        name += "-own"  # the tokenizer is called so
    own[name] = checkpoint
    return name


def names() -> tuple[str, ...]:
    """Models to choose from, the person's own first."""
    return (*own, *(name for name in NAMES if name not in own))


def tokenizer_names() -> tuple[str, ...]:
    return (*names(), GPT2)


def checkpoint(name: str) -> Checkpoint:
    """A model by its name. Raises `UnknownNameError`, or a `CheckpointError`."""
    if name not in names():
        raise errors.UnknownNameError(found=errors.short(name), names=" | ".join(names()))
    return own.get(name) or shipped(name)


@cache
def shipped(name: str) -> Checkpoint:
    return load_checkpoint(name)


def tokenizer(name: str) -> Tokenizer:
    """A model's tokenizer, or GPT-2's. Raises `UnknownNameError` or `GPT2FilesError`."""
    if name not in tokenizer_names():
        raise errors.UnknownNameError(found=errors.short(name), names=" | ".join(tokenizer_names()))
    return gpt2() if name == GPT2 else checkpoint(name).tokenizer


class Fetched:
    """GPT-2's tokenizer, asked for in a thread of its own: where the network is slow, nobody waits long."""

    def __init__(self) -> None:
        self.found: Tokenizer | None = None
        self.error: GPT2FilesError = GPT2FilesError(reason="…")
        self.done = threading.Event()
        threading.Thread(target=self.fetch, daemon=True).start()

    def fetch(self) -> None:
        try:
            self.found = gpt2_tokenizer()
        except GPT2FilesError as error:
            self.error = error
        self.done.set()


@cache
def fetched() -> Fetched:
    return Fetched()


def gpt2() -> Tokenizer:
    """Raises `GPT2FilesError` where the files cannot be had, or not within SECONDS."""
    waited = fetched()
    waited.done.wait(SECONDS)
    if waited.found is None:
        raise GPT2FilesError(**waited.error.values)  # anew: an error keeps every raise it had
    return waited.found
