"""What the looking sections read, and one traced pass over it.

The tables of weights are only readable when small: they read the last LOOK tokens.
What is said about the prediction needs no such table: it reads all that the model does.
"""

from __future__ import annotations

from functools import lru_cache

from model.gpt import ModelTrace
from model.looking import trace_of
from playground import models
from playground.gpt.state import GptState
from playground.gpt.text import ids_of, pieces_of, windows

LOOK = 32  # tokens: a table of 32 × 32 weights can still be read
MOST_READ = 128  # tokens: all that our models read; a trace of more of GPT-2 takes gigabytes


def looked(state: GptState) -> list[int]:
    """The ids that are looked at: the last LOOK of the text, or as many as the model reads."""
    most = min(LOOK, models.checkpoint(state.model).gpt.config.block_size)
    return ids_of(state)[1][-most:]


def labels(state: GptState) -> list[str]:
    return pieces_of(state, looked(state))


def trace(state: GptState) -> ModelTrace:
    return remembered(state.model, tuple(looked(state)))


def window(state: GptState) -> list[int]:
    """The ids that the model reads to predict the next token."""
    prompt, ids = ids_of(state)
    block_size = models.checkpoint(state.model).gpt.config.block_size
    *_, (start, _, _) = windows(len(prompt), len(ids) + 1, block_size)
    return ids[start:]


def read(state: GptState) -> list[int]:
    """The end of the window that a trace has room for: the whole one of a small model."""
    return window(state)[-MOST_READ:]


def trace_of_read(state: GptState) -> ModelTrace:
    return remembered(state.model, tuple(read(state)))


@lru_cache(maxsize=8)
def remembered(model: str, ids: tuple[int, ...]) -> ModelTrace:
    return trace_of(models.checkpoint(model).gpt, list(ids))
