"""Live runs: PyTorch's own loop and Adam, the same curve for all who ask, back and on, one weight's step."""

from __future__ import annotations

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

from model import GPT, GPTConfig
from model.errors import (
    AlphabetError,
    ChoiceError,
    DivergedError,
    HeadsError,
    RangeError,
    TextLengthError,
)
from model.live import LiveRun, LiveSettings, one_step, two_gradients
from model.tasks import TASKS, make_task

TEXT = "The cat sat on the mat. The dog sat on the log."
QUICK = LiveSettings(n_layer=1, n_embd=8, batch_size=4)


def trained(settings: LiveSettings, steps: int) -> LiveRun:
    run = LiveRun(settings)
    for _ in range(steps):
        run.advance()
    return run


def same_weights(a: LiveRun, b: LiveRun) -> bool:
    return all(torch.equal(p, b.weights[name]) for name, p in a.weights.items())


# A step


@pytest.mark.parametrize("task", TASKS)
def test_a_run_is_the_loop_one_would_write(task):
    """PyTorch's cross-entropy and its plain Adam, on the same batches, from the same weights."""
    settings = replace(QUICK, task=task, text=TEXT if task == "text" else "", seed=3)
    run, theirs = LiveRun(settings), LiveRun(settings).gpt
    adam = torch.optim.Adam(theirs.parameters(), lr=settings.learning_rate)
    for step in range(20):
        idx, targets = run.task.batch(step, 3, 4)
        loss = torch.nn.CrossEntropyLoss()(theirs(idx).flatten(0, 1), targets.flatten())
        adam.zero_grad()
        loss.backward()
        adam.step()
        assert run.advance() == pytest.approx(loss.item(), abs=1e-5)
    for name, p in theirs.named_parameters():
        ours = run.weights[name].detach()
        if name.endswith(
            "attn.c_attn.bias"
        ):  # a key's bias has gradient 0: Adam follows its rounding
            ours, p = (torch.cat([b[:8], b[16:]]) for b in (ours, p))
        torch.testing.assert_close(ours, p.detach(), atol=1e-4, rtol=0)
    assert run.step == len(run.losses) == 20


def test_the_default_is_of_about_6000_parameters_and_its_switches_are_used():
    assert LiveRun(LiveSettings()).gpt.n_parameters == 6_928
    run = LiveRun(LiveSettings(causal=False, positions=False, n_head=2, n_layer=1, n_embd=12))
    assert run.gpt.config == GPTConfig(9, 12, 1, 2, 12, causal=False, positions=False)
    assert "wpe.weight" in LiveRun(LiveSettings()).weights
    assert "wpe.weight" not in run.weights


def test_a_loss_can_be_looked_at_without_a_step():
    run = trained(QUICK, 3)
    before = run.snapshot()
    seen = run.loss().item()
    assert same_weights(run, restored(QUICK, before))
    assert run.advance() == seen


# The same curve


def test_the_same_settings_give_the_same_curve_and_another_seed_another():
    torch.manual_seed(1)
    first = trained(QUICK, 15)
    torch.manual_seed(2)
    again = trained(QUICK, 15)
    assert first.losses == again.losses
    assert same_weights(first, again)
    assert not set(first.losses) & set(trained(replace(QUICK, seed=1), 15).losses)


def test_the_global_generator_is_neither_read_nor_moved():
    before = torch.get_rng_state()
    trained(QUICK, 3).snapshot()
    assert torch.equal(torch.get_rng_state(), before)


def test_runs_beside_others_are_what_each_is_alone():
    settings = [replace(QUICK, seed=seed, task=task) for seed, task in enumerate(TASKS[:4])]
    with ThreadPoolExecutor(4) as pool:
        beside = list(pool.map(lambda s: trained(s, 40).losses, settings))
    assert beside == [trained(s, 40).losses for s in settings]


# Back and on


def restored(settings: LiveSettings, snapshot) -> LiveRun:
    run = LiveRun(settings)
    run.restore(snapshot)
    return run


@pytest.mark.parametrize("at", [0, 1, 7])
def test_a_run_goes_on_from_a_snapshot_as_if_nothing_had_been(at):
    run = trained(QUICK, at)
    kept = run.snapshot()
    whole = [run.advance() for _ in range(8)]
    for back in (run, LiveRun(QUICK), trained(QUICK, 3)):
        back.restore(kept)
        assert back.step == at
        assert [back.advance() for _ in range(8)] == whole
        assert back.losses == trained(QUICK, at + 8).losses


def test_a_snapshot_does_not_change_with_the_run_nor_the_run_with_it():
    run = trained(QUICK, 4)
    kept = run.snapshot()
    copies = {name: w.clone() for name, w in kept.weights.items()}
    run.restore(kept)
    for _ in range(3):
        run.advance()
    assert all(torch.equal(kept.weights[name], w) for name, w in copies.items())
    assert len(kept.losses) == 4
    assert one_step(restored(QUICK, kept), "wte.weight", (0, 0)) == one_step(
        trained(QUICK, 4), "wte.weight", (0, 0)
    )


@pytest.mark.parametrize("spoiled", [3e38, math.nan])
def test_a_run_that_diverges_says_so_and_can_be_gone_back_in(spoiled):
    run = trained(QUICK, 2)
    kept = run.snapshot()
    with torch.no_grad():
        run.gpt.blocks[0].mlp.c_proj.weight.fill_(spoiled)
    now = run.snapshot()
    for _ in range(2):
        with pytest.raises(DivergedError) as caught:
            run.advance()
        for lang in ("en", "ko"):
            assert "3" in caught.value.text(lang)
            assert "0.005" in caught.value.text(lang)
        assert run.step == 2
    if not math.isnan(spoiled):
        assert same_weights(run, restored(QUICK, now))
    run.restore(kept)
    run.advance()
    assert run.losses == trained(QUICK, 3).losses


