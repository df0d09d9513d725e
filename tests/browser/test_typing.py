"""Numbers, blocks and names typed by a person; what cannot be used, said beside the cell."""

from __future__ import annotations

import math

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.pages import (
    LANGUAGES,
    button,
    cell,
    close,
    eventually,
    field,
    numbers,
    softmax,
    state,
    tab,
    table,
)

QUERY = 1  # the first tab's query: "journey"


def expected(x: list[list[float]], query: int) -> tuple[list[float], list[float], list[float]]:
    """Scores, weights and output of the first tab, computed here."""
    scores = [math.fsum(a * b for a, b in zip(x[query], row, strict=True)) for row in x]
    weights = softmax(scores)
    output = [
        math.fsum(w * v for w, v in zip(weights, col, strict=True)) for col in zip(*x, strict=True)
    ]
    return scores, weights, output


def shows_its_sum(stage: Locator, query: int = QUERY) -> bool:
    """Whether all the numbers in view follow from the vectors in view."""
    scores, weights, output = expected(numbers(stage, "vectors"), query)
    return (
        close(numbers(stage, "scores"), [scores])
        and close(numbers(stage, "weights"), [weights])
        and close(numbers(stage, "output"), [output])
    )


def alert(stage: Locator, row: int, col: int) -> Locator:
    return cell(stage, "vectors", row, col).get_by_role("alert")


@pytest.fixture
def stage(page: Page) -> Locator:
    return page.locator("#stage-dot-product")


def test_a_typed_number_changes_everything_after_it(page: Page, stage: Locator) -> None:
    before = numbers(stage, "weights")
    assert shows_its_sum(stage)
    for row, col, text in ((5, 2, "3"), (1, 0, "-1.25"), (0, 0, "1/4"), (2, 1, "−2")):
        field(stage, "vectors", row, col).fill(text)
    eventually(page, lambda: numbers(stage, "vectors")[2][1] == -2)
    eventually(page, lambda: shows_its_sum(stage), "softmax of the vectors in view")
    assert numbers(stage, "weights") != before
    assert [numbers(stage, "vectors")[r][c] for r, c in ((5, 2), (1, 0), (0, 0))] == [
        3,
        -1.25,
        0.25,
    ]


@pytest.mark.parametrize("delay", [0, 5, 30])
def test_caret_and_focus_survive_fast_typing(page: Page, stage: Locator, delay: int) -> None:
    target = field(stage, "vectors", 1, 1)
    target.fill("")
    target.press_sequentially("0.123", delay=delay)
    eventually(page, lambda: numbers(stage, "vectors")[1][1] == 0.123)
    expect(target).to_be_focused()
    expect(target).to_have_value("0.123")
    target.press("ArrowLeft")  # the caret is where it was left: behind the last digit
    target.press_sequentially("45", delay=delay)
    eventually(
        page, lambda: state(page, "dot-product").get("vectors", [[]] * 2)[1][1:2] == [0.12453]
    )
    expect(target).to_have_value("0.12453")
    assert shows_its_sum(stage)


def test_two_cells_in_quick_succession(page: Page, stage: Locator) -> None:
    field(stage, "vectors", 0, 0).select_text()
    page.keyboard.type("0.5")
    for text in ("0.75", "−0.5", "2"):
        page.keyboard.press("Tab")
        page.keyboard.type(text)
    eventually(page, lambda: numbers(stage, "vectors")[0] == [0.5, 0.75, -0.5], "the first row")


@pytest.mark.parametrize(
    ("typed", "used"), [("0,5", 0.5), ("-,25", -0.25), ("1e-1", 0.1), ("50 %", 0.5)]
)
def test_ways_to_write_a_number(page: Page, stage: Locator, typed: str, used: float) -> None:
    field(stage, "vectors", 0, 0).fill(typed)
    eventually(page, lambda: numbers(stage, "vectors")[0][0] == used)
    expect(stage.get_by_role("alert")).to_have_count(0)


