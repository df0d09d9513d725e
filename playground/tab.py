"""What a tab is: a name, its words, its presets, and a function from state to matrices.

Adding a tab is one file in `playground/tabs/` that defines `TAB`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

from lessons.words import Words
from playground.flow import Flow
from playground.render import Html
from playground.state import State


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
    takes_qkv: bool = False  # q, k and v may be given instead of X and W
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
    """The tabs of typed vectors, in order."""
    from playground.panel import panels

    return {name: p.tab for name, p in panels().items() if isinstance(getattr(p, "tab", None), Tab)}


LOOKS = ("step", "open", "pins", "ask", "answer", "preset", "bad", "show_code")
REMEMBERED = 64  # flows a tab; one edit needs its own two or three times


def remembered(flow: Callable[[State], Flow]) -> Callable[[State], Flow]:
    """`flow`, computed once for states that differ only in what is looked at."""

    @lru_cache(maxsize=REMEMBERED)
    def by_text(text: str) -> Flow:
        return flow(State(**json.loads(text)))

    def of(state: State) -> Flow:
        computed_from = {k: v for k, v in state.to_json().items() if k not in LOOKS}
        return by_text(json.dumps(computed_from))

    return of
