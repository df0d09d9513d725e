"""Break it: each named mistake, where it first shows and how far it goes."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from lessons.mistakes import mistake_words
from tests.browser.conftest import Visit
from tests.browser.pages import button, cell, close, dots, number, numbers, softmax, tab


@pytest.mark.parametrize(
    ("name", "lang", "prepare"),
    [
        ("self-attention", "en", ["causal mask", "rate"]),
        ("masking", "ko", []),
        ("multi-head", "en", ["causal mask", "rate", "64 → 4 × 16 → 64"]),
    ],
)
def test_each_mistake_marks_the_first_step_it_spoils(
    visit: Visit, name: str, lang: str, prepare: list[str]
) -> None:
    page = visit(f"/{lang}")
    stage = tab(page, name)
    if "64 → 4 × 16 → 64" in prepare:
        button(stage, "64 → 4 × 16 → 64").click()
        expect(stage.locator(".ledger")).to_contain_text("[1, 3, 64]")
    if "causal mask" in prepare:
        stage.get_by_label("causal mask").check()
        stage.get_by_role("slider").fill("0.25")  # at 0.5, ÷ p would be right
        expect(stage.get_by_role("slider")).to_have_attribute("aria-valuetext", "25 %")
    radios = stage.locator('input[data-set="mistake"]')
    names = radios.evaluate_all("all => all.map(radio => radio.value)")
    assert names[0] == ""
    assert len(names) > 8
    expect(stage.locator(".m.wrong")).to_have_count(0)
    radios.first.focus()
    for mistake in names[1:]:
        page.keyboard.press("ArrowDown")
        expect(stage.locator(".told")).to_have_text(mistake_words()[mistake].text[lang])
        expect(stage.locator(".m.wrong")).to_have_count(1)
        expect(stage.locator(".m.wrong .badge")).to_be_visible()
        expect(stage.locator(".breakage")).to_be_visible()
        expect(stage.locator(f'input[value="{mistake}"]')).to_be_focused()
    radios.first.check()
    expect(stage.locator(".m.wrong, .told, .breakage")).to_have_count(0)


def test_how_far_the_numbers_end_up_apart(plain: Locator) -> None:
    right = numbers(plain, "weights")
    outputs = numbers(plain, "output")
    plain.get_by_label("no ÷ √d").check()
    expect(plain.locator(".m.wrong table")).to_have_attribute("data-matrix", "scaled")
    scores = dots(numbers(plain, "vectors"), numbers(plain, "vectors"))
    assert close(numbers(plain, "weights"), [softmax(row) for row in scores])
    assert numbers(plain, "weights") != right
    moved = max(
        abs(a - b)
        for row, other in zip(numbers(plain, "output"), outputs, strict=True)
        for a, b in zip(row, other, strict=True)
    )
    said = re.search(r"end up ([\d.]+) apart", plain.locator(".breakage").inner_text())
    assert abs(number(said[1]) - moved) <= 0.0101


def test_a_mistake_without_its_mask_says_what_is_missing(plain: Locator) -> None:
    plain.get_by_label("diagonal masked too").check()
    expect(plain.locator(".breakage")).to_contain_text("switch the causal mask on first")
    expect(plain.locator(".m.wrong")).to_have_count(0)
    plain.get_by_label("causal mask").check()
    expect(plain.locator(".m.wrong")).to_have_count(1)
    expect(cell(plain, "weights", 0, 0)).to_have_text("NaN")


def test_what_stays_right_names_the_right_number(plain: Locator) -> None:
    cell(plain, "weights", 0, 0).click()
    expect(plain.locator(".gh")).to_contain_text("[Your, Your]")
    right = plain.locator(".gh b").first.inner_text().split("=")[1].strip()
    plain.get_by_label("no ÷ √d").check()
    expect(plain.locator(".instead")).to_contain_text(right)