WRONG = {
    "abc": {"en": "“abc” is not a number", "ko": "‘abc’ 값은 숫자가 아닙니다"},
    "": {"en": "This cell is empty", "ko": "빈칸입니다"},
    "1e9": {"en": "out of range", "ko": "범위를 벗어납니다"},
}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_is_no_number_is_said_beside_the_cell(visit: Visit, lang: str) -> None:
    page = visit(f"/{lang}")
    stage = page.locator("#stage-dot-product")
    target, before = field(stage, "vectors", 3, 1), numbers(stage, "vectors")
    scores = numbers(stage, "scores")
    for text, said in WRONG.items():
        target.fill(text)
        expect(alert(stage, 3, 1)).to_contain_text(said[lang])
        expect(alert(stage, 3, 1)).to_contain_text("0.58")  # the number that stays in use
        expect(target).to_have_attribute("aria-invalid", "true")
        expect(target).to_have_value(text)
        expect(target).to_be_focused()
        assert numbers(stage, "vectors") == before
        assert numbers(stage, "scores") == scores
    target.fill("0.6")
    expect(alert(stage, 3, 1)).to_have_count(0)
    expect(target).not_to_have_attribute("aria-invalid", "true")
    eventually(page, lambda: shows_its_sum(stage) and numbers(stage, "vectors")[3][1] == 0.6)


def test_a_message_stays_in_view_and_covers_no_neighbour(page: Page, stage: Locator) -> None:
    target = field(stage, "vectors", 0, 2)
    target.fill("abc")
    message = alert(stage, 0, 2)
    expect(message).to_be_visible()
    box, own = message.bounding_box(), target.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.viewport_size["width"]
    assert box["y"] >= own["y"] + own["height"]
    top = message.evaluate(
        "m => { const b = m.getBoundingClientRect();"
        " return document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2) === m; }"
    )
    assert top, "something lies over the message, or it is cut off"


def test_half_a_number_is_not_scolded(page: Page, stage: Locator) -> None:
    target = field(stage, "vectors", 0, 0)
    for text in ("-", "−", "."):
        target.fill(text)
        expect(target).to_have_attribute("aria-invalid", "true")
        expect(stage.get_by_role("alert")).to_have_count(0)


def test_leaving_a_cell_shows_the_number_in_use(page: Page, stage: Locator) -> None:
    target = field(stage, "vectors", 0, 0)
    target.fill("1/4")
    eventually(page, lambda: numbers(stage, "vectors")[0][0] == 0.25)
    target.press("Tab")
    expect(target).to_have_value("0.25")


