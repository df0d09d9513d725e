"""Break it: the step that goes wrong is marked, and how far it leads is measured."""

from __future__ import annotations

import math

import pytest
import torch

from lessons.mistakes import mistake_words
from model.mistakes import MISTAKES
from playground.render import apart
from playground.state import State
from playground.tab import tabs
from playground.view import view
from tests.playground import references
from tests.playground.html_tree import cells, read, tables
from tests.playground.random_states import broken_presets, random_states


def page(tab, state, lang="en"):
    return read(view(tab, state, lang))


@pytest.mark.parametrize(
    ("tab", "state"),
    [
        pytest.param(t, s, id=f"{t.name}: {n}")
        for t, n, s in broken_presets()
        if s.mistake and "break" in t.controls
    ],
)
def test_the_first_step_that_differs_is_the_one_the_mistake_spoils(tab, state):
    flow, mistake = tab.flow(state), MISTAKES[state.mistake]
    first = flow.first_wrong
    masked = state.causal or flow.facts.get("always_masked", False)
    for lang in ("en", "ko"):
        root = page(tab, state, lang)
        (told,) = root.all("p", "breakage")
        marked = [f.first("table").attributes for f in root.all("figure", "wrong")]
        assert mistake_words()[state.mistake].text[lang] in root.first(class_="told").text
        if first is None:
            assert marked == []
            assert not any(c.isdigit() for c in told.text)
            continue
        assert first.name == mistake.step
        assert [(a["data-matrix"], int(a["data-head"])) for a in marked] == [first.key]
        assert apart(first.differs) in root.first("em", "badge").text
        assert apart(first.differs) in told.text
        end = [m for m in flow.matrices if m.right is not None][-1]
        assert end.name == ("weights" if tab.name == "masking" else "output")
        assert apart(end.differs) in told.text
    needed = {"mask": masked, "keep": state.dropout > 0, "": True}[mistake.needs]
    if not needed:
        assert first is None
    elif first is None:  # where it changes nothing, it is for a reason
        same_root = state.mistake == "scale_by_d_model" and state.width == flow.facts["head_size"]
        same_p = state.mistake == "dropout_divides_by_p" and state.dropout == 0.5
        unscaled = state.mistake == "no_scale" and not state.scale
        no_w = state.w == "identity" and MISTAKES[state.mistake].spoils == "multi_head"
        mirrored = state.w == "identity" and state.mistake == "queries_and_keys_swapped"
        assert same_root or same_p or unscaled or no_w or mirrored


def gap(a, b):
    """Largest |a − b|; NaN where a is not a number."""
    return float((a - b).abs().max()) if a.isfinite().all() else math.nan


@pytest.mark.parametrize("name", ["self-attention", "masking"])
def test_how_far_a_mistake_leads_is_computed_independently(name):
    tab, count = tabs()[name], 0
    for state in (*random_states(name), *(s for t, _, s in broken_presets() if t is tab)):
        if not state.mistake:
            continue
        count += 1
        flow = tab.flow(state)
        if name == "masking":
            weights, _ = references.spoiled(state, state.mistake, mask=True)
            right = references.masking(state.but(mistake=""))["weights"]
            expected, end = gap(weights, right), flow.get("weights")
            torch.testing.assert_close(end.values, weights, rtol=1e-9, atol=1e-9, equal_nan=True)
        else:
            _, output = references.spoiled(state, state.mistake, state.causal)
            right = references.self_attention(state.but(mistake=""))["output"]
            expected, end = gap(output, right), flow.get("output")
            torch.testing.assert_close(end.values, output, rtol=1e-9, atol=1e-9, equal_nan=True)
        close = math.isclose(end.differs, expected, rel_tol=1e-9, abs_tol=1e-9)
        assert close or (math.isnan(end.differs) and math.isnan(expected))
    assert count > 60


@pytest.mark.parametrize("name", ["self-attention", "masking", "multi-head"])
def test_a_row_with_nothing_left_is_nan_and_says_so(name):
    tab = tabs()[name]
    state = tab.default.but(causal=name != "masking", mistake="mask_diagonal", open=None)
    for lang in ("en", "ko"):
        root = page(tab, state, lang)
        shown = cells(tables(root)["weights", 0])
        assert {shown[0, j].text for j in range(6)} == {"NaN"}
        assert all("nan" in shown[0, j].classes for j in range(6))
        assert shown[1, 0].text == "1.00"
        assert "NaN" in root.first(class_="breakage").text
        opened = page(tab, state.but(open=["weights", 0, 0, 0]), lang)
        assert "NaN" in opened.first(class_="glass").text
        if name == "self-attention":
            first = page(tab, state.but(open=["weights", 0, 0, 0]), lang)
            assert "NaN" in first.first("p", "sentence").text


def test_infinite_weights_are_shown_and_explained():
    """Scores that sum to 0: ÷ sum gives ∞; nothing on the page fails."""
    state = State(vectors=[[1.0], [-1.0]], mistake="divide_by_sum", open=["weights", 0, 0, 1])
    for lang in ("en", "ko"):
        root = page(tabs()["self-attention"], state, lang)
        shown = cells(tables(root)["weights", 0])
        assert [shown[0, j].text for j in range(2)] == ["∞", "−∞"]
        assert "−∞" in root.first(class_="glass").text
