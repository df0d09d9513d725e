"""A server that goes away in the middle of a lesson, and comes back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import DESKTOP
from tests.browser.pages import begin, button, eventually, field, numbers, tab, written
from tests.conftest import ROOT, SECONDS_TO_START, AppServer, answers, start_app


@pytest.fixture
def own(tmp_path: Path) -> Iterator[AppServer]:
    """A server of this test's own, to be stopped."""
    app = start_app(tmp_path / "log.txt")
    yield app
    app.process.kill()
    app.process.wait()


def start_again(app: AppServer) -> subprocess.Popen:
    """Another server at the same address."""
    return subprocess.Popen(
        [sys.executable, "app.py", "--port", str(urlsplit(app.url).port)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_what_was_typed_survives(browser: Browser, own: AppServer) -> None:
    context = browser.new_context(**DESKTOP)
    page = context.new_page()
    thrown = []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    page.goto(f"{own.url}/en")
    stage = page.locator("#stage-dot-product")
    target = field(stage, "vectors", 1, 1)
    target.fill("0.5")
    eventually(page, lambda: numbers(stage, "vectors")[1][1] == 0.5)
    own.process.terminate()
    own.process.wait(timeout=10)
    target.fill("")
    target.press_sequentially("0.625", delay=20)
    expect(page.locator("#toast")).to_contain_text("what you typed is kept")
    field(stage, "vectors", 0, 0).fill("0.25")  # meanwhile, in another cell
    expect(target).to_have_value("0.625")
    page.locator('button[role=tab][data-tab-id="masking"]').click()  # never seen before
    back = start_again(own)
    try:
        eventually(page, lambda: answers(own.url), "the server's return", SECONDS_TO_START)
        expect(page.locator("#stage-masking table").first).to_be_visible(timeout=15_000)
        stage = tab(page, "dot-product")
        eventually(page, lambda: numbers(stage, "vectors")[1][1] == 0.625)
        eventually(page, lambda: numbers(stage, "vectors")[0][0] == 0.25)
        expect(stage.get_by_role("alert")).to_have_count(0)
        button(stage, "Undo").click()
        eventually(page, lambda: numbers(stage, "vectors")[0][0] == 0.43)
    finally:
        back.kill()
        back.wait()
        context.close()
    assert thrown == []


def test_writing_goes_on(browser: Browser, own: AppServer) -> None:
    """The text that is there stays; when the server is back, the rest is written."""
    context = browser.new_context(**DESKTOP)
    page = context.new_page()
    thrown = []
    page.on("pageerror", lambda error: thrown.append(str(error)))
    page.goto(f"{own.url}/en")
    stage = tab(page, "gpt")
    begin(stage)
    own.process.terminate()
    own.process.wait(timeout=10)
    expect(page.locator("#toast")).to_contain_text("what you typed is kept")
    before = written(stage)
    assert 0 < stage.locator(".piece.p").count() < 400
    back = start_again(own)
    try:
        eventually(page, lambda: answers(own.url), "the server's return", SECONDS_TO_START)
        eventually(page, lambda: len(written(stage)) > len(before), "the rest")
        assert written(stage).startswith(before)
        button(stage, "Stop").click()
        expect(stage.locator("[data-more]")).to_have_count(0)
    finally:
        back.kill()
        back.wait()
        context.close()
    assert thrown == []
