"""Opening a number, predicting one, walking the equation: nothing that changes the numbers."""

from __future__ import annotations

import ast
import math
import operator
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.pages import (
    TABS,
    button,
    cell,
    eventually,
    field,
    number,
    numbers,
    softmax,
    tab,
    table,
)

OPERATORS = {ast.Add: operator.add, ast.Mult: operator.mul, ast.Sub: operator.sub}


def arithmetic(text: str) -> float:
    """The value of a written sum: "0.5 × (−2) + 1" -> 0.0."""

    def value(node: ast.expr) -> float:
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp):
            return -value(node.operand)
        assert isinstance(node, ast.Constant)
        return node.value

    plain = text.replace("×", "*").replace("−", "-").replace("\n", " ")
    return value(ast.parse(plain.strip(), mode="eval").body)


def powers(text: str) -> list[float]:
    """e to the power of each number written after an e: "e0.5" -> [1.6487]."""
    return [math.exp(number(n)) for n in re.findall(r"e\s*\(?([−-]?[\d.]+)", text)]


def glass(stage: Locator) -> Locator:
    return stage.locator(".glass .sum")


@pytest.fixture
def stage(page: Page) -> Locator:
    """The first tab with nothing opened."""
    stage = page.locator("#stage-dot-product")
    stage.get_by_role("button", name="Close").click()
    expect(glass(stage)).to_have_count(0)
    return stage


def test_a_dot_product_opens_to_its_own_digits(stage: Locator) -> None:
    cell(stage, "scores", 0, 2).click()
    expect(stage.locator(".gh")).to_contain_text("scores[journey, starts]")
    written, result = glass(stage).inner_text().split("=")
    x = numbers(stage, "vectors")
    assert abs(arithmetic(written) - number(result)) < 5e-5
    assert abs(math.fsum(a * b for a, b in zip(x[1], x[2], strict=True)) - number(result)) < 5e-5
    lit = stage.locator("td.src").evaluate_all(
        "cells => cells.map(c => [c.closest('table').dataset.matrix, +c.dataset.row, +c.dataset.col])"
    )
    assert lit == [["vectors", i, j] for i in (1, 2) for j in range(3)]
    expect(cell(stage, "scores", 0, 2)).to_have_class(re.compile(r"\bsel\b"))


def test_a_weight_opens_to_a_softmax(stage: Locator) -> None:
    cell(stage, "weights", 0, 5).click()
    expect(stage.locator(".gh")).to_contain_text("weights[journey, step]")
    top, bottom = glass(stage).locator(".frac").first.locator("> span").all_inner_texts()
    result = number(glass(stage).inner_text().split("=")[-1])
    assert len(powers(bottom)) == 6
    assert abs(powers(top)[0] / math.fsum(powers(bottom)) - result) < 1e-4
    assert stage.locator("table[data-matrix=scores] td.src").count() == 6


def test_every_step_of_self_attention_opens(page: Page) -> None:
    stage = tab(page, "self-attention")
    lines = {
        "q": "q = x @ w_query",
        "scores": "scores = q @ k.mT",
        "scaled": "** 0.5",
        "masked": "mask",
        "weights": "softmax",
        "output": "weights @ v",
    }
    for matrix, line in lines.items():
        cell(stage, matrix, 1, 0).click()
        expect(cell(stage, matrix, 1, 0)).to_have_class(re.compile(r"\bsel\b"))
        expect(stage.locator(".glass > code")).to_contain_text(line)
        shown = stage.locator(".gh b").first.inner_text().split("=")[1]
        assert f"{number(shown):.2f}" == f"{numbers(stage, matrix)[1][0]:.2f}"
        assert stage.locator("td.src").count() > 0 or matrix == "q"  # the W are not in view


