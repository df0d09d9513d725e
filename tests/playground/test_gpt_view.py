"""The GPT tab as HTML: well formed for any text, in one language at a time, every token escaped."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial

import pytest

from playground import models
from playground.gpt.actions import ACTIONS
from playground.gpt.presets import PRESETS, preset_state
from playground.gpt.state import MAX_PROMPT, SECTIONS, GptState
from playground.gpt.view import view
from tests.playground.html_tree import Element, read
from tests.playground.test_gpt_state import PROMPTS, THERE, random_gpt_states
from tests.playground.test_words import HANGUL, QUOTED

LANGUAGES = ("en", "ko")
ENGLISH = re.compile(r"[A-Za-z]{2,} [A-Za-z]{2,}")
of_64 = partial(GptState, model="shakespeare-64")


@pytest.fixture(autouse=True)
def no_download(monkeypatch):
    """GPT-2's tokenizer as a stand-in, and short measurements."""
    monkeypatch.setattr(models, "gpt2", lambda: models.checkpoint("shakespeare").tokenizer)
    monkeypatch.setattr("playground.gpt.timing.TOKENS", 2)


def page(state, lang="en", notice="") -> Element:
    return read(view(state, lang, notice))


def texts(element: Element, skip: set[str]) -> list[str]:
    """Every text that is read or heard, but those of elements with a tag or class in `skip`."""
    found = [v for k in ("aria-label", "title", "placeholder", "alt") if (v := element.attributes.get(k))]  # fmt: skip
    for child in element.children:
        if isinstance(child, str):
            found.append(child)
        elif child.tag not in skip and not child.classes & skip:
            found += texts(child, skip)
    return [text for text in found if text.strip()]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_random_states_give_well_formed_pages(lang):
    for state in random_gpt_states():
        root = page(state, lang, "<notice>")
        assert root.first("p", "notice").text == "<notice>"


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("prompt", PROMPTS, ids=range(len(PROMPTS)))
def test_any_text_is_shown_in_every_section(section, prompt):
    """What was typed stands in its field as it was typed, and nowhere becomes HTML."""
    state = of_64(
        prompt=prompt, section=section, written=[0, 255, 300], at=1, measured=[900.5, 300.25, 60]
    )
    root = page(state)
    assert root.first("textarea").text == "\n" + prompt  # HTML drops a first line break
    assert not [e for e in root.all() if e.tag in ("script", "i") and "alert" in e.text]


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("character", ["가", "🎒", " ", "\n", "<", "\u0301", "\u202e"])
def test_a_thousand_characters_are_shown(section, character):
    state = of_64(prompt=character * MAX_PROMPT, section=section)
    assert page(state, "ko").first("textarea").text == "\n" + state.prompt


@pytest.mark.parametrize("section", ["write", "heads", "layers", "without"])
def test_an_empty_text_is_said_to_be_a_line_break(section):
    for lang, told in (("en", "An empty text is read as one line break."), ("ko", "빈 글은 줄바꿈 하나로 읽습니다.")):  # fmt: skip
        assert told in page(of_64(prompt="", section=section), lang).text
        assert told not in page(of_64(prompt="a", section=section), lang).text


@pytest.mark.parametrize("section", SECTIONS)
def test_one_token_is_no_tokens(section):
    for changes in ({"prompt": ""}, {"prompt": "a"}, {"left": 1}, {"count": 1}):
        told = page(of_64(section=section).but(**changes)).first("section", "panel").text
        assert not re.search(r"\b1 tokens", told), told


def test_nothing_typed_is_html():
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><b>"
    for section in SECTIONS:
        html = view(of_64(prompt=hostile, section=section, bad={"set:seed": hostile}), "en", hostile)  # fmt: skip
        assert "<script" not in html
        assert "<img" not in html
    wrong = page(of_64(bad={"set:seed": hostile}))
    field = next(e for e in wrong.all("input") if e.attributes.get("data-set") == "seed")
    assert field.attributes["value"] == hostile


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("name", THERE)
def test_a_korean_page_has_no_english_left(section, name):
    """Apart from tokens, code, formulas and names. The prompt itself has no Latin letter."""
    skip = {"piece", "guess", "code", "option", "textarea", "formula"}
    for changes in CHANGES:
        state = GptState(model=name, prompt="가나 다라 1 2 3 4", section=section).but(**changes)
        assert any(map(ENGLISH.search, texts(page(state, "en"), skip)))
        for text in texts(page(state, "ko", "알림"), skip):
            assert not ENGLISH.search(QUOTED.sub(" ", text)), text


