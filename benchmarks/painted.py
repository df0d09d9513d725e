"""From an edit to the frame that shows what follows from it, in Chromium.

Ours: a number typed into `vectors[0][0]` until the first weight's cell shows
another number. The peer: a slider moved until its HTML shows another. One
browser, both servers up, a page each, edits in turns, the same lines measuring.
"""

from __future__ import annotations

from playwright.sync_api import Page, sync_playwright

from benchmarks import OURS, PEER, Row, median_row, serving
from scripts.browser import ARGS, find

WARM_UP, EDITS = 15, 80
PAUSE = 30  # milliseconds between edits, so that none waits for the one before

MEASURE = """async ({ input, shown, value }) => {
    const field = document.querySelector(input);
    const text = () => document.querySelector(shown)?.textContent;
    const before = text();
    const painted = new Promise((done, fail) => {
        setTimeout(fail, 5000, new Error("nothing changed"));
        const watch = new MutationObserver(() => {
            if ([before, undefined].includes(text())) return;
            watch.disconnect();
            requestAnimationFrame(() => {  // the frame about to be painted, and the task after it
                const after = new MessageChannel();
                after.port1.onmessage = () => done(performance.now());
                after.port2.postMessage(0);
            });
        });
        watch.observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    field.focus();
    const start = performance.now();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(field, value);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    return (await painted) - start;
}"""


def run() -> list[Row]:
    """The first tab against its target; self-attention beside the same peer without one."""
    with serving(OURS) as ours, serving(PEER) as theirs, sync_playwright() as playwright:
        ours.first_page()
        theirs.first_page()
        browser = playwright.chromium.launch(executable_path=find(), args=ARGS)
        rows = []
        for tab, target in (("dot-product", 1.5), ("self-attention", None)):
            slider, page = browser.new_page(), browser.new_page()
            slider.goto(theirs.url)
            slider.wait_for_selector("#shown p")
            page.goto(f"{ours.url}/en")
            page.click(f'button[role=tab][data-tab-id="{tab}"]')
            page.wait_for_selector(f"#stage-{tab} table[data-matrix=weights]")
            times = in_turns(page, tab, slider)
            rows.append(median_row(f"edit → painted, {tab}", *times, unit="ms", target=target))
        browser.close()
    return rows


def in_turns(page: Page, tab: str, slider: Page) -> tuple[list[float], list[float]]:
    """Milliseconds of each edit of ours and of the peer's, those of the warm-up left out."""
    cell = 'td[data-row="0"][data-col="0"]'
    table = f"#stage-{tab} table[data-matrix={{}}] {cell}"
    ours = {"input": f"{table.format('vectors')} input", "shown": table.format("weights")}
    theirs = {"input": "#slider input[type=range]", "shown": "#shown p"}
    times: tuple[list[float], list[float]] = ([], [])
    for n in range(WARM_UP + EDITS):
        for which, (there, places, values) in enumerate(
            ((page, ours, ("2", "0")), (slider, theirs, ("20", "80")))
        ):
            there.bring_to_front()
            there.wait_for_timeout(PAUSE)
            took = there.evaluate(MEASURE, {**places, "value": values[n % 2]})
            if n >= WARM_UP:
                times[which].append(took)
    return times
