"""The Cost tab: what is measured, counted and compared, and that every number opens to its sum."""

from __future__ import annotations

import dataclasses
import json

import pytest

from model.measuring import LENGTHS, ROUTES
from model.measuring import measure as really_measure
from playground import input_errors as errors
from playground.cost import measure
from playground.cost.examples import EXAMPLES
from playground.cost.state import CostState
from playground.explain import explain
from playground.panel import panels
from playground.stage import act
from tests.playground.html_tree import read

TAB = panels()["cost"]
CHEAPER = TAB.form.example("window")
SIZES = TAB.form.example("twice-the-length")
UNEXPLAINED = {"vectors", "time", "peak"}  # typed, or read off a clock and off PyTorch


def do(state, name, /, **fields):
    return TAB.apply(state, {"do": name, **fields})


def set_(state, key, value):
    return do(state, "set", key=key, value=value)


def matrix(state, name, lang="en"):
    return TAB.form.flow(state, lang).get(name)


def all_open(state):
    """Every computed number of the state has a sum that gives it."""
    flow = TAB.form.flow(state, "en")
    for m in flow.matrices:
        if m.name in UNEXPLAINED:
            continue
        for i, row in enumerate(m.values.tolist()):
            for j, value in enumerate(row):
                made = explain(flow, m, i, j)
                assert made.parts, f"{m.name}[{i}, {j}] = {value} has no sum"


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_an_example_opens_quietly_in_both_languages(example, lang):
    state = TAB.form.example(example.name)
    reply = act({"tab": "cost", "lang": lang, "state": state.to_json()})
    assert reply["notice"] == ""
    page = read(reply["html"])
    assert TAB.usable(json.loads(json.dumps(reply["state"]))) == state
    if state.open:
        sums = list(page.all("div", "sum"))
        assert len(sums) == 1
        assert "=" in sums[0].text


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_every_number_of_an_example_opens(example):
    all_open(example.state)


# Measured


@pytest.fixture
def quick(monkeypatch):
    """Real measurements of 8 tokens, said to be of the length asked for; `calls` keeps which."""
    calls = []

    def of_eight(T, n_head, head_size, route):
        calls.append((T, route))
        return dataclasses.replace(really_measure(8, n_head, head_size, route), T=T, spent=0.5)

    monkeypatch.setattr(measure, "measure", of_eight)
    return calls


def run(state, seed=1):
    """Pressed, and gone on by itself to its end."""
    state = do(state, "start", seed=seed)
    while state.running:
        assert "data-more" in TAB.view(state, "en")
        state = do(state, "more")
    return state


@pytest.mark.parametrize("others", [False, True])
def test_a_press_measures_every_length_by_every_route(quick, others):
    state = run(CostState(others=others, cap=20))
    routes = list(ROUTES) if others else ["traced", "fused"]
    assert quick == [(T, route) for T in LENGTHS for route in routes]
    assert [tuple(one[:2]) for one in state.measured] == quick
    assert TAB.usable(json.loads(json.dumps(state.to_json()))) == state
    assert matrix(state, "time").values.shape == (7, len(routes))
    assert matrix(state, "time_growth").values.shape == (6, len(routes))


def test_pressed_again_it_measures_anew(quick):
    state = run(CostState(cap=20))
    again = run(state, seed=2)
    assert len(quick) == 28
    assert len(again.measured) == 14


def test_the_cap_ends_it_and_more_seconds_go_on(quick):
    state = run(CostState(cap=2))  # half a second each: two lengths by two routes
    assert quick[-1] == (128, "fused")
    for lang, number in (("en", "2 seconds"), ("ko", "2초")):
        assert number in TAB.view(state, lang)
    further = run(set_(state, "cap", "3"))
    assert quick[4:] == [(256, "traced"), (256, "fused")]
    assert further.measured[:4] == state.measured


def test_routes_chosen_later_are_measured_beside(quick):
    state = run(CostState(cap=20))
    run(set_(state, "others", True))
    assert quick[14:] == [(T, route) for T in LENGTHS for route in ("window", "linear")]


def test_it_can_be_stopped_and_goes_on_where_it_was(quick, monkeypatch):
    monkeypatch.setattr(measure, "work", lambda ticket, step: step() and 0)  # one step a turn
    state = do(CostState(), "start", seed=3)
    assert (len(state.measured), state.running) == (1, True)
    stopped = do(state, "stop")
    assert stopped.running is False
    assert do(stopped, "more") == stopped
    assert do(stopped, "start", seed=3).measured[0] == state.measured[0]
    assert quick == [(64, "traced"), (64, "fused")]


