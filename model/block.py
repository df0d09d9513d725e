"""A transformer block: attention talks between tokens, the MLP works within one.

Both read the residual stream through a LayerNorm and add what they found back
to it (pre-norm), so the stream keeps its width C from bottom to top and blocks
stack like bricks. The other ways to build one (the norm after the sum, as in
2017, no norm, no residual) are there to be compared.

Axes: B batch, T time, C = n_embd, H = hidden, 4C unless told otherwise.
Sources: Vaswani et al. 2017, section 3.1 (residual connections, norm after);
Radford et al. 2019, section 2.3 (LayerNorm before each part, as in GPT-2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn

from model import errors
from model.cache import KVCache
from model.multihead import MultiHeadAttention, MultiHeadTrace

ACTIVATIONS = {"gelu": partial(F.gelu, approximate="tanh"), "relu": F.relu}  # GELU as GPT-2 has it
NORMS = ("pre", "post", "none")


@dataclass(frozen=True)
class BlockTrace:
    """One pass through a block; every tensor is `(B, T, C)` but those of the MLP's middle."""

    resid_pre: Tensor  # the stream as it came in
    normed_1: Tensor  # what attention reads
    attn: MultiHeadTrace
    attn_out: Tensor  # what attention adds
    resid_mid: Tensor  # resid_pre + attn_out
    normed_2: Tensor  # what the MLP reads
    hidden_pre: Tensor  # (B, T, H): c_fc of it
    hidden: Tensor  # (B, T, H): after the activation
    mlp_out: Tensor  # what the MLP adds
    resid_post: Tensor  # resid_mid + mlp_out


class MLP(nn.Module):
    """C -> H -> C for each token on its own, GELU or ReLU between.

    Raises `ChoiceError` for another activation.
    """

    def __init__(
        self,
        n_embd: int,
        *,
        hidden: int | None = None,
        bias: bool = True,
        activation: str = "gelu",
    ) -> None:
        super().__init__()
        check_choice("activation", activation, tuple(ACTIVATIONS))
        hidden = 4 * n_embd if hidden is None else hidden
        self.activation = activation
        self.c_fc = nn.Linear(n_embd, hidden, bias=bias)
        self.c_proj = nn.Linear(hidden, n_embd, bias=bias)

    def forward(self, x: Tensor, *, trace: list[tuple[Tensor, Tensor]] | None = None) -> Tensor:
        """`(B, T, C)` -> `(B, T, C)`. A `trace` records the middle before and after the activation."""
        hidden_pre = self.c_fc(x)  # (B, T, C) -> (B, T, H)
        hidden = ACTIVATIONS[self.activation](hidden_pre)
        if trace is not None:
            trace.append((hidden_pre, hidden))
        return self.c_proj(hidden)  # (B, T, H) -> (B, T, C)


class Block(nn.Module):
    """x + attention(LayerNorm(x)), then x + MLP(LayerNorm(x)).

    With `norm="post"` LayerNorm(x + attention(x)) and so on, with "none" no LayerNorm;
    without `residual` nothing of x is added. Dropout falls on what is added to the
    stream. The attention weights are not dropped: the fused attention of processors
    cannot, and training took twice as long. Raises `HeadsError`, `ChoiceError`.
    """

    def __init__(
        self,
        n_embd: int,
        n_head: int,
        *,
        bias: bool = True,
        dropout: float = 0.0,
        hidden: int | None = None,
        activation: str = "gelu",
        norm: str = "pre",
        residual: bool = True,
    ) -> None:
        super().__init__()
        check_choice("norm", norm, NORMS)
        self.norm, self.residual = norm, residual
        self.ln_1 = nn.LayerNorm(n_embd, bias=bias)
        self.attn = MultiHeadAttention(n_embd, n_head, bias=bias)
        self.ln_2 = nn.LayerNorm(n_embd, bias=bias)
        self.mlp = MLP(n_embd, hidden=hidden, bias=bias, activation=activation)
        self.drop = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        *,
        causal: bool = True,
        mask: Tensor | None = None,
        cache: KVCache | None = None,
        keep_heads: Tensor | None = None,
        trace: list[BlockTrace] | None = None,
    ) -> Tensor:
        """`(B, T, C)` -> `(B, T, C)`. In `keep_heads` `(B or 1, nh)` a 0 knocks a head out.

        A `mask` `(T, T)` stands in for the causal one. Handed a `trace`, it records every
        step into it.
        """
        heads: list[MultiHeadTrace] | None = None if trace is None else []
        middles: list[tuple[Tensor, Tensor]] | None = None if trace is None else []
        causal = causal and mask is None
        normed_1 = self.read(self.ln_1, x)
        attn_out = self.attn(
            normed_1, mask=mask, causal=causal, cache=cache, keep_heads=keep_heads, trace=heads
        )
        attn_out = self.drop(attn_out)
        middle = self.add(self.ln_1, x, attn_out)
        normed_2 = self.read(self.ln_2, middle)
        mlp_out = self.drop(self.mlp(normed_2, trace=middles))
        after = self.add(self.ln_2, middle, mlp_out)
        if trace is not None and heads is not None and middles is not None:
            trace.append(
                BlockTrace(
                    x,
                    normed_1,
                    heads[0],
                    attn_out,
                    middle,
                    normed_2,
                    *middles[0],
                    mlp_out,
                    after,
                )
            )
        return after

    def read(self, ln: nn.LayerNorm, x: Tensor) -> Tensor:
        """What a part reads of the stream."""
        return ln(x) if self.norm == "pre" else x

    def add(self, ln: nn.LayerNorm, x: Tensor, found: Tensor) -> Tensor:
        """The stream after a part: what it found, added to what was there."""
        after = x + found if self.residual else found
        return ln(after) if self.norm == "post" else after


def check_choice(name: str, found: str, choices: tuple[str, ...]) -> None:
    """`ChoiceError` for a choice there is not."""
    if found not in choices:
        raise errors.ChoiceError(name=name, found=found, choices=" | ".join(choices))
