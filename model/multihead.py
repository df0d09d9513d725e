"""Multi-head attention: several attentions side by side, then mixed.

Each head projects ALL of the input down to its own head_size numbers, attends,
and the heads' outputs are laid side by side (concatenated) and projected once
more. Two readable routes give the same numbers:

- `multi_head_loop`: one head after another, as one would explain it;
- `multi_head`: all heads at once, one matrix product each for q, k and v.

`MultiHeadAttention` is the module a GPT is built from: self-attention, and
cross-attention when it is handed a `memory`.

Axes: B batch, T time, C = n_embd, nh = n_head, hs = head_size = C / nh.
Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model import errors
from model.attention import (
    AttentionTrace,
    attend,
    attend_fast,
    causal_mask,
    check_finite,
    check_overflow,
    draw_keep,
)
from model.cache import KVCache


@dataclass(frozen=True)
class MultiHeadTrace:
    """One multi-head attention: `heads` has axes `(..., nh, Tq, hs)`."""

    heads: AttentionTrace
    concat: Tensor  # (..., Tq, C): the heads' outputs side by side
    output: Tensor  # (..., Tq, C): mixed by the last projection


def split_heads(x: Tensor, n_head: int) -> Tensor:
    """`(..., T, C)` -> `(..., nh, T, hs)`: columns 0 to hs-1 are head 0's, and so on.

    Raises `HeadsError` when `n_head` does not divide the width.
    """
    *leading, C = x.shape
    check_heads(C, n_head)
    return x.reshape(*leading, n_head, C // n_head).transpose(
        -3, -2
    )  # (..., T, nh, hs) -> (..., nh, T, hs)


def merge_heads(heads: Tensor) -> Tensor:
    """`(..., nh, T, hs)` -> `(..., T, C)`: the inverse of `split_heads`."""
    return heads.transpose(-3, -2).flatten(-2)  # (..., T, nh, hs) -> (..., T, nh * hs)


def multi_head(
    x: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_out: Tensor | None,
    n_head: int,
    mask: Tensor | None = None,
    *,
    memory: Tensor | None = None,
    scale: bool = True,
    dropout: float = 0.0,
    keep: Tensor | None = None,
) -> MultiHeadTrace:
    """All heads at once. x `(..., T, d_in)`, W `(d_in, C)`, w_out `(C, C)` or None.

    Keys and values come from `memory` `(..., Tk, d_in)` where one is given
    (cross-attention), else from x. Raises what `attend` raises, `ProjectionError`
    and `HeadsError`. Source: Vaswani et al. 2017, section 3.2.2.
    """
    check_projections(x, w_query, w_key, w_value, w_out, n_head, memory)
    memory = x if memory is None else memory
    q = split_heads(x @ w_query, n_head)  # (..., T, d_in) -> (..., T, C) -> (..., nh, T, hs)
    k = split_heads(memory @ w_key, n_head)
    v = split_heads(memory @ w_value, n_head)
    check_overflow((x, memory, w_query, w_key, w_value), q=q, k=k, v=v)
    heads = attend(q, k, v, mask, scale=scale, dropout=dropout, keep=keep)
    concat = merge_heads(heads.output)  # (..., nh, T, hs) -> (..., T, C)
    output = concat if w_out is None else concat @ w_out
    check_overflow((concat, w_out), output=output)
    return MultiHeadTrace(heads, concat, output)


def multi_head_loop(
    x: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_out: Tensor | None,
    n_head: int,
    mask: Tensor | None = None,
    *,
    memory: Tensor | None = None,
    scale: bool = True,
) -> MultiHeadTrace:
    """The same numbers as `multi_head`, one head after another.

    Head h owns columns h·hs to (h+1)·hs of each W: it reads all d_in inputs and
    writes hs numbers. Same arguments, same errors.
    """
    check_projections(x, w_query, w_key, w_value, w_out, n_head, memory)
    memory = x if memory is None else memory
    traces = []
    for wq, wk, wv in zip(
        w_query.chunk(n_head, dim=-1),  # nh matrices (d_in, hs)
        w_key.chunk(n_head, dim=-1),
        w_value.chunk(n_head, dim=-1),
        strict=True,
    ):
        q, k, v = x @ wq, memory @ wk, memory @ wv  # (..., T, d_in) -> (..., T, hs)
        check_overflow((x, memory, wq, wk, wv), q=q, k=k, v=v)
        traces.append(attend(q, k, v, mask, scale=scale))
    concat = torch.cat(
        [trace.output for trace in traces], dim=-1
    )  # nh × (..., T, hs) -> (..., T, C)
    output = concat if w_out is None else concat @ w_out
    check_overflow((concat, w_out), output=output)
    return MultiHeadTrace(stack_traces(traces), concat, output)


def multi_head_fast(
    x: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_out: Tensor | None,
    n_head: int,
    mask: Tensor | None = None,
    *,
    memory: Tensor | None = None,
    scale: bool = True,
) -> Tensor:
    """The `output` of `multi_head`, `(..., T, C)`, through PyTorch's fused attention."""
    memory = x if memory is None else memory
    q, k, v = (
        split_heads(source @ w, n_head)
        for source, w in ((x, w_query), (memory, w_key), (memory, w_value))
    )
    concat = merge_heads(attend_fast(q, k, v, mask, scale=scale))
    return concat if w_out is None else concat @ w_out


