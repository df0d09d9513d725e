"""Multi-head attention against torch.nn.MultiheadAttention with the same parameters."""

from __future__ import annotations

import dataclasses

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from model import (
    AttentionTrace,
    MultiHeadAttention,
    causal_mask,
    merge_heads,
    multi_head,
    multi_head_fast,
    multi_head_loop,
    split_heads,
)

C, N_HEAD, T, TK, B = 12, 3, 5, 7, 2


@pytest.fixture(params=[True, False], ids=["bias", "no bias"])
def pair(request, precision):
    """PyTorch's module and ours, holding the same parameters, none of them zero."""
    theirs = nn.MultiheadAttention(C, N_HEAD, bias=request.param, batch_first=True)
    theirs = theirs.to(precision.dtype)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_()
            parameter *= 0.5
    ours = MultiHeadAttention(C, N_HEAD, bias=request.param).to(precision.dtype)
    ours.c_attn.weight = theirs.in_proj_weight
    ours.c_proj.weight = theirs.out_proj.weight
    if request.param:
        ours.c_attn.bias = theirs.in_proj_bias
        ours.c_proj.bias = theirs.out_proj.bias
    return theirs, ours


@pytest.fixture(params=["self", "cross"])
def inputs(request, precision):
    """x and memory; None for memory is self-attention."""
    x = precision.normal(B, T, C)
    return x, None if request.param == "self" else precision.normal(B, TK, C)


def mask_for(kind, memory):
    return causal_mask(T, T if memory is None else TK) if kind == "causal" else None


def run_theirs(theirs, x, memory, mask):
    """Its output and weights `(B, nh, T, Tk)`; a boolean mask there means the opposite: True hides."""
    memory = x if memory is None else memory
    hide = None if mask is None else ~mask
    return theirs(x, memory, memory, attn_mask=hide, need_weights=True, average_attn_weights=False)


@pytest.mark.parametrize("kind", ["none", "causal"])
def test_module_equals_pytorchs(precision, pair, inputs, kind):
    theirs, ours = pair
    x, memory = inputs
    mask = mask_for(kind, memory)
    output, weights = run_theirs(theirs, x, memory, mask)
    steps = []
    precision.close(ours(x, memory, mask=mask, trace=steps), output)
    precision.close(ours(x, memory, mask=mask), output)
    assert len(steps) == 1
    precision.close(steps[0].heads.weights, weights)
    precision.close(steps[0].output, output)


@pytest.mark.parametrize("kind", ["none", "causal"])
def test_functions_equal_pytorchs_module(precision, pair, inputs, kind):
    theirs, ours = pair
    if ours.c_attn.bias is not None:  # the functions have no biases
        nn.init.zeros_(theirs.in_proj_bias)
        nn.init.zeros_(theirs.out_proj.bias)
    x, memory = inputs
    mask = mask_for(kind, memory)
    output, weights = run_theirs(theirs, x, memory, mask)
    w_query, w_key, w_value = (w.mT for w in theirs.in_proj_weight.chunk(3))
    given = (x, w_query, w_key, w_value, theirs.out_proj.weight.mT, N_HEAD, mask)
    for route in (multi_head, multi_head_loop):
        trace = route(*given, memory=memory)
        precision.close(trace.output, output)
        precision.close(trace.heads.weights, weights)
    precision.close(multi_head_fast(*given, memory=memory), output)


@pytest.mark.parametrize("kind", ["none", "causal"])
@pytest.mark.parametrize("n_head", [1, 2, 3, 4, 6, 12])
@pytest.mark.parametrize("scale", [True, False])
def test_every_step_of_loop_and_fused_is_equal(precision, inputs, kind, n_head, scale):
    x, memory = inputs
    given = (x, *precision.normal(4, C, C).unbind(0), n_head, mask_for(kind, memory))
    given[1].div_(10)  # keeps the unscaled scores, and so the rounding of float32, small
    loop = multi_head_loop(*given, memory=memory, scale=scale)
    fused = multi_head(*given, memory=memory, scale=scale)
    for name in AttentionTrace.AXES:
        ours, other = getattr(loop.heads, name), getattr(fused.heads, name)
        torch.testing.assert_close(ours, other, atol=precision.bound, rtol=precision.bound)
    for ours in (loop, fused):
        torch.testing.assert_close(
            ours.output,
            multi_head_fast(*given, memory=memory, scale=scale),
            atol=precision.bound,
            rtol=precision.bound,
        )
    torch.testing.assert_close(loop.concat, fused.concat, atol=precision.bound, rtol=1e-5)


