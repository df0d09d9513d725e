"""The "+2" recipe of document 3: an encoder–decoder that should turn 10 20 … into 12 22 …

`as_printed` runs it with its own numbers: one sequence, unscaled, 500 epochs and the
first. `mended` changes three things: many sequences, numbers ÷ 50, no dropout. Each is
trained once and kept. Random numbers are drawn in a fork: nobody else's are touched.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.steps import sinusoid

from .said import once

STEPS = 501  # epochs 0 to 500
N_EMBD, N_HEAD, N_LAYER, HIDDEN = 16, 2, 2, 32
LENGTH, ADDED = 5, 2
SCALE = 50.0  # of the mended recipe
BATCH = 16  # of the mended recipe, too

Batch = tuple[Tensor, Tensor, Tensor]  # src, tgt and target: (B, LENGTH, 1) each


class Seq2Seq(nn.Module):
    """A number -> 16 channels + its position -> nn.Transformer -> a number."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.embed = nn.Linear(1, N_EMBD)
        self.transformer = nn.Transformer(
            N_EMBD, N_HEAD, N_LAYER, N_LAYER, HIDDEN, dropout, batch_first=True
        )
        self.head = nn.Linear(N_EMBD, 1)
        rows = [sinusoid(position, N_EMBD) for position in range(LENGTH)]
        self.register_buffer("positions", torch.stack(rows).float())
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(LENGTH))

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """src `(B, LENGTH, 1)`, tgt `(B, T, 1)` -> `(B, T, 1)`."""
        T = tgt.size(1)
        src, tgt = (
            self.embed(x) * math.sqrt(N_EMBD) + self.positions[: x.size(1)] for x in (src, tgt)
        )
        return self.head(self.transformer(src, tgt, tgt_mask=self.mask[:T, :T]))


@dataclass(frozen=True)
class Trained:
    model: Seq2Seq
    scale: float
    losses: tuple[float, ...]  # mean squared error, in units of the numbers themselves

    @torch.no_grad()
    def forced(self, src: Tensor) -> Tensor:
        """Teacher forcing: each answer is given the right ones before it. `(B, LENGTH)`."""
        src, tgt, _ = with_answers(src)
        return self.model(src / self.scale, tgt / self.scale)[..., 0] * self.scale

    @torch.no_grad()
    def free(self, src: Tensor) -> Tensor:
        """Free running: each answer is given the model's own before it. `(B, LENGTH)`."""
        tgt = torch.zeros(len(src), 1, 1)
        for _ in range(LENGTH):
            found = self.model(src[..., None] / self.scale, tgt / self.scale)[:, -1:] * self.scale
            tgt = torch.cat([tgt, found], dim=1)
        return tgt[:, 1:, 0]


def with_answers(src: Tensor) -> Batch:
    """`(B, LENGTH)` -> what goes in, the answers shifted by one with 0 in front, the answers."""
    target = src + ADDED
    tgt = F.pad(target[:, :-1], (1, 0))
    return src[..., None], tgt[..., None], target[..., None]


def sequences(count: int, generator: torch.Generator) -> Tensor:
    """Evenly spaced numbers, up or down: `(count, LENGTH)`."""
    start = 60 * torch.rand(count, 1, generator=generator)
    step = 20 * torch.rand(count, 1, generator=generator) - 10
    return start + step * torch.arange(LENGTH)


def trained(
    seed: int, rate: float, dropout: float, scale: float, batch: Callable[[], Tensor]
) -> Trained:
    """`STEPS` steps of Adam on what `batch` hands out, seeded."""
    losses = []
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model = Seq2Seq(dropout)
        optimizer = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
        for _ in range(STEPS):
            src, tgt, target = (x / scale for x in with_answers(batch()))
            loss = F.mse_loss(model(src, tgt), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item() * scale**2)
    return Trained(model.eval().requires_grad_(False), scale, tuple(losses))


UP = torch.tensor([[10.0, 20.0, 30.0, 40.0, 50.0]])


@once
def as_printed() -> Trained:
    return trained(seed=1, rate=0.001, dropout=0.1, scale=1.0, batch=lambda: UP)


@once
def mended() -> Trained:
    seed, generator = 4, torch.Generator().manual_seed(4)
    return trained(
        seed, rate=0.003, dropout=0.0, scale=SCALE, batch=lambda: sequences(BATCH, generator)
    )
