"""The encoder–decoder tab: its numbers beside the run's own, its examples, what a person types."""

from __future__ import annotations

import copy

import pytest
import torch

from model.errors import PlaygroundError
from model.plus_two import PRINTED, RECIPES, PlusTwoRun, constant_loss, off
from playground.encoder_decoder import look as looking
from playground.encoder_decoder.look import UNSEEN
from playground.encoder_decoder.runs import RUNS
from playground.encoder_decoder.state import MOST, WHERE, EncoderDecoderState
from playground.explain import explain
from playground.stage import act
from playground.tabs.encoder_decoder import TAB
from tests.playground.html_tree import read
from tests.playground.plus_two_states import (
    DOWN,
    EXAMPLES,
    LANGS,
    do,
    fresh_memory,
    run_on,
    set_,
    short,
    shown,
    steps,
    trained,
)

__all__ = ["fresh_memory"]  # a fixture


# The numbers


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("lang", LANGS)
def test_an_example_is_shown_in_both_languages(name, lang):
    state = run_on(short(name))
    reply = act({"tab": "encoder-decoder", "lang": lang, "state": state.to_json()})
    assert reply["notice"] == ""
    assert reply["state"] == state.to_json()
    page = read(reply["html"])
    assert len(list(page.all("div", "glass"))) == 1
    for control in [*page.all("select"), *page.all("input")]:
        labelled = any(control in label.all() for label in page.all("label"))
        assert labelled or "aria-label" in control.attributes


@pytest.mark.parametrize("recipe", RECIPES)
def test_the_answers_are_those_of_the_run(recipe):
    state = steps(set_(EncoderDecoderState(numbers=DOWN, seed=3), "recipe", recipe), 4)
    run = PlusTwoRun(recipe, 3)
    for _ in range(4):
        run.advance()
    src = torch.tensor(DOWN)
    for name, answers in (("forced", run.forced(src)), ("free", run.free(src))):
        torch.testing.assert_close(shown(state, name).float(), answers, atol=1e-3, rtol=0)
        torch.testing.assert_close(
            shown(state, f"{name}_off").float(), answers - src - 2, atol=1e-3, rtol=0
        )
    assert shown(state, "right").tolist() == [[52, 42, 32, 22, 12]]
    assert shown(state, "forced_tgt").tolist() == [[0, 52, 42, 32, 22]]
    assert shown(state, "free_tgt")[0, 1:].tolist() == shown(state, "free")[0, :-1].tolist()


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("section", TAB.form.sections)
def test_every_number_opens(recipe, section):
    state = steps(set_(EncoderDecoderState(), "recipe", recipe), 2).but(section=section)
    views = [state]
    if section == "attention":
        views = [
            state.but(where=where, layer=layer, head=head, fed=fed)
            for where in WHERE
            for layer, head, fed in (("1", "2", "right"), ("2", "1", "own"))
        ]
    for view in views:
        flow = TAB.form.flow(view, "en")
        for m in flow.matrices:
            if m.kind == "input":
                continue
            for i, row in enumerate(m.values.tolist()):
                for j, value in enumerate(row):
                    assert explain(flow, m, i, j).parts, f"{m.name}[{i}, {j}] = {value} has no sum"


@pytest.mark.parametrize("fed", ["right", "own"])
def test_the_attention_is_the_models(fed):
    state = steps(EncoderDecoderState(seed=2), 3).but(section="attention", fed=fed)
    with RUNS.borrowed(("as_printed", 2, 0.001), 3) as standing:
        run = copy.deepcopy(standing)
    src, tgt = (
        PRINTED,
        shown(state.but(section="training"), f"{'forced' if fed == 'right' else 'free'}_tgt"),
    )
    trace = run.trace(src, tgt.float())
    for layer in (0, 1):
        for head in (0, 1):
            for where, made in (
                ("encoder", trace.encoder[layer].attn),
                ("decoder", trace.decoder[layer].attn),
                ("cross", trace.decoder[layer].cross),
            ):
                one = do(state, "enlarge", where=where, layer=str(layer + 1), head=str(head + 1))
                weights = made.heads.weights[0, head]
                torch.testing.assert_close(
                    shown(one, "weights").float(), weights, atol=1e-4, rtol=0
                )
                output = made.heads.output[0, head]
                torch.testing.assert_close(
                    shown(one, "output").float(), output, atol=1e-3, rtol=1e-3
                )
    pictures = list(read(TAB.view(state, "ko")).all("canvas"))
    assert len(pictures) == 12


