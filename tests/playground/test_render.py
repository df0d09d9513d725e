"""Numbers, tables and what people type, as HTML."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import pytest

from playground import input_errors as errors
from playground.html import number
from playground.render import Html, apart, esc, join
from playground.stage import act, table
from playground.state import State
from playground.tab import tabs
from tests.playground.html_tree import cells, read, tables
from tests.playground.random_states import broken_presets, presets, random_states

HOSTILE = [
    "<script>x</script>", '"><img onerror=x>', "${x}", "{{x}}", "</td></table>", "'><b>", "<!-- x",
    "&lt;&amp;", "{0}{n}", "]]>", "\u202ex", "a\x00b", "javascript:x", "<b>bold</b>", "%s", "=1+1",
]  # fmt: skip
CHECKED = [pytest.param(t, s, id=f"{t.name}: {n}") for t, n, s in broken_presets()]


def html_of(tab, state, lang="en", actions=()):
    request = {"tab": tab.name, "lang": lang, "state": state.to_json(), "actions": list(actions)}
    return act(request)["html"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.0, "0"), (1.0, "1.00"), (-0.2, "−0.20"), (0.125, "0.12"), (0.126, "0.13"),
        (-0.0001, "−0.00"), (1e-9, "0.00"), (1e-17, "≈0"), (-1e-17, "≈0"), (99999.994, "99999.99"), (123456.0, "1.235e+05"), (-1e12, "−1.000e+12"),
        (math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "NaN"),
    ],
)  # fmt: skip
def test_a_number_as_the_tables_show_it(value, text):
    assert number(value) == text


def test_a_number_as_the_glass_box_shows_it():
    assert number(0.51234567, 4) == "0.5123"
    assert number(-math.pi, 4) == "−3.1416"


@pytest.mark.parametrize(
    ("d", "text"),
    [(0.5, "0.5000"), (1e-12, "1.0e−12"), (5e-5, "0.0001"), (math.inf, "∞"), (math.nan, "NaN")],
)
def test_a_distance(d, text):
    assert apart(d) == text


def test_what_is_not_html_is_escaped():
    assert esc('<a href="x">\'&') == "&lt;a href=&quot;x&quot;&gt;&#x27;&amp;"
    assert esc(Html("<b>")) == "<b>"
    assert join("<", Html("<b>")) == "&lt;<b>"


def check_page(tab, state, lang):
    """The page is well-formed, and each table shows the flow's numbers, complete and from 0."""
    root = read(html_of(tab, state, lang))
    found, flow = tables(root), tab.flow(state)
    assert set(found) == {m.key for m in flow.matrices if m.shown}
    for key, one in found.items():
        m = flow.get(*key)
        values = m.values.tolist()
        shown = cells(one)
        assert set(shown) == {(i, j) for i, row in enumerate(values) for j in range(len(row))}
        for (i, j), td in shown.items():
            check_cell(td, values[i][j], m)
        others = [td for td in one.all("td") if "data-row" not in td.attributes]
        assert all(not td.text or td.classes == {"rm"} for td in others)
        check_headers(one, m, state, lang)


def check_cell(td, value, m):
    if m.editable:
        (field,) = td.all("input")
        typed = float(field.attributes["value"])
        assert math.isclose(typed, value, rel_tol=1e-5, abs_tol=5.1e-5)
        assert float(field.attributes["title"]) == value
        assert field.attributes["aria-label"]
        return
    text = td.text
    assert "-" not in text.replace("e-", "")
    assert not list(td.all("input"))
    if not math.isfinite(value):
        expected = "NaN" if math.isnan(value) else "∞" if value > 0 else "−∞"
        assert text == expected
        return
    if text == "≈0":  # rounding, and told apart from a true 0
        assert 0 < abs(value) < 1e-12
        return
    shown = float(text.replace("−", "-"))
    assert abs(shown - value) <= max(0.501 * 10**-m.digits, 5e-4 * abs(value))
    assert re.fullmatch(rf"0|−?\d+\.\d{{{m.digits}}}|−?\d\.\d\d\de\+\d\d", text)


