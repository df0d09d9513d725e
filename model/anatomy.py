"""One block taken apart: what its LayerNorms measure, what is added, the same weights wired otherwise.

A `BlockTrace` holds every step of a block; here is what lies between two of them:
the mean and the variance that a LayerNorm divides by, and the sum of stream and part
before a norm that may follow it.

Axes: B batch, T time, C = n_embd.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from model.block import Block, BlockTrace
from model.steps import residual


@dataclass(frozen=True)
class Anatomy:
    """A block's trace with the two sums: `(B, T, C)`, the streams themselves but for post-norm."""

    trace: BlockTrace
    sum_1: Tensor  # x + attention's part; that part alone without residual
    sum_2: Tensor  # the stream + the MLP's part; that part alone without residual


@torch.no_grad()
def anatomy(block: Block, x: Tensor, *, causal: bool = True) -> Anatomy:
    """One traced pass of x `(B, T, C)` through a block."""
    traces: list[BlockTrace] = []
    block(x, causal=causal, trace=traces)
    (t,) = traces
    if not block.residual:
        return Anatomy(t, t.attn_out, t.mlp_out)
    return Anatomy(t, residual(t.resid_pre, t.attn_out), residual(t.resid_mid, t.mlp_out))


def moments(x: Tensor) -> Tensor:
    """Mean and variance of each token's numbers, as LayerNorm takes them: `(..., C)` -> `(..., 2)`.

    Σ x / C and Σ (x − mean)² / C: divided by C, not by C − 1. Source: Ba et al. 2016,
    "Layer Normalization", equation 3.

    >>> moments(torch.tensor([2.0, 4.0, 6.0, 8.0])).tolist()
    [5.0, 5.0]
    """
    return torch.stack([x.mean(dim=-1), x.var(dim=-1, correction=0)], dim=-1)


@torch.no_grad()
def rewired(block: Block, *, norm: str, residual: bool, activation: str) -> Block:
    """A copy in float64 with the same weights, wired otherwise. Raises `ChoiceError`."""
    with torch.device("meta"):  # sizes alone: nothing is drawn here
        copy = Block(
            block.attn.n_embd,
            block.attn.n_head,
            bias=block.mlp.c_fc.bias is not None,
            hidden=block.mlp.c_fc.out_features,
            activation=activation,
            norm=norm,
            residual=residual,
        )
    weights = {name: w.to(torch.float64, copy=True) for name, w in block.state_dict().items()}
    copy.load_state_dict(weights, assign=True)
    return copy
