"""While a cell is asked for, nothing the server sends tells its number; nor does a later step."""

from __future__ import annotations

import csv
import io

import pytest

from playground.stage import act, table
from playground.tab import tabs


def asked(tab: str, matrix: str) -> dict:
    request = {"tab": tab, "lang": "en", "state": None}
    show = {"do": "set", "key": "show_code", "value": True}
    return act({**request, "actions": [show, {"do": "ask", "matrix": matrix, "seed": 5}]})


@pytest.mark.parametrize(
    ("tab", "matrix"), [(t.name, name) for t in tabs().values() for name in t.ask]
)
def test_a_hidden_matrix_is_in_no_file_and_no_script(tab, matrix):
    answer = asked(tab, matrix)
    state = answer["state"]
    assert state["ask"][0] == matrix
    request = {"tab": tab, "lang": "en", "state": state, "matrix": matrix, "head": state["ask"][1]}
    assert "code" not in answer
    assert table(request) == ""
    assert f'data-matrix-name="{matrix}"' not in answer["html"]
    shown = act({"tab": tab, "lang": "en", "state": state, "actions": [{"do": "reveal"}]})
    assert "code" in shown
    assert list(csv.reader(io.StringIO(table({**request, "state": shown["state"]}))))


def test_the_running_sum_does_not_end_in_the_answer():
    """The last row of the running sum is the output: with one hidden, so is the other."""
    html = asked("dot-product", "running")["html"]
    assert html.count('class="veil"') == 6 * 3 - 1 + 3  # all of running but the asked cell; output


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_step_not_reached_is_neither_opened_nor_told(step):
    request = {"tab": "self-attention", "lang": "en", "state": None}
    html = act({**request, "actions": [{"do": "step", "to": step}]})["html"]
    assert "weights[" not in html, "the preset's opened weight waits for its step"
    assert "of its attention" not in html
    assert f"Step {step}: " in html


def test_asking_leaves_the_steps():
    actions = [{"do": "step", "to": 2}, {"do": "ask", "matrix": "weights", "seed": 1}]
    answer = act({"tab": "self-attention", "lang": "en", "state": None, "actions": actions})
    assert "step" not in answer["state"]
