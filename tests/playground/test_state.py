"""A state as JSON: the same state back, and a sentence for everything that is no state."""

from __future__ import annotations

import copy
import json
import random

import pytest

from model.errors import PlaygroundError
from playground.actions import usable
from playground.input_errors import LinkError
from playground.state import State, from_json
from playground.tab import tabs
from tests.playground.random_states import presets, random_states

HALF = "\ud83d"  # half an emoji, which JSON allows and UTF-8 does not
JUNK = [
    None, True, False, 0, -1, 3, 65, 2**31, 10**400, 0.5, -0.0, 1e300, float("nan"), float("inf"),
    "", " ", "x", "1", "\x00", HALF, "x" * 65, "가" * 5000,
    [], [[]], [[[]]], [0], [[0]], [[0, 1], [2]], [["x"]], [[True]], [None], [{}], ["a"] * 17,
    ["weights", 0, 0, 0], ["weights", 63, 63, 63], ["weights", -1, 0, 0], ["no", 0.5, 0, 0],
    ["vectors", 0, 0, 0], [["weights", 0, 0, 0]] * 4, [[1.0] * 65], [[0.0]] * 65, [[1e7]],
    {}, {"a": 1}, {"a": {"b": [1]}}, {"vectors:0:0:0": "x" * 300}, {str(n): "x" for n in range(70)},
]  # fmt: skip


def sentences(error):
    return [error.text("en"), error.text("ko")]


@pytest.mark.parametrize("name", tabs())
def test_a_random_state_comes_back_through_json(name):
    for state in random_states(name):
        text = json.dumps(state.to_json(), allow_nan=False)
        assert from_json(json.loads(text)) == state
        assert usable(tabs()[name], json.loads(text)) == state


@pytest.mark.parametrize(
    ("tab", "state"), [pytest.param(t, s, id=f"{t.name}: {n}") for t, n, s in presets()]
)
def test_a_preset_comes_back_through_json_and_is_short(tab, state):
    text = json.dumps(state.to_json(), ensure_ascii=False)
    assert usable(tab, json.loads(text)) == state
    assert len(text) < 700  # what differs from a fresh state, no more


def test_a_fresh_state_is_almost_nothing_as_json():
    assert set(State().to_json()) == {"tokens", "vectors"}
    assert from_json({"unknown": 1, **State().to_json()}) == State()
    with pytest.raises(LinkError, match="tokens is null"):
        from_json({"name": "some other file", "version": 1})


