"""Readable everywhere: on a phone, in the dark, on a projector."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from playground.gpt.parts import chip
from tests.browser.conftest import Visit
from tests.browser.pages import (
    ALL_TABS,
    LANGUAGES,
    SECTIONS,
    TABS,
    button,
    cell,
    field,
    put,
    section,
    tab,
    table,
    write,
)

PHONE = {"width": 390, "height": 844}
LEAST_CONTRAST = 4.5  # WCAG 2.2, 1.4.3, level AA

CONTRASTS = """root => {
    const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const layer = (colour) => { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); };
    const read = () => [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
    const luminance = (rgb) => {
        const [r, g, b] = rgb.map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b;
    };
    const ancestors = (e) => e ? [...ancestors(e.parentElement), e] : [];
    const poor = [];
    let looked = 0;
    for (const e of root.querySelectorAll("*")) {
        const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
        if (!(own || e.matches("input:not([type=checkbox],[type=radio],[type=range])"))) continue;
        if (!e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || e.disabled) continue;
        pen.globalAlpha = 1;
        const bar = e.matches(".pbar") && getComputedStyle(e).backgroundImage.match(/[a-z]+\\([^()]*\\)/g);
        looked += 1;
        for (const over of bar || ["transparent"]) {
            layer("#fff");
            for (const a of ancestors(e)) layer(getComputedStyle(a).backgroundColor);
            layer(over);
            const below = luminance(read());
            layer(getComputedStyle(e).color);
            const text = luminance(read());
            const ratio = (Math.max(text, below) + .05) / (Math.min(text, below) + .05);
            if (ratio < LEAST) poor.push(`${ratio.toFixed(2)} ${e.tagName}.${e.className} ${(e.value || e.textContent).slice(0, 20)}`);
        }
    }
    return [looked, poor];
}""".replace("LEAST", str(LEAST_CONTRAST))


def every_state(page: Page, name: str) -> Locator:
    """A tab with all that can be on it: messages, a mistake, an opened and a pinned cell, code."""
    stage = tab(page, name)
    causal = stage.locator('input[data-set="causal"]')
    if causal.count():
        causal.check()
    if stage.locator('input[type="range"]').count():
        stage.locator('input[type="range"]').fill("0.3")
        expect(table(stage, "dropped").first).to_be_visible()
    if stage.locator('input[value="mask_diagonal"]').count():
        stage.locator('input[value="mask_diagonal"]').check()
        expect(stage.locator(".badge")).to_be_visible()
        expect(stage.locator("td.nan").first).to_be_visible()
    cell(stage, "weights", 1, 0).or_(cell(stage, "weights", 0, 0)).first.click()
    expect(stage.locator(".gh").first).to_be_visible()
    stage.locator("[data-do*=pin]").first.click()
    expect(stage.locator(".gh").first).to_be_visible()
    field(stage, "vectors", 0, 0).fill("abc")
    expect(stage.get_by_role("alert")).to_be_visible()
    stage.locator('[data-token="1"]').fill("")
    expect(stage.locator(".notice")).to_be_visible()
    stage.locator("[data-client=code]").click()
    expect(stage.locator(".code pre")).to_be_visible()
    return stage


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(visit: Visit, scheme: str) -> None:
    page = visit("/en", color_scheme=scheme, permissions=["clipboard-write"])
    dark = page.evaluate("document.body.classList.contains('dark')")
    assert dark == (scheme == "dark")
    for name in TABS:
        stage = every_state(page, name)
        page.wait_for_timeout(300)  # colours of buttons fade
        for part in (page.locator("#top"), page.locator(".tab-container").first, stage):
            looked, poor = part.evaluate(CONTRASTS)
            assert looked > 3
            assert poor == [], name
        kinds = {"self-attention": ["pos", "w", "masked", "nan", "sel"], "multi-head": ["neg", "w"]}
        for kind in kinds.get(name, []):
            assert stage.locator(f"td.{kind}").count() > 0, (name, kind)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_deep_colours_and_answers(visit: Visit, scheme: str) -> None:
    """Every depth of the scales: weights from 0 to 1, the largest positive and negative number."""
    page = visit("/en", color_scheme=scheme)
    stage = page.locator("#stage-dot-product")
    stage.get_by_label("type the weights by hand").check()
    for j, weight in enumerate(("0.1", "0.3", "0.5", "0.6", "0.9", "1")):
        field(stage, "weights", 0, j).fill(weight)
    field(stage, "vectors", 1, 0).fill("-3")
    expect(cell(stage, "scores", 0, 0)).to_have_class("neg")
    stage = tab(page, "masking")
    stage.get_by_label("type the weights by hand").check()
    for j, weight in enumerate(("0.1", "0.45", "0.53", "0.6", "0.9", "1")):
        field(stage, "weights_none", 5, j).fill(weight)
    expect(cell(stage, "weights_after", 5, 5)).to_have_text("1.00")
    looked, poor = stage.evaluate(CONTRASTS)
    assert stage.locator("td.deep").count() > 1
    assert (looked > 100, poor) == (True, [])
    button(stage, "Reset").click()
    expect(stage.locator("td.sel")).to_have_count(1)
    stage.locator(".quiz [data-do]").first.click()
    for answer in ("many", "7"):
        stage.locator(".quiz input").fill(answer)
        button(stage, "Check").click()
        expect(stage.locator(".fb")).to_be_visible()
        assert stage.evaluate(CONTRASTS)[1] == []
    looked, poor = page.locator("#stage-dot-product").evaluate(CONTRASTS)
    assert (looked, poor) == (0, []), "that tab is not in view"
    assert tab(page, "dot-product").evaluate(CONTRASTS)[1] == []


def too_wide(page: Page) -> list[str]:
    """What sticks out of the screen, though not out of a box that scrolls."""
    return page.evaluate(
        """() => document.documentElement.scrollWidth <= innerWidth ? [] :
        [...document.querySelectorAll("body *")].filter(e => e.checkVisibility()
            && e.getBoundingClientRect().right > innerWidth + 1 && !e.parentElement.closest(".scroll, .code, .ledger, .grid"))
            .map(e => e.tagName + "." + e.className).slice(0, 5).concat("scrolls")"""
    )


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_phone_scrolls_in_one_direction(visit: Visit, lang: str) -> None:
    page = visit(
        f"/{lang}", viewport=PHONE, has_touch=True, is_mobile=True, permissions=["clipboard-write"]
    )

    for name in TABS:
        stage = tab(page, name)
        assert too_wide(page) == [], name
        chips = stage.locator(".chip")
        for n in range(chips.count()):
            chips.nth(n).click()
            expect(chips.nth(n)).to_have_attribute("aria-pressed", "true")
            assert too_wide(page) == [], (name, chips.nth(n).inner_text())
        chips.first.click()
        every_state(page, name)
        assert too_wide(page) == [], name


def test_a_message_stays_on_the_phone(visit: Visit) -> None:
    page = visit("/ko", viewport=PHONE, has_touch=True, is_mobile=True)
    stage = page.locator("#stage-dot-product")
    field(stage, "vectors", 0, 2).fill("abc")
    box = stage.get_by_role("alert").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]


def test_fingers_find_the_controls(visit: Visit) -> None:
    """WCAG 2.2, 2.5.8: targets of 24 × 24 pixels, or with that much room around them."""
    page = visit("/en", viewport=PHONE, has_touch=True, is_mobile=True)
    for name in ALL_TABS:
        sizes = (
            tab(page, name)
            .locator("button:visible:not(.piece), td input, select")  # a token is part of a line
            .evaluate_all(
                "all => all.map(e => [e.getBoundingClientRect(), e]).filter(([b]) => b.height < 24 || b.width < 24)"
                ".map(([b, e]) => `${e.textContent} ${b.width} × ${b.height}`)"
            )
        )
        assert sizes == [], name


def test_on_a_projector_the_matrices_have_the_screen(page: Page) -> None:
    present = button(page.locator("#top"), "Present")
    size = "e => e.getBoundingClientRect().height"
    small = cell(page.locator("#stage-dot-product"), "weights", 0, 0).evaluate(size)
    present.click()
    expect(present).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#stage-dot-product .lesson")).to_be_hidden()
    assert cell(page.locator("#stage-dot-product"), "weights", 0, 0).evaluate(size) > 1.2 * small
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    present.click()
    expect(page.locator("#stage-dot-product .lesson")).to_be_visible()


def every_side(stage: Locator, name: str) -> None:
    """A section of the GPT tab with all that can be on it."""
    section(stage, name)
    if name == "write":
        put(stage, "top_k", "many")
        expect(stage.get_by_role("alert")).to_be_visible()
        write(stage)
        stage.locator(".piece.p").nth(2).click()
        expect(stage.locator("tr.chosen").first).to_be_visible()
        cell(stage, "candidates", 1, 1).click()
        expect(stage.locator(".glass")).to_be_visible()
    if name == "heads":
        stage.locator(".head").nth(1).click()
        expect(stage.locator(".head").nth(1)).to_have_attribute("aria-pressed", "true")
        cell(stage, "weights", 2, 1, head=1).click()
        expect(stage.locator(".gh")).to_be_visible()
    if name == "layers":
        cell(stage, "norms", 1, 1).click()
        expect(stage.locator(".glass")).to_be_visible()
    if name == "without":
        stage.locator(".out button").first.click()
        stage.locator("[data-do*=leave_block]").last.click()
        expect(stage.locator("[data-do*=restore]")).to_be_visible()
    if name == "cache":
        stage.locator("[data-do*=measure]").click()
        expect(stage.locator(".sentence")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_the_gpt_tab(visit: Visit, scheme: str) -> None:
    stage = tab(visit("/en", color_scheme=scheme), "gpt")
    for name in SECTIONS:
        every_side(stage, name)
        stage.page.wait_for_timeout(300)  # colours of buttons fade
        looked, poor = stage.evaluate(CONTRASTS)
        assert (looked > 20, poor) == (True, []), name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_of_every_probability(visit: Visit, scheme: str) -> None:
    stage = tab(visit("/en", color_scheme=scheme), "gpt")
    pieces = "".join(chip(f"{n} %", n / 100) for n in range(101))
    stage.locator(".written").evaluate("(box, pieces) => { box.innerHTML = pieces; }", pieces)
    looked, poor = stage.locator(".written").evaluate(CONTRASTS)
    assert (looked, poor) == (101, [])


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("width", [390, 1280])
def test_the_gpt_tab_scrolls_in_one_direction(visit: Visit, lang: str, width: int) -> None:
    touch = {"has_touch": True, "is_mobile": True} if width < 900 else {}
    page = visit(f"/{lang}", viewport={"width": width, "height": 844}, **touch)
    stage = tab(page, "gpt")
    for name in SECTIONS:
        every_side(stage, name)
        assert too_wide(page) == [], name
    section(stage, "write")
    stage.locator('textarea[data-set="prompt"]').fill("W" * 400 + "한" * 400)
    expect(stage.locator(".written .piece").nth(300)).to_be_attached()
    for name in SECTIONS:
        section(stage, name)
        assert too_wide(page) == [], name


def test_the_gpt_tab_on_a_projector(page: Page) -> None:
    stage = tab(page, "gpt")
    small = stage.locator(".piece").first.evaluate("e => e.getBoundingClientRect().height")
    button(page.locator("#top"), "Present").click()
    expect(stage.locator(".lesson")).to_be_hidden()
    assert (
        stage.locator(".piece").first.evaluate("e => e.getBoundingClientRect().height")
        > 1.2 * small
    )
    for name in SECTIONS:
        every_side(stage, name)
        assert too_wide(page) == [], name
