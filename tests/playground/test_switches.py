"""Each switch set, and each value that it refuses."""

from __future__ import annotations

import pytest

from model.errors import HeadsError, PlaygroundError
from playground import input_errors as errors
from playground.stage import act
from tests.playground.doing import (
    DOT,
    HEADS,
    SELF,
    SMALL,
    do,
    put,
    refused,
)
from tests.playground.random_states import presets


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("x_seed", "-1"), ("x_seed", "2147483648"), ("x_seed", "1.5"), ("x_seed", "x"), ("x_seed", ""),
        ("x_width", "65"), ("x_width", "0"), ("w_seed", "-1"), ("w_seed", "9" * 300), ("d_out", "65"),
        ("d_out", "0"), ("d_out", "2,5"), ("dropout_seed", "-7"), ("w_seed", None), ("w_seed", [1]),
    ],
)  # fmt: skip
def test_a_size_or_seed_out_of_range_stays_beside_its_field(key, value):
    state = SMALL.but(x="seeded", x_width=4, w="seeded", dropout=0.5)
    after = put(state, key, value)
    assert after == state.but(bad={f"set:{key}": str(value)[:200]})
    for lang, word in (("en", "whole number"), ("ko", "정수")):
        html = act({"tab": SELF.name, "lang": lang, "state": after.to_json()})["html"]
        message = html.split(f'id="bad-{key}">')[1].split("</span>")[0]
        assert word in message
    assert put(after, key, "3").bad == {}


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("x_seed", "0", 0), ("x_seed", "2147483647", 2**31 - 1), ("w_seed", " 42 ", 42), ("d_out", "64", 64),
        ("dropout", "0.9", 0.9), ("dropout", "0", 0.0), ("dropout", 0.05, 0.05), ("n_head", "2", 2),
        ("causal", True, True), ("scale", False, False), ("w_init", "rand", "rand"), ("query", "1", 1),
    ],
)  # fmt: skip
def test_a_switch_is_set(key, value, expected):
    state = SMALL.but(w="seeded")
    assert put(state, key, value, HEADS) == state.but(**{key: expected})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("dropout", "0.95"), ("dropout", "-0.1"), ("dropout", "1"), ("dropout", "x"), ("dropout", None),
        ("n_head", 3), ("n_head", 0), ("n_head", "65"), ("n_head", "1.5"), ("n_head", True),
        ("head", -1), ("head", 64), ("query", 2), ("query", "x"), ("step", 100),
        ("scale", "yes"), ("causal", 1), ("causal", None), ("typed", "x"), ("x", "drawn"), ("x", None),
        ("w", "zeros"), ("w_init", "normal"), ("mistake", "forgot_to_sleep"), ("mistake", 3),
        ("tokens", ["a"]), ("vectors", [[1]]), ("bad", {}), ("open", None), ("", ""), (None, 1), ([], 1),
    ],
)  # fmt: skip
def test_a_switch_that_cannot_be_set_is_refused(key, value):
    refused(PlaygroundError, HEADS, SMALL, {"do": "set", "key": key, "value": value})


def test_the_query_is_one_of_the_tokens():
    error = refused(errors.RangeError, DOT, SMALL, {"do": "set", "key": "query", "value": 2})
    assert (error.values["low"], error.values["high"], error.values["kept"]) == (0, 1, 0)


def test_heads_always_divide_the_width():
    state = SMALL.but(vectors=[[1.0] * 6] * 2, n_head=6, head=5)
    assert do(state, "width", HEADS, by=-1).n_head == 5
    four = do(state, "width", HEADS, by=-2)
    assert (four.n_head, four.head) == (4, 3)
    error = refused(errors.RangeError, HEADS, state, {"do": "set", "key": "n_head", "value": 4})
    assert error.values["kept"] == 6


def test_every_mistake_of_a_tab_can_be_switched_on_and_off():
    for tab, _, state in presets():
        for mistake in tab.mistakes:
            if mistake == "slice_instead_of_project" and state.width % state.n_head:
                action = {"do": "set", "key": "mistake", "value": mistake}
                refused(HeadsError, tab, state, action)  # 3 inputs cannot be cut in 2
                continue
            broken = put(state, "mistake", mistake, tab)
            assert broken.mistake == mistake
            assert put(broken, "mistake", "", tab).mistake == ""
