"""Live training: what a page adds to it, and what it takes from those who do not train.

- 1,000 steps of the Training tab's own small model, from the press of the button in
  Chromium to the last one painted, beside the same loop in a process without Gradio.
- An edit in the first tab until it is painted, while four people train, or thirty (most of
  whom wait in the queue), beside none. They are requests as their pages send them: their
  browsers would be elsewhere.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import OURS, ROOT, Row, Server, median_row, serving
from benchmarks.painted import MEASURE, PAUSE
from scripts.browser import ARGS, find

STEPS, ROUNDS = 1000, 5
TRAINERS = {4: 2.0, 30: None}  # how many train at once: the largest ratio
WAIT = 0.7  # seconds between two questions of a page in the queue
BLOCKS, EDITS, WARM_UP = 4, 40, 10  # edits without and with trainers, in turns

TRAINED = """async (stage) => {
    const began = performance.now();
    stage.querySelector('[data-do*="start"]').click();
    await new Promise((done, fail) => {
        setTimeout(fail, 120000, new Error("not trained"));
        let going = false;
        new MutationObserver((_, watch) => {
            going = going || stage.querySelector("[data-more]");
            if (!going || stage.querySelector("[data-more]")) return;
            watch.disconnect();
            requestAnimationFrame(() => setTimeout(done));
        }).observe(stage, { subtree: true, childList: true, attributes: true });
    });
    return (performance.now() - began) / 1000;
}"""


def run() -> list[Row]:
    with serving(OURS) as ours, sync_playwright() as playwright:
        ours.first_page()
        browser = playwright.chromium.launch(executable_path=find(), args=ARGS)
        lived(browser, ours.url, seed=ROUNDS + 1)  # PyTorch's first steps in a process are slower
        both = [(lived(browser, ours.url, seed), bare(seed)) for seed in range(1, ROUNDS + 1)]
        page = first_tab(browser, ours.url)
        disturbed = [
            median_row(
                f"edit → painted, {count} train",
                *edits(page, ours, count),
                unit="ms",
                target=most,
                peer="none train",
            )
            for count, most in TRAINERS.items()
        ]
        browser.close()
    live, loop = (list(seconds) for seconds in zip(*both, strict=True))
    steps = f"{STEPS:,} live steps"
    return [median_row(steps, live, loop, unit="s", target=1.3, peer="bare loop"), *disturbed]


def lived(browser: Browser, url: str, seed: int) -> float:
    """Seconds from the button to the last step painted, in a page of its own."""
    state = {"seed": seed, "left": STEPS}
    link = json.dumps({"tab": "training", "states": {"training": state}})
    with browser.new_page() as page:
        page.goto(f"{url}/en#s={base64.urlsafe_b64encode(link.encode()).decode().rstrip('=')}")
        stage = page.locator("#stage-training")
        stage.locator('[data-do*="start"]').wait_for()
        page.wait_for_timeout(500)  # the page at rest
        seconds = stage.evaluate(TRAINED)
        if f"{STEPS:,}" not in stage.inner_text() and str(STEPS) not in stage.inner_text():
            raise RuntimeError("the page stopped before the last step")
        return seconds


def bare(seed: int) -> float:
    """Seconds of the loop alone."""
    command = [sys.executable, "-m", "benchmarks.bare_training", str(seed), str(STEPS)]
    return float(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)


def first_tab(browser: Browser, url: str) -> Page:
    page = browser.new_page()
    page.goto(f"{url}/en")
    page.wait_for_selector("#stage-dot-product table[data-matrix=weights]")
    return page


def edits(page: Page, ours: Server, count: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each edit while `count` people train, and while nobody does; in turns."""
    alone: list[float] = []
    beside: list[float] = []
    painted(page, WARM_UP)
    for block in range(BLOCKS):
        alone += painted(page, EDITS)
        with trainers(ours, count, first_seed=100 + block * count):
            painted(page, WARM_UP)
            beside += painted(page, EDITS)
    return beside, alone


def painted(page: Page, count: int) -> list[float]:
    table = "#stage-dot-product table[data-matrix={}] td[data-row='0'][data-col='0']"
    places = {"input": table.format("vectors") + " input", "shown": table.format("weights")}
    times = []
    for n in range(count):
        page.wait_for_timeout(PAUSE)
        times.append(page.evaluate(MEASURE, {**places, "value": ("2", "0")[n % 2]}))
    return times


@contextmanager
def trainers(ours: Server, count: int, first_seed: int) -> Iterator[None]:
    """So many people train, each a run of their own, and begin another when it is done."""
    over, failed = threading.Event(), []
    with httpx.Client(base_url=ours.url, timeout=60) as client:
        components = client.get("/config").json()["components"]
    ident = next(c["id"] for c in components if c["props"].get("elem_id") == "stage-training")

    def train(seed: int) -> None:
        state, ask = {"seed": seed}, {"do": "start", "seed": seed}
        with httpx.Client(base_url=ours.url, timeout=60) as client:
            while not over.is_set():
                request = {"tab": "training", "lang": "en", "state": state, "actions": [ask]}
                body = {
                    "data": request,
                    "component_id": ident,
                    "fn_name": "act",
                    "session_hash": f"t{seed}",
                }
                reply = client.post("/gradio_api/component_server", json=body)
                if reply.status_code != 200 or reply.json()["notice"]:
                    failed.append(reply.text[:200])
                    return
                state = reply.json()["state"]
                if state.get("place"):
                    over.wait(WAIT)
                ask = {"do": "more"} if state.get("running") else {"do": "start", "seed": seed}
                if state.get("step", 0) >= 2000:
                    state = {"seed": state["seed"] + 1000}

    threads = [threading.Thread(target=train, args=(first_seed + n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()
    if failed:
        raise RuntimeError(f"a trainer was refused: {failed[0]}")
