"""States of the Block tab for its tests, and how they are read."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from playground.block.state import BlockState
from playground.panel import panels

PANEL = panels()["block"]
FORM = PANEL.form
EXAMPLES = {e.name: FORM.example(e.name) for e in FORM.examples}
WAYS = list(product(("pre", "post", "none"), (True, False), ("gelu", "relu")))
SEEDS = range(10)


def do(state, name, /, **fields):
    return PANEL.apply(state, {"do": name, **fields})


def set_(state, key, value):
    return do(state, "set", key=key, value=value)


def wired(state, norm, residual, activation):
    return state.but(norm=norm, residual=residual, activation=activation)


def values(state, name, head=0):
    return FORM.flow(state, "en").get(name, head).values


def grids(page):
    """{(matrix, head): its table}; charts have tables too, of another kind."""
    found = [t for t in page.all("table") if "data-matrix" in t.attributes]
    made = {(t.attributes["data-matrix"], int(t.attributes["data-head"])): t for t in found}
    assert len(made) == len(found)
    return made


def close(actual, expected, bound=1e-9):
    torch.testing.assert_close(actual, expected, rtol=bound, atol=bound)


STATES = [
    *(pytest.param(s, id=name) for name, s in EXAMPLES.items()),
    *(
        pytest.param(wired(EXAMPLES[name].but(inside=True), *way), id=f"{name} {way}")
        for name in ("vectors", "trained")
        for way in WAYS
    ),
    pytest.param(EXAMPLES["trained"].but(layer="3", at=2), id="layer 3"),
    pytest.param(EXAMPLES["trained"].but(prompt="", at=0), id="no text"),
    pytest.param(BlockState(tokens=["a"], vectors=[[5.0]], n_head=1), id="one number"),
    pytest.param(BlockState(causal=False, n_head=4, inside=True, seed=9), id="no mask"),
    pytest.param(EXAMPLES["twelve"].but(blocks=1, width="16", gain="0.5"), id="one block"),
]
