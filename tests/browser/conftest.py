"""A real Chromium for these tests, and pages in it that must stay quiet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from scripts.browser import ARGS, find
from tests.conftest import AppServer

Visit = Callable[..., Page]
MILLISECONDS = 10_000  # the longest a page may take to show what is waited for


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, started once."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=ARGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser, app_url: AppServer) -> Iterator[Visit]:
    """`visit("/en", **options of a context)` opens a page as a person of its own.

    Fails the test if a page wrote to the console, threw, or asked another host.
    """
    contexts, noise = [], []

    def open_page(address: str = "/en", **options: object) -> Page:
        context = browser.new_context(
            base_url=app_url.url, **{"viewport": {"width": 1280, "height": 900}, **options}
        )
        contexts.append(context)
        context.set_default_timeout(MILLISECONDS)
        page = context.new_page()
        page.on("console", lambda message: noise.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: noise.append(f"thrown: {error}"))
        page.on("request", lambda request: noise.extend(foreign(request.url, app_url.url)))
        page.goto(address)
        page.locator("#stage-dot-product table").first.wait_for(state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert noise == []


@pytest.fixture
def page(visit: Visit) -> Page:
    """The first tab in English."""
    return visit("/en")


def foreign(url: str, home: str) -> list[str]:
    """`url` in a list, if it is another host's."""
    asked = urlsplit(url)
    at_home = asked.scheme in ("data", "blob") or asked.netloc == urlsplit(home).netloc
    return [] if at_home else [f"asked {url}"]
