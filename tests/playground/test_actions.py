"""What a person does to a state, and what is refused: each limit, each rubbish, with a sentence."""

from __future__ import annotations

import json
import math
import random

import pytest

from lessons.grading import TwoReadingsError
from model.errors import HeadsError, PlaygroundError
from playground import input_errors as errors
from playground.actions import ACTIONS, apply, exists
from playground.edits import split_row
from playground.stage import act
from playground.state import MAX_BAD, State, from_json
from playground.tab import tabs
from tests.playground.random_states import presets, random_states
from tests.playground.test_state import HALF, JUNK

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


# Cells


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5.0), ("-0.25", -0.25), ("−0.25", -0.25), ("0,5", 0.5), (",5", 0.5), (".5", 0.5),
        ("1/4", 0.25), ("42 %", 0.42), (" 7 ", 7.0), ("1e3", 1000.0), ("1000000", 1e6), ("-1000000", -1e6),
        ("０．５", 0.5), ("+2", 2.0), ("3.", 3.0),
    ],
)  # fmt: skip
def test_a_number_is_read_as_people_write_it(text, value):
    after = cell(SMALL, text, 1, 0)
    assert after == SMALL.but(vectors=[[1.0, 2.0], [value, 4.0]])


@pytest.mark.parametrize(
    ("text", "en", "ko"),
    [
        ("cat", "is not a number", "숫자가 아닙니다"), ("1.2.3", "is not a number", "숫자가 아닙니다"),
        ("nan", "is not a number", "숫자가 아닙니다"), ("1/0", "is not a number", "숫자가 아닙니다"),
        ("", "empty", "빈칸"), ("   ", "empty", "빈칸"), ("1e7", "out of range", "범위"),
        ("-1000001", "out of range", "범위"), ("1,234", "can mean", "두 가지"),
        ("<b>", "is not a number", "숫자가 아닙니다"), ("😀", "is not a number", "숫자가 아닙니다"),
    ],
)  # fmt: skip
def test_what_is_no_number_stays_in_its_cell_with_a_message(text, en, ko):
    """The last number stays in use; the text and the message beside it are on the page."""
    after = cell(SMALL, text, 1, 0)
    assert after == SMALL.but(bad={"vectors:0:1:0": text})
    for lang, sentence in (("en", en), ("ko", ko)):
        html = act({"tab": SELF.name, "lang": lang, "state": after.to_json()})["html"]
        assert 'aria-invalid="true"' in html
        message = html.split('class="msg"')[1].split("</span>")[0]
        assert sentence in message
        assert html.count('class="msg"') == 1
    assert cell(after, "3.5", 1, 0) == SMALL.but(vectors=[[1.0, 2.0], [3.5, 4.0]])


@pytest.mark.parametrize("text", ["-", "−", ".", "-."])
def test_a_number_half_typed_gets_no_message(text):
    after = cell(SMALL, text)
    html = act({"tab": SELF.name, "lang": "en", "state": after.to_json()})["html"]
    assert 'class="msg"' not in html


def test_many_bad_cells_still_make_a_state_that_can_be_sent():
    state = State(tokens=[f"t{n}" for n in range(16)], vectors=[[0.0] * 16] * 16)
    for i in range(16):
        for j in range(16):
            state = cell(state, "x", i, j)
    assert len(state.bad) == MAX_BAD
    assert "vectors:0:15:15" in state.bad
    assert from_json(json.loads(json.dumps(state.to_json()))) == state


