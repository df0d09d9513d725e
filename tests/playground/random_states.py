"""Random states of a tab, as a person could have made them, from `random.Random(seed)`.

Tokens 1 to 16; vectors typed up to 16 wide or drawn up to 64 wide; W the identity, typed or
drawn; heads, mask, scale, dropout, typed weights and mistakes as far as the tab has them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from model.errors import PlaygroundError
from playground.state import State
from playground.tab import Tab, tabs

NAMES = [
    "cat",
    "고양이",
    "mat",
    "앉았다",
    "a b",
    "it's",
    "“q”",
    "e=mc²",
    "🙂",
    "<i>",
    "{n}",
    "\\n",
    "#",
]


def number(rng: random.Random) -> float:
    """What people type: small, with two decimals, now and then whole, zero or large."""
    kind = rng.random()
    if kind < 0.7:
        return round(rng.uniform(-3, 3), 2)
    return rng.choice([0.0, 1.0, -1.0, 2.0, 7, -0.5, 1e-3, 12.25, round(rng.uniform(-40, 40), 1)])


def rows(rng: random.Random, height: int, breadth: int) -> list[list[float]]:
    return [[number(rng) for _ in range(breadth)] for _ in range(height)]


def divisor(rng: random.Random, width: int) -> int:
    return rng.choice([n for n in range(1, width + 1) if width % n == 0])


def size(rng: random.Random, most: int) -> int:
    """1 to `most`, more often small: both ends of the range still come up."""
    return rng.choice([1, 2, 3, 4, most, rng.randint(1, most), rng.randint(1, min(most, 8))])


def projections(rng: random.Random, tab: Tab, state: State) -> State:
    """W typed or drawn, or the identity."""
    w = rng.choice(["identity", "typed", "seeded", "seeded"])
    if w == "identity" or (w == "typed" and state.width > 16):
        return state
    if w == "seeded":
        drawn = {"w_seed": rng.randrange(2**31), "w_init": rng.choice(["linear", "rand"])}
        return state.but(w=w, d_out=size(rng, 64), show_w=rng.random() < 0.5, **drawn)
    C = size(rng, 16)
    names = ("w_query", "w_key", "w_value")
    w_typed = {name: rows(rng, state.width, C) for name in names}
    if "n_head" in tab.controls and rng.random() < 0.7:
        w_typed["w_out"] = rows(rng, C, C)
    return state.but(w=w, show_w=rng.random() < 0.5, **w_typed)


def weights(rng: random.Random, tab: Tab, state: State) -> list[list[list[float]]]:
    """Weights a person typed: at least 0, some 0, rows that need not sum to 1."""
    T = len(state.tokens)
    heads = state.n_head if "n_head" in tab.controls else 1
    height = 1 if "query" in tab.controls else T
    return [
        [[rng.choice([0.0, 1.0, round(rng.random(), 2)]) for _ in range(T)] for _ in range(height)]
        for _ in range(heads)
    ]


def draft(rng: random.Random, tab: Tab, mistakes: bool) -> State:
    """A state that has the right shapes; whether it can be computed is not yet known."""
    T = size(rng, 16)
    state = State(tokens=[rng.choice(NAMES) for _ in range(T)], query=rng.randrange(T))
    if rng.random() < 0.3:
        state = state.but(
            x="seeded", x_seed=rng.randrange(2**31), x_width=size(rng, 64), vectors=[[0.0]] * T
        )
    else:
        state = state.but(vectors=rows(rng, T, size(rng, 16)))
    if "projections" in tab.controls:
        state = projections(rng, tab, state)
    if "n_head" in tab.controls:
        n_head = divisor(rng, state.channels)
        state = state.but(n_head=n_head, head=rng.randrange(n_head))
    if {"mechanism", "scaling"} & set(tab.controls):
        state = state.but(scale=rng.random() < 0.7)
    if "mechanism" in tab.controls:
        state = state.but(causal=rng.random() < 0.6)
    if "dropout" in tab.controls and rng.random() < 0.4:
        state = state.but(
            dropout=rng.choice([0.1, 0.25, 0.5, 0.9]), dropout_seed=rng.randrange(2**31)
        )
    if rng.random() < 0.2:
        return state.but(typed=True, weights=weights(rng, tab, state))
    if mistakes and "break" in tab.controls and rng.random() < 0.6:
        return state.but(mistake=rng.choice(tab.mistakes))
    return state


@cache
def random_states(tab_name: str, count: int = 100, mistakes: bool = True) -> tuple[State, ...]:
    """That many states of a tab, always the same; a mistake that the sizes forbid is dropped."""
    tab, rng = tabs()[tab_name], random.Random(f"{tab_name} {mistakes}")
    found = []
    for _ in range(count):
        state = draft(rng, tab, mistakes)
        try:
            tab.flow(state)
        except PlaygroundError:
            state = replace(state, mistake="")
        found.append(state)
    return tuple(found)


def presets() -> Iterator[tuple[Tab, str, State]]:
    """(tab, name, state) of every preset of every tab."""
    for tab in tabs().values():
        for preset in tab.presets:
            yield tab, preset.name, tab.preset(preset.name)


def broken_presets() -> Iterator[tuple[Tab, str, State]]:
    """Every preset as it is and with each mistake of its tab that can be made in it."""
    for tab, name, state in presets():
        yield tab, name, state
        for mistake in tab.mistakes:
            broken = state.but(mistake=mistake, typed=False)
            try:
                tab.flow(broken)
            except PlaygroundError:
                continue
            yield tab, f"{name}, {mistake}", broken
