"""A real Chromium for these tests, and pages in it that must stay quiet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from scripts.browser import ARGS, find
from tests.browser.pages import eventually, numbers, tab
from tests.conftest import AppServer

Visit = Callable[..., Page]
DESKTOP = {"viewport": {"width": 1280, "height": 900}}
MILLISECONDS = 15_000  # the longest a page may take to show what is waited for


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, started once."""
    expect.set_options(timeout=MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def desk(browser: Browser, app_url: AppServer) -> BrowserContext:
    """The context of most tests: a desktop's screen, and scripts loaded once."""
    return browser.new_context(**DESKTOP, base_url=app_url.url)


@pytest.fixture
def visit(browser: Browser, desk: BrowserContext, app_url: AppServer) -> Iterator[Visit]:
    """`visit("/en", **options)` opens a page; with options, in a context of its own.

    Fails the test if a page wrote to the console, threw, or asked another host.
    """
    opened: list[Page | BrowserContext] = []
    noise: list[str] = []

    def open_page(address: str = "/en", **options: object) -> Page:
        context = desk
        if options:
            context = browser.new_context(**{**DESKTOP, **options}, base_url=app_url.url)
        page = context.new_page()
        opened.append(context if options else page)
        page.set_default_timeout(MILLISECONDS)
        page.on("console", lambda message: noise.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: noise.append(f"thrown: {error}"))
        page.on("request", lambda request: noise.extend(foreign(request.url, app_url.url)))
        page.goto(address)
        page.locator("#stage-dot-product table").first.wait_for(state="attached")
        return page

    yield open_page
    for page_or_context in opened:
        page_or_context.close()
    assert noise == []


@pytest.fixture
def page(visit: Visit) -> Page:
    """The first tab in English."""
    return visit("/en")


@pytest.fixture
def plain(page: Page) -> Locator:
    """Self-attention without projections: Q = K = V = X."""
    stage = tab(page, "self-attention")
    stage.get_by_label("identity").check()
    eventually(page, lambda: numbers(stage, "q") == numbers(stage, "vectors"))
    return stage


def foreign(url: str, home: str) -> list[str]:
    """`url` in a list, if it is another host's."""
    asked = urlsplit(url)
    at_home = asked.scheme in ("data", "blob") or asked.netloc == urlsplit(home).netloc
    return [] if at_home else [f"asked {url}"]
