"""Looking inside a GPT: each measure beside torch's own, plain loops, or the same model cut by hand."""

from __future__ import annotations

import random
from copy import deepcopy

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model import GPT
from model.checkpoint import NAMES, SHIPPED, load_checkpoint
from model.errors import TooLongError
from model.looking import (
    LOCAL,
    PATTERNS,
    attention_weights,
    each_head_left_out,
    even_patterns,
    logit_lens,
    patterns,
    stream_norms,
    surprise,
    trace_of,
    without,
)
from tests.model.small import small_gpt, with_theirs

IDS = [3, 7, 7, 1, 18, 0]
SHIPPED_NAMES = [n for n in NAMES if (SHIPPED / n / "model.safetensors").is_file()]


def close(actual: Tensor, expected: Tensor, bound: float = 1e-10) -> None:
    torch.testing.assert_close(actual, expected, atol=bound, rtol=0)


@torch.no_grad()
def by_hand(gpt: GPT, ids: list[int], out_heads=(), out_blocks=()) -> Tensor:
    """The next token's logits by torch alone: a head left out is c_proj without that head's columns."""
    config, T = gpt.config, len(ids)
    hs = config.n_embd // config.n_head
    x = gpt.wte.weight[ids] + gpt.wpe.weight[:T]  # (T, C)
    for layer, block in enumerate(gpt.blocks):
        if layer in out_blocks:
            continue
        q, k, v = block.attn.c_attn(block.ln_1(x)).split(config.n_embd, dim=-1)
        stay = [h for h in range(config.n_head) if (layer, h) not in out_heads]
        columns = [h * hs + n for h in stay for n in range(hs)]
        heads = [
            F.scaled_dot_product_attention(*(m[None, :, h * hs :][..., :hs] for m in (q, k, v)), is_causal=True)[0]
            for h in stay
        ]  # fmt: skip
        kept = torch.cat(heads, dim=-1) if heads else x.new_zeros(T, 0)
        x = x + F.linear(kept, block.attn.c_proj.weight[:, columns], block.attn.c_proj.bias)
        x = x + block.mlp(block.ln_2(x))
    return F.linear(F.layer_norm(x[-1], (config.n_embd,), gpt.ln_f.weight, gpt.ln_f.bias), gpt.wte.weight)  # fmt: skip


def shortened(gpt: GPT, layers: list[int]) -> GPT:
    """The same model with these blocks alone."""
    cut = deepcopy(gpt)
    cut.blocks = nn.ModuleList(cut.blocks[n] for n in layers)
    return cut


def test_a_trace_is_one_pass_and_knows_its_limit():
    gpt = small_gpt()
    trace = trace_of(gpt, IDS)
    close(trace.logits, gpt(torch.tensor([IDS])).detach())
    assert not trace.logits.requires_grad
    with pytest.raises(TooLongError):
        trace_of(gpt, [0] * 9)


def test_attention_weights_are_those_of_transformers():
    gpt, theirs = with_theirs()
    theirs.set_attn_implementation("eager")
    with torch.no_grad():
        found = theirs(torch.tensor([IDS]), output_attentions=True).attentions
    close(attention_weights(trace_of(gpt, IDS)), torch.cat(found), 1e-5)


def test_the_lens_after_a_layer_is_the_model_that_ends_there():
    gpt = small_gpt(n_layer=4)
    lens = logit_lens(gpt, trace_of(gpt, IDS))
    assert lens.shape == (4, len(IDS), 19)
    for n in range(4):
        with torch.no_grad():
            ends_here = shortened(gpt, list(range(n + 1)))(torch.tensor([IDS]))[0]
        close(lens[n], torch.softmax(ends_here, -1))
    assert (lens[0] - lens[3]).abs().max() > 0.01


def test_stream_norms_are_the_lengths_of_the_vectors():
    gpt = small_gpt(dtype=torch.float32)
    trace = trace_of(gpt, IDS)
    norms = stream_norms(trace)
    assert norms.shape == (3, len(IDS))
    for t, i in enumerate(IDS):
        first = gpt.wte.weight[i] + gpt.wpe.weight[t]
        rows = [first, *(block.resid_post[0, t] for block in trace.blocks)]
        for n, x in enumerate(rows):
            assert float(norms[n, t]) == pytest.approx(sum(v * v for v in x.tolist()) ** 0.5, rel=1e-6)  # fmt: skip


