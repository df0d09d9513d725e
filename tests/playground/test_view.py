"""A tab as a page: predict and reveal, break it, the glass box, steps, both languages."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
import torch

from lessons.grading import tolerance
from lessons.mistakes import mistake_words
from model.errors import PlaygroundError
from model.mistakes import MISTAKES
from playground.actions import apply
from playground.explain import explain
from playground.flow import Flow
from playground.render import apart, number
from playground.stage import act
from playground.state import State
from playground.tab import tabs
from playground.view import view
from tests.playground import references
from tests.playground.html_tree import cells, read, tables
from tests.playground.random_states import broken_presets, presets, random_states

PRESETS = [pytest.param(t, s, id=f"{t.name}: {n}") for t, n, s in presets()]
NAMES = list(tabs())


def page(tab, state, lang="en"):
    return read(view(tab, state, lang))


def asked(tab, state, matrix, seed=1):
    return apply(tab, state, {"do": "ask", "matrix": matrix, "seed": seed})


# Predict, then reveal


def perturbed(tab, state, first, seen=False):
    """The tab with other numbers from matrix `first` on, or (seen) in the vectors alone."""

    def flow(s):
        right = tab.flow(s)
        at = [m.name for m in right.matrices].index(first)
        chosen = range(1) if seen else range(at, len(right.matrices))
        matrices = [
            replace(m, values=m.values * 1.37 + 0.11) if n in chosen else m
            for n, m in enumerate(right.matrices)
        ]
        return Flow(matrices, right.facts)

    return replace(tab, flow=flow)


def check_secret(tab, state, matrix, **looks):
    """The page is the same, letter for letter, whatever the hidden numbers are."""
    hidden = asked(tab, state, matrix).but(show_code=True, **looks)
    for lang in ("en", "ko"):
        html = view(tab, hidden, lang)
        assert html == view(perturbed(tab, state, matrix), hidden, lang)
        assert html != view(perturbed(tab, state, matrix, seen=True), hidden, lang)
        assert "torch.tensor([" not in html.replace("torch.tensor(...)", "")
        assert "<pre" not in html
    open_again = view(tab, hidden.but(ask=None), "en")
    assert open_again != view(perturbed(tab, state, matrix), hidden.but(ask=None), "en")


@pytest.mark.parametrize(("tab", "state"), PRESETS)
def test_nothing_tells_what_is_hidden(tab, state):
    for matrix in tab.ask:
        check_secret(tab, state, matrix)
        # Cells of it and of what follows, opened all the same: no glass box tells.
        last = ["sums_weights_none" if tab.name == "masking" else "output", 0, 0, 0]
        check_secret(tab, state, matrix, open=[matrix, state.head, 0, 0], pins=[last, state.open])


@pytest.mark.parametrize("name", NAMES)
def test_nothing_tells_what_is_hidden_when_broken(name):
    for n, state in enumerate(random_states(name)[:16]):
        tab = tabs()[name]
        matrix = tab.ask[n % len(tab.ask)]
        try:
            asked(tab, state, matrix)
        except PlaygroundError:
            continue  # nothing in it to ask for
        check_secret(tab, state, matrix)


@pytest.mark.parametrize(("tab", "state"), PRESETS)
def test_the_hidden_matrix_and_all_after_it_are_veiled(tab, state):
    for matrix in tab.ask:
        hidden = asked(tab, state, matrix)
        found, flow = tables(page(tab, hidden)), tab.flow(hidden)
        names = [m.name for m in flow.matrices]
        for (name, head), table in found.items():
            after = names.index(name) >= names.index(matrix)
            for (i, j), td in cells(table).items():
                if [name, head, i, j] == hidden.ask:
                    assert td.classes == {"pred"}
                    assert "data-answer" in next(td.all("input")).attributes
                elif after:
                    assert (td.classes, td.text) == ({"veil"}, "?")
                else:
                    assert not td.classes & {"veil", "pred"}


def answered(tab, state, text, lang="en"):
    """(the page, the feedback's text or "", whether the matrix is shown again)."""
    reply = act(
        {
            "tab": tab.name, "lang": lang, "state": state.to_json(),
            "actions": [{"do": "answer", "text": text}],
        }
    )  # fmt: skip
    root = read(reply["html"])
    told = [e.text for e in root.all(class_="fb")]
    assert len(told) <= 1
    return root, "".join(told), not list(root.all("td", "veil"))


def right_number(tab, state):
    name, head, i, j = state.ask
    return float(tab.flow(state).get(name, head).values[i, j])


@pytest.mark.parametrize(("tab", "state"), PRESETS)
def test_a_right_answer_is_right(tab, state):
    ways = (repr, lambda right: f"{right:.2f}", lambda right: f"{right:.4f}".replace(".", ","))
    for n, matrix in enumerate(tab.ask):
        hidden = asked(tab, state, matrix, seed=n)
        right, lang = right_number(tab, hidden), ("en", "ko")[n % 2]
        root, told, shown = answered(tab, hidden, ways[n](right), lang)
        assert {"en": "Right", "ko": "맞습니다"}[lang] in told
        assert number(right, 4) in told
        assert shown
        assert root.first(class_="fb").classes == {"fb", "ok"}


def mistaken(tab, state):
    """{mistake: its number in the asked cell}, for those that can be made."""
    name, head, i, j = state.ask
    found = {}
    for mistake in tab.mistakes:
        try:
            m = tab.flow(state.but(mistake=mistake, typed=False)).get(name, head)
        except PlaygroundError:
            continue
        found[mistake] = float(m.values[i, j])
    return found


@pytest.mark.parametrize(("tab", "state"), PRESETS)
def test_a_wrong_answer_is_named_by_its_mistake(tab, state):
    """The number of each mistake, far enough from the right one, brings that mistake's words."""
    state, named = state.but(mistake=""), set()
    for matrix in tab.ask:
        hidden = asked(tab, state, matrix)
        right, wrong = right_number(tab, hidden), mistaken(tab, hidden)
        for n, (mistake, value) in enumerate(wrong.items()):
            if not math.isfinite(value) or abs(value - right) <= 2.1 * tolerance(right):
                continue
            alike = [m for m, v in wrong.items() if math.isclose(v, value, abs_tol=1e-9)]
            lang = ("en", "ko")[n % 2]
            _, told, shown = answered(tab, hidden, repr(value), lang)
            possible = [mistake_words()[m] for m in alike]
            assert any(w.name[lang] in told and w.text[lang] in told for w in possible)
            assert not shown
            named.add(mistake)
    assert len(named) >= 3 or tab.name == "dot-product"


def test_dividing_by_the_sum_is_named():
    tab = tabs()["dot-product"]
    state = tab.preset("negative").but(ask=["weights", 0, 0, 2])
    share = float(tab.flow(state).get("divided").values[0, 2])
    assert share < 0
    for lang in ("en", "ko"):
        _, told, shown = answered(tab, state, f"{share:.2f}", lang)
        assert mistake_words()["divide_by_sum"].text[lang] in told
        assert not shown


@pytest.mark.parametrize("name", NAMES)
def test_what_is_neither_right_nor_a_known_mistake(name):
    tab = tabs()[name]
    hidden = asked(tab, tab.default, tab.ask[-1])
    for lang, strange, unread, two in (
        ("en", "none of the known slips", "cannot be read as a number", "can mean"),
        ("ko", "알려진 실수", "숫자로 읽을 수 없습니다", "두 가지로 읽을 수"),
    ):
        for text, word in (("1234.5", strange), ("cat", unread), ("1,234", two)):
            _, told, shown = answered(tab, hidden, text, lang)
            assert word in told
            assert text in told
            assert not shown
        for nothing in ("", "  "):
            _, told, shown = answered(tab, hidden, nothing, lang)
            assert (told, shown) == ("", False)


@pytest.mark.parametrize("name", NAMES)
def test_a_prediction_can_be_skipped(name):
    tab = tabs()[name]
    hidden = asked(tab, tab.default, tab.ask[0])
    buttons = list(page(tab, hidden).first(class_="quiz").all("button"))
    assert any('"do": "reveal"' in (b.attributes.get("data-do") or "") for b in buttons)
    shown = apply(tab, hidden, {"do": "reveal"})
    assert view(tab, shown, "en") == view(tab, tab.default.but(open=None), "en")


# Break it


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


# The glass box


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


# Steps, tools, languages


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
