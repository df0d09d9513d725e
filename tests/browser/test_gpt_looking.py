"""The GPT tab opened up: heads, layers, what is left out, tokens, the cache."""

from __future__ import annotations

import math
import re

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from model.checkpoint import load_checkpoint
from model.looking import attention_weights, trace_of
from playground.gpt.look import LOOK
from playground.gpt.text import piece
from tests.browser.pages import (
    LINE,
    MODELS,
    button,
    cell,
    close,
    decoded,
    dots,
    eventually,
    field,
    number,
    numbers,
    section,
    setting,
    small_gpt,
    softmax,
    state,
    tab,
    table,
)

MOST_CHANGED = 0.005 + 1e-6  # half of the last digit shown
DRAWN = """canvas => {
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return Array.from({ length: canvas.height }, (_, i) =>
        Array.from({ length: canvas.width }, (_, j) => data[(i * canvas.width + j) * 4 + 3] / 255));
}"""


@pytest.fixture
def stage(page: Page) -> Locator:
    return small_gpt(page)


# Heads


@pytest.mark.parametrize("name", MODELS)
def test_every_head_has_its_picture(page: Page, name: str) -> None:
    stage = tab(page, "gpt")
    setting(stage, "model").select_option(name)
    setting(stage, "prompt").fill(LINE)
    section(stage, "heads")
    found = load_checkpoint(name)
    ids = found.tokenizer.encode(LINE)[-LOOK:]
    weights = attention_weights(trace_of(found.gpt, ids))
    right = [head for layer in weights for head in layer]
    pictures = stage.locator(".head canvas")
    expect(pictures).to_have_count(len(right))
    for picture, head in zip(pictures.all(), right, strict=True):
        drawn = torch.tensor(picture.evaluate(DRAWN))
        assert drawn.shape == head.shape
        assert float((drawn - head).abs().max()) < 0.02  # 64 shades