def paste(page: Page, target: Locator, text: str) -> None:
    """Ctrl+V with `text` on the clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    target.focus()
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.keyboard.press("Control+v")


@pytest.mark.parametrize("block", ["1\t2\n3\t4\n", "1;2\r\n3;4", "1 2\n3 4", "1,0; 2,0\n3,0;4,0"])
def test_a_block_from_a_spreadsheet(page: Page, stage: Locator, block: str) -> None:
    before = numbers(stage, "vectors")
    paste(page, field(stage, "vectors", 1, 1), block)
    eventually(page, lambda: numbers(stage, "vectors")[2][1:] == [3, 4])
    before[1][1:], before[2][1:] = [1, 2], [3, 4]
    assert numbers(stage, "vectors") == before
    assert shows_its_sum(stage)


def test_the_table_grows_to_hold_a_block(page: Page, stage: Locator) -> None:
    paste(page, field(stage, "vectors", 5, 2), "1\t2\t3\n4\t5\t6")
    eventually(page, lambda: numbers(stage, "vectors")[-1] == [0, 0, 4, 5, 6])
    x = numbers(stage, "vectors")
    assert [len(row) for row in x] == [5] * 7
    assert x[0] == [0.43, 0.15, 0.89, 0, 0]
    assert x[5] == [0.05, 0.8, 1, 2, 3]
    assert shows_its_sum(stage)


@pytest.mark.parametrize(
    ("block", "said"),
    [("1\tzwei\n3\t4", "row 1, column 2 holds “zwei”"), ("\n".join(["1 1"] * 17), "17 × 2")],
)
def test_a_block_that_cannot_be_used_changes_nothing(
    page: Page, stage: Locator, block: str, said: str
) -> None:
    before = numbers(stage, "vectors")
    paste(page, field(stage, "vectors", 0, 0), block)
    expect(stage.locator(".notice")).to_contain_text(said)
    assert numbers(stage, "vectors") == before


def test_one_pasted_number_goes_into_the_cell(page: Page, stage: Locator) -> None:
    target = field(stage, "vectors", 0, 0)
    target.select_text()
    paste(page, target, "2.5")
    eventually(page, lambda: numbers(stage, "vectors")[0][0] == 2.5)


def test_tokens_come_and_go(page: Page, stage: Locator) -> None:
    before = numbers(stage, "vectors")
    button(stage, "+ token").click()
    eventually(page, lambda: numbers(stage, "vectors") == [*before, [0, 0, 0]])
    button(stage, "remove Your").click()
    eventually(page, lambda: numbers(stage, "vectors") == [*before[1:], [0, 0, 0]])
    assert shows_its_sum(stage, QUERY - 1), "the query is still the same token"
    button(stage, "+ dimension").click()
    eventually(page, lambda: numbers(stage, "vectors")[0] == [*before[1], 0])
    for _ in range(2):
        button(stage, "− dimension").click()
    eventually(page, lambda: numbers(stage, "vectors")[0] == before[1][:2])
    assert shows_its_sum(stage, QUERY - 1)


def test_the_last_token_and_dimension_stay(page: Page, stage: Locator) -> None:
    for name in ("Your", "journey", "starts", "with", "one"):
        button(stage, f"remove {name}").click()
        expect(button(stage, f"remove {name}")).to_have_count(0)
    for width in (2, 1):
        button(stage, "− dimension").click()
        eventually(page, lambda width=width: len(numbers(stage, "vectors")[0]) == width)
    expect(button(stage, "− dimension")).to_be_disabled()
    expect(button(stage, "remove step")).to_have_count(0)
    assert numbers(stage, "weights") == [[1]]


def test_a_token_is_renamed_everywhere(page: Page, stage: Locator) -> None:
    name = stage.get_by_label("name of token 2", exact=True)
    name.fill("여행 🚂")
    expect(table(stage, "weights").locator("th").nth(1)).to_have_text("여행 🚂")
    expect(stage.locator(".sentence")).to_contain_text("여행 🚂")
    expect(stage.get_by_role("radio", name="여행 🚂")).to_be_checked()
    expect(name).to_be_focused()


def test_an_empty_name_is_refused_without_losing_the_place(page: Page, stage: Locator) -> None:
    name = stage.get_by_label("name of token 1", exact=True)
    name.fill("")
    expect(stage.locator(".notice")).to_contain_text("A token needs a name")
    expect(name).to_be_focused()
    page.keyboard.type("My")
    expect(table(stage, "weights").locator("th").first).to_have_text("My")
    expect(stage.locator(".notice")).to_have_count(0)


def test_sixteen_by_sixteen(page: Page) -> None:
    """The largest that is typed: pasted at once, then edited in the far corner."""
    stage = tab(page, "self-attention")
    rows = [[((7 * i + 3 * j) % 11 - 5) / 10 for j in range(16)] for i in range(16)]
    button(stage, "Reset").click()
    stage.get_by_label("identity").check()
    paste(page, field(stage, "vectors", 0, 0), "\n".join("\t".join(map(str, r)) for r in rows))
    eventually(page, lambda: numbers(stage, "vectors") == rows)
    expect(button(stage, "+ token")).to_be_disabled()
    expect(button(stage, "+ dimension")).to_be_disabled()
    field(stage, "vectors", 15, 15).fill("0.9")
    rows[15][15] = 0.9
    weights = [
        softmax([math.fsum(a * b for a, b in zip(q, k, strict=True)) / 4 for k in rows])
        for q in rows
    ]
    eventually(page, lambda: close(numbers(stage, "weights"), weights), "16 × 16 weights")


def test_a_hostile_name_is_only_a_name(page: Page, stage: Locator) -> None:
    hostile = "<img src=x onerror=x()>"
    assert len(hostile) <= 24
    page.evaluate("window.x = () => { window.harmed = true; }")
    stage.get_by_label("name of token 1", exact=True).fill(hostile)
    expect(table(stage, "weights").locator("th").first).to_have_text(hostile)
    cell(stage, "weights", 0, 0).click()
    expect(stage.locator(".glass")).to_contain_text(hostile)
    for name in ("${x()}", "{{x()}}", '"><svg onload=x()>'):
        stage.get_by_label("name of token 1", exact=True).fill(name)
        expect(table(stage, "weights").locator("th").first).to_have_text(name)
    eventually(page, lambda: state(page, "dot-product")["tokens"][0] == name)
    page.reload()
    expect(table(stage, "weights").locator("th").first).to_have_text('"><svg onload=x()>')
    assert page.evaluate("window.harmed") is None
    assert stage.locator("img, svg, script").count() == 0
