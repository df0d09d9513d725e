"""`attend` against PyTorch's own attention, and what must hold of any attention."""

from __future__ import annotations

import dataclasses

import pytest
import torch
import torch.nn.functional as F

from model import AttentionTrace, attend, attend_fast, causal_mask, draw_keep, resume
from model.errors import AxisError, DropoutError, RankError

SHAPES = {  # leading axes, Tq, Tk, hs, hv
    "one attention": ((), 5, 5, 4, 4),
    "batch": ((3,), 5, 5, 4, 4),
    "batch and heads": ((2, 4), 6, 6, 8, 8),
    "fewer queries than keys": ((2, 3), 2, 7, 4, 4),
    "more queries than keys": ((2,), 7, 3, 4, 4),
    "wider values": ((2,), 4, 6, 3, 5),
    "one token": ((), 1, 1, 2, 2),
}


def random_mask(Tq, Tk):
    """Any pattern that leaves each query at least one key."""
    mask = torch.rand(Tq, Tk) < 0.5
    mask[torch.arange(Tq), torch.randint(Tk, (Tq,))] = True
    return mask


def some_mask(kind, Tq, Tk):
    """Of that kind; where the causal one would leave a query nothing, a random one."""
    if kind == "none":
        return None
    return causal_mask(Tq, Tk) if kind == "causal" and Tq <= Tk else random_mask(Tq, Tk)


@pytest.fixture(params=SHAPES)
def qkv(request, precision):
    leading, Tq, Tk, hs, hv = SHAPES[request.param]
    normal = precision.normal
    return normal(*leading, Tq, hs), normal(*leading, Tk, hs), normal(*leading, Tk, hv)


@pytest.fixture(params=["none", "causal", "random"])
def mask(request, qkv):
    q, k, _ = qkv
    return some_mask(request.param, q.size(-2), k.size(-2))


@pytest.mark.parametrize("scale", [True, False])
def test_traced_and_fast_equal_sdpa(precision, qkv, mask, scale):
    expected = F.scaled_dot_product_attention(*qkv, attn_mask=mask, scale=None if scale else 1.0)
    precision.close(attend(*qkv, mask, scale=scale).output, expected)
    precision.close(attend_fast(*qkv, mask, scale=scale), expected)


def test_weights_equal_sdpa_over_unit_values(precision, qkv, mask):
    """With the identity for values, what SDPA returns is the weights themselves."""
    q, k, v = qkv
    unit = torch.eye(k.size(-2), dtype=precision.dtype).expand(*v.shape[:-2], -1, -1)
    expected = F.scaled_dot_product_attention(q, k, unit, attn_mask=mask)
    precision.close(attend(q, k, v, mask).weights, expected)


def test_gradients_of_traced_and_fast_are_equal(precision, qkv, mask):
    qkv = [tensor.requires_grad_() for tensor in qkv]
    towards = torch.randn_like(attend_fast(*qkv, mask))
    traced = torch.autograd.grad(attend(*qkv, mask).output, qkv, towards)
    fast = torch.autograd.grad(attend_fast(*qkv, mask), qkv, towards)
    for ours, theirs in zip(traced, fast, strict=True):
        precision.close(ours, theirs)


def test_steps_follow_the_formula_entry_by_entry(exact):
    """Each step against sums and exponentials written out, no matrix product, no softmax."""
    q, k, v = exact.normal(3, 4), exact.normal(5, 4), exact.normal(5, 2)
    mask = causal_mask(3, 5)
    trace = attend(q, k, v, mask)
    for i in range(3):
        scores = [sum(q[i, c] * k[j, c] for c in range(4)) for j in range(5)]
        scaled = [score / 2 for score in scores]  # √4
        powers = [x.exp() if mask[i, j] else torch.tensor(0.0) for j, x in enumerate(scaled)]
        weights = [power / sum(powers) for power in powers]
        output = [sum(weights[j] * v[j, c] for j in range(5)) for c in range(2)]
        exact.close(trace.scores[i], torch.stack(scores))
        exact.close(trace.scaled[i], torch.stack(scaled))
        exact.close(trace.weights[i], torch.stack(weights))
        exact.close(trace.output[i], torch.stack(output))
        for j in range(5):
            assert trace.masked[i, j] == (trace.scaled[i, j] if mask[i, j] else -torch.inf)


def test_rows_of_weights_sum_to_one_and_hidden_weights_are_exactly_zero(precision, qkv, mask):
    weights = attend(*qkv, mask).weights
    precision.close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))
    assert (weights >= 0).all()
    if mask is not None:
        assert (weights[~mask.expand_as(weights)] == 0).all()


def test_the_future_changes_nothing(exact):
    q, k, v = exact.normal(3, 6, 4).unbind(0)
    before = attend(q, k, v, causal_mask(6)).output
    k[4:], v[4:] = 100 * exact.normal(2, 4), 100 * exact.normal(2, 4)
    after = attend(q, k, v, causal_mask(6)).output
    assert torch.equal(after[:4], before[:4])
    assert not torch.isclose(after[4:], before[4:]).any()


def test_permuting_tokens_permutes_outputs(precision):
    x = precision.normal(2, 6, 4)
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    moved = x[:, order]
    precision.close(attend(moved, moved, moved).output, attend(x, x, x).output[:, order])


def test_mask_before_softmax_equals_mask_after_and_renormalised(precision, qkv, mask):
    if mask is None:
        mask = torch.ones(qkv[0].size(-2), qkv[1].size(-2), dtype=torch.bool)
    after = attend(*qkv).weights * mask
    precision.close(attend(*qkv, mask).weights, after / after.sum(dim=-1, keepdim=True))