def test_a_chosen_head_is_enlarged(stage: Locator) -> None:
    section(stage, "heads")
    heads = stage.locator(".head")
    found = load_checkpoint("shakespeare-64")
    ids = found.tokenizer.encode(LINE)
    weights = attention_weights(trace_of(found.gpt, ids))
    n_head = found.gpt.config.n_head
    for n in (n_head + 2, heads.count() - 1):
        heads.nth(n).click()
        expect(heads.nth(n)).to_have_attribute("aria-pressed", "true")
        expect(stage.locator(".head[aria-pressed=true]")).to_have_count(1)
        right = weights[n // n_head, n % n_head].tolist()
        expect(table(stage, "weights", n % n_head)).to_be_visible()
        assert close(numbers(stage, "weights", n % n_head), right)
    names = [piece(found.tokenizer.token_bytes(i)) for i in ids]
    headings = table(stage, "weights", n_head - 1).locator("th[scope=row]")
    assert headings.all_inner_texts() == names


def test_a_weight_opens_by_keyboard_and_is_pinned(page: Page, stage: Locator) -> None:
    section(stage, "heads")
    table(stage, "weights").locator('td[tabindex="0"]').focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(cell(stage, "weights", 2, 1)).to_have_class(re.compile(r"\bsel\b"))
    expect(cell(stage, "weights", 2, 1)).to_be_focused()
    said = stage.locator(".gh b").first.inner_text()
    assert f"{number(said.split('=')[-1]):.2f}" == cell(stage, "weights", 2, 1).inner_text()
    top, bottom = stage.locator(".glass .frac").first.locator("> span").all_inner_texts()
    powers = [math.exp(number(n)) for n in re.findall(r"e\s*\(?([−-]?[\d.]+)", bottom)]
    mine = math.exp(number(re.search(r"e\s*\(?([−-]?[\d.]+)", top)[1]))
    assert len(powers) == 3
    assert abs(mine / math.fsum(powers) - number(said.split("=")[-1])) < 1e-4
    button(stage, "Pin").click()
    expect(button(stage, "Pin")).to_have_count(0)
    cell(stage, "weights", 3, 0).click()
    expect(stage.locator(".gh")).to_have_count(2)
    expect(stage.locator(".gh b").first).to_have_text(said)
    page.keyboard.press("Escape")
    expect(stage.locator(".gh")).to_have_count(1)


def test_a_head_is_sent_to_be_broken(page: Page, stage: Locator) -> None:
    section(stage, "heads")
    stage.locator(".head").nth(6).click()
    expect(stage.locator(".head").nth(6)).to_have_attribute("aria-pressed", "true")
    before = numbers(stage, "weights", 2)
    assert len(before) <= 16
    button(stage, "Send to the self-attention tab").click()
    toy = page.locator("#stage-self-attention")
    expect(toy).to_be_visible()
    expect(field(toy, "q", 0, 0)).to_be_editable()
    for name in ("q", "k", "v"):
        assert table(toy, name).locator("input").count() == len(before) * 16
    assert close(numbers(toy, "weights"), before)
    q, k = numbers(toy, "q"), numbers(toy, "k")
    q[3][0] = 9
    field(toy, "q", 3, 0).fill("9")
    scaled = [dot / 4 for dot in dots([q[3]], k[:4])[0]]
    right = softmax(scaled) + [0] * (len(before) - 4)
    eventually(page, lambda: close([numbers(toy, "weights")[3]], [right]), "the new weights")
    toy.locator('input[value="no_scale"]').check()
    expect(toy.locator(".badge")).to_be_visible()
    broken = softmax([4 * s for s in scaled]) + [0] * (len(before) - 4)
    eventually(page, lambda: close([numbers(toy, "weights")[3]], [broken]), "the broken weights")
    assert close(numbers(tab(page, "gpt"), "weights", 2), before)
    assert decoded(page.url)["states"]["self-attention"]["q"][3][0] == 9


# Layers, leaving out, tokens, cache


def test_a_length_opens(stage: Locator) -> None:
    section(stage, "layers")
    assert stage.locator("table.lens tr").count() == 4
    lengths = numbers(stage, "norms")
    assert len(lengths) == 5
    cell(stage, "norms", 2, 1).click()
    expect(stage.locator(".glass b").first).to_contain_text("|x|[layer 2")
    said = stage.locator(".glass .gh b").inner_text().split("=")[1]
    assert abs(number(said) - lengths[2][1]) <= MOST_CHANGED


def test_leaving_out_and_putting_back(page: Page, stage: Locator) -> None:
    section(stage, "without")
    lens = stage.locator("table.lens tr")
    whole = lens.first.locator(".guess").all_inner_texts()
    rows = stage.locator("table.out tr:has(button)").all()
    moved = [[number(t) for t in row.locator("button").all_inner_texts()] for row in rows]
    assert [len(row) for row in moved] == [4] * 4
    most = max((value, i, j) for i, row in enumerate(moved) for j, value in enumerate(row))
    head = cell(stage, "without", most[1], most[2]).locator("button")
    head.focus()
    page.keyboard.press("Enter")
    expect(head).to_have_attribute("aria-pressed", "true")
    expect(lens).to_have_count(2)
    assert lens.first.locator(".guess").all_inner_texts() == whole
    assert lens.last.locator(".guess").all_inner_texts() != whole
    far = float(re.search(r"by ([\d.]+) nats", stage.locator(".sentence").inner_text())[1])
    assert abs(far - most[0]) <= 0.0006
    stage.get_by_role("button", name="block 2").click()
    expect(lens.last).to_contain_text("block 2")
    button(stage, "Put everything back").click()
    expect(lens).to_have_count(1)
    assert lens.first.locator(".guess").all_inner_texts() == whole
    expect(stage.locator(".panel [aria-pressed=true]")).to_have_count(0)
    button(stage, "Undo").click()
    expect(lens).to_have_count(2)


def test_arrows_lead_from_head_to_head(page: Page, stage: Locator) -> None:
    section(stage, "without")
    cell(stage, "without", 0, 0).locator("button").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(cell(stage, "without", 1, 1).locator("button")).to_be_focused()
    page.keyboard.press(" ")
    expect(cell(stage, "without", 1, 1).locator("button")).to_have_attribute("aria-pressed", "true")


def test_tokens_and_their_merges(page: Page, stage: Locator) -> None:
    setting(stage, "prompt").fill("여행 travel 🚂")
    section(stage, "tokens")
    tokenizer = load_checkpoint("shakespeare-64").tokenizer
    ids = tokenizer.encode("여행 travel 🚂")
    row = stage.locator("tr", has=page.locator("th", has_text=re.compile("^shakespeare-64$")))
    eventually(page, lambda: row.locator("b").inner_text() == str(len(ids)))
    told = row.locator(".cut").evaluate_all(
        "all => all.map(e => [...e.children].map(c => c.textContent))"
    )
    assert told == [
        [piece(tokenizer.token_bytes(i)), str(i), tokenizer.token_bytes(i).hex(" ").upper()]
        for i in ids
    ]
    merges = setting(stage, "merges")
    last = int(merges.get_attribute("max"))
    pieces = stage.locator(".written .piece")
    expect(pieces).to_have_count(len(ids))
    merges.focus()
    page.keyboard.press("Home")
    expect(stage.get_by_text(f"merge 0 of {last}")).to_be_visible()
    expect(merges).to_be_focused()
    assert pieces.count() == len("여행 travel 🚂".encode())
    for at in range(1, last + 1):
        page.keyboard.press("ArrowRight")
        expect(stage.get_by_text(f"merge {at} of {last}")).to_be_visible()
        expect(stage.locator(".piece.new").first).to_be_visible()
    expect(pieces).to_have_count(len(ids))


def test_the_cache_is_measured(stage: Locator) -> None:
    section(stage, "cache")
    button(stage, "Measure: 48 tokens each way").click()
    sentence = stage.locator(".sentence")
    expect(sentence).to_be_visible()
    rates = [number(t) for t in stage.locator("table.list td").all_inner_texts() if t]
    ratio = float(re.search(r"([\d.]+) times", sentence.inner_text())[1])
    assert min(rates) > 0
    assert abs(rates[0] / rates[1] - ratio) <= 0.05 + 2 * ratio / min(rates)
    eventually(stage.page, lambda: "measured" in state(stage.page, "gpt"))
    first = state(stage.page, "gpt")["measured"]
    button(stage, "Measure again").click()
    eventually(stage.page, lambda: state(stage.page, "gpt").get("measured") not in (None, first))
    expect(button(stage, "Undo")).to_be_enabled()  # the text that was typed, not the measuring
    button(stage, "Undo").click()
    expect(setting(stage, "prompt")).to_have_value("ROMEO:\n")
