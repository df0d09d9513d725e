"""The GPT: traced and fast, whole and in pieces, what can be seen from where."""

from __future__ import annotations

import math

import pytest
import torch

from model import GPT, AttentionTrace, GPTConfig, attend, causal_mask
from model.errors import CacheError, DropoutError, HeadsError, SizeError, TooLongError
from model.gpt import next_token_loss
from tests.model.small import SIZES, small_gpt

B, T, V = 2, SIZES["block_size"], SIZES["vocab_size"]
SHAPES = {  # of small models
    "two heads": {},
    "one layer, one head": {"n_layer": 1, "n_head": 1},
    "no bias": {"bias": False, "n_head": 3},
    "heads one wide": {"n_head": 12, "n_layer": 3},
}
NOTES = GPTConfig(vocab_size=65, block_size=32, n_layer=4, n_head=4, n_embd=64)


@pytest.fixture
def idx():
    return torch.randint(V, (B, T), generator=torch.Generator().manual_seed(3))


@pytest.fixture(params=SHAPES.values(), ids=SHAPES)
def gpt(request):
    return small_gpt(**request.param)


# Traced and fast


def test_traced_is_fast(exact, gpt, idx):
    steps = []
    traced = gpt(idx, trace=steps)
    exact.close(traced, gpt(idx))
    assert len(steps) == 1
    assert len(steps[0].blocks) == gpt.config.n_layer
    assert torch.equal(steps[0].logits, traced)
    assert traced.shape == (B, T, V)


def test_the_stream_adds_up(exact, gpt, idx):
    steps = []
    gpt(idx, trace=steps)
    (trace,) = steps
    stream = trace.embedded
    exact.close(stream, gpt.wte(idx) + gpt.wpe(torch.arange(T)))
    for module, block in zip(gpt.blocks, trace.blocks, strict=True):
        assert torch.equal(block.resid_pre, stream)
        exact.close(block.resid_mid, block.resid_pre + block.attn_out)
        exact.close(block.resid_post, block.resid_mid + block.mlp_out)
        exact.close(block.attn_out, module.attn(module.ln_1(stream), causal=True))
        exact.close(block.mlp_out, module.mlp(module.ln_2(block.resid_mid)))
        exact.close(block.attn.output, block.attn_out)
        stream = block.resid_post
    exact.close(trace.normed, gpt.ln_f(stream))
    exact.close(trace.logits, trace.normed @ gpt.wte.weight.mT)


def test_attention_inside_is_attend(exact, gpt, idx):
    """The steps recorded in each layer are those of `attend` on that layer's q, k and v."""
    steps = []
    gpt(idx, trace=steps)
    for block in steps[0].blocks:
        heads = block.attn.heads
        again = attend(heads.q, heads.k, heads.v, causal_mask(T))
        for name in AttentionTrace.AXES:
            exact.close(getattr(heads, name), getattr(again, name))
        assert heads.weights.shape == (B, gpt.config.n_head, T, T)


# Whole and in pieces


@pytest.mark.parametrize("piece", [1, 2, 3, 5, T])
@pytest.mark.parametrize("traced", [False, True])
def test_pieces_through_the_cache_are_the_full_pass(exact, gpt, idx, piece, traced):
    cache, logits = gpt.new_cache(), []
    for part in idx.split(piece, dim=1):
        logits.append(gpt(part, cache=cache, trace=[] if traced else None))
    exact.close(torch.cat(logits, dim=1), gpt(idx))
    assert all(layer.length == T for layer in cache)


def test_a_full_cache_takes_no_more(gpt, idx):
    cache = gpt.new_cache()
    gpt(idx, cache=cache)
    with pytest.raises(TooLongError, match=rf"{T + 1}.*{T}"):
        gpt(idx[:, :1], cache=cache)
    with pytest.raises(CacheError):
        cache[0].append(torch.zeros(B, 1, 1, 1), torch.zeros(B, 1, 1, 1))


@pytest.mark.parametrize("extra", [1, 5])
def test_too_many_tokens_are_refused_with_both_numbers(gpt, extra):
    with pytest.raises(TooLongError) as caught:
        gpt(torch.zeros(1, T + extra, dtype=torch.long))
    for lang in ("en", "ko"):
        assert str(T + extra) in caught.value.text(lang)
        assert str(T) in caught.value.text(lang)


@pytest.mark.parametrize("at", range(1, T))
def test_nothing_of_the_future_reaches_the_past(gpt, idx, at):
    changed = idx.clone()
    changed[:, at:] = (changed[:, at:] + 1) % V
    before, after = gpt(idx), gpt(changed)
    torch.testing.assert_close(after[:, :at], before[:, :at], atol=1e-12, rtol=0)
    assert (after[:, at:] - before[:, at:]).abs().amax(dim=-1).min() > 1e-3


def test_every_token_reaches_the_last(gpt, idx):
    for at in range(T):
        changed = idx.clone()
        changed[:, at] = (changed[:, at] + 1) % V
        assert not torch.allclose(gpt(changed)[:, -1], gpt(idx)[:, -1])


def test_rows_of_a_batch_do_not_mix(exact, gpt, idx):
    exact.close(torch.cat([gpt(row[None]) for row in idx]), gpt(idx))


