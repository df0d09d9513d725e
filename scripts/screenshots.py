"""Take the pictures in docs/ again, from the app itself. `python -m scripts.screenshots [folder]`."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from scripts.browser import ARGS, find

ROOT = Path(__file__).parent.parent
SECONDS_TO_START = 60
MOST_BYTES = 400_000
DESKTOP = {"width": 1480, "height": 1000}
PHONE = {"width": 390, "height": 844}


@dataclass(frozen=True)
class Shot:
    """One picture: a tab in a language, as it opens or with an example chosen."""

    name: str
    tab: str
    lang: str = "en"
    dark: bool = False
    phone: bool = False
    station: str = ""
    example: str = ""
    until: str = ""  # where the picture ends; the whole page where empty
    write: bool = False  # let the model write, and choose a token
    start: bool = False  # let it train, to the first pause


SHOTS = (
    Shot("self-attention", "self-attention"),
    Shot("self-attention-ko", "self-attention", lang="ko"),
    Shot("self-attention-dark", "self-attention", dark=True, example="no-peeking"),
    Shot("masking", "masking", until=".boxes"),
    Shot("multi-head", "multi-head", until=".boxes"),
    Shot("dot-product", "dot-product"),
    Shot("gpt", "gpt", write=True),
    Shot("gpt-ko", "gpt", lang="ko", example="korean", write=True),
    Shot("gpt-heads", "gpt", example="heads", lang="ko"),
    Shot("training", "training", example="no-mask", start=True),
    Shot("training-ko", "training", lang="ko", example="no-mask", start=True),
    Shot("lesson", "lessons", station="07_causal_mask", until=".eq"),
    Shot("lesson-ko", "lessons", lang="ko", station="07_causal_mask", until=".eq"),
    Shot("phone", "dot-product", lang="ko", phone=True),
)


def main(arguments: list[str]) -> int:
    """Every picture into the folder named, docs/ by default; 1 if one is too large."""
    folder = Path(arguments[0]) if arguments else ROOT / "docs"
    folder.mkdir(parents=True, exist_ok=True)
    too_large = False
    with app() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=ARGS)
        for shot in SHOTS:
            path = folder / f"{shot.name}.png"
            take(browser, url, shot, path)
            size = path.stat().st_size
            print(f"{path}: {size / 1000:.0f} kB")
            too_large = too_large or size > MOST_BYTES
        browser.close()
    if too_large:
        print(f"A picture is larger than {MOST_BYTES / 1000:.0f} kB.", file=sys.stderr)
    return int(too_large)


@contextmanager
def app() -> Iterator[str]:
    """The address of the app, started on a free port and stopped at the end.

    Raises `RuntimeError` when it does not start.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "app.py", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + SECONDS_TO_START
    try:
        while not serves(url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("app.py did not start")
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait()


def serves(url: str) -> bool:
    """Whether a page is there."""
    try:
        with urllib.request.urlopen(url, timeout=10):
            return True
    except urllib.error.URLError:
        return False


def take(browser: Browser, url: str, shot: Shot, path: Path) -> None:
    """Open the tab as a person would and save the whole page."""
    context = browser.new_context(
        viewport=PHONE if shot.phone else DESKTOP,
        is_mobile=shot.phone,
        has_touch=shot.phone,
        color_scheme="dark" if shot.dark else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(f"{url}/{shot.lang}")
    page.click(f'button[role=tab][data-tab-id="{shot.tab}"]')
    stage = page.locator(f"#stage-{shot.tab}")
    if shot.station:
        stage.locator(".all > summary").click()
        stage.locator(f'.all button[data-do*="{shot.station}"]').click()
    stage.locator(".panel").first.wait_for()
    if shot.example:
        stage.locator(f'.chip[data-do*="{shot.example}"]').click()
        stage.locator(f'.chip[data-do*="{shot.example}"][aria-pressed=true]').wait_for()
    if shot.start:
        stage.locator('[data-do*="start"]').click()
        stage.locator("[data-more]").wait_for(state="attached")
        stage.locator("[data-more]").wait_for(state="detached", timeout=60_000)
    if shot.write:
        stage.locator("button.pri").click()
        pieces = stage.locator(".piece.p")
        pieces.nth(3).wait_for()
        stage.locator("[data-more]").wait_for(state="detached")
        pieces.nth(min(8, pieces.count() // 2)).click()
        stage.locator(".piece.p.sel").wait_for()
    tidy(page)
    picture = {"path": path, "full_page": True}
    if shot.until:
        box = stage.locator(shot.until).first.bounding_box()
        height = box["y"] + box["height"] + 8
        picture["clip"] = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height}
    page.screenshot(**picture)
    context.close()


def tidy(page: Page) -> None:
    """No focus ring, the pointer nowhere, fonts there."""
    page.evaluate("document.activeElement.blur()")
    page.mouse.move(0, 0)
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(300)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
