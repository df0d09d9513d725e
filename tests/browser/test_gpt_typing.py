"""The GPT tab: its fields, and the text a person types."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.pages import (
    LANGUAGES,
    begin,
    button,
    eventually,
    put,
    section,
    setting,
    stands_still,
    state,
    tab,
    write,
    written,
)


@pytest.fixture
def stage(page: Page) -> Locator:
    return tab(page, "gpt")


def text(stage: Locator) -> Locator:
    return setting(stage, "prompt")


def kept(stage: Locator) -> str | None:
    """The text as the address carries it."""
    return state(stage.page, "gpt").get("prompt")


# Fields


@pytest.mark.parametrize("lang", LANGUAGES)
def test_nonsense_stays_with_its_message(visit: Visit, lang: str) -> None:
    stage = tab(visit(f"/{lang}"), "gpt")
    before = write(stage)
    said = {"en": "stays in use", "ko": "그대로 씁니다"}[lang]
    wrong = {"temperature": "hot", "top_k": "-1", "top_p": "0", "seed": "1.5", "count": "401"}
    for n, (key, typed) in enumerate(wrong.items(), start=1):
        put(stage, key, typed)
        expect(stage.get_by_role("alert")).to_have_count(n)
        expect(stage.get_by_role("alert").nth(list(wrong).index(key))).to_contain_text(said)
    for key, typed in wrong.items():
        expect(setting(stage, key)).to_have_value(typed)
        expect(setting(stage, key)).to_have_attribute("aria-invalid", "true")
    assert written(stage) == before
    for key, typed in {"temperature": "0,5", "top_k": "3", "top_p": "1", "seed": "0"}.items():
        put(stage, key, typed)
    put(stage, "count", 400)
    expect(stage.get_by_role("alert")).to_have_count(0)
    expect(setting(stage, "temperature")).to_have_value("0.5")
    assert written(stage) == before


def test_what_is_half_typed_survives_the_writing(stage: Locator) -> None:
    begin(stage, 60)
    seed = setting(stage, "seed")
    seed.focus()
    seed.select_text()
    seed.press_sequentially("123", delay=150)
    expect(seed).to_have_value("123")
    expect(stage.locator("[data-more]")).to_have_count(0, timeout=60_000)
    expect(seed).to_have_value("123")
    expect(seed).to_be_focused()


# The text


def test_typing_while_it_writes_is_one_step_to_undo(stage: Locator) -> None:
    """What was written goes, as after any change of the text, and can be had back."""
    begin(stage)
    text(stage).press("Control+End")
    text(stage).press_sequentially("I am", delay=30)
    expect(text(stage)).to_have_value("ROMEO:\nI am")
    expect(stage.locator(".piece.p")).to_have_count(0)
    stands_still(stage)
    button(stage, "Undo").click()
    expect(text(stage)).to_have_value("ROMEO:\n")
    expect(stage.locator(".piece.p").first).to_be_visible()


def test_korean_is_composed_syllable_by_syllable(stage: Locator) -> None:
    text(stage).fill("")
    text(stage).focus()
    chromium = stage.page.context.new_cdp_session(stage.page)
    for syllable in (("ㅎ", "하", "한"), ("ㄱ", "그", "글"), ("ㅇ", "이", "읽")):
        for part in syllable:
            where = {"selectionStart": 1, "selectionEnd": 1}
            chromium.send("Input.imeSetComposition", {"text": part, **where})
            stage.page.wait_for_timeout(60)  # an answer comes in the middle of a syllable
        chromium.send("Input.insertText", {"text": syllable[-1]})
    expect(text(stage)).to_have_value("한글읽")
    expect(text(stage)).to_be_focused()
    eventually(stage.page, lambda: kept(stage) == "한글읽")
    assert text(stage).evaluate("e => [e.selectionStart, e.selectionEnd]") == [3, 3]


@pytest.mark.parametrize(
    "typed",
    ["", " ", "\n\n두 줄\n", "👩‍👩‍👧 🎒é", "<|endoftext|>", "</textarea><b>x", "٣ ½ ﷽ \u200b|"],
)
def test_any_text_is_taken_as_it_is(stage: Locator, typed: str) -> None:
    text(stage).fill("x")
    text(stage).fill(typed)
    eventually(stage.page, lambda: kept(stage) == typed)
    put(stage, "count", 2)
    write(stage)
    expect(text(stage)).to_have_value(typed)
    for name in ("heads", "layers", "without", "tokens"):
        section(stage, name)
        expect(stage.locator(".notice")).to_have_count(0)
    assert stage.locator("b:text-is('x'), .panel img").count() == 0
    stage.page.reload()
    expect(text(stage)).to_have_value(typed)


def test_a_field_that_is_full_says_so_and_is_kept(stage: Locator) -> None:
    """A browser takes no more than there is room for; nothing typed is taken back later."""
    page = stage.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('가나다라 '.repeat(300))")
    text(stage).focus()
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+V")
    expect(stage.get_by_text("Full: there is room for 1000 characters")).to_be_visible()
    whole = ("가나다라 " * 300)[:1000]
    expect(text(stage)).to_have_value(whole)
    page.keyboard.type("마")
    put(stage, "count", 2)
    write(stage)
    expect(text(stage)).to_have_value(whole)
    expect(stage.locator(".notice")).to_have_count(0)
    eventually(page, lambda: kept(stage) == whole)


def test_undo_inside_the_text_is_the_browsers(stage: Locator) -> None:
    page = stage.page
    put(stage, "seed", 5)
    text(stage).press("Control+End")
    page.keyboard.type("Who")
    eventually(page, lambda: kept(stage) == "ROMEO:\nWho")
    page.keyboard.press("Control+Z")
    eventually(page, lambda: kept(stage) == "ROMEO:\n")
    expect(setting(stage, "seed")).to_have_value("5")
    page.keyboard.press("Control+Shift+Z")
    eventually(page, lambda: kept(stage) == "ROMEO:\nWho")
    expect(text(stage)).to_be_focused()
