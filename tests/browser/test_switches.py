"""Switches, examples, mistakes, typed weights, and the way back from each of them."""

from __future__ import annotations

import math
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.pages import (
    LANGUAGES,
    TABS,
    button,
    cell,
    close,
    dots,
    eventually,
    field,
    number,
    numbers,
    softmax,
    tab,
    table,
)


def test_scaling_and_mask(plain: Locator) -> None:
    x = numbers(plain, "vectors")
    scores = dots(x, x)
    assert close(
        numbers(plain, "weights"), [softmax([s / math.sqrt(3) for s in row]) for row in scores]
    )
    plain.get_by_label("÷ √d", exact=True).uncheck()
    eventually(
        plain.page, lambda: close(numbers(plain, "weights"), [softmax(row) for row in scores])
    )
    plain.get_by_label("causal mask").check()
    masked = [softmax(row[: i + 1]) + [0.0] * (5 - i) for i, row in enumerate(scores)]
    eventually(plain.page, lambda: close(numbers(plain, "weights"), masked), "the causal mask")
    expect(cell(plain, "masked", 0, 1)).to_have_text("−∞")
    expect(cell(plain, "masked", 0, 1)).to_have_class(re.compile("masked"))
    outputs = dots(masked, [list(column) for column in zip(*x, strict=True)])
    assert close(numbers(plain, "output"), outputs)


def test_dropout_by_keyboard(plain: Locator) -> None:
    rate = plain.get_by_role("slider")
    rate.focus()
    for n in range(1, 6):
        plain.page.keyboard.press("ArrowRight")
        expect(rate).to_have_attribute("aria-valuetext", f"{5 * n} %")
        expect(rate).to_be_focused()
    assert rate.input_value() == "0.25"
    kept = numbers(plain, "dropped")
    weights = numbers(plain, "weights")
    found = [
        [k / w for k, w in zip(*pair, strict=True)] for pair in zip(kept, weights, strict=True)
    ]
    ratios = [r for row in found for r in row]
    assert all(r == 0 or abs(r - 1 / 0.75) < 0.1 for r in ratios)
    assert 0 < sum(r == 0 for r in ratios) < 36


def test_a_seed_that_cannot_be_used_is_said_beside_it(plain: Locator) -> None:
    seed = plain.get_by_label("seed").last
    seed.fill("many")
    seed.press("Tab")
    expect(plain.locator(".num").get_by_role("alert")).to_contain_text("many")
    seed.fill("7")
    seed.press("Tab")
    expect(plain.get_by_role("alert")).to_have_count(0)


def test_typed_projections(plain: Locator) -> None:
    plain.get_by_role("group", name="Projections W").get_by_label("typed").check()
    expect(table(plain, "w_query")).to_be_visible()
    assert numbers(plain, "w_query") == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    field(plain, "w_query", 0, 0).fill("2")
    x = numbers(plain, "vectors")
    q = [[2 * row[0], *row[1:]] for row in x]
    eventually(plain.page, lambda: close(numbers(plain, "q"), q))
    assert close(numbers(plain, "scores"), dots(q, x))
    assert numbers(plain, "k") == x


def test_typed_weights(page: Page) -> None:
    """Document 1's voices: 0.1, 0.8, 0.1 over three vectors give [81.5, 81.5]."""
    stage = page.locator("#stage-dot-product")
    for name in ("Your", "journey", "starts"):
        button(stage, f"remove {name}").click()
        expect(button(stage, f"remove {name}")).to_have_count(0)  # its place is another's by then
    button(stage, "− dimension").click()
    eventually(page, lambda: len(numbers(stage, "vectors")[0]) == 2)
    for i, (a, b) in enumerate(((10, 10), (100, 100), (5, 5))):
        field(stage, "vectors", i, 0).fill(str(a))
        field(stage, "vectors", i, 1).fill(str(b))
    eventually(page, lambda: numbers(stage, "scores") == [[200, 2000, 100]])
    assert numbers(stage, "weights") == [[0, 1, 0]]
    stage.get_by_label("type the weights by hand").check()
    for j, text in enumerate(("0.1", "0,8", "0.1")):
        field(stage, "weights", 0, j).fill(text)
    eventually(page, lambda: numbers(stage, "output") == [[81.5, 81.5]])
    field(stage, "weights", 0, 0).fill("-1")
    expect(cell(stage, "weights", 0, 0).get_by_role("alert")).to_contain_text("cannot be negative")
    assert numbers(stage, "output") == [[81.5, 81.5]]
    stage.get_by_label("type the weights by hand").uncheck()
    eventually(page, lambda: numbers(stage, "output") == [[100, 100]])


def test_clicks_faster_than_the_answer(page: Page) -> None:
    """Tokens removed and a cell typed before the page has caught up: each is the one meant."""
    stage = page.locator("#stage-dot-product")
    names = numbers(stage, "vectors")
    page.evaluate(
        """() => {
          const stage = document.querySelector("#stage-dot-product");
          const named = (name) => stage.querySelector(`button[aria-label="remove ${name}"]`);
          named("Your").click(); named("journey").click(); named("journey").click();
          const field = stage.querySelector("[data-matrix=vectors] td[data-row='3'][data-col='0'] input");
          field.value = "7"; field.dispatchEvent(new Event("input", {bubbles: true}));
          named("starts").click();
        }"""
    )
    eventually(page, lambda: len(numbers(stage, "vectors")) == 3)
    assert numbers(stage, "vectors") == [[7, *names[3][1:]], *names[4:]]


