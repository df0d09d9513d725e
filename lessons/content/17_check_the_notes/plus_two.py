"""The "+2" recipes of document 3, each trained once and kept."""

from __future__ import annotations

from model.plus_two import RECIPES, PlusTwoRun

from .said import once


def trained(recipe: str, seed: int) -> PlusTwoRun:
    """A recipe's whole training, seeded."""
    run = PlusTwoRun(recipe, seed)
    while run.step < RECIPES[recipe].steps:
        run.advance()
    return run


@once
def as_printed() -> PlusTwoRun:
    return trained("as_printed", seed=1)


@once
def mended() -> PlusTwoRun:
    return trained("mended", seed=4)
