"""The GPT tab as a whole: presets, links, files, languages; and all of it by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from playground.gpt.presets import PRESETS
from tests.browser.conftest import Visit
from tests.browser.pages import (
    LANGUAGES,
    MODELS,
    SECTIONS,
    button,
    cell,
    eventually,
    put,
    section,
    setting,
    small_gpt,
    state,
    tab,
    write,
    written,
)
from tests.browser.test_sharing import save, upload


@pytest.fixture
def stage(page: Page) -> Locator:
    return small_gpt(page)


def shown(stage: Locator) -> list[str]:
    """The text, the settings and what the section says, whatever the language."""
    fields = stage.locator("[data-set]").evaluate_all(
        "all => all.map(e => [e.value, e.checked].join())"
    )
    cells = stage.locator("td[data-row], .piece.p").evaluate_all(
        "all => all.map(e => e.textContent + e.style.cssText + e.classList.contains('sel'))"
    )
    return fields + cells


# Presets, links and files


@pytest.mark.parametrize("lang", LANGUAGES)
def test_all_presets_open(visit: Visit, lang: str) -> None:
    page = visit(f"/{lang}")
    stage = tab(page, "gpt")
    for preset in PRESETS:
        if preset.state.model not in MODELS:
            continue
        stage.get_by_role("button", name=preset.title(lang), exact=True).click()
        expect(stage.locator(".chip[aria-pressed=true]").first).to_have_text(preset.title(lang))
        expect(stage.locator(".try")).to_contain_text(preset.try_this(lang)[:30])
        expect(stage.locator(".notice")).to_have_count(0)
        expect(setting(stage, "prompt")).to_have_value(preset.state.prompt)
        if preset.state.section == "write":
            write(stage)
            written = stage.locator(".piece.p").count()
            assert 0 < written <= preset.state.count  # an answer ends where it ends


def made(stage: Locator) -> list[str]:
    """Something written, with settings and a token chosen."""
    put(stage, "temperature", 1.2)
    put(stage, "seed", 31)
    write(stage)
    stage.locator(".piece.p").nth(3).click()
    expect(stage.locator("tr.chosen")).to_be_visible()
    eventually(stage.page, lambda: state(stage.page, "gpt").get("at") == 3)
    return shown(stage)


def test_language_and_reload_keep_everything(page: Page, stage: Locator) -> None:
    before = made(stage)
    page.reload()
    expect(stage.locator("tr.chosen")).to_be_visible()
    assert shown(stage) == before
    for lang, language in (("ko", "한국어"), ("en", "English")):
        page.get_by_role("link", name=language).click()
        page.wait_for_url(f"**/{lang}#*")
        expect(stage.locator("tr.chosen")).to_be_visible()
        assert shown(stage) == before
    section(stage, "heads")
    stage.locator(".head").nth(5).click()
    cell(stage, "weights", 4, 2, head=1).click()
    eventually(page, lambda: state(page, "gpt").get("open") == ["weights", 1, 4, 2])
    before = shown(stage)
    page.reload()
    expect(stage.locator(".gh")).to_be_visible()
    assert shown(stage) == before
    expect(stage.locator(".head").nth(5)).to_have_attribute("aria-pressed", "true")


def test_a_file_brings_it_back(page: Page, stage: Locator, tmp_path: Path) -> None:
    before = made(stage)
    path = save(page, stage, tmp_path)
    assert path.name == "attention-gpt.json"
    button(stage, "Reset").click()
    expect(stage.locator(".piece.p")).to_have_count(0)
    upload(page, tab(page, "masking"), path)  # from another tab
    expect(stage.locator("tr.chosen")).to_be_visible()
    assert shown(stage) == before
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"tab": "gpt", "state": {"prompt": "a", "written": [99999]}}')
    upload(page, stage, wrong)
    expect(stage.locator(".notice")).to_contain_text("written")
    assert shown(stage) == before


# By keyboard alone


@pytest.mark.parametrize("name", SECTIONS)
def test_everything_is_reached_by_tab(page: Page, stage: Locator, name: str) -> None:
    """Each thing to operate takes the focus in turn, and it is seen to have it."""
    if name == "write":
        put(stage, "count", 5)
        write(stage)
    section(stage, name)
    stage.locator(".chip").first.focus()
    wanted = stage.evaluate(
        """stage => [...stage.querySelectorAll("button, input, select, textarea, [tabindex='0']")].filter(
            e => e.checkVisibility() && !e.disabled && !(e.type === "radio" && !e.checked)).length"""
    )
    for n in range(1, wanted):
        page.keyboard.press("Tab")
        inside, marked = stage.evaluate(
            """stage => [stage.contains(document.activeElement),
            document.activeElement.matches(":focus-visible")
                && getComputedStyle(document.activeElement).outlineStyle !== "none"]"""
        )
        assert (inside, marked) == (True, True), n
    page.keyboard.press("Tab")
    assert not stage.evaluate("stage => stage.contains(document.activeElement)")


def test_writing_by_keyboard(page: Page, stage: Locator) -> None:
    button(stage, "Write 40 tokens").focus()
    page.keyboard.press("Enter")
    expect(stage.locator(".piece.p")).to_have_count(40)
    stage.locator(".piece.p").nth(2).focus()
    page.keyboard.press("Enter")
    expect(stage.locator("tr.chosen")).to_be_visible()
    take = stage.get_by_role("button", name="write this").first
    before = written(stage)
    take.focus()
    page.keyboard.press(" ")
    eventually(page, lambda: written(stage) != before)
    expect(stage.locator(".piece.p")).to_have_count(40)
