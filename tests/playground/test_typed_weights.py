"""Weights typed by hand: softmax is bypassed, and what was typed is what is used."""

from __future__ import annotations

import pytest

from playground.stage import act
from playground.state import State
from playground.tab import tabs
from tests.playground.doing import (
    DOT,
    HEADS,
    MASKING,
    SELF,
    SMALL,
    cell,
    do,
    put,
)


def test_typed_weights_start_as_what_softmax_made():
    state = put(SMALL, "typed", True)
    shown = SELF.flow(SMALL).get("weights").values.tolist()
    assert state == SMALL.but(typed=True, weights=[shown])
    assert put(state, "typed", False) == state.but(typed=False)
    assert put(put(state, "typed", False), "typed", True) == state  # what was typed comes back


@pytest.mark.parametrize(("text", "en"), [("-0.1", "cannot be negative"), ("x", "not a number")])
def test_a_weight_is_never_negative(text, en):
    state = put(SMALL, "typed", True)
    after = cell(state, text, matrix="weights")
    assert after == state.but(bad={"weights:0:0:0": text})
    assert en in act({"tab": SELF.name, "lang": "en", "state": after.to_json()})["html"]


@pytest.mark.parametrize("tab", tabs().values(), ids=list(tabs()))
def test_a_typed_weight_is_the_weight_that_is_used(tab):
    """What is typed is on the page as it was typed, whatever the row sums to."""
    state = put(SMALL, "typed", True, tab)
    name = tab.typed_matrix
    after = cell(state, "0.9", 0, 1, matrix=name, tab=tab)
    shown = tab.flow(after).get(name).values.tolist()
    assert shown == after.weights[0]
    assert shown[0][1] == 0.9
    assert sum(shown[0]) != 1
    assert after.bad == {}


def test_typed_weights_and_a_mistake_exclude_each_other():
    state = put(SMALL, "typed", True)
    broken = put(state, "mistake", "no_scale")
    assert (broken.typed, broken.mistake) == (False, "no_scale")
    assert put(broken, "typed", True).mistake == ""
    both = state.but(mistake="no_scale").to_json()
    assert do(SMALL, "load", state=both).typed is False


def test_typed_weights_follow_the_heads():
    state = SMALL.but(typed=True, weights=[[[0.5, 0.5], [0.1, 0.9]]])
    two = put(state, "n_head", 2, HEADS)
    assert [(len(w), len(w[0])) for w in two.weights] == [(2, 2), (2, 2)]
    one = do(two, "width", HEADS, by=-1)  # a width of 1 leaves room for one head
    assert one.n_head == 1
    assert len(one.weights) == 1


def test_typed_weights_are_kept_when_tokens_come_and_go():
    state = SMALL.but(typed=True, weights=[[[0.5, 0.5], [0.1, 0.9]]])
    more = do(state, "add")
    assert more.weights == [[[0.5, 0.5, 0.0], [0.1, 0.9, 0.0], [0.0, 0.0, 0.0]]]
    assert do(more, "remove", index=2) == state.but(open=None)
    assert do(state, "remove", index=0).weights == [[[0.9]]]
    one_row = SMALL.but(typed=True, weights=[[[0.3, 0.7]]])
    assert do(one_row, "remove", DOT, index=0).weights == [[[0.7]]]
    assert do(one_row, "add", DOT).weights == [[[0.3, 0.7, 0.0]]]


def test_one_token_with_typed_weights_can_get_a_second():
    one = State(tokens=["a"], vectors=[[1.0]], typed=True, weights=[[[0.4]]])
    for tab in (DOT, SELF, MASKING, HEADS):
        two = do(one, "add", tab)
        assert len(two.weights[0][0]) == 2
        assert tab.flow(two).get(tab.typed_matrix).values.tolist() == two.weights[0]
