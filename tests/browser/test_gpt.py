"""The GPT tab: what it writes, and how writing ends."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from model.checkpoint import load_checkpoint
from model.sampling import generate
from playground.gpt.text import piece
from tests.browser.conftest import Visit
from tests.browser.pages import (
    MODELS,
    begin,
    button,
    eventually,
    number,
    put,
    setting,
    stands_still,
    tab,
    write,
    written,
)

PROMPTS = {"shakespeare": "ROMEO:\n", "shakespeare-64": "O Romeo", "korean": "안녕하세요\n"}
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


# Writing


def test_the_text_grows_before_ones_eyes(page: Page, stage: Locator) -> None:
    stage.evaluate(WATCH)
    write(stage)
    counts = page.evaluate("window.counts")
    assert counts == sorted(counts)
    assert (counts[-1], len(counts) >= 8) == (40, True), counts
    expect(button(stage, "Write 40 more")).to_be_visible()


@pytest.mark.parametrize("name", [name for name in MODELS if name != "korean"])
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
        shown = re.fullmatch(r".+: (?:< )?([\d.]+) %", token.get_attribute("title"), re.DOTALL)
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
    shown = float(chosen.get_attribute("title").split(": ")[-1].strip("< %")) / 100
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
        cell = bars.locator(f'td[data-row="0"][data-col="{col}"]')
        cell.click()
        expect(cell).to_have_class(re.compile(r"\bsel\b"))  # its own box, not the one before
        expect(stage.locator(".glass .sum")).to_be_visible()
        result = number(stage.locator(".glass .sum").inner_text().split("=")[-1])
        top, bottom = stage.locator(".glass .frac").last.locator("> span").all_inner_texts()
        assert abs(number(top) / number(bottom) - result) < 1e-3
        assert number(cell.inner_text()) == result


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
