"""A block taken apart: its sums, its means and variances, the same weights wired otherwise."""

from __future__ import annotations

import pytest
import torch

from model import Block
from model.anatomy import anatomy, moments, rewired
from model.errors import ChoiceError

B, T, C = 2, 5, 12


def drawn(exact, **options):
    block = Block(C, 3, **options).to(exact.dtype)
    with torch.no_grad():
        for p in block.parameters():
            p.normal_(std=0.4)
    return block


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_the_sums_are_what_the_stream_becomes(exact, norm, residual, causal):
    """But for the norm that follows a sum in post-norm."""
    block, x = drawn(exact, norm=norm, residual=residual), exact.normal(B, T, C)
    found = anatomy(block, x, causal=causal)
    t = found.trace
    exact.close(t.resid_post, block(x, causal=causal).detach())
    exact.close(found.sum_1, t.attn_out + x * residual)
    exact.close(found.sum_2, t.mlp_out + t.resid_mid * residual)
    after = [block.ln_1, block.ln_2] if norm == "post" else [torch.nn.Identity()] * 2
    exact.close(t.resid_mid, after[0](found.sum_1).detach())
    exact.close(t.resid_post, after[1](found.sum_2).detach())
    assert not t.resid_post.requires_grad


def test_moments_are_those_a_layer_norm_divides_by(exact):
    x = exact.normal(B, T, C) * 3 + 1
    mean, variance = moments(x).unbind(-1)
    var, mu = torch.var_mean(x, dim=-1, correction=0)
    exact.close(mean, mu)
    exact.close(variance, var)
    ln = torch.nn.LayerNorm(C, dtype=exact.dtype)
    exact.close(((x - mean[..., None]) / (variance[..., None] + ln.eps) ** 0.5), ln(x).detach())
    exact.close(moments(ln(x).detach())[..., 0], torch.zeros(B, T, dtype=exact.dtype))


@pytest.mark.parametrize("bias", [True, False])
def test_a_rewired_copy_is_a_block_built_so_with_the_same_weights(exact, bias):
    block = Block(C, 3, bias=bias, hidden=20)
    options = {"norm": "post", "residual": False, "activation": "relu"}
    built = Block(C, 3, bias=bias, hidden=20, **options).double()
    built.load_state_dict(block.state_dict())
    before = {name: w.clone() for name, w in block.state_dict().items()}
    copy, x = rewired(block, **options), exact.normal(B, T, C)
    exact.close(copy(x), built(x))
    with torch.no_grad():
        for p in copy.parameters():
            p.zero_()
    for name, w in block.state_dict().items():
        assert torch.equal(w, before[name])
    assert (block.norm, block.residual, block.mlp.activation) == ("pre", True, "gelu")


def test_there_is_no_other_way_to_wire_it():
    with pytest.raises(ChoiceError, match="sideways"):
        rewired(Block(C, 3), norm="sideways", residual=True, activation="gelu")


def test_nobody_elses_draws_change():
    block = Block(C, 3)
    before = torch.get_rng_state()
    rewired(block, norm="pre", residual=True, activation="gelu")
    assert torch.equal(torch.get_rng_state(), before)
