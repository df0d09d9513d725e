"""A block against PyTorch's own, and causal attention as a block asks for it."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from model import Block, attend, attend_fast, causal_mask
from model.errors import ChoiceError

B, T = 2, 8


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize(("activation", "hidden"), [("gelu", 48), ("relu", 20)])
def test_a_block_is_pytorchs_encoder_layer(exact, bias, causal, norm, activation, hidden):
    """nn.TransformerEncoderLayer, the norms before or after, given GPT-2's GELU."""
    theirs = nn.TransformerEncoderLayer(
        12,
        3,
        hidden,
        dropout=0.0,
        activation=F.relu if activation == "relu" else gpt2_gelu,
        batch_first=True,
        norm_first=norm == "pre",
        bias=bias,
        dtype=exact.dtype,
    )
    with torch.no_grad():
        for p in theirs.parameters():
            p.normal_(std=0.4)
    names = {
        "self_attn.in_proj_": "attn.c_attn.",
        "self_attn.out_proj.": "attn.c_proj.",
        "linear1.": "mlp.c_fc.",
        "linear2.": "mlp.c_proj.",
        "norm1.": "ln_1.",
        "norm2.": "ln_2.",
    }
    weights = {}
    for name, p in theirs.state_dict().items():
        (old,) = (old for old in names if name.startswith(old))
        weights[name.replace(old, names[old])] = p
    ours = Block(12, 3, bias=bias, hidden=hidden, activation=activation, norm=norm).to(exact.dtype)
    ours.load_state_dict(weights)
    x = exact.normal(B, T, 12)
    hide = ~causal_mask(T) if causal else None
    exact.close(ours(x, causal=causal), theirs(x, src_mask=hide))
    exact.close(
        ours(x, mask=None if hide is None else ~hide, causal=False), theirs(x, src_mask=hide)
    )


def gpt2_gelu(x):
    return F.gelu(x, approximate="tanh")


@pytest.mark.parametrize("norm", ["pre", "post", "none"])
@pytest.mark.parametrize("residual", [True, False])
def test_a_trace_adds_up(exact, norm, residual):
    """Every step of a traced block follows from the one before, and its end is the untraced one."""
    block = Block(12, 3, norm=norm, residual=residual).to(exact.dtype)
    with torch.no_grad():
        for p in block.parameters():
            p.normal_(std=0.4)
    x, found = exact.normal(B, T, 12), []
    exact.close(block(x, trace=found), block(x))
    (t,) = found

    def normal(ln, y):
        return F.layer_norm(y, (12,), ln.weight, ln.bias)

    def after(ln, y, part):
        total = y + part if residual else part
        return normal(ln, total) if norm == "post" else total

    exact.close(t.resid_pre, x)
    exact.close(t.normed_1, normal(block.ln_1, x) if norm == "pre" else x)
    exact.close(t.attn.output, t.attn_out)
    exact.close(t.resid_mid, after(block.ln_1, x, t.attn_out))
    exact.close(t.normed_2, normal(block.ln_2, t.resid_mid) if norm == "pre" else t.resid_mid)
    exact.close(t.hidden, gpt2_gelu(t.hidden_pre))
    exact.close(t.mlp_out, block.mlp.c_proj(t.hidden))
    exact.close(t.resid_post, after(block.ln_2, t.resid_mid, t.mlp_out))


@pytest.mark.parametrize("wrong", [{"norm": "before"}, {"activation": "tanh"}])
def test_a_block_built_otherwise_is_refused(wrong):
    with pytest.raises(ChoiceError, match=next(iter(wrong.values()))):
        Block(12, 3, **wrong)


@pytest.mark.parametrize(("Tq", "Tk"), [(5, 5), (1, 5), (1, 1), (2, 5), (4, 5)])
def test_causal_fast_attention_is_the_mask_spelled_out(exact, Tq, Tk):
    q, k, v = exact.normal(2, 3, Tq, 4), exact.normal(2, 3, Tk, 4), exact.normal(2, 3, Tk, 4)
    exact.close(attend_fast(q, k, v, causal=True), attend(q, k, v, causal_mask(Tq, Tk)).output)