def test_a_gradient_that_is_not_finite_stops_before_it_spoils_the_weights():
    run = LiveRun(QUICK)
    run.weights["ln_f.weight"].register_hook(lambda g: g / 0)
    before = run.snapshot()
    with pytest.raises(DivergedError, match=r"(nan|inf) at step 1"):
        run.advance()
    assert same_weights(run, restored(QUICK, before))
    assert run.losses == []


# One weight


@pytest.mark.parametrize("steps", [0, 1, 30])
@pytest.mark.parametrize("switches", [{}, {"causal": False, "positions": False}], ids=str)
def test_one_weights_step_is_adams(steps, switches):
    run = trained(replace(QUICK, **switches), steps)
    chosen = [
        (name, tuple(size - 1 for size in p.shape), tuple(0 for _ in p.shape))
        for name, p in run.weights.items()
    ]
    opened = {(name, index): one_step(run, name, index) for name, *both in chosen for index in both}
    run.advance()
    for (name, index), step in opened.items():
        p = run.weights[name]
        state = run.optimizer.state[p]
        assert step.t == steps + 1 == state["step"].item()
        assert step.new_value == pytest.approx(p[index].item(), abs=1e-6)
        assert step.m == pytest.approx(state["exp_avg"][index].item(), abs=1e-6)
        assert step.v == pytest.approx(state["exp_avg_sq"][index].item(), abs=1e-6)
        assert step.gradient == pytest.approx(p.grad[index].item(), abs=1e-6)
        assert step.m_hat == pytest.approx(step.m / (1 - 0.9 ** (steps + 1)))
        assert step.v_hat == pytest.approx(step.v / (1 - 0.999 ** (steps + 1)))


def test_a_step_follows_the_one_before():
    run = trained(QUICK, 5)
    first = one_step(run, "blocks.0.mlp.c_fc.weight", (3, 2))
    run.advance()
    second = one_step(run, "blocks.0.mlp.c_fc.weight", (3, 2))
    assert second.value == pytest.approx(first.new_value, abs=1e-7)
    assert second.m_before == pytest.approx(first.m, rel=1e-5)
    assert second.v_before == pytest.approx(first.v, rel=1e-5)


def test_opening_a_step_changes_nothing():
    run, plain = trained(QUICK, 4), trained(QUICK, 4)
    for name, p in run.weights.items():
        one_step(run, name, (0,) * p.dim())
        two_gradients(run, name, (0,) * p.dim())
    assert same_weights(run, plain)
    assert [run.advance() for _ in range(3)] == [plain.advance() for _ in range(3)]


@pytest.mark.parametrize("steps", [0, 25])
def test_autograd_and_finite_differences_agree(steps):
    run = trained(QUICK, steps)
    for name, p in run.weights.items():
        for index in itertools.islice(itertools.product(*map(range, p.shape)), 0, None, 37):
            by_autograd, tried = two_gradients(run, name, index)
            assert tried.slope == pytest.approx(by_autograd, rel=1e-3, abs=1e-9)
            assert one_step(run, name, index).gradient == pytest.approx(by_autograd, abs=1e-5)


# What cannot be run


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"task": "multiply"}, ChoiceError),
        ({"task": "text", "text": "short"}, TextLengthError),
        ({"task": "text", "text": "".join(map(chr, range(300, 600)))}, AlphabetError),
        ({"n_layer": 0}, RangeError),
        ({"n_layer": 5}, RangeError),
        ({"n_layer": 2.0}, RangeError),
        ({"n_layer": True}, RangeError),
        ({"n_embd": 3}, RangeError),
        ({"n_embd": 65}, RangeError),
        ({"n_head": 0}, RangeError),
        ({"n_head": 3}, HeadsError),
        ({"n_embd": 18}, HeadsError),
        ({"batch_size": 65}, RangeError),
        ({"seed": -1}, RangeError),
        ({"seed": 2**31}, RangeError),
        ({"learning_rate": 0}, RangeError),
        ({"learning_rate": 11}, RangeError),
        ({"learning_rate": math.nan}, RangeError),
    ],
    ids=str,
)
def test_settings_that_make_no_run(settings, error):
    with pytest.raises(error) as caught:
        LiveSettings(**settings)
    assert caught.value.text("ko") != caught.value.text("en")


@pytest.mark.parametrize("settings", [{"n_embd": 4, "n_head": 4}, {"n_embd": 64, "n_layer": 4}])
def test_the_smallest_and_the_largest_run(settings):
    run = trained(LiveSettings(**settings), 2)
    assert isinstance(run.gpt, GPT)
    assert run.task.chance == make_task("copy").chance


@pytest.mark.parametrize(
    ("name", "index", "error", "words"),
    [
        ("wte", (0, 0), ChoiceError, ["wte", "wte.weight", "ln_f.bias"]),
        ("lm_head.weight", (0, 0), ChoiceError, ["lm_head.weight", "wte.weight"]),
        ("wte.weight", (9, 0), RangeError, ["wte.weight", "[9, 0]", "0 … 8 × 0 … 7"]),
        ("wte.weight", (0, -1), RangeError, ["[0, -1]", "0 … 7"]),
        ("wte.weight", (0,), RangeError, ["[0]", "0 … 8 × 0 … 7"]),
        ("ln_f.bias", (8,), RangeError, ["[8]", "0 … 7"]),
    ],
)
def test_no_such_weight(name, index, error, words):
    run = LiveRun(QUICK)
    for opened in (one_step, two_gradients):
        with pytest.raises(error) as caught:
            opened(run, name, index)
        for lang in ("en", "ko"):
            assert all(word in caught.value.text(lang) for word in words)