# Learning


def test_gradients_reach_every_parameter(gpt, idx):
    next_token_loss(gpt(idx), idx).backward()
    for name, p in gpt.named_parameters():
        assert p.grad is not None, name
        # a key's bias adds the same to a whole row of scores: softmax does not see it
        if name.endswith("c_attn.bias"):
            q, _, v = p.grad.chunk(3)
            assert q.abs().sum() > 0
            assert v.abs().sum() > 0
        else:
            assert p.grad.abs().sum() > 0, name


def test_gradients_are_the_same_traced(exact, gpt, idx):
    grads = []
    for trace in (None, []):
        gpt.zero_grad()
        next_token_loss(gpt(idx, trace=trace), idx).backward()
        grads.append([p.grad.clone() for p in gpt.parameters()])
    for ours, other in zip(*grads, strict=True):
        exact.close(ours, other)


def test_loss_is_the_mean_surprise(exact, idx):
    logits = exact.normal(B, T, V)
    surprise = [
        -math.log(logits[b, t].softmax(-1)[idx[b, t]].item()) for b in range(B) for t in range(T)
    ]
    assert next_token_loss(logits, idx).item() == pytest.approx(sum(surprise) / (B * T))
    assert next_token_loss(logits, idx).dtype == torch.float64
    assert next_token_loss(logits.bfloat16(), idx).dtype == torch.float32


def test_a_new_model_knows_nothing():
    torch.manual_seed(5)
    gpt = GPT(NOTES)
    idx = torch.randint(65, (8, 32))
    loss = next_token_loss(gpt(idx[:, :-1]), idx[:, 1:]).item()
    assert loss == pytest.approx(math.log(65), abs=0.05)


def test_a_new_model_is_spread_as_gpt2_is():
    torch.manual_seed(6)
    gpt = GPT(NOTES)
    for name, p in gpt.named_parameters():
        if name.endswith("bias"):
            assert (p == 0).all(), name
        elif "ln_" in name:
            assert (p == 1).all(), name
        else:  # what adds to the stream: 1/√(2 · 4 layers) of the rest
            expected = 0.02 / 8**0.5 if name.endswith("c_proj.weight") else 0.02
            assert p.std().item() == pytest.approx(expected, rel=0.1), name


def test_dropout_in_training_alone(idx):
    gpt = small_gpt(dropout=0.3)
    assert torch.equal(gpt(idx), gpt(idx))
    gpt.train()
    torch.manual_seed(7)
    first, second = gpt(idx), gpt(idx)
    assert not torch.allclose(first, second)
    torch.manual_seed(7)
    assert torch.equal(gpt(idx), first)
    gpt.eval()
    whole = small_gpt()  # the same weights, without dropout
    assert torch.equal(gpt(idx), whole(idx))
    assert torch.equal(whole.train()(idx), whole.eval()(idx))


def test_dropout_falls_on_the_embeddings_and_on_what_each_part_adds(idx):
    gpt, steps = small_gpt(dropout=0.5).train(), []
    torch.manual_seed(8)
    gpt(idx, trace=steps)
    (trace,) = steps
    dropped = [trace.blocks[0].resid_pre]
    dropped += [part for block in trace.blocks for part in (block.attn_out, block.mlp_out)]
    for part in dropped:
        assert 0.3 < (part == 0).double().mean() < 0.7
    kept = dropped[0] != 0
    torch.testing.assert_close(dropped[0][kept], 2 * trace.embedded[kept])


# Sizes


def test_the_last_weights_are_the_first(idx):
    gpt = small_gpt()
    assert gpt.lm_head.weight is gpt.wte.weight
    names = [name for name, _ in gpt.named_parameters()]
    assert "wte.weight" in names
    assert "lm_head.weight" not in names


@pytest.mark.parametrize(
    ("config", "count"),
    [
        (GPTConfig(), 124_439_808),  # what Hugging Face counts for "gpt2"
        # 65·64 + 32·64 + 4 · (64·192 + 192 + 64·64 + 64 + 64·256 + 256 + 256·64 + 64 + 4·64) + 2·64
        (NOTES, 206_272),
        (GPTConfig(65, 32, n_layer=4, n_head=4, n_embd=64, bias=False), 203_392),
    ],
    ids=["GPT-2", "the notes", "the notes, no bias"],
)
def test_parameters_are_counted_once(config, count):
    with torch.device("meta"):
        assert GPT(config).n_parameters == count


@pytest.mark.parametrize(
    ("sizes", "error"),
    [
        ({"vocab_size": 0}, SizeError),
        ({"block_size": -1}, SizeError),
        ({"n_layer": 0}, SizeError),
        ({"n_head": 0}, SizeError),
        ({"n_embd": 0}, SizeError),
        ({"n_head": 5}, HeadsError),
        ({"dropout": 1.0}, DropoutError),
        ({"dropout": -0.1}, DropoutError),
        ({"dropout": math.nan}, DropoutError),
        ({"n_layer": 2.0}, TypeError),
        ({"n_embd": "64"}, TypeError),
    ],
    ids=str,
)
def test_sizes_that_make_no_model(sizes, error):
    with pytest.raises(error):
        GPTConfig(**{**SIZES, **sizes})
