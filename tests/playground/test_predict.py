"""Predict, then reveal: what is hidden stays hidden; right, wrong and named answers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from lessons.grading import tolerance
from lessons.mistakes import mistake_words
from model.errors import PlaygroundError
from playground.actions import apply
from playground.flow import Flow
from playground.html import number
from playground.stage import act
from playground.tab import tabs
from playground.view import view
from tests.playground.html_tree import cells, read, tables
from tests.playground.random_states import presets, random_states

PRESETS = [pytest.param(t, s, id=f"{t.name}: {n}") for t, n, s in presets()]
NAMES = list(tabs())


def page(tab, state, lang="en"):
    return read(view(tab, state, lang))


def asked(tab, state, matrix, seed=1):
    return apply(tab, state, {"do": "ask", "matrix": matrix, "seed": seed})


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
