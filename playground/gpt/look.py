"""What the looking sections read: the last tokens of the text, and one traced pass over them."""

from __future__ import annotations

from functools import lru_cache

from model.gpt import ModelTrace
from model.looking import trace_of
from playground import models
from playground.gpt.state import GptState
from playground.gpt.text import ids_of, pieces_of

LOOK = 32  # tokens: a table of 32 × 32 weights can still be read


def looked(state: GptState) -> list[int]:
    """The ids that are looked at: the last LOOK of the text, or as many as the model reads."""
    most = min(LOOK, models.checkpoint(state.model).gpt.config.block_size)
    return ids_of(state)[1][-most:]


def labels(state: GptState) -> list[str]:
    return pieces_of(state, looked(state))


def trace(state: GptState) -> ModelTrace:
    return remembered(state.model, tuple(looked(state)))


@lru_cache(maxsize=16)
def remembered(model: str, ids: tuple[int, ...]) -> ModelTrace:
    return trace_of(models.checkpoint(model).gpt, list(ids))
