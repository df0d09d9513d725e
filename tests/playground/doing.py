"""What the tests of actions share: small states, and one function for each thing a person does."""

from __future__ import annotations

import json

import pytest

from playground.actions import apply
from playground.stage import act
from playground.state import State
from playground.tab import tabs

SELF, DOT = tabs()["self-attention"], tabs()["dot-product"]
MASKING, HEADS = tabs()["masking"], tabs()["multi-head"]
SMALL = State(tokens=["a", "b"], vectors=[[1.0, 2.0], [3.0, 4.0]])
PINNED = SMALL.but(
    open=["weights", 0, 1, 1],
    pins=[["output", 0, 1, 1], ["q", 0, 0, 0]],
    bad={"vectors:0:1:1": "x"},
)
TYPED_W = SMALL.but(
    w="typed",
    w_query=[[1.0, 2.0, 3.0]] * 2,
    w_key=[[1.0, 0.0, 1.0]] * 2,
    w_value=[[0.5, 0.5, 0.5]] * 2,
)


def do(before, action, tab=SELF, /, **fields):
    return apply(tab, before, {"do": action, **fields})


def cell(state, text, row=0, col=0, matrix="vectors", head=0, tab=SELF):
    return do(state, "cell", tab, matrix=matrix, head=head, row=row, col=col, text=text)


def paste(state, text, row=0, col=0, matrix="vectors", head=0, tab=SELF):
    return do(state, "paste", tab, matrix=matrix, head=head, row=row, col=col, text=text)


def put(state, key, value, tab=SELF):
    return do(state, "set", tab, key=key, value=value)


def refused(kind, tab, state, action):
    """The refusal of an action, after the same through `act`: state kept, notice in both languages."""
    before = json.dumps(state.to_json())
    with pytest.raises(kind) as found:
        apply(tab, state, action)
    assert json.dumps(state.to_json()) == before
    for lang in ("en", "ko"):
        reply = act({"tab": tab.name, "lang": lang, "state": state.to_json(), "actions": [action]})
        assert reply["state"] == state.to_json()
        assert reply["notice"] == found.value.text(lang) != ""
        assert 'class="notice"' in reply["html"]
    return found.value