def check_headers(one, m, state, lang):
    """Tokens (or titles) as th: a column header over each column, a row header before each row."""
    columns = [th for th in one.all("th") if th.attributes.get("scope") == "col"]
    rows = [th for th in one.all("th") if th.attributes.get("scope") == "row"]
    if m.headers:
        assert [th.text for th in columns] == [h(lang) for h in m.headers]
    else:
        assert [th.text for th in columns] == [state.tokens[t] for t in m.cols or []]
    names = [state.tokens[t] for t in m.rows or []]
    if m.name == "vectors":
        fields = [next(th.all("input")) for th in rows]
        assert [f.attributes["value"] for f in fields] == names
    else:
        assert [th.text for th in rows] == names


@pytest.mark.parametrize(("tab", "state"), CHECKED)
def test_the_tables_of_a_preset(tab, state):
    check_page(tab, state, "en")


@pytest.mark.parametrize("name", tabs())
def test_the_tables_of_random_states(name):
    for n, state in enumerate(random_states(name)[:12]):
        check_page(tabs()[name], state, ("ko", "en")[n % 2])


def hostile_state(tab):
    """The tab's first preset with every text in it hostile."""
    state = tab.default
    n = len(state.tokens)
    typed = state.but(x="typed", vectors=[row[:3] for row in state.vectors])
    bad = {
        f"vectors:0:{i}:{j}": HOSTILE[(i + j) % len(HOSTILE)] for i in range(n) for j in range(3)
    }
    bad |= {"set:w_seed": HOSTILE[0], "set:d_out": HOSTILE[1], "set:dropout_seed": HOSTILE[4]}
    return typed.but(tokens=HOSTILE[:n], bad=bad, show_code=True, pins=[state.open])


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("tab", tabs().values(), ids=list(tabs()))
def test_hostile_text_stays_text(tab, lang):
    """Tokens, bad cells, bad settings, answers, notices: no element and no attribute of theirs."""
    plain = read(html_of(tab, tab.default.but(show_code=True, pins=[tab.default.open]), lang))
    kinds = {e.tag for e in plain.all()} | {"span"}
    for start in range(0, len(HOSTILE), 5):
        state = hostile_state(tab)
        n = len(state.tokens)
        tokens = (HOSTILE[start:] + HOSTILE)[:n]
        state = state.but(tokens=tokens)
        root = read(html_of(tab, state, lang))
        assert {e.tag for e in root.all()} <= kinds
        names = [f.attributes["value"] for f in root.all("input", "name")]
        assert names == tokens
        for text in (td.text for td in root.all("td", "bad")):
            assert text
        fields = [next(td.all("input")).attributes["value"] for td in root.all("td", "edit")]
        assert fields[: len(state.bad) - 3] == list(state.bad.values())[: len(fields)]


@pytest.mark.parametrize("tab", tabs().values(), ids=list(tabs()))
def test_hostile_answers(tab):
    hidden = [{"do": "ask", "matrix": tab.ask[0], "seed": 1}]
    for text in HOSTILE:
        root = read(html_of(tab, tab.default, "en", [*hidden, {"do": "answer", "text": text}]))
        typed = [f.attributes["value"] for f in root.first(class_="quiz").all("input")]
        assert typed == [errors.readable(text)]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_notices_and_requests(text):
    rename = {"do": "token", "index": 0, "text": text * 25}
    paste = {"do": "paste", "matrix": "vectors", "row": 0, "col": 0, "text": f"{text}\t1"}
    for action in (rename, paste, {"do": text}, {"do": "set", "key": text, "value": text}):
        for lang in ("en", "ko"):
            reply = act({"tab": "self-attention", "lang": lang, "actions": [action]})
            root = read(reply["html"])
            assert root.first("p", "notice").text == reply["notice"] != ""


