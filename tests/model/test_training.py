"""Training beside a loop written by hand, the schedule, who optimizes what, and when it stops."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from model import GPT, GPTConfig, Tokenizer, TrainingConfig, attend_fast, train
from model.batches import windows
from model.errors import ChoiceError, DivergedError, SizeError
from model.evaluation import held_out_loss
from model.training import make_optimizers, schedule
from tests.model.small import SHORT, small_gpt

TEXT = SHORT.read_text(encoding="utf-8")
IDS = torch.randint(19, (200,), generator=torch.Generator().manual_seed(1))


def batches():
    return windows(IDS, block_size=8, batch_size=4, seed=2)


def config(**options: object) -> TrainingConfig:
    return TrainingConfig(**{"steps": 12, "warmup_steps": 3, "evaluate_every": 4, **options})


def losses(gpt: GPT, **options: object) -> list[float]:
    return [step.loss for step in train(gpt, batches(), config(**options))]


# Beside a loop by hand


def by_hand(gpt: GPT, rates: list[float], clip: float) -> list[float]:
    """nanoGPT's loop: AdamW, decay on matrices only, the gradient clipped. A loss a step."""
    decayed = [p for p in gpt.parameters() if p.dim() == 2]
    free = [p for p in gpt.parameters() if p.dim() == 1]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": free, "weight_decay": 0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99))
    batch, seen = batches(), []
    for step, rate in enumerate(rates):
        for group in optimizer.param_groups:
            group["lr"] = rate
        idx, targets = batch(step)
        loss = F.cross_entropy(gpt(idx).view(-1, 19), targets.view(-1))
        seen.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(gpt.parameters(), clip)
        optimizer.step()
    return seen


@pytest.mark.parametrize("bias", [True, False], ids=["biases", "no biases"])
@pytest.mark.parametrize("clip", [0.05, 1e9], ids=["clipped", "free"])
def test_a_run_is_the_loop_written_by_hand(exact, bias, clip):
    ours, theirs = small_gpt(bias=bias), small_gpt(bias=bias)
    steps = list(train(ours, batches(), config(learning_rate=0.01, clip=clip)))
    rates = [0.01 * schedule(n, config()) for n in range(12)]
    assert [step.learning_rate for step in steps] == rates
    expected = by_hand(theirs, rates, clip)
    torch.testing.assert_close([s.loss for s in steps], expected, atol=1e-12, rtol=0)
    for p, q in zip(ours.parameters(), theirs.parameters(), strict=True):
        exact.close(p, q)


def test_clipping_makes_a_difference():
    runs = [losses(small_gpt(), clip=clip, learning_rate=0.01) for clip in (0.05, 1e9)]
    assert runs[0][0] == runs[1][0]
    assert abs(runs[0][-1] - runs[1][-1]) > 1e-4


def test_steps_count_themselves_and_their_tokens():
    steps = list(train(small_gpt(), batches(), config()))
    assert [step.step for step in steps] == list(range(1, 13))
    assert [step.tokens for step in steps] == [4 * 8 * n for n in range(1, 13)]
    assert all(step.tokens_per_second > 0 for step in steps)


def test_training_goes_on_only_as_far_as_it_is_asked():
    gpt = small_gpt()
    before = gpt.wte.weight.clone()
    run = train(gpt, batches(), config())
    assert torch.equal(gpt.wte.weight, before)
    next(run)
    once = gpt.wte.weight.clone()
    assert not torch.equal(once, before)
    run.close()
    assert torch.equal(gpt.wte.weight, once)


# The schedule


@pytest.mark.parametrize("final_rate", [0.0, 0.1, 1.0])
def test_after_the_warm_up_it_is_pytorchs_cosine(final_rate):
    c = TrainingConfig(steps=60, warmup_steps=10, final_rate=final_rate)
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    theirs = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=50, eta_min=final_rate)
    for step in range(10, 61):
        assert schedule(step, c) == pytest.approx(theirs.get_last_lr()[0], abs=1e-12)
        optimizer.step()
        theirs.step()


def test_the_warm_up_is_a_line_to_the_top():
    c = TrainingConfig(steps=60, warmup_steps=10)
    assert [schedule(n, c) for n in range(11)] == [*(n / 10 for n in range(1, 11)), 1.0]


def test_a_run_as_short_as_its_warm_up_and_one_without():
    assert [schedule(n, TrainingConfig(steps=3, warmup_steps=3)) for n in range(3)] == [
        1 / 3,
        2 / 3,
        1,
    ]
    assert schedule(0, TrainingConfig(steps=3, warmup_steps=0)) == 1.0


# Who optimizes what


@pytest.mark.parametrize("bias", [True, False], ids=["biases", "no biases"])
@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_every_parameter_has_one_optimizer(optimizer, bias):
    gpt = small_gpt(bias=bias)
    optimizers = make_optimizers(gpt, config(optimizer=optimizer))
    held = [p for o in optimizers for group in o.param_groups for p in group["params"]]
    assert len(held) == len({id(p) for p in held})
    assert {id(p) for p in held} == {id(p) for p in gpt.parameters()}


