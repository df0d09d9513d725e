"""The GPT tab: writing, its settings, and the text a person types."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from model.checkpoint import CONFIG, NAMES, SHIPPED, load_checkpoint
from model.sampling import generate
from playground.gpt.text import piece
from tests.browser.conftest import Visit
from tests.browser.pages import (
    LANGUAGES,
    button,
    eventually,
    number,
    put,
    section,
    setting,
    state,
    tab,
    write,
    written,
)

PROMPTS = {"shakespeare": "ROMEO:\n", "shakespeare-64": "O Romeo", "korean": "안녕하세요\n"}
MODELS = [name for name in NAMES if (SHIPPED / name / CONFIG).is_file()]
WATCH = """stage => {
    window.counts = [];
    new MutationObserver(() => {
        const n = stage.querySelectorAll(".piece.p").length;
        if (n !== window.counts.at(-1)) window.counts.push(n);
    }).observe(stage, { childList: true, subtree: true });
}"""


@pytest.fixture
def stage(page: Page) -> Locator:
    return tab(page, "gpt")


def text(stage: Locator) -> Locator:
    return setting(stage, "prompt")


def kept(stage: Locator) -> str | None:
    """The text as the address carries it."""
    return state(stage.page, "gpt").get("prompt")


def begin(stage: Locator, tokens: int = 400) -> None:
    """Start a long writing; the first tokens are there."""
    put(stage, "count", tokens)
    button(stage, f"Write {tokens} tokens").click()
    expect(button(stage, "Stop")).to_be_visible()


def stands_still(stage: Locator) -> str:
    """What is written now, and still is after a while."""
    before = written(stage)
    stage.page.wait_for_timeout(700)
    assert written(stage) == before
    assert stage.locator("[data-more]").count() == 0
    return before


# Writing


def test_the_text_grows_before_ones_eyes(page: Page, stage: Locator) -> None:
    stage.evaluate(WATCH)
    write(stage)
    counts = page.evaluate("window.counts")
    assert counts == sorted(counts)
    assert (counts[-1], len(counts) >= 8) == (40, True), counts
    expect(button(stage, "Write 40 more")).to_be_visible()


@pytest.mark.parametrize("name", MODELS)
def test_at_temperature_0_the_page_writes_what_the_model_writes(stage: Locator, name: str) -> None:
    setting(stage, "model").select_option(name)
    text(stage).fill(PROMPTS[name])
    put(stage, "temperature", 0)
    put(stage, "count", 20)
    found = load_checkpoint(name)
    ids = torch.tensor(found.tokenizer.encode(PROMPTS[name]))
    steps = generate(found.gpt, ids, 20, temperature=0)
    expected = "".join(piece(found.tokenizer.token_bytes(step.token)) for step in steps)
    assert write(stage) == expected
    button(stage, "Clear what was written").click()
    expect(stage.locator(".piece.p")).to_have_count(0)
    assert write(stage) == expected


def test_a_seed_repeats_and_another_does_not(stage: Locator) -> None:
    texts = []
    for seed in (1, 7, 1):
        put(stage, "seed", seed)
        texts.append(write(stage))
        button(stage, "Clear what was written").click()
        expect(stage.locator(".piece.p")).to_have_count(0)
    assert texts[0] == texts[2] != texts[1]


def test_colour_follows_probability(stage: Locator) -> None:
    write(stage)
    for token in stage.locator(".piece.p").all():
        shown = re.fullmatch(r".+: ([\d.e-]+) %", token.get_attribute("title"), re.DOTALL)
        depth = float(re.search(r"--p:(\d+)%", token.get_attribute("style"))[1])
        assert abs(depth - 0.88 * float(shown[1])) <= 1
        assert token.get_attribute("aria-label") == token.get_attribute("title")
    depths = stage.locator(".piece.p").evaluate_all("all => all.map(e => e.style.cssText)")
    assert len(set(depths)) > 10


def test_stop_ends_it_and_undo_goes_back(stage: Locator) -> None:
    begin(stage)
    button(stage, "Stop").click()
    expect(stage.locator("[data-more]")).to_have_count(0)
    text_then = stands_still(stage)
    assert 0 < stage.locator(".piece.p").count() < 400
    button(stage, "Undo").click()
    expect(stage.locator(".piece.p")).to_have_count(0)
    assert stands_still(stage) == ""
    button(stage, "Redo").click()
    eventually(stage.page, lambda: written(stage) == text_then)
    assert stands_still(stage) == text_then


def test_undo_while_writing(stage: Locator) -> None:
    begin(stage)
    button(stage, "Undo").click()
    expect(stage.locator(".piece.p")).to_have_count(0)
    assert stands_still(stage) == ""


def test_a_whole_writing_is_one_step_to_undo(stage: Locator) -> None:
    first = write(stage)
    both = write(stage)
    assert both.startswith(first)
    for shown in (first, ""):
        button(stage, "Undo").click()
        eventually(stage.page, lambda shown=shown: written(stage) == shown)
    expect(button(stage, "Undo")).to_be_disabled()
    for shown in (first, both):
        button(stage, "Redo").click()
        eventually(stage.page, lambda shown=shown: written(stage) == shown)


def test_a_token_and_its_rivals(stage: Locator) -> None:
    """Another candidate is taken; what stood before it stays, the rest is written anew."""
    write(stage)
    pieces = stage.locator(".piece.p").all_text_contents()
    chosen = stage.locator(".piece.p").nth(5)
    chosen.click()
    expect(chosen).to_have_attribute("aria-pressed", "true")
    row = stage.locator("tr.chosen")
    expect(row.locator(".piece")).to_have_text(pieces[5])
    shown = float(chosen.get_attribute("title").split(": ")[-1].removesuffix(" %")) / 100
    assert abs(number(row.locator("td").first.inner_text()) - shown) < 0.006
    rival = stage.locator("table[data-matrix=candidates] tr:has([data-do*=choose])").first
    name = rival.locator(".piece").inner_text()
    rival.get_by_role("button", name="write this").click()
    expect(stage.locator(".piece.p").nth(5)).to_have_text(name)
    expect(stage.locator(".piece.p")).to_have_count(40)
    expect(stage.locator("[data-more]")).to_have_count(0)
    after = stage.locator(".piece.p").all_text_contents()
    assert after[:6] == [*pieces[:5], name]
    button(stage, "Undo").click()
    eventually(
        stage.page,
        lambda: stage.locator(".piece.p").all_text_contents() == pieces,
        "the first text",
    )


def test_the_candidates_of_the_next_token_open(stage: Locator) -> None:
    bars = stage.locator("table[data-matrix=candidates]")
    for key, value in (("temperature", 0.5), ("top_k", 5), ("top_p", 0.6)):
        put(stage, key, value)
    expect(bars.locator("th[scope=col]")).to_have_text(
        ["softmax", "T = 0.5", "top-k 5", "top-p 0.6"]
    )
    left = [int(t.split()[0]) for t in bars.locator("tr.soft td").all_inner_texts() if t]
    assert left[0] == left[1] > left[2] == 5 >= left[3] >= 1
    for col in range(4):
        bars.locator(f'td[data-row="0"][data-col="{col}"]').click()
        expect(stage.locator(".glass .sum")).to_be_visible()
        result = number(stage.locator(".glass .sum").inner_text().split("=")[-1])
        top, bottom = stage.locator(".glass .frac").last.locator("> span").all_inner_texts()
        assert abs(number(top) / number(bottom) - result) < 1e-3
        eventually(
            stage.page,
            lambda col=col, result=result: (
                number(bars.locator(f'td[data-row="0"][data-col="{col}"]').inner_text()) == result
            ),
        )


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


# Leaving


def leave_by_closing(page: Page) -> None:
    page.close()


def leave_by_a_link(page: Page) -> None:
    page.goto("about:blank")


@pytest.mark.parametrize("leave", [leave_by_closing, leave_by_a_link])
def test_a_page_that_is_left_asks_for_no_more(visit: Visit, leave: Callable[[Page], None]) -> None:
    page = visit("/en", locale="en-GB")  # a context of its own
    other = page.context.new_page()
    begin(tab(page, "gpt"))
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url))
    eventually(other, lambda: len(asked) > 2, "the page asking on")
    leave(page)
    asked.clear()
    other.wait_for_timeout(1500)
    assert [url for url in asked if url.startswith("http")] == []