def test_by_keyboard(page: Page, stage: Locator) -> None:
    table(stage, "scores").locator('td[tabindex="0"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(stage.locator(".gh")).to_contain_text("scores[journey, journey]")
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    expect(stage.locator(".gh")).to_contain_text("scores[journey, starts]")
    expect(cell(stage, "scores", 0, 2)).to_be_focused()
    page.keyboard.press("Escape")
    expect(glass(stage)).to_have_count(0)
    expect(cell(stage, "scores", 0, 2)).to_be_focused()


def test_by_touch(visit: Visit) -> None:
    page = visit("/ko", has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    stage = page.locator("#stage-dot-product")
    cell(stage, "scores", 0, 3).tap()
    expect(stage.locator(".gh")).to_contain_text("scores[journey, with]")
    expect(glass(stage)).to_be_in_viewport()


def test_choosing_the_open_number_again_closes_it(stage: Locator) -> None:
    for opened in (1, 0):
        cell(stage, "output", 0, 0).click()
        expect(glass(stage)).to_have_count(opened)


def test_an_open_number_moves_along(page: Page, stage: Locator) -> None:
    cell(stage, "weights", 0, 0).click()
    expect(stage.locator(".gh")).to_contain_text("[journey, Your]")
    field(stage, "vectors", 0, 0).fill("2")
    x = [[2.0, *numbers(stage, "vectors")[0][1:]], *numbers(stage, "vectors")[1:]]
    weight = softmax([math.fsum(a * b for a, b in zip(x[1], key, strict=True)) for key in x])[0]
    expect(stage.locator(".gh")).to_contain_text(f"{weight:.4f}")
    top, bottom = glass(stage).locator(".frac").first.locator("> span").all_inner_texts()
    assert abs(powers(top)[0] / math.fsum(powers(bottom)) - weight) < 1e-4


def test_pins_stay_and_move_along(page: Page, stage: Locator) -> None:
    for n in range(3):
        cell(stage, "scores", 0, n).click()
        expect(stage.locator(".gh").last).to_contain_text(
            f"[journey, {('Your', 'journey', 'starts')[n]}]"
        )
        button(stage, "Pin").click()
        expect(button(stage, "Pin")).to_have_count(0)
    cell(stage, "output", 0, 0).click()
    expect(stage.locator(".gh")).to_have_count(4)
    field(stage, "vectors", 1, 0).fill("1")
    x = numbers(stage, "vectors")
    eventually(page, lambda: numbers(stage, "vectors")[1][0] == 1)
    x = numbers(stage, "vectors")
    for n, box in enumerate(glass(stage).all_inner_texts()[:3]):
        written, result = box.split("=")
        expected = math.fsum(a * b for a, b in zip(x[1], x[n], strict=True))
        assert abs(arithmetic(written) - number(result)) < 5e-5
        assert abs(expected - number(result)) < 5e-5
    button(stage, "Pin").click()  # a fourth finds no room, and says so
    expect(stage.locator(".notice")).to_contain_text("There is room for 3")
    for left in (3, 2, 1, 0):
        stage.get_by_role("button", name="Close").first.click()
        expect(stage.locator(".gh")).to_have_count(left)


# Step


@pytest.mark.parametrize("name", TABS)
def test_steps_show_one_more_operation_each(page: Page, name: str) -> None:
    stage = tab(page, name)
    groups = stage.locator(".op-group")
    last = groups.count() - 1
    forward = button(stage, "Next step")
    forward.focus()
    for at in range(1, last + 1):
        page.keyboard.press("Enter")
        expect(stage.locator(".steps output")).to_have_text(f"Step {at} of {last}")
        expect(forward).to_be_focused()
        for n in range(last + 1):
            inside = groups.nth(n).locator("td[data-row]").first
            expect(inside).to_be_visible() if n <= at else expect(inside).to_be_hidden()
    page.keyboard.press("Enter")
    expect(stage.locator(".steps output")).to_have_text("All steps")
    button(stage, "Previous step").click()
    expect(stage.locator(".steps output")).to_have_text(f"Step {last} of {last}")
    button(stage, "Previous step").click()
    expect(stage.locator(".steps output")).to_have_text(f"Step {last - 1} of {last}")
    expect(groups.nth(last).locator("td[data-row]").first).to_be_hidden()


def test_a_presenters_keys_step(page: Page) -> None:
    page.locator('#top [data-client="present"]').click()
    stage = page.locator("#stage-dot-product")
    for key, at in (("PageDown", 1), ("PageDown", 2), ("PageUp", 1)):
        page.keyboard.press(key)
        expect(stage.locator(".steps output")).to_contain_text(f"Step {at} ")
