"""What a lesson says an experiment will show comes about, whichever seed is drawn."""

from __future__ import annotations

import importlib
import inspect

import pytest

from lessons.course import CONTENT, stations

EXPERIMENTS = [
    pytest.param(t.holds, id=f"{s.name}-{t.name}")
    for s in stations().values()
    for t in s.tries
    if t.holds
]


@pytest.mark.parametrize("holds", EXPERIMENTS)
def test_an_experiment_turns_out_as_its_lesson_says(holds):
    outcomes = {seed: holds(seed) for seed in range(10)}
    assert all(outcomes.values()), outcomes


def test_every_outcome_is_that_of_a_try():
    """A function that no lesson's text speaks of would be checked for nothing."""
    for path in CONTENT.glob("*/outcomes.py"):
        module = importlib.import_module(f"lessons.content.{path.parent.name}.outcomes")
        made_here = [
            name
            for name, f in vars(module).items()
            if inspect.isfunction(f)
            and f.__module__ == module.__name__
            and list(inspect.signature(f).parameters) == ["seed"]
        ]
        tries = {t.name for t in stations()[path.parent.name].tries}
        assert made_here
        assert set(made_here) <= tries
