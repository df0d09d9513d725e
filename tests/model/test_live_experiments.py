"""What live training shows besides the experiments of station 12, which has its own outcomes.

A claim that sounds natural does not hold: a model that may look ahead learns to copy all
the same.
"""

from __future__ import annotations

import pytest

from model.live import LiveRun, LiveSettings
from model.tasks import ask

SEEDS = range(10)


def trained(seed: int, steps: int, **settings: object) -> LiveRun:
    run = LiveRun(LiveSettings(seed=seed, **settings))
    for _ in range(steps):
        run.advance()
    return run


def late(run: LiveRun, count: int = 20) -> float:
    """Mean loss of the last steps: one batch alone says little."""
    return sum(run.losses[-count:]) / count


def right(run: LiveRun) -> int:
    """Of 32 new questions."""
    return sum(answer.is_right for answer in ask(run.gpt, run.task, seed=1))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("task", ["sort", "count"])
def test_the_first_loss_is_near_chance(task, seed):
    run = trained(seed, 1, task=task)
    assert run.losses[0] == pytest.approx(run.task.chance, abs=0.4)
    assert right(trained(seed, 0, task=task)) <= 4


@pytest.mark.parametrize("seed", SEEDS)
def test_without_the_mask_copying_is_learned_as_well(seed):
    """The letter that is wanted stands in two places, and the one that may be seen serves too."""
    cheating = trained(seed, 150, task="copy", causal=False)
    assert late(cheating) < 0.2 < cheating.task.floor
    assert right(cheating) >= 28
