"""What the tries of this station say to expect, for trainings and positions of any seed."""

from __future__ import annotations

from functools import cache
from random import Random

import torch
from torch import Tensor

from model.plus_two import (
    ADDED,
    PRINTED,
    RECIPES,
    PlusTwoRun,
    constant_loss,
    evenly_spaced,
    off,
    with_answers,
)
from model.steps import sinusoid

DOWN = PRINTED.flip(-1)  # 50, 40, 30, 20, 10
UNSEEN = evenly_spaced(300, torch.Generator().manual_seed(999_999))
HALF = 400  # steps


@cache
def trained(recipe: str, seed: int, steps: int) -> PlusTwoRun:
    """A run at that step, gone on with from the half-trained one where that is earlier."""
    run = PlusTwoRun(recipe, seed)
    if steps > HALF:
        run.restore(trained(recipe, seed, HALF).state())
    while run.step < steps:
        run.advance()
    return run


def apart(one: Tensor, other: Tensor) -> float:
    return (one - other).abs().max().item()


def as_printed(seed: int) -> bool:
    """It does not learn + 2, costs more than a single number would, and does not read src."""
    run = trained("as_printed", seed, RECIPES["as_printed"].steps)
    answers = run.forced(PRINTED)
    return (
        1100 < run.losses[0] < 1350
        and 250 < run.losses[-1] < 350
        and constant_loss() == 200
        and apart(answers[:, 1:], answers[:, -1:]) < 0.5
        and apart(run.forced(DOWN), answers) < 0.5
        and apart(run.free(DOWN), run.free(PRINTED)) < 0.5
    )


def free_running(seed: int) -> bool:
    """Its own slips cost more than the right answers would, less so later; and it reads src."""
    half, whole = (trained("mended", seed, n) for n in (HALF, RECIPES["mended"].steps))
    slips = [off(run.free(UNSEEN), UNSEEN) for run in (half, whole)]
    given = [off(run.forced(UNSEEN), UNSEEN) for run in (half, whole)]
    return (
        slips[0] > 1.3 * given[0]
        and slips[1] > given[1]
        and slips[1] < slips[0]
        and given[1] < ADDED  # nothing added would be off by 2
        and bool((whole.free(DOWN).diff() < 0).all())
    )


def no_diagonal(seed: int) -> bool:
    """In no head of cross-attention do all five rows look most at their own column."""
    run = trained("mended", seed, HALF)
    blocks = run.trace(PRINTED, with_answers(PRINTED)[0]).decoder
    weights = torch.cat([block.cross.heads.weights[0] for block in blocks])  # (heads, T, T)
    straight = (weights.argmax(dim=-1) == torch.arange(weights.size(-1))).sum(dim=-1)
    return bool((straight < weights.size(-1)).all())


def same_distance(seed: int) -> bool:
    """Two positions share as much as two others, as far apart, anywhere in the table."""
    draw = Random(seed)
    width, first = 2 * draw.randint(1, 32), draw.randrange(64)
    second, moved = first + draw.randint(1, 30), draw.randint(1, 30)
    here = sinusoid(first, width) @ sinusoid(second, width)
    there = sinusoid(first + moved, width) @ sinusoid(second + moved, width)
    return abs((here - there).item()) < 1e-9
