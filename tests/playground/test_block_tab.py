"""The Block tab's page: sound in both languages, its settings, what is refused."""

from __future__ import annotations

import json
import re

import pytest
import torch

from model import load_checkpoint
from model.errors import HeadsError, PlaygroundError
from model.stack import WIRINGS
from playground import input_errors as errors
from playground.block import run as runs
from playground.panel import panels
from playground.stage import act
from tests.playground.block_states import (
    EXAMPLES,
    FORM,
    PANEL,
    STATES,
    WAYS,
    do,
    grids,
    set_,
    values,
    wired,
)
from tests.playground.html_tree import cells, read


@pytest.mark.parametrize("state", STATES)
def test_the_page_is_sound_and_shows_the_same_numbers_in_both_languages(state):
    found = []
    for lang in ("en", "ko"):
        reply = act({"tab": "block", "lang": lang, "state": state.to_json()})
        assert reply["notice"] == ""
        assert reply["state"] == state.to_json()
        assert "{" not in re.sub(r'data-do="[^"]*"', "", reply["html"])
        page = read(reply["html"])
        found.append(
            {key: {at: td.text for at, td in cells(t).items()} for key, t in grids(page).items()}
        )
        for e in page.all():
            if "data-do" in e.attributes:
                assert json.loads(e.attributes["data-do"])["do"]
        labels = [set(map(id, label.all())) for label in page.all("label")]
        for control in (*page.all("select"), *page.all("input")):
            labelled = any(id(control) in inside for inside in labels)
            assert labelled or "aria-label" in control.attributes
    assert found[0] == found[1]
    shown = {m.key for m in FORM.flow(state, "en").matrices if m.shown}
    assert set(found[0]) == shown


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_an_example_has_a_number_open_and_its_cell_marked(name, lang):
    page = read(PANEL.view(EXAMPLES[name], lang))
    (box,) = page.all("div", "glass")
    assert "=" in box.first("div", "sum").text
    assert len(list(page.all("td", "sel"))) == 1
    assert page.first("div", "try").text


def test_what_is_drawn_is_what_is_switched_on():
    state = EXAMPLES["no-residual"]
    page = read(PANEL.view(state, "en"))
    assert len(list(page.all("figure", "chart"))) == 4
    assert [len(list(c.all("g", "curve"))) for c in page.all("figure", "chart")] == [3] * 4
    rows = [th.text for th in grids(page)["alike", 0].all("th") if th.attributes["scope"] == "row"]
    assert rows == ["pre-norm", "no residual", "neither"]
    for wiring in WIRINGS:
        state = set_(state, wiring, False)
    page = read(PANEL.view(state, "ko"))
    assert grids(page) == {}
    assert len(list(page.all("figure", "chart"))) == 4
    assert set_(state, "post", True).post


def test_controls_of_the_other_parts_are_not_there():
    def settings(state):
        page = read(PANEL.view(state, "en"))
        return {e.attributes["data-set"] for e in page.all() if "data-set" in e.attributes}

    shared = {"section", "source", "norm", "residual", "activation", "inside"}
    assert settings(EXAMPLES["vectors"]) == shared | {"n_head", "causal", "seed"}
    assert settings(EXAMPLES["trained"]) == shared | {"prompt", "layer", "at"}
    assert settings(EXAMPLES["twelve"]) == {"section", "blocks", "width", "gain", "activation", "seed", *WIRINGS}  # fmt: skip


def test_another_width_takes_heads_that_divide_it():
    state = set_(EXAMPLES["vectors"], "n_head", "4")
    assert state.n_head == 4
    wider = do(state, "width", by=2)
    assert (len(wider.vectors[0]), wider.n_head) == (6, 3)
    assert do(state, "width", by=1).n_head == 1
    page = read(PANEL.view(wider, "ko"))
    heads = [i.attributes["value"] for i in page.all("input") if i.attributes.get("data-set") == "n_head"]  # fmt: skip
    assert heads == ["1", "2", "3", "6"]


@pytest.mark.parametrize(
    ("error", "found"),
    [
        (HeadsError, {"n_head": 3}),
        (errors.LinkError, {"tokens": ["a"]}),
        (errors.LinkError, {"vectors": [[1.0]] * 9, "tokens": ["t"] * 9}),
        (errors.LinkError, {"layer": "5"}),
        (errors.LinkError, {"layer": 1}),
        (errors.LinkError, {"at": 12}),
        (errors.LinkError, {"norm": "before"}),
        (errors.LinkError, {"blocks": 13}),
        (errors.LinkError, {"width": "128"}),
        (errors.LinkError, {"gain": "100"}),
        (errors.LinkError, {"neither": 1}),
        (errors.LinkError, {"prompt": "x" * 61}),
    ],
)
def test_a_state_that_cannot_be_is_refused_in_both_languages(error, found):
    with pytest.raises(error) as refused:
        PANEL.usable(found)
    assert refused.value.text("en") != refused.value.text("ko")
    for lang in ("en", "ko"):
        reply = act({"tab": "block", "lang": lang, "state": found})
        assert reply["notice"] == refused.value.text(lang)
        assert reply["notice"] in read(reply["html"]).text