# Examples, undo, reset


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_example_opens_on_something(visit: Visit, lang: str) -> None:
    page = visit(f"/{lang}")
    for name in TABS:
        stage = tab(page, name)
        chips = stage.locator(".chip")
        told = set()
        for n in range(chips.count()):
            chips.nth(n).click()
            expect(chips.nth(n)).to_have_attribute("aria-pressed", "true")
            expect(stage.locator(".chip[aria-pressed=true]")).to_have_count(1)
            expect(stage.locator("td.sel")).to_have_count(1)
            expect(stage.locator(".glass .sum")).to_be_visible()
            told.add(stage.locator(".try").inner_text())
        assert len(told) == chips.count() >= 4
        expect(stage.locator(".notice")).to_have_count(0)


def test_undo_and_redo(page: Page) -> None:
    stage = page.locator("#stage-dot-product")
    undo, redo = button(stage, "Undo"), button(stage, "Redo")
    start = numbers(stage, "vectors")
    expect(undo).to_be_disabled()
    target = field(stage, "vectors", 0, 0)
    target.fill("")
    target.press_sequentially("0.75", delay=30)  # one step back, not four
    eventually(page, lambda: numbers(stage, "vectors")[0][0] == 0.75)
    button(stage, "+ token").click()
    eventually(page, lambda: len(numbers(stage, "vectors")) == 7)
    expect(redo).to_be_disabled()
    undo.click()
    eventually(page, lambda: len(numbers(stage, "vectors")) == 6)
    undo.click()
    eventually(page, lambda: numbers(stage, "vectors") == start)
    expect(undo).to_be_disabled()
    redo.click()
    redo.click()
    eventually(page, lambda: len(numbers(stage, "vectors")) == 7)
    assert numbers(stage, "vectors")[0][0] == 0.75
    cell(stage, "scores", 0, 0).click()
    expect(cell(stage, "scores", 0, 0)).to_have_class(re.compile("sel"))
    page.keyboard.press("Control+z")
    eventually(page, lambda: len(numbers(stage, "vectors")) == 6)
    page.keyboard.press("Control+Shift+z")
    eventually(page, lambda: len(numbers(stage, "vectors")) == 7)


def test_looking_is_nothing_to_undo(page: Page) -> None:
    stage = page.locator("#stage-dot-product")
    cell(stage, "scores", 0, 0).click()
    expect(cell(stage, "scores", 0, 0)).to_have_class(re.compile("sel"))
    button(stage, "Next step").click()
    expect(stage.locator(".steps output")).to_contain_text("Step 1")
    expect(button(stage, "Undo")).to_be_disabled()


def test_reset_goes_back_to_the_example(page: Page) -> None:
    stage = page.locator("#stage-dot-product")
    button(stage, "Three voices").click()
    expect(table(stage, "vectors").locator("tr")).to_have_count(3)
    field(stage, "vectors", 0, 0).fill("7")
    eventually(page, lambda: numbers(stage, "vectors")[0][0] == 7)
    button(stage, "Reset").click()
    eventually(page, lambda: numbers(stage, "vectors")[0][0] == 10)
    button(stage, "Undo").click()
    eventually(page, lambda: numbers(stage, "vectors")[0][0] == 7)


# Heads


def test_heads_side_by_side(page: Page) -> None:
    stage = tab(page, "multi-head")
    button(stage, "Same numbers, more heads").click()
    expect(stage.locator(".ledger")).to_have_text("[1, 3, 4] → 2 × [1, 3, 2] → [1, 3, 4]")
    heads = [numbers(stage, "head_output", h) for h in range(2)]
    assert numbers(stage, "concat") == [a + b for a, b in zip(*heads, strict=True)]
    stage.get_by_role("group", name="n_head").get_by_label("4").check()
    expect(stage.locator(".ledger")).to_have_text("[1, 3, 4] → 4 × [1, 3, 1] → [1, 3, 4]")
    hues = (
        table(stage, "concat")
        .locator("tr")
        .nth(1)
        .locator("td[data-row]")
        .evaluate_all("cells => cells.map(c => getComputedStyle(c).boxShadow)")
    )
    assert len(set(hues)) == 4, "each head's columns have its own hue"
    stage.get_by_label("head in detail").select_option(index=3)
    expect(table(stage, "q", 3)).to_be_visible()
    for text in stage.locator(".checks b").all_inner_texts():
        assert number(text) < 1e-10


def test_many_heads_are_pictures_and_one_a_table(page: Page) -> None:
    stage = tab(page, "multi-head")
    button(stage, "64 → 4 × 16 → 64").click()
    stage.get_by_role("group", name="n_head").get_by_label("16").check()
    pictures = stage.locator("canvas[data-heat]")
    expect(pictures).to_have_count(16)
    painted = pictures.first.evaluate(
        "c => c.getContext('2d').getImageData(0, 0, 3, 3).data.filter((v, i) => i % 4 === 3 && v).length"
    )
    assert painted > 0
    stage.get_by_role("button", name="weights of head 12").click()
    expect(table(stage, "weights", 11)).to_be_visible()
    expect(stage.locator('table[data-matrix="weights"]')).to_have_count(1)