@pytest.mark.parametrize("name", tabs())
def test_what_a_button_asks_is_json(name):
    for _, state in [(t, s) for t, _, s in presets() if t.name == name]:
        root = read(html_of(tabs()[name], state.but(tokens=HOSTILE[: len(state.tokens)])))
        asks = [e.attributes["data-do"] for e in root.all() if "data-do" in e.attributes]
        assert len(asks) > 5
        assert all(json.loads(a)["do"] for a in asks)
        for button in root.all("button"):
            assert button.attributes["type"] == "button"
            assert button.text.strip() or button.attributes.get("aria-label")
        for field in root.all("input"):
            inside = [label for label in root.all("label") if field in list(label.all("input"))]
            assert inside or field.attributes.get("aria-label")


def test_a_hidden_key_is_hatched_and_a_small_weight_is_not():
    """Weights that underflow to 0 without a mask are numbers, not masked cells."""
    tab = tabs()["self-attention"]
    far = State(tokens=["a", "b"], vectors=[[30.0, 0.0], [60.0, 0.0]], scale=False)
    for causal, hatched in ((False, False), (True, True)):
        shown = cells(tables(read(html_of(tab, far.but(causal=causal))))["weights", 0])
        assert ("masked" in shown[0, 1].classes) is hatched
        assert "masked" not in shown[1, 0].classes
    soft = tabs()["dot-product"].preset("voices").but(typed=False)
    shown = cells(tables(read(html_of(tabs()["dot-product"], soft)))["weights", 0])
    assert [shown[0, j].text for j in range(3)] == ["0", "1.00", "0"]
    assert not any("masked" in td.classes for td in shown.values())


def parsed(tab, state, m, lang="en"):
    request = {"tab": tab.name, "lang": lang, "state": state.to_json()}
    return list(csv.reader(io.StringIO(table({**request, "matrix": m.name, "head": m.head}))))


@pytest.mark.parametrize(("tab", "state"), CHECKED[::9])
def test_a_matrix_as_csv_is_unrounded(tab, state):
    matrices = tab.flow(state).matrices
    for m in matrices[:: 1 + len(matrices) // 12]:
        found = parsed(tab, state, m)
        titled = m.headers is not None or m.cols is not None
        body = found[1:] if titled else found
        numbers = [[float(v) for v in row[m.rows is not None :]] for row in body]
        assert json.dumps(numbers) == json.dumps(m.values.tolist())
        if m.rows is not None:
            assert [row[0] for row in body] == [state.tokens[t] for t in m.rows]
        if m.cols is not None and not m.headers:
            assert found[0] == ["", *(state.tokens[t] for t in m.cols)]


def test_csv_has_its_titles_in_the_language_asked_for():
    tab = tabs()["masking"]
    m = tab.flow(tab.default).get("sums_weights")
    titles = [parsed(tab, tab.default, m, lang)[0][1:] for lang in ("en", "ko")]
    assert titles == [[h(lang) for h in m.headers] for lang in ("en", "ko")]
    assert titles[0] != titles[1]


@pytest.mark.parametrize(
    "name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "=\"a\",'b'"]
)
def test_a_token_is_never_a_formula(name):
    tab = tabs()["self-attention"]
    state = tab.default.but(tokens=[name, "b,c", 'd"e', "f\ng", "h", "i"])
    found = parsed(tab, state, tab.flow(state).get("weights"))
    assert found[0][1] == found[1][0] == f"'{name}"
    assert [row[0] for row in found[2:]] == state.tokens[1:]


@pytest.mark.parametrize(
    "request_",
    [None, [], {}, {"matrix": "weights"}, {"state": 3, "matrix": "weights"}, {"state": {"mistake": "x"}},
     {"state": {}, "matrix": "nothing"}, {"state": {}, "matrix": []}, {"state": {}, "matrix": "weights", "head": "x"},
     {"state": {}, "matrix": "weights", "head": 7}, {"state": {}, "matrix": "weights", "head": float("inf")}],
)  # fmt: skip
def test_a_matrix_that_is_not_there_is_an_empty_file(request_):
    assert table(request_) == ""
