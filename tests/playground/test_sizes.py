"""Tokens and dimensions come and go, each up to its limit; nothing points at what is gone."""

from __future__ import annotations

import json
import random

import pytest

from model.errors import PlaygroundError
from playground import input_errors as errors
from playground.actions import apply, exists
from playground.edits import split_row
from playground.state import State, from_json
from playground.tab import tabs
from tests.playground.doing import (
    DOT,
    HEADS,
    SELF,
    SMALL,
    TYPED_W,
    do,
    put,
    refused,
)
from tests.playground.random_states import random_states


@pytest.mark.parametrize("name", ["cat", "고양이", "🙂", "a b", "<b>", '"', "{x}", "x" * 24])
def test_a_token_is_renamed(name):
    assert do(SMALL, "token", index=1, text=f" {name} ") == SMALL.but(tokens=["a", name])


def test_token_names_that_are_refused():
    def rename(text):
        return {"do": "token", "index": 1, "text": text}

    long = refused(errors.NameLongError, SELF, SMALL, rename("x" * 25))
    assert (long.values["most"], long.values["found"], long.values["kept"]) == (24, 25, "b")
    for empty in ("", "   ", "\n"):
        refused(errors.NameEmptyError, SELF, SMALL, rename(empty))
    refused(errors.ActionError, SELF, SMALL, rename("x") | {"index": 2})
    refused(errors.ActionError, SELF, SMALL, rename("x") | {"index": -1})


def test_tokens_up_to_sixteen():
    state = SMALL
    for n in range(3, 17):
        state = do(state, "add")
        assert len(state.tokens) == n == len(state.vectors)
    assert state.tokens[:3] == ["a", "b", "t3"]
    error = refused(errors.TooManyError, SELF, state, {"do": "add"})
    assert error.values == {"most": 16, "found": 17}


def test_tokens_down_to_one():
    state = SMALL.but(query=1)
    one = do(state, "remove", index=0)
    assert (one.tokens, one.vectors, one.query) == (["b"], [[3.0, 4.0]], 0)
    error = refused(errors.TooFewError, SELF, one, {"do": "remove", "index": 0})
    assert error.values == {"least": 1, "found": 0}
    for index in (2, -1, "0", None):
        refused(errors.ActionError, SELF, SMALL, {"do": "remove", "index": index})


def test_the_query_stays_with_its_token():
    state = State(tokens=list("abc"), vectors=[[1.0], [2.0], [3.0]], query=1)
    assert do(state, "remove", DOT, index=0).query == 0
    assert do(state, "remove", DOT, index=2).query == 1
    assert do(state.but(query=2), "remove", DOT, index=2).query == 1


@pytest.mark.parametrize("tab", tabs().values(), ids=list(tabs()))
def test_nothing_points_at_a_cell_that_is_gone(tab):
    """Typed weights, pins, opened and asked cells, bad texts, after any change of size."""
    rng = random.Random(3)
    for state in random_states(tab.name)[:12]:
        for m in rng.sample(tab.flow(state).matrices, 3):
            last = [m.name, m.head, m.values.size(0) - 1, m.values.size(1) - 1]
            state = state.but(open=last, pins=[*state.pins, last][:3])
        asked = tab.flow(state).get(tab.ask[0])
        state = state.but(ask=[asked.name, 0, *(s - 1 for s in asked.values.shape)])
        state = state.but(bad={f"vectors:0:{len(state.tokens) - 1}:0": "x"})
        for action in SHRINKING:
            try:
                after = apply(tab, state, action)
            except PlaygroundError:
                continue
            flow = tab.flow(after)
            cells = [*after.pins, *([after.open] if after.open else [])]
            cells += [after.ask] if after.ask else []
            assert all(exists(flow, c) for c in cells)
            vectors = flow.get("vectors").values
            places = [key.split(":") for key in after.bad]
            assert all(int(i) < len(vectors) and int(j) < vectors.size(1) for *_, i, j in places)
            if after.typed:
                shown = flow.get(tab.typed_matrix).values
                assert list(shown.shape) == [len(after.weights[0]), len(after.weights[0][0])]
            assert from_json(json.loads(json.dumps(after.to_json()))) == after


SHRINKING = [
    {"do": "remove", "index": 0}, {"do": "add"}, {"do": "width", "by": -1}, {"do": "width", "by": 1},
    {"do": "set", "key": "n_head", "value": 1}, {"do": "set", "key": "d_out", "value": 1},
    {"do": "set", "key": "w", "value": "identity"}, {"do": "set", "key": "dropout", "value": 0},
    {"do": "set", "key": "x_width", "value": 1}, {"do": "set", "key": "mistake", "value": "mask_diagonal"},
]  # fmt: skip


def test_dimensions_up_to_sixteen_typed():
    state = SMALL
    for d in range(3, 17):
        state = do(state, "width", by=1)
        assert state.width == d
    assert state.vectors[0] == [1.0, 2.0, *[0.0] * 14]
    error = refused(errors.TooManyError, SELF, state, {"do": "width", "by": 1})
    assert error.values == {"most": 16, "found": 17}
    one = do(state, "width", by=-15)
    assert one.vectors == [[1.0], [3.0]]
    assert refused(errors.TooFewError, SELF, one, {"do": "width", "by": -1}).values["found"] == 0


def test_dimensions_up_to_sixty_four_drawn():
    state = put(SMALL, "x", "seeded")
    assert state.width == 64
    error = refused(errors.TooManyError, SELF, state, {"do": "width", "by": 1})
    assert error.values == {"most": 64, "found": 65}
    assert do(state, "width", by=-1).width == 63


def test_typed_projections_keep_to_sixteen():
    """A typed W has one row a dimension: with it, drawn vectors stay as narrow as typed ones."""
    state = put(TYPED_W, "x", "seeded")
    assert state.width == 2
    wide = put(state, "x_width", "16")
    assert (wide.width, len(wide.w_query)) == (16, 16)
    refused(errors.TooManyError, SELF, wide, {"do": "width", "by": 1})
    refused(errors.TooManyError, SELF, wide, {"do": "set", "key": "x_width", "value": "17"})
    drawn = SMALL.but(x="seeded")
    refused(errors.TooManyError, SELF, drawn, {"do": "set", "key": "w", "value": "typed"})


def test_typed_vectors_and_projections_come_back_as_they_were():
    drawn = put(SMALL, "x", "seeded")
    assert (drawn.width, drawn.vectors) == (64, SMALL.vectors)
    assert put(drawn, "x", "typed").vectors == SMALL.vectors
    assert put(put(TYPED_W, "w", "identity"), "w", "typed").w_query == TYPED_W.w_query


@pytest.mark.parametrize(
    ("line", "cells"),
    [("0.1,0.2,0.3", ["0.1", "0.2", "0.3"]), ("1.5,2", ["1.5", "2"]), ("1,5", ["1,5"])],
)
def test_commas_separate_where_they_cannot_be_decimal(line, cells):
    assert split_row(line) == cells


def test_projections_to_type_start_as_they_were():
    eye = [[1.0, 0.0], [0.0, 1.0]]
    typed = put(SMALL, "w", "typed")
    assert (typed.w_query, typed.w_key, typed.w_value, typed.w_out) == (eye, eye, eye, None)
    assert put(SMALL, "w", "typed", HEADS).w_out == eye
    drawn = SMALL.but(w="seeded", d_out=3)
    w = put(drawn, "w", "typed").w_value
    shown = SELF.flow(drawn).facts["w_value"]
    assert w == [[round(v, 4) for v in row] for row in shown.tolist()]