def test_the_causal_mask_is_shown_where_there_is_one():
    state = EncoderDecoderState(section="attention")
    for where, masked in (("encoder", False), ("decoder", True), ("cross", False)):
        flow = TAB.form.flow(state.but(where=where), "en")
        assert flow.get("masked").shown == masked
        hidden = flow.get("weights").values.triu(1)
        assert bool((hidden == 0).all()) == masked


def test_the_loss_stands_beside_what_a_shortcut_costs():
    state = steps(EncoderDecoderState(), 3)
    found = looking.look(state).stand
    assert list(found.run.losses) == trained("as_printed", 1, 3).losses
    page = TAB.view(state, "en")
    assert constant_loss() == 200
    assert "always 32" in page
    assert "nothing added" in TAB.view(steps(set_(state, "recipe", "mended"), 1), "en")
    assert found.forced == pytest.approx(off(found.run.forced(UNSEEN), UNSEEN))
    assert found.free == pytest.approx(off(found.run.free(UNSEEN), UNSEEN))


def test_positions_are_the_models_own():
    state = EncoderDecoderState(section="positions")
    run = PlusTwoRun("as_printed", 1)
    torch.testing.assert_close(shown(state, "table"), run.model.positions)
    x = run.trace(PRINTED, torch.zeros(1, 1)).encoder[0].resid_pre[0]
    torch.testing.assert_close(shown(state, "embedded").float(), x, atol=1e-4, rtol=0)
    table = shown(state, "table")
    torch.testing.assert_close(shown(state, "dots"), table @ table.T)


# What a person types


def test_a_sequence_of_ones_own_keeps_the_training():
    state = steps(EncoderDecoderState(), 2)
    after = do(state, "cell", matrix="numbers", head=0, row=0, col=0, text="12")
    assert after.numbers == [[12, 20, 30, 40, 50]]
    assert after.step == 2
    pasted = do(after, "paste", matrix="numbers", row=0, col=0, text="1\t2\t3\t4\t5")
    assert pasted.numbers == [[1, 2, 3, 4, 5]]


@pytest.mark.parametrize("lang", LANGS)
def test_what_is_no_number_stays_with_its_message(lang):
    state = do(EncoderDecoderState(), "cell", matrix="numbers", head=0, row=0, col=1, text="ten")
    assert state.numbers == PRINTED.tolist()
    page = read(TAB.view(state, lang))
    (message,) = page.all("span", "msg")
    assert "ten" in message.text


@pytest.mark.parametrize("key", ["seed", "rate"])
def test_a_setting_that_cannot_be_stays_with_its_message(key):
    state = set_(EncoderDecoderState(), key, "-1")
    assert getattr(state, key) == getattr(EncoderDecoderState(), key)
    for lang in LANGS:
        assert len(list(read(TAB.view(state, lang)).all("span", "msg"))) == 1


@pytest.mark.parametrize(
    "found",
    [
        {"numbers": [[1, 2, 3, 4]]},
        {"numbers": [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]]},
        {"numbers": [[1, 2, 3, 4, "5"]]},
        {"recipe": "other"},
        {"step": MOST + 1},
        {"step": True},
        {"rate": 1.0},
        {"where": "memory"},
        {"layer": "3"},
        {"head": 1},
        {"fed": None},
        {"first": 128},
    ],
)
def test_a_state_that_cannot_be_is_refused(found):
    with pytest.raises(PlaygroundError) as told:
        TAB.usable(found)
    assert told.value.text("ko") != told.value.text("en")


@pytest.mark.parametrize("numbers", [[[1e6, -1e6, 1e6, -1e6, 1e6]], [[0.0] * 5], [[7.0] * 5]])
@pytest.mark.parametrize("section", TAB.form.sections)
def test_any_five_numbers_can_be_asked(numbers, section):
    state = TAB.usable({"numbers": numbers, "section": section})
    for lang in LANGS:
        assert "NaN" not in TAB.view(state, lang)


def test_a_table_as_a_file():
    rows = TAB.csv(EncoderDecoderState(), "ko", "forced", 0)
    assert len(rows) == 1
    assert rows[0] == shown(EncoderDecoderState(), "forced")[0].tolist()
