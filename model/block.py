"""A transformer block: attention talks between tokens, the MLP works within one.

Both read the residual stream through a LayerNorm and add what they found back
to it (pre-norm), so the stream keeps its width C from bottom to top and blocks
stack like bricks.

Axes: B batch, T time, C = n_embd.
Sources: Vaswani et al. 2017, section 3.1 (residual connections); Radford et al.
2019, section 2.3 (LayerNorm before each part, as in GPT-2).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor, nn

from model.cache import KVCache
from model.multihead import MultiHeadAttention, MultiHeadTrace


@dataclass(frozen=True)
class BlockTrace:
    """One pass through a block; every tensor is `(B, T, C)`."""

    resid_pre: Tensor  # the stream as it came in
    attn: MultiHeadTrace
    attn_out: Tensor  # what attention adds
    resid_mid: Tensor  # resid_pre + attn_out
    mlp_out: Tensor  # what the MLP adds
    resid_post: Tensor  # resid_mid + mlp_out


class MLP(nn.Module):
    """C -> 4C -> C for each token on its own, GELU between (GPT-2's, by tanh)."""

    def __init__(self, n_embd: int, *, bias: bool = True) -> None:
        super().__init__()
        self.c_fc = nn.Linear(n_embd, 4 * n_embd, bias=bias)
        self.c_proj = nn.Linear(4 * n_embd, n_embd, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """`(B, T, C)` -> `(B, T, C)`."""
        hidden = F.gelu(self.c_fc(x), approximate="tanh")  # (B, T, C) -> (B, T, 4C)
        return self.c_proj(hidden)  # (B, T, 4C) -> (B, T, C)


class Block(nn.Module):
    """x + attention(LayerNorm(x)), then x + MLP(LayerNorm(x)).

    Dropout falls on what is added to the stream. The attention weights are not
    dropped: the fused attention of processors cannot, and training took twice as long.
    """

    def __init__(
        self, n_embd: int, n_head: int, *, bias: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(n_embd, bias=bias)
        self.attn = MultiHeadAttention(n_embd, n_head, bias=bias)
        self.ln_2 = nn.LayerNorm(n_embd, bias=bias)
        self.mlp = MLP(n_embd, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        *,
        causal: bool = True,
        cache: KVCache | None = None,
        keep_heads: Tensor | None = None,
        trace: list[BlockTrace] | None = None,
    ) -> Tensor:
        """`(B, T, C)` -> `(B, T, C)`. In `keep_heads` `(B or 1, nh)` a 0 knocks a head out.

        Handed a `trace`, it records every step into it.
        """
        heads: list[MultiHeadTrace] | None = None if trace is None else []
        attn_out = self.attn(
            self.ln_1(x), causal=causal, cache=cache, keep_heads=keep_heads, trace=heads
        )
        attn_out = self.drop(attn_out)
        middle = x + attn_out
        mlp_out = self.drop(self.mlp(self.ln_2(middle)))
        after = middle + mlp_out
        if trace is not None and heads is not None:
            trace.append(BlockTrace(x, heads[0], attn_out, middle, mlp_out, after))
        return after