def test_one_who_waits_measures_nothing(quick, monkeypatch):
    monkeypatch.setattr(measure, "work", lambda ticket, step: 2)
    state = do(CostState(), "start", seed=4)
    assert (state.measured, state.place, state.running, quick) == ([], 2, True, [])
    assert 'data-wait="' in TAB.view(state, "ko")


def test_what_was_measured_is_what_the_sizes_of_the_tensors_say():
    """Real measurements: the bytes kept open to a count that gives exactly them."""
    found = [
        list(dataclasses.astuple(really_measure(T, measure.N_HEAD, measure.HEAD_SIZE, route)))
        for T in (64, 128)
        for route in ROUTES
    ]
    state = CostState(others=True, measured=found)
    all_open(state)
    read(TAB.view(state, "en"))
    kept = matrix(state, "kept").values
    assert kept[0, 0] * 2**20 == 4 * 64 * 64 * 4 + 3 * 64 * 64 * 4


@pytest.mark.parametrize(
    "found",
    [
        "fast",
        [[64, "traced"]],
        [[65, "traced", 0.1, 1, 1, 0.1]],
        [[64, "warp", 0.1, 1, 1, 0.1]],
        [[64, ["traced"], 0.1, 1, 1, 0.1]],
        [[True, "traced", 0.1, 1, 1, 0.1]],
        [[64, "traced", 0, 1, 1, 0.1]],
        [[64, "traced", float("inf"), 1, 1, 0.1]],
        [[64, "traced", 10**400, 1, 1, 0.1]],
        [[64, "traced", 0.1, 1.5, 1, 0.1]],
        [[64, "traced", 0.1, 1, -1, 0.1]],
        [[64, "traced", 0.1, 1, 1, "0.1"]],
        [[64, "traced", 0.1, 1, 1, 0.1]] * 2,
    ],
)
def test_measurements_that_cannot_be_are_refused(found):
    with pytest.raises(errors.LinkError, match="measured"):
        TAB.usable({"measured": found})


# Counted


def test_the_notes_megabytes_and_their_four_times():
    page = matrix(CostState(section="sizes"), "score_bytes").values
    assert page[:, 0].tolist() == [4, 16, 64, 1024]  # 1,024, 2,048, 4,096 and 16,384 tokens
    times = matrix(SIZES, "times").values.flatten().tolist()
    assert times == pytest.approx([2, 4, 4, 2, 2, 2, 4, 2.2])


@pytest.mark.parametrize("number", ["4", "2"])
@pytest.mark.parametrize("model", ["shakespeare-64", "gpt2-xl"])
@pytest.mark.parametrize("length", [1, 65_536])
def test_every_count_opens(model, number, length):
    state = set_(set_(SIZES, "model", model), "number", number)
    all_open(set_(state, "length", length))


def test_a_known_model_brings_its_sizes_and_a_changed_size_is_ones_own():
    state = set_(SIZES, "model", "gpt2-xl")
    assert (state.n_layer, state.n_head, state.n_embd) == (48, 25, 1600)
    own = set_(state, "n_layer", "47")
    assert (own.model, own.n_layer, own.n_head) == ("own", 47, 25)
    assert set_(own, "model", "korean").n_layer == 3
    assert TAB.usable({"section": "sizes", "n_layer": 3}).model == "own"


def test_heads_that_do_not_divide_the_width_are_told_and_counted():
    state = set_(SIZES, "n_head", "7")
    for lang in ("en", "ko"):
        page = read(TAB.view(state, lang))
        (told,) = page.all("p", "notice")
        assert "768" in told.text
        assert "7" in told.text
    assert matrix(state, "score_bytes").values[0].tolist()[:2] == [1, 7]


@pytest.mark.parametrize("key", ["length", "longer", "n_embd", "cap"])
def test_a_size_that_cannot_be_stays_with_its_message(key):
    state = set_(SIZES.but(section="measure") if key == "cap" else SIZES, key, "0")
    assert getattr(state, key) == getattr(SIZES, key)
    for lang in ("en", "ko"):
        page = read(TAB.view(state, lang))
        assert len(list(page.all("span", "msg"))) == 1


def test_a_table_as_a_file():
    rows = TAB.csv(SIZES, "en", "times", 0)
    assert rows[0] == ["", "1,024 ÷ 512"]
    assert rows[8] == ["block", pytest.approx(2.2)]