def test_each_head_projects_all_of_the_input(exact):
    """Head h is SDPA of x @ (its columns of W): written out for every head."""
    x, w_out = exact.normal(T, C), exact.normal(C, C)
    w_query, w_key, w_value = exact.normal(3, C, C).unbind(0)
    trace = multi_head(x, w_query, w_key, w_value, w_out, N_HEAD)
    heads = []
    for h in range(N_HEAD):
        own = slice(h * C // N_HEAD, (h + 1) * C // N_HEAD)
        q, k, v = x @ w_query[:, own], x @ w_key[:, own], x @ w_value[:, own]
        heads.append(F.scaled_dot_product_attention(q[None], k[None], v[None])[0])
        exact.close(trace.heads.output[h], heads[-1])
    exact.close(trace.concat, torch.hstack(heads))
    exact.close(trace.output, torch.hstack(heads) @ w_out)


def test_without_w_out_the_output_is_the_concatenation(exact):
    given = (exact.normal(B, T, 4), *exact.normal(3, 4, C).unbind(0), None, N_HEAD)
    for route in (multi_head, multi_head_loop):
        assert torch.equal(route(*given).output, route(*given).concat)
    exact.close(multi_head_fast(*given), multi_head(*given).concat)


def test_the_shapes_of_the_ledger():
    """[1, 3, 64] -> 4 × [1, 3, 16] -> [1, 3, 64]."""
    x = torch.randn(1, 3, 64)
    heads = split_heads(x, 4)
    assert heads.shape == (1, 4, 3, 16)
    assert torch.equal(heads[:, 1], x[..., 16:32])
    assert torch.equal(merge_heads(heads), x)


@pytest.mark.parametrize("kind", ["none", "causal"])
def test_gradients_of_traced_fast_and_pytorchs_are_equal(precision, pair, inputs, kind):
    theirs, ours = pair
    x, memory = (None if tensor is None else tensor.requires_grad_() for tensor in inputs)
    mask = mask_for(kind, memory)
    wanted = [x, *([] if memory is None else [memory]), *theirs.parameters()]
    towards = precision.normal(B, T, C) / 10
    routes = [
        run_theirs(theirs, x, memory, mask)[0],
        ours(x, memory, mask=mask),
        ours(x, memory, mask=mask, trace=[]),
    ]
    expected, fast, traced = (torch.autograd.grad(out, wanted, towards) for out in routes)
    for theirs_, fast_, traced_ in zip(expected, fast, traced, strict=True):
        precision.close(fast_, theirs_)
        precision.close(traced_, theirs_)


def test_dropout_is_for_training_only(exact):
    module = MultiHeadAttention(C, N_HEAD, dropout=0.5).double()
    x, steps = exact.normal(B, T, C), []
    module.train()(x, trace=steps)
    weights, dropped = steps[0].heads.weights, steps[0].heads.dropped
    gone = dropped == 0
    assert 0 < gone.sum() < gone.numel()
    exact.close(dropped[~gone], 2 * weights[~gone])
    module.eval()(x, trace=steps)
    assert torch.equal(steps[1].heads.dropped, steps[1].heads.weights)
    exact.close(module(x), steps[1].output)


def test_training_fast_and_traced_drop_the_same_share(exact):
    """Both average, over many draws, to the output without dropout."""
    module = MultiHeadAttention(C, N_HEAD, dropout=0.25).double()
    x = exact.normal(1, T, C)
    expected = module.eval()(x)
    many = x.expand(4000, T, C)
    module.train()
    for outputs in (module(many), module(many, trace=[])):
        error = outputs.std(dim=0) / 4000**0.5
        assert ((outputs.mean(dim=0) - expected[0]).abs() < 6 * error).all()
        assert (outputs.std(dim=0) > 0).all()


def test_a_multi_head_trace_is_frozen(exact):
    trace = multi_head(exact.normal(T, C), *exact.normal(4, C, C).unbind(0), N_HEAD)
    with pytest.raises(dataclasses.FrozenInstanceError):
        trace.output = trace.concat
