"""Numbers typed into cells and pasted in blocks: what is read, what is refused, with which words."""

from __future__ import annotations

import json

import pytest

from lessons.grading import TwoReadingsError
from playground import input_errors as errors
from playground.edits import split_row
from playground.stage import act
from playground.state import MAX_BAD, State, from_json
from tests.playground.doing import (
    PINNED,
    SELF,
    SMALL,
    TYPED_W,
    cell,
    paste,
    put,
    refused,
)
from tests.playground.test_state import HALF


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


def test_a_pasted_number_with_two_readings_is_named():
    action = {"do": "paste", "matrix": "vectors", "row": 0, "col": 0, "text": "5\t1,234"}
    refused(TwoReadingsError, SELF, SMALL, action)
