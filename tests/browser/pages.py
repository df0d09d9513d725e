"""What a person sees and does on a page, in the words of the tests."""

from __future__ import annotations

import base64
import json
import math
import re
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, expect

from model.checkpoint import CONFIG, NAMES, SHIPPED

TABS = ("dot-product", "self-attention", "masking", "multi-head")  # of typed vectors
ALL_TABS = (*TABS, "gpt")
LANGUAGES = ("en", "ko")
SECONDS = 15

Rows = list[list[float]]


def tab(page: Page, name: str) -> Locator:
    """Choose a tab; the stage in it, once it is filled."""
    page.locator(f'button[role=tab][data-tab-id="{name}"]').click()
    stage = page.locator(f"#stage-{name}")
    stage.locator(".panel").wait_for()
    return stage


def table(stage: Locator, matrix: str, head: int = 0) -> Locator:
    return stage.locator(f'table[data-matrix="{matrix}"][data-head="{head}"]')


def cell(stage: Locator, matrix: str, row: int, col: int, head: int = 0) -> Locator:
    return table(stage, matrix, head).locator(f'td[data-row="{row}"][data-col="{col}"]')


def field(stage: Locator, matrix: str, row: int, col: int, head: int = 0) -> Locator:
    """The input in an editable cell."""
    return cell(stage, matrix, row, col, head).locator("input")


def button(stage: Locator, name: str) -> Locator:
    return stage.get_by_role("button", name=name, exact=True)


def number(text: str) -> float:
    """A number as the page writes it: a true minus, −∞, NaN, ≈0."""
    return float(text.replace("−", "-").replace("∞", "inf").removeprefix("≈"))


def numbers(stage: Locator, matrix: str, head: int = 0) -> Rows:
    """The numbers of a table: as shown, and of an editable cell the one in use."""
    read = """table => [...table.rows].map(row => [...row.querySelectorAll("td[data-row]")].map(
        cell => cell.querySelector("input") ? cell.querySelector("input").title : cell.textContent
    )).filter(row => row.length)"""
    return [[number(text) for text in row] for row in table(stage, matrix, head).evaluate(read)]


def softmax(scores: list[float]) -> list[float]:
    """Computed here, from the definition."""
    powers = [math.exp(s - max(scores)) for s in scores]
    return [p / math.fsum(powers) for p in powers]


def dots(rows: Rows, others: Rows) -> Rows:
    """Every row of one with every row of the other: a Bᵀ."""
    return [[math.fsum(a * b for a, b in zip(r, o, strict=True)) for o in others] for r in rows]


def close(found: Rows, expected: Rows, digits: int = 2) -> bool:
    """Whether two matrices agree as far as the page rounds."""
    same_shape = [len(row) for row in found] == [len(row) for row in expected]
    return same_shape and all(
        a == b or abs(a - b) <= 0.5 * 10**-digits + 1e-9
        for row, other in zip(found, expected, strict=True)
        for a, b in zip(row, other, strict=True)
    )


def eventually(
    page: Page, holds: Callable[[], bool], what: str = "it", seconds: float = SECONDS
) -> None:
    """Wait until `holds()`; fail after some seconds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not come true"
        page.wait_for_timeout(20)


def decoded(address: str) -> dict[str, Any]:
    """What a link carries in its fragment: {tab, states}."""
    found = re.search(r"#s=([\w-]+)", address)
    if not found:
        return {"tab": "", "states": {}}
    text = found[1] + "=" * (-len(found[1]) % 4)
    return json.loads(base64.urlsafe_b64decode(text))


def state(page: Page, name: str) -> dict[str, Any]:
    """The state of a tab as the address carries it now; {} while it has none."""
    return decoded(page.url)["states"].get(name, {})


# The GPT tab

MODELS = [name for name in NAMES if (SHIPPED / name / CONFIG).is_file()]
LINE = "O Romeo, Romeo! wherefore art thou"
SECTIONS = ("write", "heads", "layers", "without", "tokens", "cache")


def section(stage: Locator, name: str) -> None:
    """Look at another side of the model; only one section is on the page at a time."""
    stage.locator(f'input[data-set="section"][value="{name}"]').check()
    only = {
        "write": ".written[aria-live]",
        "heads": ".heads",
        "layers": "table[data-matrix=norms]",
        "without": "table[data-matrix=without]",
        "tokens": "table[data-matrix=tokens]",
        "cache": "[data-do*=measure]",
    }
    expect(stage.locator(only[name]).first).to_be_visible()


def small_gpt(page: Page) -> Locator:
    """The smallest model, reading LINE."""
    stage = tab(page, "gpt")
    setting(stage, "model").select_option("shakespeare-64")
    setting(stage, "prompt").fill(LINE)
    eventually(page, lambda: state(page, "gpt").get("prompt") == LINE)
    return stage


def setting(stage: Locator, key: str) -> Locator:
    """The field of a number, or the text."""
    return stage.locator(f'[data-set="{key}"]')


def put(stage: Locator, key: str, value: object) -> None:
    """Type a number and leave its field."""
    setting(stage, key).fill(str(value))
    setting(stage, key).press("Enter")


def write(stage: Locator, begin: str = "write") -> str:
    """Press the button and wait for the end; what was written."""
    before = stage.locator(".piece.p").count()
    stage.locator(f'[data-do*="\\"{begin}\\""]').first.click()
    expect(stage.locator(".piece.p")).not_to_have_count(before)
    expect(stage.locator("[data-more]")).to_have_count(0, timeout=60_000)
    return written(stage)


def written(stage: Locator) -> str:
    """What the model wrote, as it is shown: ␣ a space, ↵ a line break."""
    return "".join(stage.locator(".piece.p").all_text_contents())


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