class MultiHeadAttention(nn.Module):
    """Self-attention, or cross-attention when called with a `memory`.

    `c_attn` holds W_q, W_k and W_v side by side, `c_proj` is the projection after
    the heads are joined: GPT-2's names and layout. Raises `HeadsError` when
    `n_head` does not divide `n_embd`.
    """

    def __init__(
        self, n_embd: int, n_head: int, *, bias: bool = True, dropout: float = 0.0
    ) -> None:
        super().__init__()
        check_heads(n_embd, n_head)
        self.n_embd, self.n_head, self.dropout = n_embd, n_head, dropout
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=bias)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=bias)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        *,
        mask: Tensor | None = None,
        causal: bool = False,
        cache: KVCache | None = None,
        keep_heads: Tensor | None = None,
        trace: list[MultiHeadTrace] | None = None,
    ) -> Tensor:
        """x `(B, T, C)`, memory `(B, Tk, C)` -> `(B, T, C)`.

        With a `cache` the new keys and values join those already in it, and a
        mask must be `(T, cached + T)`; `causal` stands for the causal mask of that
        shape. `keep_heads` `(B or 1, nh)` multiplies each head's output: 0 knocks it
        out. Handed a `trace`, it records every step into it and takes the traced
        route; else the fast one.
        """
        q, k, v = (split_heads(part, self.n_head) for part in self.project(x, memory))
        if cache is not None:
            k, v = cache.append(k, v)  # (B, nh, Tk, hs)
        dropout = self.dropout if self.training else 0.0
        if trace is None:
            output = attend_fast(q, k, v, mask, causal=causal, dropout=dropout)
            return self.c_proj(merge_heads(kept_heads(output, keep_heads)))
        if causal:
            mask = causal_mask(q.size(-2), k.size(-2)).to(q.device)
        keep = None
        if dropout:
            keep = draw_keep((*q.shape[:-1], k.size(-2)), dropout).to(q.device)
        heads = attend(q, k, v, mask, dropout=dropout, keep=keep)
        concat = merge_heads(kept_heads(heads.output, keep_heads))  # (B, nh, T, hs) -> (B, T, C)
        output = self.c_proj(concat)
        trace.append(MultiHeadTrace(heads, concat, output))
        return output

    def project(self, x: Tensor, memory: Tensor | None) -> tuple[Tensor, ...]:
        """q from x, k and v from memory (or x): three `(B, T, C)`."""
        if memory is None:
            return self.c_attn(x).chunk(3, dim=-1)  # (B, T, 3C) -> 3 × (B, T, C)
        C, bias = self.n_embd, self.c_attn.bias
        w_q, w_kv = self.c_attn.weight.split([C, 2 * C])
        b_q, b_kv = (None, None) if bias is None else bias.split([C, 2 * C])
        q = nn.functional.linear(x, w_q, b_q)
        return (q, *nn.functional.linear(memory, w_kv, b_kv).chunk(2, dim=-1))


def kept_heads(output: Tensor, keep: Tensor | None) -> Tensor:
    """The heads' outputs `(B, nh, T, hs)`, each times its number in `keep` `(B or 1, nh)`."""
    return output if keep is None else output * keep[..., None, None]


def stack_traces(traces: list[AttentionTrace]) -> AttentionTrace:
    """nh traces of `(..., T, ·)` -> one of `(..., nh, T, ·)`."""
    return AttentionTrace(
        *(torch.stack([getattr(t, name) for t in traces], dim=-3) for name in AttentionTrace.AXES)
    )


def check_heads(width: int, n_head: int) -> None:
    """`n_head` is at least 1 and divides the width; else `HeadsError`."""
    if n_head < 1 or width % n_head:
        raise errors.HeadsError(width=width, n_head=n_head)


def check_projections(
    x: Tensor,
    w_query: Tensor,
    w_key: Tensor,
    w_value: Tensor,
    w_out: Tensor | None,
    n_head: int,
    memory: Tensor | None,
) -> None:
    """Each W has a row for each input and columns that split evenly among the heads."""
    memory = x if memory is None else memory
    for name, tensor in (("x", x), ("memory", memory)):
        if tensor.dim() < 2:
            raise errors.RankError(
                name=name, rank=tensor.dim(), shape=tuple(tensor.shape), needed=2
            )
        check_finite(name, tensor)
    for name, w, width in (
        ("w_query", w_query, x.size(-1)),
        ("w_key", w_key, memory.size(-1)),
        ("w_value", w_value, memory.size(-1)),
        ("w_out", w_out, w_value.size(-1)),
    ):
        if w is None:
            continue
        if w.size(0) != width:
            raise errors.ProjectionError(name=name, rows=w.size(0), width=width)
        check_heads(w.size(-1), n_head)
        check_finite(name, w)
