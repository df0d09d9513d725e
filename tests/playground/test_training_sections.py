"""Inside a run in training: its attention, and one step of one weight."""

from __future__ import annotations

import re

import pytest
import torch

from model.live import LiveRun, one_step
from playground.explain import explain
from playground.tabs.training import TAB
from playground.training.runs import ASKED
from playground.training.state import first_of, shapes
from tests.playground.training_doing import (
    LANGS,
    QUICK,
    alone,
    at,
    do,
    nothing_remembered,
    page_of,
    set_,
)

__all__ = ["nothing_remembered"]  # a fixture

# Attention


@pytest.mark.parametrize(("causal", "n_head"), [(True, "2"), (False, "2"), (True, "1")])
def test_attention_is_that_of_the_run_and_opens_to_its_sums(causal, n_head):
    state = at(QUICK.but(causal=causal, n_head=n_head), 6)
    state = do(set_(state, "section", "attention"), "enlarge", layer="1", head=n_head)
    run, flow = alone(first_of(state), 6), TAB.form.flow(state, "en")
    trace = []
    ids = run.task.rows(1_000_002, ASKED, 1)[:, :-1]
    run.gpt(ids, trace=trace)
    heads = trace[0].blocks[0].attn.heads
    for name in ("q", "k", "v", "scores", "scaled", "masked", "weights", "output"):
        theirs = getattr(heads, name)[0, int(n_head) - 1].detach().double()
        torch.testing.assert_close(flow.get(name).values, theirs, atol=1e-5, rtol=1e-5)
    assert flow.get("masked").shown == causal
    assert "".join(flow.facts["names"]) == run.task.decode(ids[0].tolist())
    for m in flow.matrices:
        for i, j in ((0, 0), (m.values.size(0) - 1, m.values.size(1) - 1)):
            assert explain(flow, m, i, j).parts, (m.name, i, j)
    page = page_of(do(state, "open", cell=["weights", 0, 7, 1]))
    assert len(list(page.all("canvas"))) == int(n_head)
    assert len(list(page.all("div", "glass"))) == 1


def test_the_second_run_can_be_looked_into():
    state = at(QUICK.but(compare="mask", section="attention"), 3)
    assert "∞" in TAB.view(state, "en")
    second = set_(state, "which", "2")
    assert bool((TAB.form.flow(second, "en").get("weights").values.triu(1) > 0).any())
    assert set_(second, "compare", "nothing").which == "1"
    one = set_(QUICK.but(compare="one_head", section="attention", head="2"), "which", "2")
    assert one.head == "1"


# One step


@pytest.mark.parametrize("name", ["wte.weight", "blocks.0.attn.c_attn.weight", "ln_f.bias"])
def test_a_step_of_a_weight_is_what_the_next_step_does(name):
    state = QUICK.but(section="weight", weight=name, row=3, col=5)
    for steps in (0, 4):
        state = at(state.but(step=0), steps)
        run = alone(first_of(state), steps)
        index = (3, 5) if run.weights[name].dim() == 2 else (3,)
        step = one_step(run, name, index)
        flow = TAB.form.flow(state, "en")
        before = [step.value, step.gradient, step.m_before, step.v_before]
        after = [step.m, step.v, step.m_hat, step.v_hat, step.new_value]
        assert flow.get("before").values.tolist() == [before]
        assert flow.get("after").values.tolist() == [after]
        run.advance()
        assert after[-1] == pytest.approx(run.weights[name][index].item(), abs=1e-6)
        slope, autograd = flow.get("difference").values[0, 2:].tolist()
        assert slope == pytest.approx(autograd, rel=1e-3, abs=1e-9)
        assert autograd == pytest.approx(step.gradient, abs=1e-5)


@pytest.mark.parametrize("steps", [0, 3])
def test_every_number_of_a_step_opens(steps):
    state = at(QUICK.but(section="weight"), steps)
    flow = TAB.form.flow(state, "en")
    for name, columns in (("before", 4), ("after", 5), ("difference", 4)):
        for j in range(columns):
            opened_state = do(state, "open", cell=[name, 0, 0, j])
            made = explain(flow, flow.get(name), 0, j)
            assert made.value == pytest.approx(flow.get(name).values[0, j].item(), rel=1e-9)
            assert bool(made.parts) == (name != "difference" or j == 2)
            assert len(list(page_of(opened_state, "ko").all("div", "glass"))) == 1


def test_small_numbers_show_the_figures_that_count():
    state = do(at(QUICK.but(section="weight"), 1), "open", cell=["after", 0, 0, 1])
    v = TAB.form.flow(state, "en").get("after").values[0, 1].item()
    assert 0 < v < 1e-3
    (glass,) = page_of(state).all("div", "glass")
    shown = float(re.search(r"= (0\.\d+)", glass.text)[1])
    assert shown == pytest.approx(v, rel=1e-2)


def test_a_click_chooses_a_weight():
    state = QUICK.but(section="weight", weight="blocks.0.mlp.c_fc.weight", row=17, col=2)
    chosen = do(state, "open", cell=["tensor", 0, 3, 4])
    assert (chosen.row, chosen.col, chosen.open) == (19, 4, ["after", 0, 0, 4])
    assert do(chosen, "open", cell=["gradient", 0, 0, 0]).row == 16
    bias = set_(chosen, "weight", "ln_f.bias")
    assert (bias.row, bias.col) == (7, 0)
    tensor = TAB.form.flow(chosen, "en").get("tensor")
    run = LiveRun(first_of(chosen))
    weights = run.weights["blocks.0.mlp.c_fc.weight"]
    torch.testing.assert_close(tensor.values, weights[16:24, :8].detach().double())
    assert tensor.rows == list(range(16, 24))


def test_a_keys_bias_has_no_gradient_and_that_is_said():
    state = at(QUICK.but(section="weight", weight="blocks.0.attn.c_attn.bias", row=9), 2)
    for lang, words in zip(LANGS, ("does not depend on", "달려 있지 않습니다"), strict=True):
        assert words in page_of(state, lang).text


def test_without_positions_their_tensor_is_not_offered():
    state = QUICK.but(section="weight", weight="wpe.weight")
    assert state == TAB.usable(state.to_json())
    off = set_(state, "positions", False)
    assert off.weight == "wte.weight"
    assert "wpe.weight" not in shapes(first_of(off))
