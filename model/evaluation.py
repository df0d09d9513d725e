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
    gpt: GPT, tokenizer: Tokenizer, text: str, *, batch_size: int = 32
) -> HeldOutLoss:
    """The loss of `gpt` on `text`, each token with at least half a window before it.

    Windows of block_size advance by half, and only the later half of each is counted;
    the first is counted whole, after a line break that stands for "the text begins".
    """
    ids = tokenizer.encode("\n") + tokenizer.encode(text)
    n = len(ids) - 1  # targets: ids[1:]
    T = min(gpt.config.block_size, n)
    device = next(gpt.parameters()).device
    tensor = torch.tensor(ids, device=device)
    nats = 0.0
    views = list(overlapping(n, T))
    with torch.no_grad():
        for part in (views[i : i + batch_size] for i in range(0, len(views), batch_size)):
            starts = torch.tensor([start for start, _ in part], device=device)
            at = starts.unsqueeze(1) + torch.arange(T, device=device)  # (B, T)
            logits = gpt(tensor[at])  # (B, T) -> (B, T, V)
            losses = F.cross_entropy(
                logits.transpose(1, 2), tensor[at + 1], reduction="none"
            )  # (B, T)
            for row, (_, seen) in zip(losses, part, strict=True):
                nats += row[seen:].double().sum().item()
    return HeldOutLoss(nats, n, len(text), len(text.encode("utf-8")))


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
