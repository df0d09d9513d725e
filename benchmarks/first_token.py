"""From pressing Write on a page just loaded to the first written token on the screen.

The peer: the bare app's page just loaded, from moving its slider to the answer. A
page of its own for each round, both servers up; the server's own first round, in
which it reads the weights from disk, is not measured.
"""

from __future__ import annotations

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import OURS, PEER, Row, median_row, serving
from scripts.browser import ARGS, find

ROUNDS = 12

MEASURE = """async ({ press, shown, value }) => {
    const there = () => document.querySelector(shown);
    const before = there()?.textContent;
    const painted = new Promise((done, fail) => {
        setTimeout(fail, 10000, new Error("nothing written"));
        const watch = new MutationObserver(() => {
            if (!there() || there().textContent === before) return;
            watch.disconnect();
            requestAnimationFrame(() => {  // the frame about to be painted, and the task after it
                const after = new MessageChannel();
                after.port1.onmessage = () => done(performance.now());
                after.port2.postMessage(0);
            });
        });
        watch.observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    const target = document.querySelector(press);
    const start = performance.now();
    if (value === null) target.click();
    else {
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(target, value);
        target.dispatchEvent(new Event("input", { bubbles: true }));
    }
    return (await painted) - start;
}"""


def run() -> list[Row]:
    """Rounds in turns; the first of each is left out."""
    times: tuple[list[float], list[float]] = ([], [])
    with serving(OURS) as ours, serving(PEER) as theirs, sync_playwright() as playwright:
        ours.first_page()
        theirs.first_page()
        browser = playwright.chromium.launch(executable_path=find(), args=ARGS)
        for n in range(ROUNDS + 1):
            took = (written(browser, ours.url), slid(browser, theirs.url))
            if n:
                for which, milliseconds in enumerate(took):
                    times[which].append(milliseconds)
        browser.close()
    return [median_row("Write → first token, page just loaded", *times, unit="ms")]


def written(browser: Browser, url: str) -> float:
    """Our GPT tab: milliseconds to the first token."""
    with browser.new_page() as page:
        page.goto(f"{url}/en")
        page.click('button[role=tab][data-tab-id="gpt"]')
        page.wait_for_selector("#stage-gpt button.pri")
        places = {"press": "#stage-gpt button.pri", "shown": "#stage-gpt button.piece"}
        return measured(page, {**places, "value": None})


def slid(browser: Browser, url: str) -> float:
    """The bare app: milliseconds to its answer."""
    with browser.new_page() as page:
        page.goto(url)
        page.wait_for_selector("#shown p")
        places = {"press": "#slider input[type=range]", "shown": "#shown p"}
        return measured(page, {**places, "value": "80"})


def measured(page: Page, arguments: dict[str, str | None]) -> float:
    page.wait_for_timeout(300)  # the page at rest
    return page.evaluate(MEASURE, arguments)
