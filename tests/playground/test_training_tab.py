"""The Training tab: its curves beside runs of one's own, what its examples promise, what cannot be."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from model.errors import PlaygroundError
from model.live import LiveSettings
from model.tasks import ask
from playground.stage import act
from playground.tabs.training import TAB
from playground.training.learning import suspicion
from playground.training.look import attended, learned, opened
from playground.training.runs import ASKED
from playground.training.state import SECOND, TrainingState, first_of, runs_of
from tests.playground.html_tree import read
from tests.playground.training_doing import (
    EXAMPLES,
    LANGS,
    QUICK,
    alone,
    at,
    do,
    nothing_remembered,
    page_of,
    set_,
    trained,
)

__all__ = ["nothing_remembered"]  # a fixture

# The page


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("section", ["", "attention", "weight"])
def test_an_example_is_shown_as_it_is_in_each_section(name, lang, section):
    state = TAB.form.example(name)
    state = state.but(section=section) if section else state
    reply = act({"tab": "training", "lang": lang, "state": state.to_json()})
    assert reply["notice"] == ""
    assert reply["state"] == state.to_json()
    page = read(reply["html"])
    for control in [*page.all("select"), *page.all("input"), *page.all("textarea")]:
        labelled = any(control in label.all() for label in page.all("label"))
        assert labelled or "aria-label" in control.attributes


@pytest.mark.parametrize("compare", SECOND)
def test_the_curves_are_those_of_runs_of_ones_own(compare):
    state = at(QUICK.but(compare=compare, task="sort"), 12)
    first = LiveSettings("sort", n_layer=1, n_embd=8, n_head=2)
    change = {
        "nothing": None,
        "mask": {"causal": False},
        "positions": {"positions": False},
        "one_head": {"n_head": 1},
        "rate": {"learning_rate": 30 * 0.005},
        "seed": {"seed": 1},
    }[compare]
    settings = [first] if change is None else [first, replace(first, **change)]
    page = page_of(state)
    assert len(list(page.all("polyline"))) == len(settings)
    for n, one in enumerate(settings):
        run = alone(one, 12)
        assert learned(one, 12).losses == tuple(run.losses)
        answers = ask(run.gpt, run.task, ASKED)
        told = list(page.all("p", "sentence"))[n].text
        right = sum(a.is_right for a in answers)
        assert f"{run.losses[-1]:.2f}, and {right} of 32" in told
        table = [t for t in page.all("table", "list") if "question" in t.text][n]
        now = list(list(table.all("tr"))[1].all("td"))[-1]
        assert now.text.split()[-1] == answers[0].given


def test_chance_and_floor_are_drawn_and_named():
    page = page_of(at(QUICK, 2))
    assert len(list(page.all("line", "level"))) == 2
    assert {"chance, ln 9", "floor"} <= {t.text for t in page.all("text")}
    text = at(TAB.form.example("your-text"), 2)
    assert "floor" not in {t.text for t in page_of(text).all("text")}


def test_answers_are_marked_by_sign_and_word_and_counted():
    state = trained(TrainingState())
    for lang, words in zip(LANGS, (("right", "wrong"), ("맞음", "틀림")), strict=True):
        marks = [s for s in page_of(state, lang).all("span") if s.attributes.get("role") == "img"]
        assert {(s.text, s.attributes["aria-label"]) for s in marks} == set(
            zip("✓✗", words, strict=True)
        )
    run = alone(LiveSettings(), 300)
    right = sum(a.is_right for a in ask(run.gpt, run.task, ASKED))
    page = page_of(state)
    assert f"{right} / 32" in page.text
    heads = [h.text for h in page.all("th") if h.attributes.get("scope") == "col"]
    assert heads[-4:] == ["before", "step 100", "step 200", "now"]


# What the examples promise


def late(settings, step, count=20):
    return sum(learned(settings, step).losses[-count:]) / count


def right(settings, step):
    return sum(a.is_right for a in learned(settings, step).now)


@pytest.mark.parametrize("name", ["copy", "reverse", "your-text", "korean-text"])
def test_one_run_learns_and_goes_from_wrong_to_right(name):
    state = trained(TAB.form.example(name))
    assert state.step == 300
    (run,) = runs_of(state)
    assert not any(a.is_right for a in learned(run, 300).answers[0])
    assert right(run, 300) >= 29
    assert f"{right(run, 300)} / 32" in page_of(state).text


def test_without_the_mask_the_loss_is_too_low_and_the_page_says_so():
    state = trained(TAB.form.example("no-mask"))
    honest, cheating = runs_of(state)
    assert late(cheating, 300) < 0.2 < late(honest, 300)
    assert right(cheating, 300) <= 4 < 20 <= right(honest, 300)
    for lang, words in zip(LANGS, ("less than anyone can have", "너무 낮은 손실"), strict=True):
        told = [p.text for p in page_of(state, lang).all("p", "sentence")]
        assert [words in text for text in told] == [False, True]
        assert "0.87" in told[1]


def test_without_positions_reversing_fails_and_counting_does_not():
    state = TAB.form.example("no-positions")
    for task, learns in (("reverse", False), ("count", True)):
        done = trained(set_(state, "task", task))
        with_positions, without = runs_of(done)
        assert right(with_positions, 300) >= 29
        assert (right(without, 300) == 32) == learns
        assert (right(without, 300) <= 2) == (not learns)


def test_one_head_copies_sooner_than_four():
    state = trained(TAB.form.example("one-head"))
    four, one = (learned(run, 300).losses for run in runs_of(state))
    assert sum(one[60:120]) < sum(four[60:120])


def test_too_high_a_rate_learns_no_letter():
    state = trained(TAB.form.example("too-fast"))
    calm, wild = runs_of(state)
    assert wild.learning_rate == pytest.approx(30 * calm.learning_rate)
    assert right(wild, 300) == 0 < 29 <= right(calm, 300)
    assert late(wild, 300) > 1.8


def test_korean_has_more_different_characters():
    english, korean = (runs_of(TAB.form.example(n))[0] for n in ("your-text", "korean-text"))
    assert english.config.vocab_size < korean.config.vocab_size


def test_nothing_is_suspicious_in_an_honest_run():
    found = learned(LiveSettings(), 0)
    assert suspicion(LiveSettings(), found, "en") == ""
    state = trained(TrainingState())
    assert "less than anyone" not in page_of(state).text


@pytest.mark.parametrize(
    ("name", "looked_at"), [("copy", range(0, 6)), ("reverse", range(5, -1, -1))]
)
def test_a_head_comes_to_look_where_the_answer_stands(name, looked_at):
    """From the bar on, each place looks at the letter it is to write: six back, or backwards."""
    run = runs_of(trained(TAB.form.example(name)))[0]
    for step, forms in ((0, False), (300, True)):
        heads = torch.cat([b.attn.heads.weights[0] for b in attended(run, step).trace.blocks])
        share = heads[:, range(6, 12), looked_at].mean(dim=-1).max()
        assert (share > 0.5) == forms


def test_the_first_step_moves_a_weight_by_the_learning_rate():
    state = TAB.form.example("one-step")
    for row, col in ((0, 0), (5, 3), (40, 15)):
        step = opened(first_of(state), 0, state.weight, (row, col)).step
        assert abs(step.new_value - step.value) == pytest.approx(0.005, rel=1e-3)


# What cannot be


@pytest.mark.parametrize("text", ["", "too short", "".join(map(chr, range(0x4E00, 0x4F00)))])
@pytest.mark.parametrize("section", ["", "attention", "weight"])
def test_a_text_that_cannot_be_learned_stays_and_says_why(text, section):
    state = set_(TAB.form.example("your-text"), "text", text).but(section=section)
    state = TAB.usable(state.to_json())
    assert (state.text, state.step, state.running) == (text, 0, False)
    for lang in LANGS:
        assert next(page_of(state, lang).all("p", "notice")).text
    assert do(state, "start", seed=1).running is False
    mended = set_(state, "text", "A text that is long enough.")
    assert page_of(mended).all("svg")


@pytest.mark.parametrize(
    "text", ["a b\nc" * 8, "<b>&amp;</b> {x} ${y} " * 3, "👩‍👩‍👧 e\u0301 " * 8]
)
def test_any_text_is_shown_as_it_is(text):
    state = at(set_(TAB.form.example("your-text"), "text", text), 1)
    assert state.text == text
    for section in ("learning", "attention", "weight"):
        page_of(set_(state, "section", section))


def test_a_text_too_long_is_refused_and_the_one_before_stays():
    reply = act({
        "tab": "training",
        "lang": "ko",
        "state": TAB.form.example("your-text").to_json(),
        "actions": [{"do": "set", "key": "text", "value": "가" * 2001}],
    })  # fmt: skip
    assert "2001" in reply["notice"]
    assert reply["state"]["text"].startswith("The cat")


@pytest.mark.parametrize(("key", "text"), [("rate", "0"), ("rate", "1"), ("rate", "x"), ("seed", "-1"), ("seed", "1.5")])  # fmt: skip
def test_a_number_that_cannot_be_used_stays_with_its_message(key, text):
    state = set_(QUICK, key, text)
    assert getattr(state, key) == getattr(QUICK, key)
    assert state.bad == {f"set:{key}": text}
    assert len(list(page_of(state, "ko").all("span", "msg"))) == 1


def test_heads_that_do_not_fit_the_width_are_made_to():
    assert set_(TrainingState(n_head="8"), "n_embd", "4").n_head == "4"
    assert set_(TrainingState(n_embd="4", n_head="4"), "n_head", "8").n_head == "4"


@pytest.mark.parametrize(
    "found",
    [
        {"task": "multiply"},
        {"text": "x" * 2001},
        {"n_embd": "17"},
        {"n_head": "3"},
        {"n_layer": 2},
        {"rate": 0.0},
        {"rate": 0.5},
        {"step": 2001},
        {"step": -1},
        {"left": 2001},
        {"compare": "everything"},
        {"weight": 5},
        {"row": 256},
        {"which": "3"},
        {"layer": "0"},
        {"head": "9"},
    ],
)
def test_a_link_that_cannot_be_is_refused(found):
    with pytest.raises(PlaygroundError):
        TAB.usable(found)


def test_links_with_places_that_are_not_there_are_mended():
    found = {"layer": "4", "head": "8", "weight": "nothing", "row": 255, "col": 255, "left": 2000}
    state = TAB.usable(found)
    assert (state.layer, state.head, state.weight) == ("2", "4", "wte.weight")
    assert (state.row, state.col, state.left) == (8, 15, 2000)
    assert TAB.usable({"open": ["tensor", 0, 60, 60], "section": "weight"}).row == 8


@pytest.mark.parametrize("action", [{"do": "enlarge"}, {"do": "enlarge", "layer": "9", "head": "1"}, {"do": "set", "key": "step", "value": 5}])  # fmt: skip
def test_what_no_button_asks_is_refused(action):
    with pytest.raises(PlaygroundError):
        TAB.apply(QUICK, action)