# Patterns


def plain_patterns(weights: list[list[float]], ids: list[int]) -> dict[str, float]:
    """The measures by loops alone; NaN where no token has such a place."""
    seen: dict[str, list[float]] = {name: [] for name in PATTERNS}
    for i, row in enumerate(weights):
        earlier = [j for j in range(i) if ids[j] == ids[i]]
        if i >= 1:
            seen["previous"].append(row[i - 1])
            seen["self"].append(row[i])
            seen["local"].append(sum(row[max(0, i - LOCAL) : i]))
        if i >= 2:
            seen["first"].append(row[0])
        if earlier:
            seen["same"].append(sum(row[j] for j in earlier))
    return {k: sum(v) / len(v) if v else float("nan") for k, v in seen.items()}


@pytest.mark.parametrize("T", [1, 2, 3, 5, 12])
def test_patterns_are_those_of_plain_loops(T):
    torch.manual_seed(T)
    rng = random.Random(T)
    weights = torch.randn(2, 3, T, T, dtype=torch.float64)
    weights = weights.masked_fill(~torch.ones(T, T).tril().bool(), -torch.inf).softmax(-1)
    ids = [rng.randrange(4) for _ in range(T)]
    found = patterns(weights, ids)
    assert tuple(found) == PATTERNS
    for a in range(2):
        for b in range(3):
            expected = plain_patterns(weights[a, b].tolist(), ids)
            got = {name: float(score[a, b]) for name, score in found.items()}
            assert got == pytest.approx(expected, nan_ok=True)


def test_pure_heads_are_recognised():
    """A head that does one thing alone has all of that measure."""
    T, ids = 6, [4, 9, 4, 9, 4, 9]
    eye = torch.eye(T)
    previous = torch.cat([eye[:1], eye[:-1]])  # the first token has only itself
    assert patterns(previous, ids) == pytest.approx(
        {"previous": 1.0, "first": 0.0, "self": 0.0, "same": 0.0, "local": 1.0}
    )
    first = torch.zeros(T, T).index_fill(1, torch.tensor(0), 1.0)
    measured = {k: float(v) for k, v in patterns(first, ids).items()}
    assert measured["first"] == 1.0
    assert measured["previous"] == pytest.approx(1 / 5)  # of the second token it is the same place
    assert measured["local"] == pytest.approx(3 / 5)
    assert patterns(eye, ids)["self"] == 1.0
    two_back = torch.cat([eye[:2], eye[:-2]])
    measured = {k: float(v) for k, v in patterns(two_back, ids).items()}
    assert (measured["same"], measured["previous"]) == (1.0, 0.0)


def test_even_patterns_are_chance():
    ids = [1, 2, 1, 1]
    even = [[1 / (i + 1) if j <= i else 0.0 for j in range(4)] for i in range(4)]
    assert even_patterns(ids) == pytest.approx(plain_patterns(even, ids))


# Left out


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("heads", "blocks"),
    [
        ([], []),
        ([(0, 0)], []),
        ([(1, 2), (2, 0), (2, 1)], []),
        ([(1, 0), (1, 1), (1, 2)], []),
        ([], [1]),
        ([], [0, 1, 2]),
        ([(0, 1)], [2]),
        ([(1, 1)], [1]),
    ],
)
def test_what_is_left_out_adds_nothing(heads, blocks, bias):
    gpt = small_gpt(n_layer=3, n_head=3, bias=bias)
    expected = by_hand(gpt, IDS, heads, blocks)
    close(without(gpt, IDS, heads, blocks), expected)
    whole = by_hand(gpt, IDS)
    assert ((expected - whole).abs().max() > 1e-3) == bool(heads or blocks)