def test_a_long_text_is_cut_and_half_a_character_can_be_sent():
    after = cell(SMALL, "x" * 1000)
    assert len(after.bad["vectors:0:0:0"]) == 200
    reply = act({"tab": SELF.name, "lang": "ko", "state": cell(SMALL, HALF).to_json()})
    assert json.dumps(reply, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "where",
    [
        {"row": 2}, {"col": 2}, {"row": -1}, {"col": -1}, {"row": "0"}, {"row": None}, {"col": 0.5},
        {"head": 1}, {"head": -1}, {"head": "0"}, {"matrix": "weights"}, {"matrix": "w_query"},
        {"matrix": "scores"}, {"matrix": None}, {"matrix": ["vectors"]}, {"matrix": "tokens"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["cell", "paste"])
def test_a_cell_that_cannot_be_edited_is_refused(name, where):
    action = {"do": name, "matrix": "vectors", "head": 0, "row": 0, "col": 0, "text": "5", **where}
    refused(errors.ActionError, SELF, SMALL, action)


def test_drawn_vectors_cannot_be_typed_into():
    state = put(SMALL, "x", "seeded")
    action = {"do": "cell", "matrix": "vectors", "row": 0, "col": 0, "text": "5"}
    refused(errors.ActionError, SELF, state, action)


def test_typed_projections_are_edited():
    after = cell(TYPED_W, "-1,5", 1, 2, matrix="w_key")
    assert after == TYPED_W.but(w_key=[[1.0, 0.0, 1.0], [1.0, 0.0, -1.5]])


# Typed weights


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


# Pasting


@pytest.mark.parametrize(
    "text",
    [
        "5\t6\n7\t8", "5\t6\r\n7\t8\r\n", "5;6\n7;8\n", "5 6\n7 8", "5, 6\n7, 8", "5\t6\r7\t8",
        "5,0\t6,0\n7,0\t8,0", "5,0;6,0\n7,0;8,0", "\n5\t6\n7\t8\n\n", " 5 \t 6\n7\t8",
    ],
)  # fmt: skip
def test_a_block_from_a_spreadsheet(text):
    assert paste(SMALL, text).vectors == [[5.0, 6.0], [7.0, 8.0]]


def test_a_pasted_block_lets_the_vectors_grow():
    after = paste(SMALL, "5\t6\t7\n8\t9\t10", 1, 1)
    assert after.vectors == [[1, 2, 0, 0], [3, 5, 6, 7], [0, 8, 9, 10]]
    assert after.tokens == ["a", "b", "t3"]
    full = paste(SMALL, "\n".join("\t".join("1" for _ in range(16)) for _ in range(16)))
    assert (len(full.tokens), full.width) == (16, 16)


def test_a_pasted_block_widens_typed_projections_too():
    after = paste(TYPED_W, "1\t2\t3")
    assert after.width == 3
    assert after.w_query == [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]


def test_a_ragged_block_fills_what_it_holds():
    assert paste(SMALL, "5\n6\t7").vectors == [[5.0, 2.0], [6.0, 7.0]]
    assert paste(SMALL, "5 6\n7").vectors == [[5.0, 6.0], [7.0, 4.0]]


@pytest.mark.parametrize(
    ("text", "row", "col", "found"),
    [
        ("5\t6\n7\tcat", 2, 2, "cat"), ("x\t6\n7\t8", 1, 1, "x"), ("5\t\n7\t8", 1, 2, ""),
        ("5\t6\n\n7\t8", 2, 1, ""), ("5\t1e9", 1, 2, "1e9"), ("5;=A1+B1", 1, 2, "=A1+B1"),
        ("<script>\t1", 1, 1, "<script>"),
    ],
)  # fmt: skip
def test_one_bad_cell_in_a_block_changes_nothing_and_is_named(text, row, col, found):
    action = {"do": "paste", "matrix": "vectors", "head": 0, "row": 0, "col": 0, "text": text}
    error = refused(errors.PasteCellError, SELF, PINNED, action)
    assert error.values == {"row": row, "col": col, "found": found}
    assert f"row {row}, column {col}" in error.text("en")
    assert f"{row}행 {col}열" in error.text("ko")


@pytest.mark.parametrize(
    ("text", "row", "col"),
    [
        ("1\n" * 17, 0, 0),
        ("\t".join("1" * 17), 0, 0),
        ("1\n" * 16, 1, 0),
        ("\t".join("1" * 16), 0, 1),
    ],
)
def test_a_block_too_large_is_refused_with_both_sizes(text, row, col):
    action = {"do": "paste", "matrix": "vectors", "row": row, "col": col, "text": text}
    error = refused(errors.PasteError, SELF, SMALL, action)
    room = (error.values["room_rows"], error.values["room_cols"])
    assert room == (16 - row, 16 - col)
    assert f"{room[0]} × {room[1]}" in error.text("ko")


def test_a_block_for_a_matrix_that_cannot_grow():
    action = {"do": "paste", "matrix": "w_query", "row": 1, "col": 1, "text": "1\t2\t3"}
    error = refused(errors.PasteError, SELF, TYPED_W, action)
    assert (error.values["room_rows"], error.values["room_cols"]) == (1, 2)
    assert paste(TYPED_W, "8\t9", 1, 1, "w_query").w_query == [[1.0, 2.0, 3.0], [1.0, 8.0, 9.0]]


@pytest.mark.parametrize("text", ["", "\n", "\r\n\r\n", "   ", "\t\t"])
def test_nothing_pasted_is_said(text):
    action = {"do": "paste", "matrix": "vectors", "row": 0, "col": 0, "text": text}
    refused(errors.PasteEmptyError, SELF, SMALL, action)


def test_pasted_weights_are_not_negative():
    state = put(SMALL, "typed", True)
    assert paste(state, "0.2 0.8\n1 0", matrix="weights").weights == [[[0.2, 0.8], [1.0, 0.0]]]
    action = {"do": "paste", "matrix": "weights", "row": 0, "col": 0, "text": "1\t-1"}
    refused(errors.PasteCellError, SELF, state, action)


def test_lines_are_split_by_what_stands_between():
    assert split_row("1,5;2,5") == ["1,5", "2,5"]
    assert split_row("0,5 0,25") == ["0,5", "0,25"]
    assert split_row("1\t\t3") == ["1", "", "3"]


# Tokens and sizes


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


def test_a_pasted_number_with_two_readings_is_named():
    action = {"do": "paste", "matrix": "vectors", "row": 0, "col": 0, "text": "5\t1,234"}
    refused(TwoReadingsError, SELF, SMALL, action)


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


# Switches


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


# Looking


def test_cells_open_pin_and_close():
    opened = do(SMALL, "open", cell=["weights", 0, 1, 1])
    assert opened.open == ["weights", 0, 1, 1]
    assert do(opened, "open", cell=["weights", 0, 1, 1]).open is None
    pinned = do(opened, "pin")
    assert (pinned.open, pinned.pins) == (None, [["weights", 0, 1, 1]])
    assert do(pinned, "pin") == pinned
    assert do(pinned, "unpin", index=0).pins == []
    for cell_ in (["weights", 0, 9, 9], ["nothing", 0, 0, 0]):
        assert do(SMALL, "open", cell=cell_).open is None
    for cell_ in ("weights", ["weights"], ["weights", 0, 0, -1], None):
        action = {"do": "open", "cell": cell_}
        if cell_ is not None:
            refused(errors.LinkError, SELF, SMALL, action)


def test_at_most_three_pins():
    state = SMALL
    for j, name in enumerate(["weights", "scores", "output"]):
        state = do(do(state, "open", cell=[name, 0, 0, j % 2]), "pin")
    state = do(state, "open", cell=["q", 0, 0, 0])
    error = refused(errors.TooManyError, SELF, state, {"do": "pin"})
    assert error.values == {"most": 3, "found": 4}


@pytest.mark.parametrize("tab", tabs().values(), ids=list(tabs()))
def test_asking_picks_a_cell_worth_a_thought(tab):
    for n, state in enumerate(random_states(tab.name)[:30]):
        try:
            asked = do(state, "ask", tab, matrix=tab.ask[n % len(tab.ask)], seed=n * 10**7)
        except errors.NothingToAskError:
            continue
        matrix, head, i, j = asked.ask
        value = float(tab.flow(asked).get(matrix, head).values[i, j])
        assert math.isfinite(value)
        assert value != 0
        assert (asked.answer, asked.open, asked.pins) == ("", None, [])
    assert len({tuple(do(SMALL, "ask", matrix="weights", seed=s).ask) for s in range(20)}) == 4


def test_asking_what_cannot_be_asked():
    refused(errors.ActionError, SELF, SMALL, {"do": "ask", "matrix": "vectors", "seed": 1})
    refused(errors.ActionError, SELF, SMALL, {"do": "ask", "matrix": "weights", "seed": "x"})
    nothing = SMALL.but(vectors=[[0.0, 0.0]] * 2)
    refused(errors.NothingToAskError, SELF, nothing, {"do": "ask", "matrix": "scores", "seed": 1})


def test_an_answer_and_its_end():
    asked = do(SMALL, "ask", matrix="weights", seed=1)
    answered = do(asked, "answer", text="0,5" + "x" * 100)
    assert answered.answer == ("0,5" + "x" * 100)[:64]
    assert do(answered, "reveal") == asked.but(ask=None)


def test_a_question_goes_with_its_cell():
    asked = SMALL.but(ask=["weights", 0, 1, 1])
    assert do(asked, "remove", index=0).ask is None
    assert cell(asked, "5").ask == ["weights", 0, 1, 1]
    masked = SMALL.but(ask=["weights", 0, 0, 0], causal=True)
    assert put(masked, "mistake", "mask_diagonal").ask is None  # NaN: nothing to predict
    for unanswerable in (["vectors", 0, 0, 0], ["weights", 0, 5, 5], ["weights", 1, 0, 0]):
        assert do(SMALL, "load", state=SMALL.but(ask=unanswerable).to_json()).ask is None


def test_steps():
    assert do(SMALL, "step", to=3).step == 3
    assert do(SMALL, "step", to=-2).step == 0
    for to in (100, "x", None, 1e99):
        refused(PlaygroundError, SELF, SMALL, {"do": "step", "to": to})


# Whole states


def test_presets_and_reset():
    for tab, name, state in presets():
        changed = do(do(state, "token", tab, index=0, text="zebra"), "add", tab)
        assert do(changed, "reset", tab) == state
        assert do(SMALL.but(show_code=True), "preset", tab, name=name) == state.but(show_code=True)
    assert do(SMALL, "reset") == SELF.default
    refused(errors.ActionError, SELF, SMALL, {"do": "preset", "name": "nothing"})


def test_a_loaded_state_is_checked():
    good = random_states("self-attention")[0]
    assert do(SMALL, "load", state=good.to_json()) == good
    for junk in (None, [], "x", {"tokens": []}, {"mistake": "forgot_to_sleep"}):
        refused(errors.LinkError, SELF, SMALL, {"do": "load", "state": junk})
    refused(errors.ActionError, SELF, SMALL, {"do": "load"})


# Anything at all


@pytest.mark.parametrize(
    "action", [None, [], "add", 3, {}, {"do": None}, {"do": []}, {"do": {}}, {"do": "fly"}, {"do": "cell"}]
)  # fmt: skip
def test_what_is_no_action_is_refused(action):
    refused(errors.ActionError, SELF, SMALL, action)


def junk_action(rng):
    fields = ["matrix", "head", "row", "col", "text", "index", "by", "key", "value", "cell", "to", "name", "seed", "state"]  # fmt: skip
    likely = ["vectors", "weights", "weights_none", "w_query", 0, 1, 2, "5", "x_width", "n_head", "w", "typed", True, 1e99]  # fmt: skip
    action = {f: rng.choice(likely if rng.random() < 0.7 else JUNK) for f in fields}
    for gone in rng.sample(fields, rng.choice([0, 0, 1, 5])):
        del action[gone]
    return {"do": rng.choice([*ACTIONS, *ACTIONS, rng.choice(JUNK)]), **action}


@pytest.mark.parametrize("name", tabs())
def test_any_request_is_answered_with_html(name):
    """Whatever is sent: html that can be sent back, a state that can be sent again."""
    rng, answered = random.Random(11), 0
    for n in range(60):
        state = rng.choice(random_states(name)[:20]).to_json()
        if n % 5 == 0:
            state[rng.choice(list(State().__dict__))] = rng.choice(JUNK)
        actions = [junk_action(rng) for _ in range(rng.choice([0, 1, 1, 3]))]
        reply = act({"tab": name, "lang": "en", "state": state, "actions": actions})
        assert reply["html"].startswith('<div class="pg"')
        assert json.dumps(reply, ensure_ascii=False, allow_nan=False).encode()
        again = act({"tab": name, "lang": "en", "state": reply["state"]})
        assert again["state"] == reply["state"]
        assert not again["notice"]
        answered += not reply["notice"]
    assert 5 < answered < 55


@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
def test_a_request_of_junk_is_answered(junk):
    for request in (
        junk,
        *({"tab": SELF.name, key: junk} for key in ("tab", "lang", "state", "actions")),
    ):
        reply = act(request)
        assert reply["html"].startswith('<div class="pg"')
        assert json.dumps(reply, ensure_ascii=False, allow_nan=False).encode()
