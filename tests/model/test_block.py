"""A block against PyTorch's own, and causal attention as a block asks for it."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from model import Block, attend, attend_fast, causal_mask

B, T = 2, 8


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_a_block_is_pytorchs_encoder_layer(exact, bias, causal):
    """nn.TransformerEncoderLayer with the norms first, given GPT-2's GELU."""
    theirs = nn.TransformerEncoderLayer(
        12,
        3,
        48,
        dropout=0.0,
        activation=lambda x: F.gelu(x, approximate="tanh"),
        batch_first=True,
        norm_first=True,
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
    ours = Block(12, 3, bias=bias).to(exact.dtype)
    ours.load_state_dict(weights)
    x = exact.normal(B, T, 12)
    hide = ~causal_mask(T) if causal else None
    exact.close(ours(x, causal=causal), theirs(x, src_mask=hide))


@pytest.mark.parametrize(("Tq", "Tk"), [(5, 5), (1, 5), (1, 1), (2, 5), (4, 5)])
def test_causal_fast_attention_is_the_mask_spelled_out(exact, Tq, Tk):
    q, k, v = exact.normal(2, 3, Tq, 4), exact.normal(2, 3, Tk, 4), exact.normal(2, 3, Tk, 4)
    exact.close(attend_fast(q, k, v, causal=True), attend(q, k, v, causal_mask(Tq, Tk)).output)
