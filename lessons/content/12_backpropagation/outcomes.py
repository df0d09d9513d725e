"""What the tries of this station say to expect, for runs of any seed."""

from __future__ import annotations

import math
from functools import cache
from statistics import median

from model.live import LiveRun, LiveSettings, one_step, two_gradients
from model.tasks import ask

STEPS = 300  # after which the tab pauses
RATE = LiveSettings().learning_rate
OPENED = ("blocks.0.attn.c_attn.weight", (0, 0))


@cache
def trained(seed: int, steps: int = STEPS, **settings: object) -> LiveRun:
    run = LiveRun(LiveSettings(seed=seed, **settings))
    for _ in range(steps):
        run.advance()
    return run


def late(run: LiveRun, count: int = 20) -> float:
    """Mean loss of the last steps: one batch alone says little."""
    return sum(run.losses[-count:]) / count


@cache
def right(run: LiveRun) -> int:
    """Of 32 new questions."""
    return sum(answer.is_right for answer in ask(run.gpt, run.task, seed=1))


def learned(seed: int) -> bool:
    run = trained(seed)
    return (
        abs(run.losses[0] - run.task.chance) < 0.4
        and abs(late(run) - run.task.floor) < 0.05
        and right(run) >= 29
    )


def one_step_opened(seed: int) -> bool:
    """Autograd's gradient is that of trying; Adam's first step is as long as the rate."""
    run = LiveRun(LiveSettings(seed=seed))
    autograd, tried = two_gradients(run, *OPENED)
    step = one_step(run, *OPENED)
    moved = abs(step.new_value - step.value)
    return math.isclose(autograd, tried.slope, rel_tol=1e-3) and abs(moved - RATE) < 0.01 * RATE


def no_mask(seed: int) -> bool:
    run = trained(seed, task="sort", causal=False)
    return late(run) < 0.1 < 0.86 < run.task.floor < 0.87 and right(run) <= 4


def no_positions(seed: int) -> bool:
    """Reversing needs places, counting does not."""
    whole, blind = (trained(seed, task="reverse", positions=p) for p in (True, False))
    counts = [right(trained(seed, task="count", positions=p, steps=60)) for p in (True, False)]
    return right(whole) >= 29 and right(blind) == 0 and late(blind) > 1.5 and counts == [32, 32]


def one_head(seed: int) -> bool:
    """One head learns to copy sooner than four, which learn it too."""
    one, four = trained(seed, n_head=1, steps=120), trained(seed)
    sooner = sum(one.losses[60:120]) < sum(four.losses[60:120])
    return sooner and min(right(one), right(four)) >= 29


def too_fast(seed: int) -> bool:
    """The bar is learned and no letter: 11 of the 12 places stay at ln 8."""
    run = trained(seed, learning_rate=30 * RATE, steps=200)
    only_the_bar = 11 * math.log(8) / 12
    return abs(median(run.losses[100:]) - only_the_bar) < 0.1 and right(run) == 0
