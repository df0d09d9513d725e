"""Stacks of blocks: weights and gradients against PyTorch's, and what the tab says of them."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from model.errors import ChoiceError, HeadsError, RangeError, SizeError
from model.stack import (
    WIRINGS,
    alikeness,
    climb,
    cosines,
    fresh_block,
    length,
    parameters,
    size,
    stacked,
)

NAMES = {  # of nn.TransformerEncoderLayer, and ours
    "self_attn.in_proj_": "attn.c_attn.",
    "self_attn.out_proj.": "attn.c_proj.",
    "linear1.": "mlp.c_fc.",
    "linear2.": "mlp.c_proj.",
    "norm1.": "ln_1.",
    "norm2.": "ln_2.",
}


def close(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-12)


def fresh(seed=0, **options):
    return fresh_block(16, 4, torch.Generator().manual_seed(seed), **options)


def test_fresh_weights_are_spread_as_a_new_linear_spreads_its_own():
    """As far out, and as much deviation, in weights and in biases."""
    torch.manual_seed(7)
    block = fresh_block(64, 4, torch.Generator().manual_seed(0))
    linears = [m for m in block.modules() if isinstance(m, nn.Linear)]
    assert len(linears) == 4
    for ours in linears:
        theirs = nn.Linear(ours.in_features, ours.out_features, dtype=torch.float64)
        for a, b in ((ours.weight, theirs.weight), (ours.bias, theirs.bias)):
            assert (a.shape, a.dtype, a.requires_grad) == (b.shape, b.dtype, True)
            assert a.abs().max().item() == pytest.approx(b.abs().max().item(), rel=0.1)
            assert a.abs().max() <= ours.in_features**-0.5
            assert a.std().item() == pytest.approx(b.std().item(), rel=0.25)
    for ln in (block.ln_1, block.ln_2):
        assert ln.weight.tolist() == [1.0] * 64
        assert ln.bias.tolist() == [0.0] * 64


def test_a_seed_draws_the_same_weights_however_wired_and_nobody_elses_draws_change():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    whole = stacked(3, 16, 4, 5)
    assert torch.equal(torch.get_rng_state(), before)
    for name in WIRINGS:
        other = stacked(2, 16, 4, 5, wiring=name)
        assert torch.equal(other.x, whole.x)
        assert torch.equal(other.direction, whole.direction)
        for a, b in zip(other.blocks, whole.blocks[:2], strict=True):
            for p, q in zip(a.parameters(), b.parameters(), strict=True):
                assert torch.equal(p, q)
            assert (a.norm, a.residual) == (WIRINGS[name]["norm"], WIRINGS[name]["residual"])
    assert not torch.equal(stacked(1, 16, 4, 6).x, whole.x)
    assert whole.direction.norm().item() == pytest.approx(1)


def test_a_gain_multiplies_the_weights_and_leaves_the_biases():
    once, twice = fresh(), fresh(gain=2.0)
    for a, b in zip(once.modules(), twice.modules(), strict=True):
        if isinstance(a, nn.Linear):
            close(b.weight, 2 * a.weight)
            close(b.bias, a.bias)


@pytest.mark.parametrize("wiring", ["pre", "post"])
@pytest.mark.parametrize("activation", ["gelu", "relu"])
def test_a_climb_is_that_of_pytorchs_encoder_layers(wiring, activation):
    """Streams and gradients of nn.TransformerEncoderLayer with the same weights, by its own autograd."""
    ours = stacked(3, 16, 4, 1, wiring=wiring, activation=activation, gain=1.5)
    bend = F.relu if activation == "relu" else lambda x: F.gelu(x, approximate="tanh")
    layers = []
    for block in ours.blocks:
        layer = nn.TransformerEncoderLayer(
            16, 4, 64, dropout=0.0, activation=bend, batch_first=True,
            norm_first=wiring == "pre", dtype=torch.float64,
        )  # fmt: skip
        weights = block.state_dict()
        for name in layer.state_dict():
            (old,) = (old for old in NAMES if name.startswith(old))
            weights[name] = weights.pop(name.replace(old, NAMES[old]))
        layer.load_state_dict(weights)
        layers.append(layer)
    hide = ~torch.ones(8, 8, dtype=torch.bool).tril()
    streams = [ours.x[None].clone().requires_grad_()]
    for layer in layers:
        streams.append(layer(streams[-1], src_mask=hide))
        streams[-1].retain_grad()
    (streams[-1] * ours.direction).sum().backward()
    found = climb(ours)
    close(found.streams, torch.cat(streams).detach())
    close(found.gradients, torch.cat([s.grad for s in streams]))
    for layer, gradient in zip(layers, found.weights, strict=True):
        theirs = [p.grad.flatten() for p in layer.parameters()]
        close(size(gradient[None])[0], torch.cat(theirs).norm())


@pytest.mark.parametrize("wiring", WIRINGS)
def test_gradients_are_those_of_finite_differences(wiring):
    """Of numbers at the bottom, in the middle, and of weights of the lowest block."""
    stack = stacked(3, 16, 4, 2, wiring=wiring, n_token=4)
    found = climb(stack)

    @torch.no_grad()
    def answer(x, blocks):
        for block in blocks:
            x = block(x)
        return float((stack.direction * x).sum())

    def check(numbers, place, gradient, compute, nudge=1e-6):
        kept = numbers[place].item()
        sides = []
        for moved in (kept + nudge, kept - nudge):
            numbers[place] = moved
            sides.append(compute())
        numbers[place] = kept
        assert gradient == pytest.approx((sides[0] - sides[1]) / (2 * nudge), rel=1e-3, abs=1e-9)

    for height in (0, 2):
        x, blocks = found.streams[height][None].clone(), stack.blocks[height:]
        for t, c in ((0, 0), (1, 7), (3, 15)):
            slope = found.gradients[height, t, c].item()
            check(x, (0, t, c), slope, lambda x=x, blocks=blocks: answer(x, blocks))
    x, at = stack.x[None], 0
    for p in parameters(stack.blocks[0]):
        for n in (0, p.numel() - 1):
            flat, slope = p.data.view(-1), found.weights[0, at + n].item()
            check(flat, n, slope, lambda: answer(x, stack.blocks))
        at += p.numel()
    assert at == found.weights.size(1)


def test_at_the_top_the_gradient_is_the_direction_and_a_climb_leaves_nothing_behind():
    stack = stacked(2, 16, 4, 3)
    found = climb(stack)
    assert torch.equal(found.gradients[-1], stack.direction)
    assert torch.equal(found.streams[0], stack.x)
    assert not found.streams.requires_grad
    assert all(p.grad is None for block in stack.blocks for p in block.parameters())
    with torch.no_grad():
        assert torch.equal(climb(stack).gradients, found.gradients)


def test_what_is_not_used_has_no_gradient():
    stack = stacked(2, 16, 4, 3, wiring="neither")
    learned = sorted(stack.blocks[0].named_parameters())
    parts = climb(stack).weights[0].split([p.numel() for _, p in learned])
    for (name, _), gradient in zip(learned, parts, strict=True):
        assert gradient.any().item() != name.startswith("ln_")
    assert parts[0][0] != 0  # the first and the last, which sums write out
    assert parts[-1][-1] != 0


def test_measures_are_their_definitions():
    streams = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(1)).double()
    for n, x in enumerate(streams):
        close(length(streams)[n], torch.stack([row.norm() for row in x]).mean())
        close(size(streams)[n], x.pow(2).sum().sqrt())
        pairs = [F.cosine_similarity(x[a], x[b], dim=0) for a in range(5) for b in range(a + 1, 5)]
        close(cosines(streams)[n], torch.stack(pairs))
        close(alikeness(streams)[n], torch.stack(pairs).mean())
    assert alikeness(streams[:, :1]).isnan().all()


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (SizeError, {"n_layer": 0}),
        (SizeError, {"n_token": 0}),
        (SizeError, {"n_embd": 0}),
        (HeadsError, {"n_head": 3}),
        (ChoiceError, {"wiring": "sideways"}),
        (ChoiceError, {"activation": "tanh"}),
        (RangeError, {"gain": 0.0}),
        (RangeError, {"gain": float("nan")}),
    ],
)
def test_a_stack_that_cannot_be_is_refused(error, options):
    with pytest.raises(error):
        stacked(**{"n_layer": 1, "n_embd": 16, "n_head": 4, "seed": 0} | options)


# What the tab says is seen, on ten seeds: 12 blocks, 8 tokens of 64 numbers, 4 heads


def outcomes(wiring, **options):
    """For each seed: stream top ÷ bottom, gradient at the bottom, alikeness at the top."""
    found = []
    for seed in range(10):
        c = climb(stacked(12, 64, 4, seed, wiring=wiring, **options))
        grown = (length(c.streams[-1]) / length(c.streams[0])).item()
        found.append((grown, size(c.gradients)[0].item(), alikeness(c.streams[-1]).item()))
    return found


@pytest.mark.parametrize("n_layer", [1, 6, 12])
@pytest.mark.parametrize("wiring", ["pre", "post", "none"])
def test_with_a_residual_the_gradient_at_the_bottom_keeps_its_size(wiring, n_layer):
    for seed in range(10):
        gradients = climb(stacked(n_layer, 64, 4, seed, wiring=wiring)).gradients
        assert 0.5 < size(gradients)[0] < 3


def test_bricks_as_in_gpt_2_keep_stream_and_gradient_in_size():
    for grown, gradient, alike in outcomes("pre"):
        assert 1.2 < grown < 2
        assert 1.2 < gradient < 2
        assert alike < 0.5


def test_without_residual_all_tokens_become_alike_and_less_gradient_arrives():
    for (_, with_it, apart), (_, without, alike) in zip(
        outcomes("pre"), outcomes("no_residual"), strict=True
    ):
        assert alike > 0.999
        assert apart < 0.5
        assert without < with_it / 5
        assert without > 1e-3  # LayerNorm alone still hands some of it down


def test_without_residual_and_norm_no_gradient_arrives():
    """Each block lets through less than a tenth."""
    for _, gradient, alike in outcomes("neither"):
        assert gradient < 1e-13
        assert alike > 0.999
    for seed in range(10):
        found = size(climb(stacked(4, 64, 4, seed, wiring="neither")).gradients)
        assert (found[:-1] < found[1:] / 10).all()


def test_without_norm_fresh_weights_do_little_and_weights_twice_as_large_explode():
    for grown, gradient, _ in outcomes("none"):
        assert 1.5 < grown < 3
        assert 1.5 < gradient < 3
    for grown, gradient, _ in outcomes("none", gain=2.0):
        assert grown > 5_000
        assert gradient > 5_000
    for grown, gradient, _ in outcomes("pre", gain=2.0):
        assert grown < 10
        assert gradient < 10


def test_post_norm_holds_the_length_and_lets_more_of_the_tokens_differences_go():
    for gain, least in ((1.0, 0.3), (2.0, 0.95)):
        post = outcomes("post", gain=gain)
        for (_, with_pre, apart), (_, with_post, alike) in zip(
            outcomes("pre", gain=gain), post, strict=True
        ):
            assert alike > max(least, apart)
            assert apart < 0.8
            assert with_post < with_pre
    for seed in range(10):
        after = climb(stacked(12, 64, 4, seed, wiring="post", gain=2.0)).streams[1:]
        torch.testing.assert_close(
            after.norm(dim=-1), torch.full((12, 8), 8.0, dtype=torch.float64), atol=1e-3, rtol=0
        )  # √64, whatever the weights


@pytest.mark.parametrize("measure", [torch.sum, lambda out: out.pow(2).mean()])
def test_behind_a_norm_neither_sum_nor_mean_square_has_a_gradient(measure):
    """Why a random direction is sent down."""
    stack = stacked(2, 16, 4, 0, wiring="post")
    x = stack.x[None].clone().requires_grad_()
    out = stack.blocks[1](stack.blocks[0](x))
    (nothing,) = torch.autograd.grad(measure(out), x, retain_graph=True)
    (something,) = torch.autograd.grad((stack.direction * out).sum(), x)
    assert nothing.norm() < 1e-4 * something.norm()
