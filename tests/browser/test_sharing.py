"""Links, languages, files and code: what one person made, exactly as another gets it."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Visit
from tests.browser.pages import (
    TABS,
    button,
    cell,
    decoded,
    eventually,
    field,
    numbers,
    softmax,
    state,
    tab,
    table,
)

CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}


def clipboard(page: Page) -> str:
    return page.evaluate("navigator.clipboard.readText()")


def shown(stage: Locator) -> str:
    """Everything in the panel: texts, the numbers in use, what is marked."""
    return stage.locator(".panel").evaluate(
        """panel => [...panel.querySelectorAll("table, .gh b, .sum, input, select")].map(e =>
            e.tagName === "TABLE" ? e.dataset.matrix + [...e.querySelectorAll("td[data-row]")].map(
                c => (c.querySelector("input") ? c.querySelector("input").title : c.textContent)
                    + ["sel", "src", "masked", "nan"].filter(k => c.classList.contains(k)))
            : e.matches(".gh b, .sum") ? e.textContent : [e.value, e.checked].join()
        ).join(String.fromCharCode(10))"""
    )


def work(page: Page) -> Locator:
    """Something made in self-attention: numbers, names, switches, an opened cell, a mistake."""
    stage = tab(page, "self-attention")
    stage.locator('input[data-set="w"][value="seeded"]').check()
    field(stage, "vectors", 0, 1).fill("-0.123456789")
    stage.locator('[data-token="1"]').fill("여행 🚂")
    stage.locator('input[data-set="causal"]').click()  # an answer under way may paint it once more
    expect(stage.locator('input[data-set="causal"]')).to_be_checked()
    stage.locator('input[value="mask_after_softmax"]').check()
    expect(stage.locator(".breakage")).to_be_visible()
    cell(stage, "output", 3, 1).click()
    expect(cell(stage, "output", 3, 1)).to_have_class("pos sel")
    eventually(page, lambda: state(page, "self-attention").get("open") == ["output", 0, 3, 1])
    return stage


def test_a_link_restores_everything(visit: Visit) -> None:
    page = visit("/en", **CLIPBOARD)
    stage = work(page)
    button(page.locator("#top"), "Link").click()
    expect(page.locator("#toast")).to_have_text("Copied.")
    link = clipboard(page)
    assert decoded(link)["tab"] == "self-attention"
    other = visit(link)
    found = other.locator("#stage-self-attention")
    expect(found).to_be_visible()
    expect(cell(found, "output", 3, 1)).to_have_class("pos sel")
    assert shown(found) == shown(stage)
    assert "-0.123456789" in shown(found)


def test_a_link_pasted_into_an_open_page(page: Page) -> None:
    work(page)
    link = page.url
    tab(page, "masking")
    page.evaluate("link => { location.href = link; }", link)
    expect(cell(page.locator("#stage-self-attention"), "output", 3, 1)).to_have_class("pos sel")


def test_reload_keeps_everything(page: Page) -> None:
    stage = work(page)
    before = shown(stage)
    page.reload()
    expect(cell(stage, "output", 3, 1)).to_have_class("pos sel")
    assert shown(stage) == before


def test_the_other_language_keeps_what_was_made_in_all_tabs(page: Page) -> None:
    field(page.locator("#stage-dot-product"), "vectors", 2, 2).fill("0.111")
    work(page)
    field(tab(page, "multi-head"), "vectors", 0, 0).fill("1/3")
    field(tab(page, "masking"), "vectors", 5, 0).fill("0.222")
    eventually(page, lambda: set(decoded(page.url)["states"]) == set(TABS))
    before = {name: shown(tab(page, name)) for name in TABS}
    tab(page, "masking")
    for lang, language in (("ko", "한국어"), ("en", "English")):
        page.get_by_role("link", name=language).click()
        page.wait_for_url(f"**/{lang}#*")
        expect(page.locator("#stage-masking table").first).to_be_visible()
        assert page.evaluate("document.documentElement.lang") == lang
        for name in TABS:
            assert shown(tab(page, name)) == before[name], (lang, name)
        tab(page, "masking")


@pytest.mark.parametrize(
    ("fragment", "lang", "said"),
    [
        ("#s=nonsense!", "en", "This link or file cannot be used"),
        ("#s=eyJ0YWIi", "ko", "이 링크나 파일은 쓸 수 없습니다"),
    ],
)
def test_a_broken_link_says_so_and_the_page_works(
    visit: Visit, fragment: str, lang: str, said: str
) -> None:
    page = visit(f"/{lang}{fragment}")
    stage = page.locator("#stage-dot-product")
    expect(stage.locator(".notice")).to_contain_text(said)
    field(stage, "vectors", 0, 0).fill("2")
    eventually(page, lambda: numbers(stage, "vectors")[0][0] == 2)
    expect(stage.locator(".notice")).to_have_count(0)


def test_a_link_with_impossible_content(visit: Visit) -> None:
    page = visit("/en")
    script = """states => {
        location.hash = "#s=" + btoa(JSON.stringify({tab: "dot-product", states}));
    }"""
    wrong = {"dot-product": {"tokens": ["a"], "vectors": [[1e99]]}, "masking": 7}
    page.evaluate(script, wrong)
    stage = page.locator("#stage-dot-product")
    expect(stage.locator(".notice")).to_contain_text("vectors[0][0]")
    assert len(numbers(stage, "vectors")) == 6
    masking = tab(page, "masking")
    expect(masking.locator(".notice")).to_be_visible()
    expect(table(masking, "weights")).to_be_visible()


# Files


def save(page: Page, stage: Locator, folder: Path) -> Path:
    with page.expect_download() as waiting:
        button(stage, "Save file").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def upload(page: Page, stage: Locator, path: Path, name: str = "Open file") -> None:
    with page.expect_file_chooser() as waiting:
        button(stage, name).click()
    waiting.value.set_files(path)


def test_a_file_restores_everything(visit: Visit, tmp_path: Path) -> None:
    page = visit("/en")
    stage = work(page)
    path = save(page, stage, tmp_path)
    assert path.name == "attention-self-attention.json"
    other = visit("/en")
    upload(other, other.locator("#stage-dot-product"), path)  # from another tab
    found = other.locator("#stage-self-attention")
    expect(cell(found, "output", 3, 1)).to_have_class("pos sel")
    assert shown(found) == shown(stage)


def test_a_file_is_one_step_to_undo(page: Page, tmp_path: Path) -> None:
    stage = page.locator("#stage-dot-product")
    path = save(page, stage, tmp_path)
    field(stage, "vectors", 0, 0).fill("5")
    eventually(page, lambda: numbers(stage, "vectors")[0][0] == 5)
    upload(page, stage, path)
    eventually(page, lambda: numbers(stage, "vectors")[0][0] == 0.43)
    button(stage, "Undo").click()
    eventually(page, lambda: numbers(stage, "vectors")[0][0] == 5)


RUBBISH = {
    "words": b"hello",
    "empty": b"",
    "bytes": bytes(range(256)),
    "list": b"[1, 2, 3]",
    "huge": b"[" * 1_000_000,
    "ragged": json.dumps({"state": {"tokens": ["a", "b"], "vectors": [[1, 2], [3]]}}).encode(),
    "unknown tab": json.dumps({"tab": "nowhere", "state": {"query": -1}}).encode(),
    "null": b"null",
}


def test_a_file_that_cannot_be_used_changes_nothing(page: Page, tmp_path: Path) -> None:
    stage = page.locator("#stage-dot-product")
    before = shown(stage)
    for name, content in RUBBISH.items():
        path = tmp_path / "rubbish.json"
        path.write_bytes(content)
        upload(page, stage, path)
        expect(stage.locator(".notice"), name).to_contain_text("cannot be used")
        assert shown(stage) == before, name
        cell(stage, "scores", 0, 0).click()  # something that works makes the notice go
        expect(stage.locator(".notice")).to_have_count(0)
        stage.locator(".chip").first.click()
        expect(stage.locator("table[data-matrix=weights] td.sel")).to_have_count(1)


def test_a_table_as_csv_has_the_unrounded_numbers(page: Page, tmp_path: Path) -> None:
    stage = page.locator("#stage-dot-product")
    stage.locator('[data-token="0"]').fill("=SUM(1)")
    expect(table(stage, "weights").locator("th").first).to_have_text("=SUM(1)")
    with page.expect_download() as waiting:
        stage.get_by_role("button", name="Download as CSV: weights").click()
    assert waiting.value.suggested_filename == "weights.csv"
    path = tmp_path / "weights.csv"
    waiting.value.save_as(path)
    head, row = csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig")))
    assert head == ["", "'=SUM(1)", "journey", "starts", "with", "one", "step"]
    assert row[0] == "journey"
    x = numbers(stage, "vectors")
    weights = softmax([math.fsum(a * b for a, b in zip(x[1], key, strict=True)) for key in x])
    assert max(abs(float(a) - b) for a, b in zip(row[1:], weights, strict=True)) < 1e-15


# Copy as PyTorch


def test_code_runs_and_asserts_what_is_shown(visit: Visit) -> None:
    page = visit("/en", **CLIPBOARD)
    for name in TABS:
        stage = work(page) if name == "self-attention" else tab(page, name)
        page.evaluate("navigator.clipboard.writeText('')")
        button(stage, "Copy as PyTorch").click()
        expect(stage.locator(".code pre")).to_be_visible()
        eventually(page, lambda: clipboard(page) != "", "something copied")
        code = clipboard(page)
        assert code.replace("\r\n", "\n").strip() == stage.locator(".code pre").inner_text().strip()
        assert "assert_close" in code
        names: dict[str, object] = {"print": lambda *found: None}
        exec(compile(code, name, "exec"), names)
        made = names["weights"].tolist()
        rows = made if isinstance(made[0][0], float) else made[0]
        for row, seen in zip(rows, numbers(stage, "weights"), strict=True):
            for a, b in zip(row, seen, strict=True):
                assert abs(a - b) <= 0.005 + 1e-9
        button(stage, "Close").last.click()
        expect(stage.locator(".code")).to_have_count(0)
