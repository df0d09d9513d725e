"""The page as other programs and assistive technology find it."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Visit
from tests.browser.pages import ALL_TABS, LANGUAGES, TABS, close, number, numbers, tab, table
from tests.conftest import AppServer

MOST_COMPONENTS = 150
NAMED = {"button", "checkbox", "combobox", "grid", "link", "radio", "slider", "tab", "textbox"}


def test_first_tab_opens_with_vectors_to_type_and_weights_in_view(page: Page) -> None:
    fields = page.locator("table[data-matrix=vectors] td[data-row] input")
    assert fields.count() == 18
    for n in range(fields.count()):
        expect(fields.nth(n)).to_be_editable()
    expect(page.locator("table[data-matrix=weights]")).to_be_visible()
    expect(page.locator("table[data-matrix=weights]")).to_be_in_viewport()
    assert page.locator(".veil, .op-group.later").count() == 0


def test_nothing_covers_the_weights_on_a_small_laptop(visit: Visit) -> None:
    page = visit("/ko", viewport={"width": 1366, "height": 768})
    for cell in page.locator("table[data-matrix=weights] td[data-row]").all():
        on_top = cell.evaluate(
            "c => { const b = c.getBoundingClientRect();"
            " return document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2) === c; }"
        )
        assert on_top, cell.inner_text()


def test_tabs_chosen_faster_than_they_are_answered(page: Page) -> None:
    """Gradio could put an unseen tab's empty first value back over its answer."""
    for name in (*ALL_TABS, *reversed(ALL_TABS), *ALL_TABS):
        page.locator(f'button[role=tab][data-tab-id="{name}"]').click()
    page.wait_for_timeout(500)
    for name in TABS:
        expect(table(page.locator(f"#stage-{name}"), "weights").first).to_be_attached()
    expect(page.locator("#stage-gpt .written")).to_be_visible()


@pytest.mark.parametrize("lang", LANGUAGES)
def test_all_tabs_in_a_language(visit: Visit, lang: str) -> None:
    page = visit(f"/{lang}")
    assert page.evaluate("document.documentElement.lang") == lang
    for name in TABS:
        stage = tab(page, name)
        for matrix in ("vectors", "weights", "scores"):
            expect(table(stage, matrix)).to_be_visible()
        hangul = re.search("[가-힣]", stage.locator(".lesson > p").inner_text()) is not None
        assert hangul == (lang == "ko")


@pytest.mark.parametrize(("header", "lang"), [("ko-KR,ko;q=0.9,en;q=0.5", "ko"), ("en-GB", "en")])
def test_home_goes_by_the_readers_language(visit: Visit, header: str, lang: str) -> None:
    page = visit("/", extra_http_headers={"Accept-Language": header})
    assert page.url.endswith(f"/{lang}")


def test_cells_are_addressed_from_zero_row_by_row(page: Page) -> None:
    addresses = page.locator("table[data-matrix=vectors] td[data-row]").evaluate_all(
        "cells => cells.map(c => [+c.dataset.row, +c.dataset.col])"
    )
    assert addresses == [[i, j] for i in range(6) for j in range(3)]


def test_gradios_own_bar_is_hidden_behind_ours(page: Page) -> None:
    expect(page.locator("#top")).to_be_visible()
    expect(page.locator(".nav-holder")).to_be_hidden()


def test_few_components(app_url: AppServer) -> None:
    config = httpx.get(f"{app_url.url}/config").json()
    pages = [page for page, *_ in config["pages"]]
    assert {"ko", "en"} <= set(pages)
    assert 0 < len(config["components"]) <= MOST_COMPONENTS


def test_the_first_tabs_numbers_are_those_of_the_api(page: Page, app_url: AppServer) -> None:
    stage = page.locator("#stage-dot-product")
    x = numbers(stage, "vectors")
    answer = httpx.post(
        f"{app_url.url}/gradio_api/run/attention",
        json={"data": [x, None, None, None, False, False]},
    ).json()["data"][0]
    assert close(numbers(stage, "scores"), [answer["scores"][1]])
    assert close(numbers(stage, "weights"), [answer["weights"][1]])
    assert close(numbers(stage, "output"), [answer["output"][1]])


def test_everything_to_operate_has_a_name(visit: Visit) -> None:
    """Names as Chromium computes them for a screen reader."""
    page = visit("/ko")
    chromium = page.context.new_cdp_session(page)
    seen = set()
    for name in ALL_TABS:
        tab(page, name)
        nodes = chromium.send("Accessibility.getFullAXTree")["nodes"]
        nodes = [n for n in nodes if not n["ignored"]]
        roles = [(n["role"]["value"], n.get("name", {}).get("value", "").strip()) for n in nodes]
        assert [role for role, said in roles if role in NAMED and not said] == []
        seen |= {role for role, _ in roles}
    assert seen >= NAMED


def test_no_order_of_focus_is_forced(page: Page) -> None:
    for name in ALL_TABS:
        tab(page, name)
    found = page.locator("[tabindex]").evaluate_all("all => all.map(e => e.tabIndex)")
    assert set(found) <= {0, -1}


def test_tabs_are_reached_and_chosen_by_keyboard(page: Page) -> None:
    page.locator('#top [data-client="present"]').focus()
    for _ in TABS:
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.tabId") == "masking":
            page.keyboard.press("Enter")
            break
    expect(table(page.locator("#stage-masking"), "weights")).to_be_visible()


def test_each_table_can_be_entered_by_keyboard(page: Page) -> None:
    """One cell of a table of results takes the focus; from it arrows lead to all others."""
    stage = tab(page, "self-attention")
    for matrix in ("q", "scores", "scaled", "masked", "output"):
        entries = table(stage, matrix).locator('td[tabindex="0"]')
        assert entries.count() == 1, matrix
        assert table(stage, matrix).get_attribute("role") == "grid"
    first = table(stage, "scores").locator('td[tabindex="0"]')
    first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    focused = page.evaluate(
        "[document.activeElement.dataset.row, document.activeElement.dataset.col]"
    )
    assert focused == ["1", "1"]


def test_two_decimals_and_a_true_minus(page: Page) -> None:
    stage = tab(page, "multi-head")
    texts = table(stage, "q").locator("td[data-row]").all_inner_texts()
    assert all(re.fullmatch(r"−?\d+\.\d\d|0", text) for text in texts)
    assert any(number(text) < 0 for text in texts)
