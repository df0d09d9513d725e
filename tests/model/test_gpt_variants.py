"""The GPT's switches for experiments, no mask and no positions, and weights drawn from a generator."""

from __future__ import annotations

import json

import pytest
import torch

from model import GPT, GPTConfig, generate
from model.checkpoint import CONFIG, Checkpoint, load_checkpoint, save_checkpoint
from model.errors import CacheMaskError
from model.gpt import next_token_loss
from model.looking import each_head_left_out, without
from model.tokenizer import Tokenizer
from tests.model.small import SIZES, small_gpt

B, T, V = 2, SIZES["block_size"], SIZES["vocab_size"]
SWITCHES = [(True, True), (True, False), (False, True), (False, False)]


@pytest.fixture
def idx():
    return torch.randint(V, (B, T), generator=torch.Generator().manual_seed(3))


def variant(causal: bool, positions: bool) -> GPT:
    """A small GPT with weights all over, wpe left at zero where there are no positions."""
    gpt = small_gpt(causal=causal, positions=positions)
    if not positions:
        torch.nn.init.zeros_(gpt.wpe.weight)
    return gpt


# What each switch does


def test_without_mask_and_positions_order_is_nothing(exact, idx):
    """Rows of tokens in another order give the same logits in that order: only so far as both are off."""
    order = torch.randperm(T, generator=torch.Generator().manual_seed(4))
    for causal, positions in SWITCHES:
        gpt = variant(causal, positions)
        moved = (gpt(idx[:, order]) - gpt(idx)[:, order]).abs().max()
        assert (moved < 1e-10) == (not causal and not positions)


def test_without_the_mask_the_future_reaches_the_past(idx):
    changed = idx.clone()
    changed[:, -1] = (changed[:, -1] + 1) % V
    for causal, positions in SWITCHES:
        gpt = variant(causal, positions)
        moved = (gpt(changed) - gpt(idx))[:, :-1].abs().amax(dim=-1)
        assert (moved.min() > 1e-6) == (not causal)
        assert (moved.max() > 1e-6) == (not causal)


@pytest.mark.parametrize("causal", [True, False])
def test_without_positions_equal_tokens_are_told_apart_by_nothing(exact, causal):
    same = torch.full((1, T), 5)
    logits = variant(causal, False)(same)
    exact.close(logits, logits[:, :1].expand_as(logits))


@pytest.mark.parametrize(("causal", "positions"), SWITCHES)
def test_traced_is_fast_with_each_switch(exact, idx, causal, positions):
    gpt, steps = variant(causal, positions), []
    exact.close(gpt(idx, trace=steps), gpt(idx))
    seen = steps[0].blocks[0].attn.heads.weights
    assert bool((seen.triu(1) > 0).any()) == (not causal)


@pytest.mark.parametrize("positions", [True, False])
def test_positions_that_are_off_stay_at_zero(positions, idx):
    gpt = GPT(GPTConfig(**SIZES, positions=positions))
    optimizer = torch.optim.Adam([p for p in gpt.parameters() if p.requires_grad], lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        next_token_loss(gpt(idx), idx).backward()
        optimizer.step()
    assert (gpt.wpe.weight != 0).any() == positions
    learned = sum(p.numel() for p in gpt.parameters() if p.grad is not None)
    assert gpt.n_parameters == learned
    assert learned == GPT(GPTConfig(**SIZES)).n_parameters - (0 if positions else T * 12)


@pytest.mark.parametrize("switch", ["causal", "positions"])
@pytest.mark.parametrize("value", [0, 1, None, "false"])
def test_a_switch_is_true_or_false(switch, value):
    with pytest.raises(TypeError, match=switch):
        GPTConfig(**{**SIZES, switch: value})


# Writing and looking


def test_no_cache_without_the_mask(idx):
    gpt = variant(False, True)
    with pytest.raises(CacheMaskError) as caught:
        gpt(idx, cache=gpt.new_cache())
    for lang in ("en", "ko"):
        assert str(T) in caught.value.text(lang)
    gpt(idx, cache=[])  # no cache at all


def test_without_the_mask_writing_reads_all_again(idx):
    gpt = variant(False, True)
    steps = list(generate(gpt, idx[0, :3], 4, temperature=0))
    ids = idx[0, :3].tolist()
    for step in steps:
        logits = gpt(torch.tensor([ids]))[0, -1]
        torch.testing.assert_close(step.logits, logits, atol=1e-10, rtol=0)
        ids.append(step.token)


def test_heads_left_out_without_the_mask(exact, idx):
    gpt, ids = variant(False, True), idx[0].tolist()
    for layer, row in enumerate(each_head_left_out(gpt, ids)):
        for head, logits in enumerate(row):
            exact.close(logits, without(gpt, ids, heads=[(layer, head)]).detach())


# Files


@pytest.mark.parametrize(("causal", "positions"), SWITCHES)
def test_a_saved_switch_is_loaded_again(tmp_path, causal, positions, idx):
    gpt = GPT(GPTConfig(**{**SIZES, "vocab_size": 256}, causal=causal, positions=positions)).half()
    gpt = gpt.float()  # as it is saved
    save_checkpoint(tmp_path, Checkpoint(gpt, Tokenizer.from_merges([]), {}))
    loaded = load_checkpoint(tmp_path).gpt
    assert loaded.config == gpt.config
    assert loaded.n_parameters == gpt.n_parameters
    torch.testing.assert_close(loaded(idx), gpt(idx))


def test_a_file_from_before_the_switches_is_read(tmp_path):
    gpt = GPT(GPTConfig(**{**SIZES, "vocab_size": 256}))
    save_checkpoint(tmp_path, Checkpoint(gpt, Tokenizer.from_merges([]), {}))
    kept = json.loads((tmp_path / CONFIG).read_text(encoding="utf-8"))
    assert kept.pop("causal") is True
    assert kept.pop("positions") is True
    (tmp_path / CONFIG).write_text(json.dumps(kept), encoding="utf-8")
    assert load_checkpoint(tmp_path).gpt.config == gpt.config


# Weights from a generator


def drawn(seed: int, **sizes: object) -> GPT:
    return GPT(GPTConfig(**{**SIZES, **sizes}), torch.Generator().manual_seed(seed))


def test_a_generator_decides_every_weight_and_the_global_one_is_left_alone():
    torch.manual_seed(8)
    before = torch.get_rng_state()
    first, other = drawn(1), drawn(2)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(9)
    for (name, p), same, different in zip(
        first.named_parameters(), drawn(1).parameters(), other.parameters(), strict=True
    ):
        assert torch.equal(p, same), name
        if p.dim() == 2:
            assert not torch.equal(p, different), name


def test_weights_from_a_generator_are_spread_as_others_are():
    sizes = {"vocab_size": 65, "block_size": 32, "n_layer": 4, "n_head": 4, "n_embd": 64}
    gpt = GPT(GPTConfig(**sizes), torch.Generator().manual_seed(1), std=0.1)
    assert gpt.lm_head.weight is gpt.wte.weight
    with torch.device("meta"):
        plain = GPT(GPTConfig(**sizes))
    assert gpt.state_dict().keys() == plain.state_dict().keys()
    for name, p in gpt.named_parameters():
        assert p.requires_grad
        if name.endswith("bias"):
            assert (p == 0).all(), name
        elif "ln_" in name:
            assert (p == 1).all(), name
        else:
            expected = 0.1 / 8**0.5 if name.endswith("c_proj.weight") else 0.1
            assert p.std().item() == pytest.approx(expected, rel=0.1), name
