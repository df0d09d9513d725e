"""What a person sees and does on a page, in the words of the tests."""

from __future__ import annotations

import base64
import json
import math
import re
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page

TABS = ("dot-product", "self-attention", "masking", "multi-head")
LANGUAGES = ("en", "ko")
SECONDS = 15

Rows = list[list[float]]


def tab(page: Page, name: str) -> Locator:
    """Choose a tab; the stage in it, once its tables are there."""
    page.locator(f'button[role=tab][data-tab-id="{name}"]').click()
    stage = page.locator(f"#stage-{name}")
    stage.locator("table").first.wait_for()
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
    """A number as the page writes it: a true minus, −∞, NaN."""
    return float(text.replace("−", "-").replace("∞", "inf"))


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
