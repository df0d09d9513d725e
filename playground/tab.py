"""What a tab is: a name, its words, its presets, and a function from state to matrices.

Adding a tab is one file in `playground/tabs/` that defines `TAB`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from playground.flow import Flow
from playground.render import Html
from playground.state import State
from playground.words import Words


@dataclass(frozen=True)
class Preset:
    """A state worth seeing, with one thing to try in it."""

    name: str
    title: Words
    try_this: Words
    state: State


@dataclass(frozen=True)
class Tab:
    name: str
    order: int
    title: Words
    intro: Words
    formula: Html
    presets: tuple[Preset, ...]
    flow: Callable[[State], Flow]
    sentence: Callable[[Flow, State, str], Html]  # the worked sentence above the matrices
    script: Callable[[State], str]  # Copy as PyTorch
    controls: tuple[str, ...]  # of playground/controls.py, in this order
    mistakes: tuple[str, ...] = ()
    ask: tuple[str, ...] = ("weights",)  # matrices whose cells can be predicted
    typed_matrix: str = "weights"  # the one that can be typed by hand
    extra: Callable[[Flow, State, str], Html] | None = None  # above the matrices

    @property
    def default(self) -> State:
        return self.preset(self.presets[0].name)

    def preset(self, name: str) -> State:
        found = next(p for p in self.presets if p.name == name)
        return found.state.but(preset=name)


@cache
def tabs() -> dict[str, Tab]:
    """Every tab in `playground/tabs/`, in order."""
    package = importlib.import_module("playground.tabs")
    found = [
        importlib.import_module(f"playground.tabs.{m.name}").TAB
        for m in pkgutil.iter_modules(package.__path__)
    ]
    return {tab.name: tab for tab in sorted(found, key=lambda t: t.order)}
