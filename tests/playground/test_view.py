"""A tab as a page: the glass box, steps, both languages."""

from __future__ import annotations

import json
import math

import pytest

from playground.actions import apply
from playground.explain import explain
from playground.html import number
from playground.stage import act
from playground.tab import tabs
from playground.view import view
from tests.playground.html_tree import cells, read, tables
from tests.playground.random_states import broken_presets, presets, random_states

PRESETS = [pytest.param(t, s, id=f"{t.name}: {n}") for t, n, s in presets()]
NAMES = list(tabs())


def page(tab, state, lang="en"):
    return read(view(tab, state, lang))


@pytest.mark.parametrize(
    ("tab", "state"), [pytest.param(t, s, id=f"{t.name}: {n}") for t, n, s in broken_presets()]
)
def test_an_opened_cell_lights_up_where_it_came_from(tab, state):
    flow = tab.flow(state)
    name, head, i, j = state.open
    m = flow.get(name, head)
    root = page(tab, state)
    found = tables(root)
    chosen = [(k, at) for k, t in found.items() for at, c in cells(t).items() if "sel" in c.classes]
    lit = {(*k, *at) for k, t in found.items() for at, c in cells(t).items() if "src" in c.classes}
    boxes = list(root.all(class_="glass"))
    if m.editable:  # typed: no sum made it
        assert (chosen, lit) == ([], set())
        return
    assert chosen == [((name, head), (i, j))]
    sources = explain(flow, m, i, j).sources
    assert lit == {s for s in sources if s[:2] in found} - {(name, head, i, j)}
    assert len(boxes) == 1
    box = boxes[0]
    assert f"= {number(float(m.values[i, j]), 4)}" in box.first(class_="gh").text
    assert box.first("code").text == m.line
    right = None if m.right is None else float(m.right[i, j])
    instead = [p.text for p in box.all("p", "instead")]
    differs = right is not None and not math.isclose(right, float(m.values[i, j]), abs_tol=1e-12)
    assert len(instead) == differs
    assert not differs or number(right, 4) in instead[0]


def test_a_pinned_cell_moves_along_with_the_inputs():
    tab = tabs()["self-attention"]
    state = apply(tab, tab.default, {"do": "pin"})
    state = apply(tab, state, {"do": "open", "cell": ["output", 0, 1, 0]})
    root = page(tab, state)
    assert len(list(root.all(class_="glass"))) == 2
    edit = {"do": "cell", "matrix": "vectors", "head": 0, "row": 1, "col": 1, "text": "-2"}
    after = apply(tab, state, edit)
    assert (after.pins, after.open) == (state.pins, state.open)
    for s in (state, after):
        texts = [b.first(class_="gh").text for b in page(tab, s).all(class_="glass")]
        flow = tab.flow(s)
        for text, cell in zip(texts, [*s.pins, s.open], strict=True):
            value = float(flow.get(cell[0], cell[1]).values[cell[2], cell[3]])
            assert f"= {number(value, 4)}" in text


def test_nothing_open_says_how_to_open():
    tab = tabs()["masking"]
    for cell in (None, ["vectors", 0, 0, 0]):
        root = page(tab, tab.default.but(open=cell))
        assert [b.classes for b in root.all(class_="glass")] == [{"glass", "empty"}]


@pytest.mark.parametrize("name", NAMES)
def test_the_equation_is_walked_step_by_step(name):
    tab, state, seen = tabs()[name], tabs()[name].default, []
    groups = len(list(page(tab, state).all(class_="op-group")))
    for _ in range(groups):
        root = page(tab, state)
        marks = [g.classes & {"later", "now"} for g in root.all(class_="op-group")]
        at = state.step
        if at:
            assert marks == [set()] * at + [{"now"}] + [{"later"}] * (groups - at - 1)
            assert root.first("code", "stepline").text
            assert str(at) in root.first("output", "at").text
        else:
            assert marks == [set()] * groups
        seen.append(at)
        step = next(b for b in root.all("button") if b.attributes.get("data-step") == "next")
        state = act(
            {
                "tab": name, "lang": "en", "state": state.to_json(),
                "actions": [json.loads(step.attributes["data-do"])],
            }
        )["state"]  # fmt: skip
        state = apply(tab, tab.default, {"do": "load", "state": state})
    assert seen == list(range(groups))
    assert state.step == 0  # after the last step all is shown again


@pytest.mark.parametrize(("tab", "state"), PRESETS)
def test_both_languages_show_the_same_numbers(tab, state):
    en, ko = (tables(page(tab, state, lang)) for lang in ("en", "ko"))
    assert set(en) == set(ko)
    for key in en:
        texts = [{at: td.text for at, td in cells(t[key]).items()} for t in (en, ko)]
        assert texts[0] == texts[1]
    assert view(tab, state, "en") != view(tab, state, "ko")


@pytest.mark.parametrize(("tab", "state"), PRESETS)
def test_the_code_box_holds_the_script(tab, state):
    reply = act({"tab": tab.name, "lang": "en", "state": state.but(show_code=True).to_json()})
    assert read(reply["html"]).first("pre").text == reply["code"] == tab.script(state)
    assert "code" not in act({"tab": tab.name, "lang": "en", "state": state.to_json()})


@pytest.mark.parametrize("name", NAMES)
def test_the_sentence_tells_the_largest_weight(name):
    """The percentage in the worked sentence is the one in the table."""
    if name == "masking":
        text = page(tabs()[name], tabs()[name].default).first("p", "sentence").text
        low = tabs()[name].flow(tabs()[name].default).get("sums_weights_after").values[:, 0].min()
        assert f"{float(low):.2f}" in text
        return
    tab = tabs()[name]
    for state in random_states(name, mistakes=False)[:20]:
        flow = tab.flow(state)
        row = {"dot-product": 0, "multi-head": -1}.get(name, min(1, len(state.tokens) - 1))
        best = flow.get("weights").values[row].max()
        assert f"{float(best) * 100:.0f} %" in page(tab, state).first("p", "sentence").text