CHANGES = [
    {},
    {"written": [50, 60], "at": 1, "open": ["candidates", 0, 0, 3], "top_k": 3, "top_p": 0.5},
    {"written": [50] * 400},
    {"written": [50] * 160, "left": 4},
    {"open": ["weights", 0, 2, 1], "pins": [["weights", 0, 1, 1]], "merges": 2, "measured": [900.5, 300.25, 60]},
    {"open": ["norms", 0, 1, 1], "out_heads": [[0, 0], [1, 1]], "out_blocks": [2]},
    {"bad": {"set:temperature": "x", "set:count": "0"}, "temperature": 0.0, "open": ["candidates", 0, 1, 2]},
    *({"preset": p.name} for p in PRESETS),
]  # fmt: skip


@pytest.mark.parametrize("section", SECTIONS)
def test_an_english_page_has_no_korean_left(section):
    skip = {"piece", "guess", "textarea"}
    for changes in CHANGES:
        for text in texts(page(of_64(prompt="one two 3 4", section=section).but(**changes)), skip):
            assert not HANGUL.search(text), text


def test_both_languages_show_the_same_numbers():
    for state in random_gpt_states():
        en, ko = (page(state, lang) for lang in LANGUAGES)
        cells = [
            [(td.attributes["data-row"], td.attributes["data-col"], td.text) for td in root.all("td") if "data-row" in td.attributes]
            for root in (en, ko)
        ]  # fmt: skip
        assert cells[0] == cells[1]


@pytest.mark.parametrize("preset", [p for p in PRESETS if p.state.model in THERE], ids=lambda p: p.name)  # fmt: skip
def test_a_preset_is_shown_with_its_one_thing_to_try(preset):
    for lang in LANGUAGES:
        root = page(preset_state(preset), lang)
        assert preset.try_this(lang) in root.first("div", "try").text
        pressed = [c.text for c in root.all("button", "chip") if c.attributes.get("aria-pressed") == "true"]  # fmt: skip
        assert preset.title(lang) in pressed


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_button_asks_for_what_can_be_done(lang):
    """Each asks for a known action; what can be pressed has a name that can be heard."""
    asked = set()
    for state in random_gpt_states():
        for e in page(state, lang).all():
            if "data-do" in e.attributes:
                action = json.loads(e.attributes["data-do"])
                assert action["do"] in ACTIONS
                asked.add(action["do"])
            if e.tag == "button":
                assert e.text.strip() or e.attributes.get("aria-label")
    assert {"write", "stop", "more", "clear", "pick", "choose", "head", "leave_head", "leave_block", "restore", "measure", "preset", "reset"} <= asked  # fmt: skip


def test_the_page_asks_for_more_only_while_tokens_are_left():
    for left in (0, 5):
        root = page(of_64(left=left))
        waiting = [e for e in root.all("span") if "data-more" in e.attributes]
        assert len(waiting) == bool(left)


def test_the_card_says_what_the_model_is():
    for name in THERE:
        found = models.checkpoint(name)
        told = page(GptState(model=name, prompt="1")).first("aside").text
        assert f"{found.gpt.n_parameters:,} parameters" in told
        assert f"n_layer {found.gpt.config.n_layer}, n_head {found.gpt.config.n_head}" in told
        assert str(found.card["held_out"]["nats_per_character"]) in told


@pytest.mark.parametrize("section", ["layers", "without"])
def test_the_legend_of_what_is_never_negative_begins_at_0(section):
    """Lengths, and nats by which a prediction moves: no cell of these tables has the other colour."""
    for lang, told, not_told in (
        ("en", "0 – the largest", "negative"),
        ("ko", "0 – 표에서", "음수"),
    ):
        root = page(of_64(prompt="O Romeo", section=section), lang)
        legend = root.first("div", "legend").text
        assert told in legend
        assert not_told not in legend
        shown = [td for td in root.all("td") if "data-row" in td.attributes]
        assert shown
        assert all("pos" in td.classes for td in shown)


@pytest.mark.parametrize("card", [{}, {"held_out": None}, {"held_out": [1]}, {"held_out": {}}])
def test_a_card_of_any_kind_is_shown(card, monkeypatch):
    own = replace(models.checkpoint("shakespeare-64"), card=card)
    monkeypatch.setitem(models.own, "mine<b>", own)
    root = page(GptState(model="mine<b>", prompt="a"))
    assert "mine<b>" in root.first("aside").text
    assert next(o.text for o in root.all("option")) == "mine<b>"
