"""The text of the GPT tab: its tokens, what the model thought of each, and the next one.

Everything follows from the state. A model reads at most block_size tokens; beyond,
the rule of `model.sampling` holds: the earlier half of a full window is let go.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import torch
from torch import Tensor

from model.checkpoint import Checkpoint
from model.sampling import SamplingConfig, draw, ends_with, prompt_ids
from playground import models
from playground.gpt.state import GptState


def checkpoint(state: GptState) -> Checkpoint:
    return models.checkpoint(state.model)


def ids_of(state: GptState) -> tuple[list[int], list[int]]:
    """(the prompt's ids, all ids)."""
    prompt = prompt_ids(checkpoint(state).tokenizer, state.prompt)
    return prompt, prompt + state.written


def sampling(state: GptState) -> SamplingConfig:
    return SamplingConfig(
        state.temperature, state.top_k or None, state.top_p if state.top_p < 1 else None
    )


def windows(prompt: int, total: int, block_size: int) -> Iterator[tuple[int, int, int]]:
    """What is read to predict tokens `prompt` to `total`: (start, first, end) of each window.

    Tokens first … end − 1 are predicted by a window that begins at start.

    >>> list(windows(3, 8, 4))
    [(0, 3, 5), (3, 5, 8)]
    """
    half = max(1, block_size // 2)
    start = 0 if prompt <= block_size else prompt - half
    first = prompt
    while first < total:
        end = min(total, start + block_size + 1)
        yield start, first, end
        first, start = end, end - half


@lru_cache(maxsize=8)  # one may be 400 rows of GPT-2's vocabulary: 80 MB
def predictions(model: str, ids: tuple[int, ...], prompt: int) -> Tensor:
    """Logits `(len(ids) − prompt + 1, V)`: for each written token, and for the one to come."""
    gpt = models.checkpoint(model).gpt
    rows = []
    with torch.no_grad():
        for start, first, end in windows(prompt, len(ids) + 1, gpt.config.block_size):
            logits = gpt(torch.tensor([ids[start : end - 1]]))[0]  # the last predicts ids[end - 1]
            rows.append(logits[first - start - 1 :])
    return torch.cat(rows)


def of(state: GptState) -> Tensor:
    """`predictions` for the state's text."""
    prompt, ids = ids_of(state)
    return predictions(state.model, tuple(ids), len(prompt))


def next_token(state: GptState) -> int:
    """The token that the state's seed draws at this place."""
    place = len(state.written)
    generator = torch.Generator().manual_seed(state.seed * 1_000_003 + place)
    return draw(of(state)[-1], sampling(state), generator)


def ended(state: GptState) -> bool:
    """Whether what was written has come to where the model's texts end, and it knows no more."""
    found = checkpoint(state)
    return ends_with(found.tokenizer, state.written, found.separator)


def piece(token: bytes) -> str:
    """A token as it can be read: blanks and line breaks made visible, half characters as bytes.

    >>> piece(b" the"), piece(b"\\n\\n"), piece("한".encode()[:2])
    ('␣the', '↵↵', '‹ED 95›')
    """
    try:
        text = token.decode("utf-8")
    except UnicodeDecodeError:
        return "‹" + token.hex(" ").upper() + "›"
    text = text.replace(" ", "␣").replace("\n", "↵").replace("\t", "⇥").replace("\r", "␍")
    return "".join(c if c.isprintable() else f"‹{ord(c):X}›" for c in text)


def pieces_of(state: GptState, ids: list[int]) -> list[str]:
    tokenizer = checkpoint(state).tokenizer
    return [piece(tokenizer.token_bytes(i)) for i in ids]
