"""The tabs made of settings, matrices and curves: every example, as a person finds it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from playground.form.panel import FormPanel
from playground.panel import panels
from tests.browser.conftest import Visit
from tests.browser.pages import LANGUAGES, button, eventually, field, numbers, state, tab
from tests.browser.test_appearance import CONTRASTS, PHONE, too_wide

FORMS = {name: p.form for name, p in panels().items() if isinstance(p, FormPanel)}
SVG_TEXT = """stage => [...stage.querySelectorAll("svg text")].map(t => getComputedStyle(t).fill)"""


def choose(stage: Locator, n: int) -> None:
    """The n-th example; the page shows it."""
    chip = stage.locator(".presets .chip").nth(n)
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")


def there(stage: Locator) -> None:
    expect(
        stage.locator("table[data-matrix], figure.chart, [data-do*=start]").first
    ).to_be_visible()


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", FORMS)
def test_every_example_opens_quietly_and_fits_a_phone(visit: Visit, name: str, lang: str) -> None:
    page = visit(f"/{lang}", viewport=PHONE, has_touch=True, is_mobile=True)
    stage = tab(page, name)
    assert too_wide(page) == []
    for n, example in enumerate(FORMS[name].examples):
        choose(stage, n)
        there(stage)
        assert stage.locator(".notice").count() == 0, example.name
        assert example.try_this(lang) in stage.locator(".try").inner_text()
        assert too_wide(page) == [], example.name


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", FORMS)
def test_contrast(visit: Visit, name: str, scheme: str) -> None:
    page = visit("/en", color_scheme=scheme)
    stage = tab(page, name)
    for n, example in enumerate(FORMS[name].examples):
        choose(stage, n)
        there(stage)
        page.wait_for_timeout(300)  # colours of buttons fade
        looked, poor = stage.evaluate(CONTRASTS)
        assert (looked > 10, poor) == (True, []), example.name
        black = "rgb(0, 0, 0)"  # SVG's own, where no rule of ours reached: unreadable in the dark
        assert black not in stage.evaluate(SVG_TEXT), example.name


@pytest.mark.parametrize("name", FORMS)
def test_a_number_opens_by_keyboard_and_closes(visit: Visit, name: str) -> None:
    page = visit("/en")
    stage = tab(page, name)
    for n in range(len(FORMS[name].examples)):
        choose(stage, n)
        there(stage)
        reached = stage.locator('td[data-row][tabindex="0"]:not(.edit):not(.in)')
        if not reached.count():  # nothing computed yet: it is measured or trained when asked for
            continue
        page.keyboard.press("Escape")  # what the example opens
        expect(stage.locator(".glass .gh")).to_have_count(0)
        cell = reached.last
        cell.focus()
        page.keyboard.press("Enter")
        expect(stage.locator(".glass .gh")).to_have_count(1)
        assert stage.locator(".glass code").inner_text().strip()
        page.keyboard.press("Escape")
        expect(stage.locator(".glass .gh")).to_have_count(0)


@pytest.mark.parametrize("name", FORMS)
def test_what_cannot_be_used_stays_with_its_message(page: Page, name: str) -> None:
    stage = tab(page, name)
    typed = stage.locator('input.field[inputmode="decimal"]').first
    typed.fill("abc")
    typed.press("Enter")
    expect(stage.get_by_role("alert").first).to_be_visible()
    expect(typed).to_have_value("abc")
    expect(stage.get_by_role("alert").first).to_contain_text("abc")


# Inverse attention


def test_a_goal_is_reached_by_hand_or_by_descent_and_undone(page: Page) -> None:
    stage = tab(page, "inverse")
    before = numbers(stage, "vectors")
    weight = numbers(stage, "weights")[2][0]
    field(stage, "vectors", 0, 0).fill("2")
    eventually(page, lambda: numbers(stage, "weights")[2][0] > weight)
    button(stage, "Reset").click()
    eventually(page, lambda: numbers(stage, "vectors") == before)
    button(stage, "Let gradient descent do it").click()
    eventually(page, lambda: abs(numbers(stage, "weights")[2][0] - 0.8) <= 0.01)
    expect(stage.locator("[data-more]")).to_have_count(0)
    expect(stage.locator("figure.chart polyline")).to_have_count(1)
    button(stage, "Undo").click()
    eventually(page, lambda: numbers(stage, "vectors") == before)


# Cost


def test_attention_is_measured_while_one_watches_and_can_be_stopped(page: Page) -> None:
    stage = tab(page, "cost")
    rows = stage.locator("table[data-matrix=seconds], table[data-matrix^=time]").first.locator("tr")
    stage.locator('[data-do*="start"]').click()
    expect(rows.nth(3)).to_be_visible()
    stage.locator('[data-do*="stop"]').or_(stage.locator('[data-do*="start"]')).first.click()
    expect(stage.locator("[data-more]")).to_have_count(0, timeout=60_000)
    assert state(page, "cost")["measured"]


# Positions


def test_a_word_that_is_typed_finds_its_neighbours(page: Page) -> None:
    stage = tab(page, "positions")
    stage.locator('input[data-set="section"][value="neighbours"]').check()
    word = stage.locator('[data-set="word"]')
    word.fill("day")
    word.press("Enter")
    expect(stage.locator("table[data-matrix=neighbours] tr").nth(2)).to_contain_text("night")


# Training


def trained(page: Page, name: str = "training") -> int:
    return state(page, name).get("step", 0)


def test_a_model_learns_before_ones_eyes_is_paused_and_goes_on(page: Page) -> None:
    stage = tab(page, "training")
    button(stage, "Train 300 steps").click()
    eventually(page, lambda: trained(page) > 20)
    button(stage, "Pause").click()
    expect(stage.locator("[data-more]")).to_have_count(0)
    eventually(page, lambda: not state(page, "training").get("running"))
    paused = trained(page)
    page.wait_for_timeout(700)
    assert 20 < trained(page) == paused < 300
    button(stage, "One step").click()
    eventually(page, lambda: trained(page) == paused + 1)
    stage.locator('[data-do*="start"]').click()
    eventually(page, lambda: trained(page) == 300, seconds=60)
    assert stage.locator("figure.chart polyline").count() == 1
    heard = stage.locator(".sentence").first.inner_text()
    assert "Step 300" in heard
    page.reload()  # the address knows the step, the server knows the run
    expect(stage.locator(".sentence").first).to_have_text(heard)


def test_two_runs_side_by_side_and_a_setting_that_begins_anew(page: Page) -> None:
    stage = tab(page, "training")
    stage.locator('.chip[data-do*="no-mask"]').click()
    stage.locator('[data-do*="start"]').click()
    eventually(page, lambda: trained(page) == 300, seconds=90)
    expect(stage.locator("figure.chart polyline")).to_have_count(2)
    stage.locator('[data-set="seed"]').fill("5")
    stage.locator('[data-set="seed"]').press("Enter")
    eventually(page, lambda: trained(page) == 0)


def test_a_lesson_trains_in_its_own_panel(page: Page) -> None:
    stage = tab(page, "lessons")
    stage.locator(".all > summary").click()
    stage.locator('.all button[data-do*="12_backpropagation"]').click()
    inner = stage.locator('[data-tab="training"]')
    inner.locator('[data-do*="start"]').click()
    step = lambda: state(page, "lessons").get("panel", {}).get("step", 0)  # noqa: E731
    eventually(page, lambda: step() > 10)
    button(inner, "Pause").click()
    expect(inner.locator("[data-more]")).to_have_count(0)
