"""The lessons in Chromium: every station in both languages, answering, progress, phone, keyboard."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from lessons.course import asked, stations
from lessons.questions import made
from tests.browser.conftest import Visit

STATION = ".course .path .all > summary b"


def lessons(visit: Visit, lang: str = "en", **options: object) -> Page:
    page = visit(f"/{lang}", **options)
    page.locator("button[role=tab][data-tab-id=lessons]").click()
    page.locator(".course .asked").wait_for()
    return page


def go(page: Page, name: str, lang: str) -> None:
    page.locator(".course .all > summary").click()
    page.locator(f'.course .all button[data-do*="{name}"]').click()
    expect(page.locator(STATION)).to_have_text(stations()[name].title(lang))
    expect(page.locator(".course .all[open]")).to_have_count(0)


def ask(page: Page, quiz_id: str) -> None:
    source = asked()[quiz_id]
    index = [q.quiz_id for q in stations()[source.station].questions].index(quiz_id)
    page.locator(".course .asked .presets button").nth(index).click()
    expect(page.locator(".course .asked .presets button").nth(index)).to_have_attribute(
        "aria-pressed", "true"
    )


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_walk_through_all_stations(visit, lang):
    """Each has its text with its formulas set, its panel, and a question; nothing is too wide."""
    page = lessons(visit, lang)
    for name, station in stations().items():
        go(page, name, lang)
        text = page.locator("#lessons-text")
        expect(text.locator("h2")).to_contain_text(station.title(lang))
        expect(text.locator(".katex").first).to_be_attached()
        assert text.locator(".katex-error").count() == 0, name
        expect(page.locator(".course .beside .pg").first).to_be_visible()
        expect(page.locator(".course .ask")).not_to_be_empty()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_phone_shows_a_station_without_scrolling_sideways(visit, lang):
    page = lessons(visit, lang, viewport={"width": 390, "height": 844}, has_touch=True)
    for name in list(stations())[:6]:
        go(page, name, lang)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name


def test_a_typed_mistake_is_named_and_kept_for_the_next_visit(visit):
    source = next(q for q in asked().values() if q.generated and q.kind in ("number", "cell"))
    question = made(source, 1)
    name, wrong = next(iter(question.mistakes.items()))
    page = lessons(visit, "ko", accept_downloads=True)
    go(page, source.station, "ko")
    ask(page, source.quiz_id)
    page.locator("[data-reply]").fill(f"{wrong:.2f}")
    page.keyboard.press("Enter")
    from lessons.mistakes import mistake_words

    expect(page.locator(".course .fb")).to_contain_text(mistake_words()[name].name["ko"])
    page.locator("[data-reply]").fill(f"{question.answer:.2f}")
    page.locator("[data-client=reply]").click()
    expect(page.locator(".course .fb.ok")).to_be_visible()

    kept = json.loads(page.evaluate("localStorage['attention-playground:lessons']"))
    assert kept["done"] == {source.quiz_id: 1}
    assert list(kept["again"]) == [name]
    assert source.quiz_id not in page.evaluate(
        "atob(location.hash.slice(3).replace(/-/g,'+').replace(/_/g,'/'))"
    )

    page.reload()
    page.locator(".course .asked").wait_for()
    review = page.locator('.course .path button[data-do*="review"]')
    expect(review).to_contain_text("(1)")
    review.click()
    expect(page.locator(".course .asked .kick")).to_contain_text(mistake_words()[name].name["ko"])


def test_progress_is_saved_opened_and_cleared(visit, tmp_path):
    source = next(q for q in asked().values() if q.kind == "choice")
    page = lessons(visit, accept_downloads=True)
    go(page, source.station, "en")
    ask(page, source.quiz_id)
    right = next(c for c in source.choices if c.right)
    page.locator(f'.course [data-reply][value="{right.value}"]').check()
    page.locator("[data-client=reply]").click()
    expect(page.locator(".course .fb.ok")).to_be_visible()

    page.locator(".course .keeping > summary").click()
    with page.expect_download() as found:
        page.locator("[data-client=saveKept]").click()
    file = tmp_path / "progress.json"
    file.write_text(Path(found.value.path()).read_text())
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator(".course .keeping > summary").click()
    page.locator("[data-client=forget]").click()
    done = page.locator(f'.course .all button[data-do*="{source.station}"] small')
    expect(done).to_contain_text("0/")
    page.locator(".course .keeping > summary").click()
    with page.expect_file_chooser() as chooser:
        page.locator("[data-client=bringKept]").click()
    chooser.value.set_files(file)
    expect(done).to_contain_text("1/")


def test_an_order_is_put_right_by_keyboard(visit):
    source = next(q for q in asked().values() if q.kind == "order")
    page = lessons(visit)
    go(page, source.station, "en")
    ask(page, source.quiz_id)
    wanted = [c.text.en for c in source.choices]
    for at, text in enumerate(wanted):
        for _ in range(len(wanted)):
            shown = page.locator(".course .order li > span:first-child").all_inner_texts()
            here = shown.index(text)
            if here == at:
                break
            button = page.locator(".course .order li").nth(here).locator("button").first
            button.focus()
            page.keyboard.press("Enter")
            expect(page.locator(".course .order li > span:first-child").nth(here - 1)).to_have_text(
                text
            )
    page.locator("[data-client=reply]").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".course .fb.ok")).to_be_visible()


def test_the_panel_beside_is_live_and_a_try_sets_it_back(visit):
    name = next(n for n, s in stations().items() if s.tries[0].tab == "self-attention")
    page = lessons(visit)
    go(page, name, "en")
    cell = page.locator('.course table[data-matrix=vectors] td[data-row="0"][data-col="0"] input')
    before = cell.input_value()
    weights = page.locator(".course table[data-matrix=weights]").inner_text()
    cell.fill("9")
    expect(page.locator(".course table[data-matrix=weights]")).not_to_have_text(weights)
    page.locator(".course .tries button").first.click()
    expect(cell).to_have_value(before)


def test_other_languages_page_shows_the_same_station_and_question(visit):
    name = list(stations())[2]
    page = lessons(visit)
    go(page, name, "en")
    ask(page, stations()[name].questions[1].quiz_id)
    page.locator("a[data-language=ko]").click()
    page.wait_for_url(re.compile("/ko"))
    page.locator(".course .asked").wait_for()
    expect(page.locator(STATION)).to_have_text(stations()[name].title.ko)
    expect(page.locator(".course .asked .presets button").nth(1)).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(page.locator("#lessons-text h2")).to_contain_text(stations()[name].title.ko)