BASE = {"tokens": ["a", "b"], "vectors": [[1.0, 2.0], [3.0, 4.0]]}
NAMES = ("w_query", "w_key", "w_value")
SQUARE = {"w": "typed", **{name: [[1.0, 0.0], [0.0, 1.0]] for name in NAMES}}


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        (None, "state"), ([], "state"), ("x", "state"), (3, "state"), ([["tokens", ["a"]]], "state"),
        ({"tokens": "ab"}, "tokens"), ({"tokens": []}, "tokens"), ({"tokens": ["a"] * 17}, "tokens"),
        ({"tokens": ["a", ""]}, "tokens"), ({"tokens": ["a", "  "]}, "tokens"),
        ({"tokens": ["a", "b" * 25]}, "tokens"), ({"tokens": ["a", 1]}, "tokens"),
        ({"tokens": ["a", HALF]}, "tokens"), ({"tokens": ["a"]}, "vectors"),
        ({"vectors": None}, "vectors"), ({"vectors": [[1.0]]}, "vectors"), ({"vectors": [[], []]}, "vectors[0]"),
        ({"vectors": [[1.0, 2.0], [3.0]]}, "vectors[1]"), ({"vectors": [[1.0], 2.0]}, "vectors[1]"),
        ({"vectors": [[1.0], ["2"]]}, "vectors[1][0]"), ({"vectors": [[1.0], [None]]}, "vectors[1][0]"),
        ({"vectors": [[True], [1.0]]}, "vectors[0][0]"), ({"vectors": [[float("nan")], [1.0]]}, "vectors[0][0]"),
        ({"vectors": [[float("inf")], [1.0]]}, "vectors[0][0]"), ({"vectors": [[1.0], [-1000001]]}, "vectors[1][0]"),
        ({"vectors": [[0.0] * 17] * 2}, "vectors"), ({"vectors": [[0.0] * 65] * 2}, "vectors[0]"),
        ({"x": "drawn"}, "x"), ({"x": []}, "x"), ({"x_seed": -1}, "x_seed"), ({"x_seed": 2**31}, "x_seed"),
        ({"x_seed": 1.5}, "x_seed"), ({"x_seed": True}, "x_seed"), ({"x_seed": "1"}, "x_seed"),
        ({"x_width": 0}, "x_width"), ({"x_width": 65}, "x_width"),
        ({"w": "zeros"}, "w"), ({"w_init": "normal"}, "w_init"), ({"w_seed": -1}, "w_seed"),
        ({"d_out": 65}, "d_out"), ({"d_out": 0}, "d_out"), ({"n_head": 0}, "n_head"), ({"n_head": 1e3}, "n_head"),
        ({"head": -1}, "head"), ({"query": 16}, "query"), ({"query": 2}, "query"),
        ({"scale": 1}, "scale"), ({"causal": "yes"}, "causal"), ({"typed": None}, "typed"),
        ({"show_w": 0}, "show_w"), ({"show_code": []}, "show_code"),
        ({"dropout": 0.95}, "dropout"), ({"dropout": -0.1}, "dropout"), ({"dropout": "0.5"}, "dropout"),
        ({"dropout": float("nan")}, "dropout"), ({"dropout_seed": 10**12}, "dropout_seed"),
        ({"mistake": 3}, "mistake"), ({"mistake": "x" * 65}, "mistake"), ({"preset": None}, "preset"),
        ({"answer": 0.5}, "answer"), ({"answer": HALF}, "answer"), ({"step": -1}, "step"), ({"step": 100}, "step"),
        ({"open": "weights"}, "open"), ({"open": ["weights", 0, 0]}, "open"), ({"open": ["weights", 0, 0, -1]}, "open"),
        ({"open": ["weights", 0, 0, 64]}, "open"), ({"open": ["weights", 0, 0, 0.0]}, "open"),
        ({"open": ["weights", 0, 0, True]}, "open"), ({"open": ["w" * 33, 0, 0, 0]}, "open"),
        ({"ask": {}}, "ask"), ({"pins": None}, "pins"), ({"pins": [["weights", 0, 0, 0]] * 4}, "pins"),
        ({"pins": [[0]]}, "pins"), ({"bad": []}, "bad"), ({"bad": {"a": 1}}, "bad"),
        ({"bad": {"a": "x" * 201}}, "bad"), ({"bad": {str(n): "" for n in range(65)}}, "bad"),
        ({"bad": {"a" * 65: "x"}}, "bad"), ({"bad": {HALF: "x"}}, "bad"),
        ({"weights": []}, "weights"), ({"weights": [[]]}, "weights"), ({"weights": [[[-0.1, 1.0]]]}, "weights"),
        ({"weights": [[[0.5, 0.5, 0.5]]], "typed": True}, "weights columns"),
        ({"w": "typed"}, "w_query"), (SQUARE | {"w_key": None}, "w_key"),
        (SQUARE | {"w_query": [[1.0, 0.0]]}, "w_query rows"), (SQUARE | {"w_value": [[1.0], [0.0]]}, "w_value columns"),
        (SQUARE | {"w_key": [[1.0], [0.0]]}, "w_key columns"), (SQUARE | {"w_out": [[1.0, 0.0]]}, "w_out"),
        (SQUARE | {name: [[0.0] * 17] * 2 for name in NAMES}, "w_query"),
    ],
)  # fmt: skip
def test_what_is_no_state_is_refused_by_a_sentence_that_says_where(wrong, where):
    found = {**BASE, **wrong} if isinstance(wrong, dict) else wrong
    with pytest.raises(LinkError) as refusal:
        from_json(found)
    assert refusal.value.values["where"] == where
    for sentence in sentences(refusal.value):
        assert where in sentence
        assert sentence.encode()  # could be sent


def test_the_base_of_those_cases_is_right():
    assert from_json(BASE) == State(**BASE)
    assert from_json(BASE | SQUARE).channels == 2


def nested(rng, value, junk):
    """`value` with one of its parts, somewhere inside, replaced by junk."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        return {**value, key: nested(rng, value[key], junk)}
    if isinstance(value, list) and value and rng.random() < 0.7:
        at = rng.randrange(len(value))
        return [nested(rng, v, junk) if n == at else v for n, v in enumerate(value)]
    return copy.deepcopy(junk)


def tried(tab, found):
    """(state, []) or (None, the sentences of the refusal)."""
    try:
        return usable(tab, found), []
    except PlaygroundError as error:
        return None, sentences(error)


@pytest.mark.parametrize("name", tabs())
def test_junk_in_any_field_gives_a_state_or_a_sentence(name):
    """Whatever stands in a link: what is let through can be computed, the rest is refused."""
    rng, tab, refused, fields = random.Random(7), tabs()[name], 0, State().__dict__
    for n in range(1200):
        found = rng.choice(random_states(name)).to_json()
        junk = JUNK[n % len(JUNK)]
        if n % 3:
            found[rng.choice(list(fields))] = copy.deepcopy(junk)
        else:
            found = nested(rng, found, junk)
        state, told = tried(tab, found)
        refused += state is None
        assert all(sentence.encode() for sentence in told)
        if state is not None:
            assert usable(tab, state.to_json()) == state
    assert 20 < 1200 - refused < 900  # both happen


@pytest.mark.parametrize(("name", "state"), [(n, random_states(n)[0]) for n in tabs()])
def test_a_mistake_that_the_tab_does_not_have_is_refused(name, state):
    with pytest.raises(LinkError, match="mistake"):
        usable(tabs()[name], state.but(mistake="forgot_to_sleep").to_json())