@pytest.mark.parametrize(
    "action",
    [
        {"do": "set", "key": "n_head", "value": "3"},
        {"do": "set", "key": "layer", "value": "9"},
        {"do": "set", "key": "prompt", "value": "x" * 61},
        {"do": "set", "key": "tokens", "value": []},
        {"do": "width", "by": 13},
        {"do": "width", "by": -4},
        {"do": "start", "seed": 1},
    ],
)
def test_a_refused_action_changes_nothing(action):
    state = EXAMPLES["vectors"]
    with pytest.raises(PlaygroundError):
        PANEL.apply(state, action)
    reply = act({"tab": "block", "lang": "ko", "state": state.to_json(), "actions": [action]})
    assert reply["notice"]
    assert reply["state"] == state.to_json()


@pytest.mark.parametrize(("key", "text"), [("seed", "-1"), ("seed", "a"), ("seed", "1.5")])
def test_a_seed_that_is_none_stays_in_its_field(key, text):
    state = set_(EXAMPLES["vectors"], key, text)
    assert (state.seed, state.bad) == (1, {"set:seed": text})
    (field,) = [i for i in read(PANEL.view(state, "en")).all("input") if i.attributes.get("data-set") == key]  # fmt: skip
    assert (field.attributes["value"], field.attributes["aria-invalid"]) == (text, "true")


def test_typed_numbers_up_to_the_largest_and_equal_ones_are_shown():
    """All equal: variance 0, and ε keeps the quotient a number."""
    state = do(EXAMPLES["vectors"], "paste", matrix="vectors", row=0, col=0, text="1e6 -1e6 1e6 -1e6\n5 5 5 5")  # fmt: skip
    for way in WAYS:
        for lang in ("en", "ko"):
            read(PANEL.view(wired(state, *way), lang))
    assert values(state, "before_1")[1].tolist() == [5.0, 0.0]
    assert values(state, "normed_1")[1].tolist() == [0.0] * 4


def test_tokens_come_go_and_are_renamed():
    state = do(do(EXAMPLES["vectors"], "add"), "token", index=3, text="<d>")
    assert values(state, "resid_post").shape == (4, 4)
    page = PANEL.view(state, "en")
    assert "&lt;d&gt;" in page
    assert "<d>" not in page
    state = do(state, "remove", index=0)
    assert state.tokens == ["b", "c", "<d>"]


def test_a_prompt_is_read_up_to_twelve_tokens_and_an_empty_one_is_a_line_break():
    text = "a b c d e f g h i j k l m n o p q"
    found = len(load_checkpoint("shakespeare-64").tokenizer.encode(text))
    state = set_(EXAMPLES["trained"], "prompt", text)
    page = read(PANEL.view(state, "en"))
    assert f"{found} tokens; the first 12 are read" in page.text
    assert len(list(page.all("option"))) == 12
    assert values(state, "weights").shape == (1, 12)
    state = set_(state, "at", "3")
    options = list(read(PANEL.view(state, "en")).all("option"))
    (chosen,) = [o for o in options if "selected" in o.attributes]
    assert chosen.text.startswith("4. ")
    assert values(state, "weights").shape == (1, 4)
    assert values(set_(state, "prompt", "a"), "weights").shape == (1, 1)
    assert "↵" in read(PANEL.view(set_(state, "prompt", ""), "ko")).text


def test_another_source_opens_nothing_of_the_last():
    state = set_(EXAMPLES["vectors"], "source", "trained")
    assert (state.open, state.pins) == (None, [])
    assert 'class="glass empty"' in PANEL.view(state, "en")


def test_the_chosen_activation_is_the_curve_drawn_through():
    for activation, dashed in (("gelu", [False, True]), ("relu", [True, False])):
        page = read(PANEL.view(EXAMPLES["vectors"].but(activation=activation), "en"))
        curves = [g.first("polyline").attributes for g in page.all("g", "curve")]
        assert ["stroke-dasharray" in c for c in curves] == dashed


def test_a_matrix_as_a_file():
    rows = PANEL.csv(EXAMPLES["vectors"], "en", "norms", 0)
    assert rows[0] == ["", "came in", "after attention", "after the MLP"]
    assert rows[2][0] == "b"
    assert rows[2][1] == pytest.approx((20**2 + 40**2 + 60**2 + 80**2) ** 0.5)
    stack = PANEL.csv(EXAMPLES["no-norm"], "ko", "stream", 0)
    assert [row[0] for row in stack] == ["", "앞 정규화", "정규화 없음"]


def test_nobody_elses_draws_change():
    runs.measured.cache_clear()
    before = torch.get_rng_state()
    for state in EXAMPLES.values():
        PANEL.view(state.but(seed=77), "en")
    assert torch.equal(torch.get_rng_state(), before)


def test_the_tab_stands_before_the_gpts():
    names = list(panels())
    assert names.index("multi-head") < names.index("block") < names.index("gpt")
