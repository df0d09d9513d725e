"""Predict, then reveal: what is hidden, how an answer is judged, the ways out."""

from __future__ import annotations

import math
import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Visit
from tests.browser.pages import (
    LANGUAGES,
    TABS,
    button,
    eventually,
    field,
    numbers,
    softmax,
    tab,
    table,
)


@pytest.fixture
def asked(visit: Visit) -> Locator:
    """Self-attention without W on vectors that √d matters to; one weight asked for, always the same."""
    page = visit("/en")
    page.evaluate("Math.random = () => 0.5")
    stage = tab(page, "self-attention")
    stage.get_by_label("identity").check()
    for row, text in enumerate(("1.2", "-0.5", "0.5", "0.9", "1.5", "0")):
        field(stage, "vectors", row, 0).fill(text)
    eventually(
        page, lambda: [row[0] for row in numbers(stage, "vectors")] == [1.2, -0.5, 0.5, 0.9, 1.5, 0]
    )
    button(stage, "Hide weights and ask me").click()
    expect(stage.locator("td.pred")).to_have_count(1)
    return stage


def answers(stage: Locator) -> tuple[float, float]:
    """The asked weight, and what it would be without ÷ √d."""
    place = stage.locator("td.pred")
    i, j = int(place.get_attribute("data-row")), int(place.get_attribute("data-col"))
    x = numbers(stage, "vectors")
    scores = [math.fsum(a * b for a, b in zip(x[i], key, strict=True)) for key in x]
    return softmax([s / math.sqrt(3) for s in scores])[j], softmax(scores)[j]


def test_what_gives_the_answer_away_is_hidden(asked: Locator) -> None:
    assert set(table(asked, "output").locator("td[data-row]").all_inner_texts()) == {"?"}
    assert table(asked, "weights").locator("td.veil").count() == 35
    expect(asked.locator(".sentence")).to_have_text(re.compile("Think first"))
    expect(asked.locator(".glass .sum")).to_have_count(0)
    table(asked, "output").locator("td.veil").first.click()
    expect(asked.locator(".glass .sum")).to_have_count(0)
    assert "—" not in table(asked, "scores").inner_text()


def test_a_slip_is_named(asked: Locator) -> None:
    right, unscaled = answers(asked)
    assert abs(right - unscaled) > 0.02, "these inputs would not tell the two apart"
    answer = asked.locator("td.pred input")
    answer.fill(f"{unscaled:.2f}")
    answer.press("Enter")
    expect(asked.locator(".fb")).to_contain_text("no ÷ √d")
    assert table(asked, "output").locator("td.veil").count() > 0
    expect(answer).to_be_focused()
    answer.fill("0.987")
    button(asked, "Check").click()
    expect(asked.locator(".fb")).to_contain_text("none of the known slips")


def test_the_right_answer_reveals(asked: Locator) -> None:
    right, _ = answers(asked)
    asked.locator(".quiz input").fill(f"{right:.2f}".replace(".", ","))
    button(asked, "Check").click()
    expect(asked.locator(".fb.ok")).to_contain_text(f"{right:.4f}")
    expect(asked.locator(".veil")).to_have_count(0)
    button(asked, "Done").click()
    expect(asked.locator(".fb")).to_have_count(0)


def test_what_is_no_answer_is_said(asked: Locator) -> None:
    asked.locator(".quiz input").fill("many")
    button(asked, "Check").click()
    expect(asked.locator(".fb")).to_contain_text("cannot be read as a number")
    assert asked.locator(".veil").count() > 0


def test_predicting_can_be_skipped(asked: Locator) -> None:
    button(asked, "Show it").click()
    expect(asked.locator(".veil, td.pred")).to_have_count(0)
    expect(asked.locator(".sentence")).to_contain_text("%")


def test_another_cell(asked: Locator) -> None:
    def place() -> list[str | None]:
        return [asked.locator("td.pred").get_attribute(f"data-{axis}") for axis in ("row", "col")]

    before = place()
    asked.page.evaluate("Math.random = () => 0.75")
    button(asked, "Another cell").click()
    eventually(asked.page, lambda: place() != before)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_matrix_offered_can_be_asked_for(visit: Visit, lang: str) -> None:
    page = visit(f"/{lang}")
    for name in TABS:
        stage = tab(page, name)
        for n in range(stage.locator(".quiz [data-do]").count()):
            stage.locator(".quiz [data-do]").nth(n).click()
            expect(stage.locator("td.pred")).to_have_count(1)
            stage.locator(".quiz [data-do*=reveal]").click()
            expect(stage.locator("td.pred")).to_have_count(0)
