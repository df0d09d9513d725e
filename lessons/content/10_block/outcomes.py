"""What the tries of this station say to expect, for blocks of any seed."""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from model.stack import WIRINGS, Climb, alikeness, climb, fresh_block, length, size, stacked

A = torch.tensor([2.0, 4.0, 6.0, 8.0], dtype=torch.float64)
OTHER = torch.tensor([1.0, -1.0, 1.0, -1.0], dtype=torch.float64)


def through(seed: int, residual: bool = True) -> Tensor:
    """The rows a, b = 10 a and c after one fresh block: `(3, 4)`."""
    generator = torch.Generator().manual_seed(seed)
    block = fresh_block(4, 2, generator, residual=residual).requires_grad_(False)
    return block(torch.stack([A, 10 * A, OTHER])[None])[0]


def ten_times(seed: int) -> bool:
    """Both parts add little beside what is there: b stays as long as it came in."""
    grown = through(seed)[1].norm() / (10 * A).norm()
    return 0.95 < grown.item() < 1.05


def nothing_added(seed: int) -> bool:
    """Without the residual connection a and b leave alike; with it b is far longer."""
    a, b, _ = through(seed, residual=False)
    long_a, long_b, _ = through(seed).norm(dim=-1)
    return bool((a - b).abs().max() < 0.005 and long_b > 5 * long_a)


@cache
def climbed(wiring: str, seed: int, gain: float = 1.0) -> Climb:
    """The tab's stack: twelve blocks 64 wide, four heads, eight tokens."""
    return climb(stacked(12, 64, 4, seed, wiring=wiring, gain=gain))


def growth(wiring: str, seed: int, gain: float) -> tuple[float, float]:
    """How many times as large the stream is at the top, and the gradient at the bottom."""
    found = climbed(wiring, seed, gain)
    lengths, sizes = length(found.streams), size(found.gradients)
    return (lengths[-1] / lengths[0]).item(), (sizes[0] / sizes[-1]).item()


def no_layer_norm(seed: int) -> bool:
    """Twice as large, the weights explode without LayerNorm and not with it; × 1 they hardly grow."""
    return (
        min(growth("none", seed, 2.0)) > 5000
        and max(growth("pre", seed, 2.0)) < 10
        and max(growth("none", seed, 1.0)) < 3
    )


def twelve_bricks(seed: int) -> bool:
    """What reaches the bottom, and how alike the tokens are at the top."""
    arrived = {name: size(climbed(name, seed).gradients)[0].item() for name in WIRINGS}
    alike = {name: alikeness(climbed(name, seed).streams[-1]).item() for name in WIRINGS}
    return (
        all(0.5 < arrived[name] < 3 for name in ("pre", "post", "none"))
        and arrived["no_residual"] > 1e-3
        and arrived["neither"] < 1e-13
        and min(alike["no_residual"], alike["neither"]) > 0.995
    )
