"""Cheaper attention beside loops written by hand, PyTorch's own, and the naive product."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from model import attend, causal_mask
from model.cheaper import (
    VanishedError,
    attend_linear,
    attend_window,
    phi,
    strided_mask,
    top_k_mask,
    window_mask,
)
from model.errors import FullyMaskedError, LengthError, OverflowsError, SizeError, WidthError

SHAPES = {  # leading axes, Tq, Tk, hs, hv
    "one attention": ((), 5, 5, 4, 4),
    "one token": ((), 1, 1, 2, 2),
    "batch and heads": ((2, 3), 7, 7, 4, 4),
    "fewer queries than keys": ((2,), 3, 7, 4, 4),
    "wider values": ((2,), 4, 6, 3, 5),
}


@pytest.fixture(params=SHAPES)
def qkv(request, precision):
    leading, Tq, Tk, hs, hv = SHAPES[request.param]
    normal = precision.normal
    return normal(*leading, Tq, hs), normal(*leading, Tk, hs), normal(*leading, Tk, hv)


# Sparse


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("T", "window"), [(1, 1), (5, 1), (5, 2), (6, 3), (4, 9)])
def test_the_window_by_hand(T, window, causal):
    expected = [[False] * T for _ in range(T)]
    for i in range(T):
        for step in range(window):
            if i - step >= 0:
                expected[i][i - step] = True
            if not causal and i + step < T:
                expected[i][i + step] = True
    assert window_mask(T, window, causal).tolist() == expected


def test_a_window_of_all_is_full_attention(precision):
    q, k, v = precision.normal(3, 6, 4).unbind(0)
    assert torch.equal(window_mask(6, 6), causal_mask(6))
    full = F.scaled_dot_product_attention(q, k, v)
    precision.close(attend(q, k, v, window_mask(6, 6, causal=False)).output, full)


@pytest.mark.parametrize(("T", "stride"), [(1, 1), (6, 1), (9, 3), (10, 4), (5, 8)])
def test_the_strided_mask_is_the_papers_two_sets(T, stride):
    """Child et al., section 4.3: {max(0, i − l), …, i} and {j : (i − j) mod l = 0}."""
    expected = [
        [
            j in range(max(0, i - stride), i + 1) or (j <= i and (i - j) % stride == 0)
            for j in range(T)
        ]
        for i in range(T)
    ]
    mask = strided_mask(T, stride)
    assert mask.tolist() == expected
    assert torch.equal(strided_mask(T, stride, causal=False), mask | mask.T)


def test_two_strided_steps_reach_everything_before():
    mask = strided_mask(16, 4).int()
    assert torch.equal((mask @ mask) > 0, causal_mask(16))


@pytest.mark.parametrize("k", [1, 3, 6, 99])
def test_top_k_keeps_the_largest(exact, k):
    scores = exact.normal(2, 5, 6)
    kept = top_k_mask(scores, k)
    assert (kept.sum(-1) == min(k, 6)).all()
    lowest = scores.masked_fill(~kept, torch.inf).amin(-1)
    assert (lowest >= scores.masked_fill(kept, -torch.inf).amax(-1)).all()


def test_top_k_looks_only_where_the_mask_allows(exact):
    scores = exact.normal(4, 4)
    kept = top_k_mask(scores, 2, causal_mask(4))
    assert not (kept & ~causal_mask(4)).any()
    assert kept.sum(-1).tolist() == [1, 2, 2, 2]
    assert kept[3].nonzero().flatten().tolist() == sorted(scores[3].argsort()[-2:].tolist())


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("window", [1, 2, 3, 5, 7, 20])
def test_a_window_in_blocks_is_the_window_as_a_mask(precision, window, causal, scale):
    q, k = precision.normal(2, 2, 3, 7, 4).unbind(0)
    v, mask = precision.normal(2, 3, 7, 5), window_mask(7, window, causal)
    theirs = F.scaled_dot_product_attention(q, k, v, mask, scale=None if scale else 1.0)
    precision.close(attend_window(q, k, v, window, causal=causal, scale=scale), theirs)


def test_sizes_below_one_are_refused():
    x = torch.ones(3, 2)
    for call in (
        lambda: window_mask(3, 0),
        lambda: strided_mask(3, -1),
        lambda: top_k_mask(x, 0),
        lambda: attend_window(x, x, x, 0),
    ):
        with pytest.raises(SizeError, match="must be at least 1"):
            call()


# Linear


def test_phi_is_elu_plus_one(precision):
    x = 3 * precision.normal(200)
    precision.close(phi(x), F.elu(x) + 1)


def test_phi_keeps_its_digits_far_below_zero():
    assert phi(torch.tensor([-100.0]).double()).item() == pytest.approx(3.72007597602084e-44)


@pytest.mark.parametrize("causal", [True, False])
def test_linear_equals_the_naive_product(precision, qkv, causal):
    q, k, v = qkv
    similar = (F.elu(q) + 1) @ (F.elu(k) + 1).transpose(-1, -2)
    if causal:
        similar = similar.tril(k.size(-2) - q.size(-2))
    weights = similar / similar.sum(-1, keepdim=True)
    trace = attend_linear(q, k, v, causal)
    precision.close(trace.weights, weights)
    precision.close(trace.output, weights @ v)


def test_causal_linear_is_the_recurrence(precision):
    """Equations 16 to 20: a state of one matrix and one vector, whatever the length."""
    q, k, v = precision.normal(3, 9, 4).unbind(0)
    trace = attend_linear(q, k, v, causal=True)
    state, norm = q.new_zeros(4, 4), q.new_zeros(4)
    for i in range(9):
        feature, asked = F.elu(k[i]) + 1, F.elu(q[i]) + 1
        state, norm = state + torch.outer(feature, v[i]), norm + feature
        precision.close(trace.kv[i], state)
        precision.close(trace.z[i], norm)
        precision.close(trace.output[i], asked @ state / (asked @ norm))


def test_one_sum_serves_all_queries_without_a_mask(exact):
    q, k, v = exact.normal(3, 2, 6, 4).unbind(0)
    trace = attend_linear(q, k, v)
    assert trace.kv.shape == (2, 1, 4, 4)
    assert trace.z.shape == (2, 1, 4)


def test_what_comes_later_changes_nothing_under_causal(exact):
    q, k, v = exact.normal(3, 6, 4).unbind(0)
    cut = attend_linear(q[:4], k[:4], v[:4], causal=True).output
    exact.close(attend_linear(q, k, v, causal=True).output[:4], cut)


def test_linear_weights_are_no_softmax(exact):
    """Another function: with the same q and k the weights differ, though their rows sum to 1."""
    q, k, v = (3 * exact.normal(3, 6, 4)).unbind(0)
    linear, full = attend_linear(q, k, v).weights, attend(q, k, v).weights
    exact.close(linear.sum(-1), full.sum(-1))
    assert (linear - full).abs().max() > 0.1


def test_linear_refuses_what_attend_refuses():
    x = torch.ones(3, 2)
    with pytest.raises(WidthError):
        attend_linear(x, torch.ones(3, 4), x)
    with pytest.raises(LengthError):
        attend_linear(x, x, torch.ones(4, 2))
    with pytest.raises(FullyMaskedError):
        attend_linear(x, x[:2], x[:2], causal=True)
    with pytest.raises(OverflowsError, match="kv"):
        attend_linear(x.double(), x.double() * 1e200, x.double() * 1e200)


def test_a_query_whose_features_vanish_is_refused_with_its_numbers():
    q = torch.tensor([[1.0], [-500.0]]).double()
    with pytest.raises(VanishedError) as caught:
        attend_linear(q, torch.full((2, 1), -400.0).double(), torch.ones(2, 1).double())
    for lang in ("en", "ko"):
        assert "-500" in caught.value.text(lang)
        assert "1번" in caught.value.text(lang) or "Query 1" in caught.value.text(lang)
    alone = attend_linear(q[1:], q[1:] / 4, torch.ones(1, 1).double())  # small, but full digits
    assert alone.output.item() == 1
