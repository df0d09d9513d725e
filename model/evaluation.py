"""How well a model knows a text it has not seen: nats per character.

loss = −Σ ln p(token | the tokens before it) / characters

The sum runs over every token of the text, but the division is by characters,
so that tokenizers with long and short tokens compare; by UTF-8 bytes likewise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F

from model.corpora import documents
from model.gpt import GPT
from model.tokenizer import Tokenizer


@dataclass(frozen=True)
class HeldOutLoss:
    """Total surprise over a text, and the text's size in each unit."""

    nats: float
    tokens: int
    characters: int
    bytes: int

    @property
    def per_character(self) -> float:
        return self.nats / self.characters

    @property
    def per_byte(self) -> float:
        return self.nats / self.bytes


def held_out_loss(
    gpt: GPT, tokenizer: Tokenizer, text: str, *, separator: str = "", batch_size: int = 32
) -> HeldOutLoss:
    """The loss of `gpt` on `text`, each token with at least half a window before it.

    Windows of block_size advance by half, and only the later half of each is counted;
    the first is counted whole, after a line break that stands for "the text begins".
    With a `separator` the text is many short ones, each beginning anew.
    """
    windows: dict[int, list[tuple[list[int], int]]] = {}  # by length: ids, how many were counted
    tokens = 0
    for part in documents(text, separator):
        ids = tokenizer.encode("\n") + tokenizer.encode(part)
        n = len(ids) - 1  # targets: ids[1:]
        tokens += n
        T = min(gpt.config.block_size, n)
        for start, seen in overlapping(n, T):
            windows.setdefault(T, []).append((ids[start : start + T + 1], seen))
    nats = sum(
        batch_nats(gpt, group[i : i + batch_size])
        for group in windows.values()
        for i in range(0, len(group), batch_size)
    )
    return HeldOutLoss(nats, tokens, len(text), len(text.encode("utf-8")))


@torch.no_grad()
def batch_nats(gpt: GPT, windows: list[tuple[list[int], int]]) -> float:
    """−Σ ln p over windows of one length, without the places counted before."""
    ids = torch.tensor([ids for ids, _ in windows], device=gpt.wte.weight.device)  # (B, T + 1)
    logits = gpt(ids[:, :-1])  # (B, T) -> (B, T, V)
    losses = F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")  # (B, T)
    return sum(
        row[seen:].double().sum().item() for row, (_, seen) in zip(losses, windows, strict=True)
    )


def overlapping(n: int, T: int) -> Iterator[tuple[int, int]]:
    """Windows of T over n places: (start, how many of its places were counted before).

    >>> list(overlapping(9, 4))
    [(0, 0), (2, 2), (4, 2), (5, 3)]
    """
    done = T
    yield 0, 0
    while done < n:
        end = min(done + max(1, T // 2), n)
        yield end - T, done - (end - T)
        done = end