def test_causal_mask_is_lower_triangular_and_aligned_with_the_last_keys():
    for Tq, Tk in [(1, 1), (4, 4), (1, 5), (2, 5), (3, 4)]:
        expected = [[j <= i + Tk - Tq for j in range(Tk)] for i in range(Tq)]
        assert causal_mask(Tq, Tk).tolist() == expected
    assert torch.equal(causal_mask(4), causal_mask(4, 4))


def test_a_mask_may_broadcast(exact):
    q, k, v = exact.normal(3, 2, 4, 5, 4).unbind(0)
    padding = torch.tensor([[True, True, True, False, False], [True] * 5])[:, None, None, :]
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=padding)
    exact.close(attend(q, k, v, padding).output, expected)
    row = torch.tensor([True, False, True, False, True])  # (Tk,): the same for every query
    exact.close(attend(q, k, v, row).output, attend(q, k, v, row.expand(5, 5)).output)


@pytest.mark.parametrize("dropout", [0.1, 0.5, 0.8])
def test_dropout_equals_pytorchs_from_the_same_seed(precision, dropout):
    q, k, v = precision.normal(3, 2, 6, 4).unbind(0)
    weights = attend(q, k, v).weights
    torch.manual_seed(5)
    expected = F.dropout(weights, dropout)
    torch.manual_seed(5)
    keep = draw_keep(tuple(weights.shape), dropout)
    trace = attend(q, k, v, dropout=dropout, keep=keep)
    precision.close(trace.dropped, expected)
    precision.close(trace.output, expected @ v)
    precision.close(trace.weights, weights)


def test_dropout_keeps_its_share_and_follows_its_generator():
    keep = draw_keep((200, 200), 0.3, torch.Generator().manual_seed(1))
    assert abs(keep.double().mean() - 0.7) < 5 * (0.3 * 0.7 / 40_000) ** 0.5  # five sigma
    assert torch.equal(keep, draw_keep((200, 200), 0.3, torch.Generator().manual_seed(1)))
    assert not torch.equal(keep, draw_keep((200, 200), 0.3, torch.Generator().manual_seed(2)))
    assert draw_keep((4, 4), 0.0).all()
    for rate in (-0.1, 1.0, float("nan")):
        with pytest.raises(DropoutError):
            draw_keep((4, 4), rate)


def test_without_keep_dropped_is_the_weights(exact):
    q, k, v = exact.normal(3, 5, 4).unbind(0)
    trace = attend(q, k, v, causal_mask(5))
    assert torch.equal(trace.dropped, trace.weights)


# resume


@pytest.mark.parametrize("step", AttentionTrace.AXES)
@pytest.mark.parametrize("scale", [True, False])
def test_resume_with_a_step_unchanged_reproduces_the_trace(exact, step, scale):
    q, k, v = exact.normal(3, 2, 5, 4).unbind(0)
    keep = draw_keep((2, 5, 5), 0.3)
    options = {"scale": scale, "dropout": 0.3, "keep": keep}
    trace = attend(q, k, v, causal_mask(5), **options)
    again = resume(trace, causal_mask(5), **options, **{step: getattr(trace, step)})
    for name in AttentionTrace.AXES:
        assert torch.equal(getattr(again, name), getattr(trace, name)), name


def test_resume_with_a_new_query_is_attention_of_that_query(exact):
    q, other, k, v = exact.normal(4, 5, 4).unbind(0)
    again = resume(attend(q, k, v), q=other)
    exact.close(again.output, F.scaled_dot_product_attention(other, k, v))


def test_resume_with_typed_weights_keeps_what_came_before(exact):
    q, k, v = exact.normal(3, 2, 5, 4).unbind(0)
    typed = torch.rand(5, 5, dtype=torch.float64).expand(2, 5, 5)
    trace = attend(q, k, v)
    again = resume(trace, weights=typed)
    exact.close(again.output, torch.einsum("bij,bjc->bic", typed, v))
    assert torch.equal(again.scaled, trace.scaled)


def test_resume_from_a_changed_trace_keeps_the_change(exact):
    """Steps before the first one given are taken over, not computed anew."""
    q, k, v = exact.normal(3, 5, 4).unbind(0)
    scaled, weights = exact.normal(2, 5, 5).unbind(0)
    changed = resume(attend(q, k, v), scaled=scaled)
    exact.close(changed.weights, scaled.softmax(dim=-1))
    again = resume(changed, weights=weights)
    assert torch.equal(again.scaled, scaled)
    exact.close(again.output, weights @ v)


# AttentionTrace


def fields(**changed):
    sizes = {"Tq": 2, "Tk": 3, "hs": 4, "hv": 5}
    sound = {
        name: torch.zeros([sizes[axis] for axis in axes])
        for name, axes in AttentionTrace.AXES.items()
    }
    return sound | changed


def test_a_trace_rejects_a_wrong_rank():
    AttentionTrace(**fields())
    for name in AttentionTrace.AXES:
        with pytest.raises(RankError, match=rf"^{name} has 1 axes \(4,\)"):
            AttentionTrace(**fields(**{name: torch.zeros(4)}))


def test_a_trace_rejects_one_axis_with_two_sizes():
    for name, axes in AttentionTrace.AXES.items():
        for at, axis in enumerate(axes):
            shape = list(fields()[name].shape)
            shape[at] = 9
            with pytest.raises(AxisError, match=rf"Axis {axis} .*9"):
                AttentionTrace(**fields(**{name: torch.zeros(shape)}))


def test_a_trace_is_frozen():
    trace = AttentionTrace(**fields())
    with pytest.raises(dataclasses.FrozenInstanceError):
        trace.weights = torch.zeros(2, 3)