def test_a_block_left_out_is_a_model_without_it():
    gpt = small_gpt(n_layer=3)
    for gone in range(3):
        stay = [n for n in range(3) if n != gone]
        with torch.no_grad():
            shorter = shortened(gpt, stay)(torch.tensor([IDS]))[0, -1]
        close(without(gpt, IDS, blocks=[gone]), shorter)


def test_each_row_of_a_batch_keeps_its_own():
    """`keep_heads` (n_layer, B, n_head) and `keep_blocks` (n_layer, B): no row touches another."""
    gpt = small_gpt(n_layer=2, n_head=3)
    rng = torch.Generator().manual_seed(5)
    keep_heads = torch.randint(0, 2, (2, 5, 3), generator=rng).double()
    keep_blocks = torch.randint(0, 2, (2, 5), generator=rng).double()
    with torch.no_grad():
        logits = gpt(
            torch.tensor([IDS]).expand(5, -1), keep_heads=keep_heads, keep_blocks=keep_blocks
        )
    for row in range(5):
        heads = [(a, h) for a in range(2) for h in range(3) if not keep_heads[a, row, h]]
        blocks = [a for a in range(2) if not keep_blocks[a, row]]
        close(logits[row, -1], by_hand(gpt, IDS, heads, blocks))
    assert keep_heads.unique().numel() == keep_blocks.unique().numel() == 2


def test_each_head_left_out_is_one_at_a_time():
    gpt = small_gpt(n_layer=2, n_head=4)
    found = each_head_left_out(gpt, IDS)
    assert found.shape == (2, 4, 19)
    for layer in range(2):
        for head in range(4):
            close(found[layer, head], without(gpt, IDS, [(layer, head)]))


def test_only_the_last_place_is_asked_for_logits():
    """A large vocabulary at every place of every head would fill the memory."""
    gpt, sizes = small_gpt(n_layer=2, n_head=4), []
    gpt.lm_head.register_forward_hook(lambda *found: sizes.append(found[-1].shape))
    each_head_left_out(gpt, IDS)
    assert sorted(sizes) == [(1, len(IDS), 19), (4, 19), (4, 19)]
    trace = trace_of(gpt, IDS)
    close(logit_lens(gpt, trace, slice(-1, None)), logit_lens(gpt, trace)[:, -1:])
    assert (2, 1, 19) in sizes


def test_surprise_is_the_kl_divergence_of_torch():
    torch.manual_seed(3)
    before, after = torch.randn(19) * 5, torch.randn(2, 4, 19) * 5
    expected = F.kl_div(
        after.double().log_softmax(-1),
        before.double().log_softmax(-1).expand(2, 4, 19),
        log_target=True,
        reduction="none",
    ).sum(-1)
    found = surprise(before, after)
    close(found, expected)
    assert found.min() > 0
    assert surprise(before, before) == 0.0


def test_surprise_is_never_below_zero():
    """Nearly equal predictions: rounding alone must not make a distance negative."""
    torch.manual_seed(4)
    before = torch.randn(200, 1024) * 3
    moved = surprise(before, before + 1e-6 * torch.randn(200, 1024))
    assert moved.min() >= -1e-12


# The shipped models


@pytest.mark.parametrize("name", SHIPPED_NAMES)
def test_a_shipped_model_is_looked_into(name):
    found = load_checkpoint(name)
    gpt, ids = found.gpt, found.tokenizer.encode("O Romeo, Romeo! 오늘 날씨")[:24]
    trace = trace_of(gpt, ids)
    with torch.no_grad():
        plain = gpt(torch.tensor([ids]))[0].softmax(-1)
    close(logit_lens(gpt, trace)[-1], plain, 1e-5)
    weights = attention_weights(trace)
    close(weights.sum(-1), torch.ones_like(weights[..., 0]), 1e-5)
    last = (gpt.config.n_layer - 1, gpt.config.n_head - 1)
    out = without(gpt, ids, [last], [0])
    close(out, by_hand(gpt, ids, [last], [0]), 1e-3)
    assert surprise(without(gpt, ids), out) > 0


def test_the_two_english_models_are_there():
    assert {"shakespeare", "shakespeare-64"} <= set(SHIPPED_NAMES)