@pytest.mark.parametrize("bias", [True, False], ids=["biases", "no biases"])
def test_muon_turns_the_matrices_of_the_blocks_alone(bias):
    gpt = small_gpt(bias=bias)
    muon, adamw = make_optimizers(gpt, config(optimizer="muon", muon_learning_rate=0.02))
    assert isinstance(muon, torch.optim.Muon)
    assert isinstance(adamw, torch.optim.AdamW)
    matrices = {
        id(layer.weight)
        for block in gpt.blocks
        for layer in (block.attn.c_attn, block.attn.c_proj, block.mlp.c_fc, block.mlp.c_proj)
    }
    (group,) = muon.param_groups
    assert {id(p) for p in group["params"]} == matrices
    assert (group["lr"], group["weight_decay"]) == (0.02, 0.1)
    assert {group["weight_decay"] for group in adamw.param_groups} == {0.0}


def test_muon_evens_out_the_singular_values_of_the_gradient():
    gpt, twin = small_gpt(), small_gpt()
    idx, targets = batches()(0)
    F.cross_entropy(twin(idx).flatten(0, 1), targets.flatten()).backward()
    gradient = torch.linalg.svdvals(twin.blocks[0].mlp.c_fc.weight.grad)
    rate = 0.02
    next(train(gpt, batches(), config(optimizer="muon", muon_learning_rate=rate, warmup_steps=0)))
    before, after = (g.blocks[0].mlp.c_fc.weight.detach() for g in (twin, gpt))
    rms = 0.2 * math.sqrt(max(before.shape))  # "match_rms_adamw"
    step = torch.linalg.svdvals((before * (1 - 0.1 * rate) - after) / (rate * rms))
    assert gradient.max() / gradient.min() > 20
    assert step.max() / step.min() < 7
    assert 1 < step.max() < 1.3  # near 1 by Newton and Schulz's iteration, not quite 1


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_both_rates_follow_the_schedule(optimizer, monkeypatch):
    """With rates of 0 after the first step nothing moves any more."""
    monkeypatch.setattr("model.training.schedule", lambda step, config: float(step == 0))
    gpt = small_gpt()
    run = train(gpt, batches(), config(optimizer=optimizer))
    next(run)
    once = [p.detach().clone() for p in gpt.parameters()]
    next(run)
    assert all(torch.equal(p, q) for p, q in zip(gpt.parameters(), once, strict=True))


# Learning


@pytest.mark.parametrize(("optimizer", "rate"), [("adamw", 3e-3), ("muon", 1e-2)])
def test_a_short_text_is_learned(optimizer, rate):
    tokenizer = Tokenizer.from_merges([])
    torch.manual_seed(3)
    gpt = GPT(GPTConfig(256, 32, n_layer=2, n_head=2, n_embd=32, dropout=0.05))
    before = held_out_loss(gpt.eval(), tokenizer, TEXT[:600]).per_byte
    batch = windows(torch.tensor(tokenizer.encode(TEXT)), 32, 16, seed=1)
    options = config(
        steps=120,
        optimizer=optimizer,
        learning_rate=rate,
        muon_learning_rate=rate,
        warmup_steps=10,
    )
    steps = list(train(gpt, batch, options))
    assert steps[0].loss == pytest.approx(math.log(256), abs=0.3)
    assert steps[-1].loss < 3
    assert before == pytest.approx(math.log(256), abs=0.3)
    assert held_out_loss(gpt, tokenizer, TEXT[:600]).per_byte < 3


def test_attention_in_bfloat16_is_that_of_float32_rounded_once():
    halves = [torch.randn(2, 3, 8, 4).bfloat16().requires_grad_() for _ in range(3)]
    with torch.autocast("cpu", torch.bfloat16):
        output = attend_fast(*halves, causal=True)
    exact = attend_fast(*(half.float() for half in halves), causal=True)
    assert torch.equal(output, exact.bfloat16())
    output.sum().backward()
    assert all(half.grad is not None for half in halves)


def test_bfloat16_products_leave_the_weights_as_they_are():
    gpt = small_gpt(dtype=torch.float32)
    halved = losses(gpt, bfloat16=True, learning_rate=1e-3)
    assert {p.dtype for p in gpt.parameters()} == {torch.float32}
    whole = losses(small_gpt(dtype=torch.float32), learning_rate=1e-3)
    assert halved != whole
    assert halved == pytest.approx(whole, rel=0.02)


# What is refused


def test_a_loss_that_is_no_number_ends_the_run():
    gpt = small_gpt()
    with torch.no_grad():
        gpt.ln_f.weight[0] = float("nan")
    with pytest.raises(DivergedError) as caught:
        list(train(gpt, batches(), config()))
    assert caught.value.values["step"] == 0
    for lang in ("en", "ko"):
        assert "nan" in caught.value.text(lang)
        assert "0.33" in caught.value.text(lang)


def test_a_rate_far_too_high_is_said_to_be():
    with pytest.raises(DivergedError):
        losses(small_gpt(dtype=torch.float32), learning_rate=1e30, warmup_steps=0)


@pytest.mark.parametrize("name", ["steps", "evaluate_every", "patience"])
def test_counts_below_one_are_refused(name):
    with pytest.raises(SizeError, match=rf"{name} is 0"):
        TrainingConfig(**{name: 0})


def test_an_unknown_optimizer_is_refused():
    with pytest.raises(ChoiceError, match=r"sgd.*adamw \| muon"):
        TrainingConfig(optimizer="sgd")
