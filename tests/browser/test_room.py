"""What is long has room, or says that it goes on: numbers in fields, lists, sums of a softmax."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.pages import (
    LANGUAGES,
    button,
    cell,
    eventually,
    field,
    number,
    numbers,
    section,
    setting,
    small_gpt,
    tab,
    table,
)

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
SEND = {
    "en": "Send to the self-attention tab",
    "ko": "셀프 어텐션 탭으로 보내기",
}
CLIPPED = """inputs => inputs.filter(e => e.scrollWidth > e.clientWidth).map(e => e.value)"""


def clipped(stage: Locator) -> list[str]:
    """The numbers of editable cells that are wider than their fields."""
    return stage.locator("td.edit input").evaluate_all(CLIPPED)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_the_numbers_of_a_sent_head_are_shown_whole(
    visit: Visit, lang: str, options: dict[str, object]
) -> None:
    page = visit(f"/{lang}", **options)
    stage = small_gpt(page)
    section(stage, "heads")
    button(stage, SEND[lang]).click()
    toy = page.locator("#stage-self-attention")
    expect(field(toy, "q", 0, 0)).to_be_visible()
    shown = [f.input_value() for f in table(toy, "q").locator("input").all()]
    assert max(map(len, shown)) >= 8, "no long number to clip"
    assert clipped(toy) == []
    assert [float(text) for text in shown] == [n for row in numbers(toy, "q") for n in row]


def test_a_field_grows_with_what_is_typed_in_it(page: Page) -> None:
    stage = page.locator("#stage-dot-product")
    target = field(stage, "vectors", 0, 0)
    usual = target.bounding_box()["width"]
    for text in ("-0.123456", "-999999.1234"):
        target.fill(text)
        eventually(page, lambda text=text: numbers(stage, "vectors")[0][0] == float(text))
        assert target.bounding_box()["width"] > usual
        assert clipped(stage) == []
    target.fill("-0.25")
    eventually(page, lambda: target.bounding_box()["width"] == usual)


# The list of the three tokens each looks at most


def hidden_rows(stage: Locator) -> int:
    """Rows of the list that lie wholly or partly below its edge."""
    return stage.locator(".tall").evaluate(
        """box => [...box.querySelectorAll("tr")].filter(row =>
            row.getBoundingClientRect().bottom > box.getBoundingClientRect().bottom + 1).length"""
    )


def test_the_first_list_is_whole(page: Page) -> None:
    """The last row is the token that predicts: it must not lie below an edge."""
    stage = tab(page, "gpt")
    button(stage, "Look at the heads").click()
    expect(stage.locator(".tall tr")).to_have_count(14)
    assert hidden_rows(stage) == 0


def edge(page: Page, stage: Locator, at: int) -> tuple[int, int]:
    """The list scrolled to `at`: how light most of its lowest lines is, and its paper (0 to 255)."""
    box = stage.locator(".tall")
    box.evaluate("(box, at) => { box.scrollTop = at; }", at)
    box.scroll_into_view_if_needed()
    picture = box.screenshot()
    return page.evaluate(
        """async bytes => {
            const image = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
            const canvas = new OffscreenCanvas(image.width, image.height);
            const context = canvas.getContext("2d", { willReadFrequently: true });
            context.drawImage(image, 0, 0);
            const light = y => { // the median of a line's red: what is written covers less than half
                const red = context.getImageData(0, y, image.width, 1).data.filter((_, n) => n % 4 === 0);
                return red.sort()[red.length >> 1];
            };
            return [light(image.height - 3), light(image.height >> 1)];
        }""",
        list(picture),
    )


def test_a_longer_list_says_that_it_goes_on(visit: Visit) -> None:
    page = visit("/en", **PHONE)
    stage = tab(page, "gpt")
    setting(stage, "prompt").fill("To be, or not to be, that is the question: " * 3)
    section(stage, "heads")
    eventually(page, lambda: hidden_rows(stage) > 5)
    last, paper = edge(page, stage, 0)
    assert last < paper - 25
    last, paper = edge(page, stage, 100_000)
    assert hidden_rows(stage) == 0
    assert last > paper - 5


# A softmax whose scores are far below 0


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_shifted_softmax_says_why_in_the_language_of_the_page(visit: Visit, lang: str) -> None:
    page = visit(f"/{lang}")
    stage = page.locator("#stage-dot-product")
    for i, row in enumerate([[8, 0, 0], [9, 0, 0]]):
        for j, value in enumerate(row):
            field(stage, "vectors", i, j).fill(str(value))
    eventually(page, lambda: numbers(stage, "vectors")[1] == [9, 0, 0])
    cell(stage, "weights", 0, 0).click()
    why = stage.locator(".glass .why")
    expect(why).to_be_visible()
    text = why.inner_text()
    assert bool(re.search("[가-힣]", text)) == (lang == "ko")
    assert bool(re.search("[a-z]{3}", text)) == (lang == "en")
    assert number(re.search(r"\((.+?)\)", text)[1]) == max(numbers(stage, "scores")[0])
