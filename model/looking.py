"""Looking inside a trained GPT: what its heads look at, what it would say after each
layer, and what changes without a part of it.

Everything is computed from a `ModelTrace`, or by running the model once more with
a part left out. Nothing is hooked or stored on the model.

Axes: T time, C = n_embd, V = vocab_size.
Sources: nostalgebraist 2020 (logit lens); Michel et al. 2019, "Are Sixteen Heads
Really Better than One?" (heads left out one at a time); Olsson et al. 2022 (what
heads look at, named by measure).
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from model.gpt import GPT, ModelTrace

LOCAL = 3  # how many tokens back still count as near


@torch.no_grad()
def trace_of(gpt: GPT, ids: list[int]) -> ModelTrace:
    """One traced pass over a text, batch of 1. Raises `TooLongError` beyond block_size."""
    trace: list[ModelTrace] = []
    gpt(torch.tensor([ids], device=gpt.wte.weight.device), trace=trace)
    return trace[0]


def attention_weights(trace: ModelTrace) -> Tensor:
    """`(n_layer, n_head, T, T)`: who looks at whom."""
    return torch.stack([block.attn.heads.weights[0] for block in trace.blocks])


@torch.no_grad()
def logit_lens(gpt: GPT, trace: ModelTrace, places: slice = slice(None)) -> Tensor:
    """What the stream would say if it ended after each block: `(n_layer, T, V)` probabilities.

    softmax(lm_head(ln_f(resid_post))), at these places of the text alone: a large
    vocabulary makes each of them large.
    """
    streams = torch.cat([block.resid_post[:, places] for block in trace.blocks])  # (n_layer, T, C)
    return gpt.lm_head(gpt.ln_f(streams)).softmax(dim=-1)


def stream_norms(trace: ModelTrace) -> Tensor:
    """Length of each token's vector before the first block and after each: `(n_layer + 1, T)`."""
    streams = [trace.embedded, *(block.resid_post for block in trace.blocks)]
    return torch.cat(streams).double().norm(dim=-1)  # (n_layer + 1, T, C) -> (n_layer + 1, T)


PATTERNS = ("previous", "first", "self", "same", "local")


def patterns(weights: Tensor, ids: list[int]) -> dict[str, Tensor]:
    """How much of its attention a head gives to certain places, measured: each `(...)` from 0 to 1.

    weights `(..., T, T)`. `previous`: the token before. `first`: the first token of all.
    `self`: the token itself. `same`: earlier tokens that are the same token. `local`: the
    LOCAL tokens before. Means over the tokens that have such a place (from the second on;
    from the third on for `first`, where it is not also the one before; for `same` only
    tokens seen before). NaN where no token has.

    >>> causal = torch.tensor([[1.0, 0.0], [0.75, 0.25]])
    >>> {name: score.item() for name, score in patterns(causal, [5, 5]).items()}
    {'previous': 0.75, 'first': nan, 'self': 0.25, 'same': 0.75, 'local': 0.75}
    """
    T = len(ids)
    i, j = torch.arange(T).unsqueeze(1), torch.arange(T)  # query, key
    token = torch.tensor(ids)
    looked = {
        "previous": (i - j == 1),
        "first": (j == 0) & (i >= 2),
        "self": (i == j) & (i >= 1),
        "same": (token.unsqueeze(1) == token) & (j < i),
        "local": (i > j) & (i - j <= LOCAL),
    }
    return {
        name: (weights * at).sum(dim=-1)[..., at.any(dim=-1)].mean(dim=-1)
        for name, at in looked.items()
    }


def even_patterns(ids: list[int]) -> dict[str, float]:
    """The same measures for a head that looks at all tokens alike: what chance would give."""
    T = len(ids)
    even = torch.ones(T, T).tril() / torch.arange(1, T + 1).unsqueeze(1)
    return {name: float(score) for name, score in patterns(even, ids).items()}


@torch.no_grad()
def without(
    gpt: GPT, ids: list[int], heads: Iterable[tuple[int, int]] = (), blocks: Iterable[int] = ()
) -> Tensor:
    """Logits `(V,)` of the next token with these heads (layer, head) and blocks adding nothing."""
    L, nh = gpt.config.n_layer, gpt.config.n_head
    keep_heads, keep_blocks = torch.ones(L, 1, nh), torch.ones(L, 1)
    for layer, head in heads:
        keep_heads[layer, 0, head] = 0
    for layer in blocks:
        keep_blocks[layer, 0] = 0
    idx = torch.tensor([ids])
    return gpt(idx, keep_heads=keep_heads, keep_blocks=keep_blocks)[0, -1]


@torch.no_grad()
def each_head_left_out(gpt: GPT, ids: list[int]) -> Tensor:
    """The next token's logits without each single head, `(n_layer, n_head, V)`.

    A layer's heads in one batch, which begins there: what lies below stays as it was.
    """
    nh = gpt.config.n_head
    found = []
    for layer, whole in enumerate(trace_of(gpt, ids).blocks):
        x = whole.resid_pre.expand(nh, -1, -1)  # (1, T, C) -> (nh, T, C)
        x = gpt.blocks[layer](x, causal=gpt.config.causal, keep_heads=1 - torch.eye(nh))
        for block in gpt.blocks[layer + 1 :]:
            x = block(x, causal=gpt.config.causal)
        found.append(gpt.lm_head(gpt.ln_f(x[:, -1])))  # (nh, C) -> (nh, V)
    return torch.stack(found)


def surprise(before: Tensor, after: Tensor) -> Tensor:
    """How far a prediction moved: KL(before ‖ after) in nats, from logits `(..., V)`.

    Σ p ln(p / q): 0 where nothing changed. In float64: a small one would drown in rounding,
    and come out below 0.
    """
    p, q = before.double().log_softmax(dim=-1), after.double().log_softmax(dim=-1)
    return (p.exp() * (p - q)).sum(dim=-1)
