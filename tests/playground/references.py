"""The numbers of each tab once more, by PyTorch itself: SDPA, softmax, einsum, nn.MultiheadAttention.

Each function takes a state without a mistake and returns {matrix: numbers}; nothing here
comes from model/ or from the tabs but the vectors and the W that a state stands for.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from playground.flow import w_of, x_of
from playground.state import State

Numbers = dict[str, Tensor]


def given(state: State) -> list[Tensor]:
    """q, k and v of all tokens, (T, C): x times W, or x itself."""
    x = x_of(state)
    return [x if w is None else torch.einsum("td,dc->tc", x, w) for w in w_of(state)]


def numbers(rows: list[list[float]]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def hidden(T: int) -> Tensor:
    """True above the diagonal."""
    i = torch.arange(T)
    return i[None, :] > i[:, None]


def survivors(state: State, *shape: int) -> Tensor:
    """1 where `F.dropout` keeps an entry, by PyTorch's own draws from the state's seed."""
    with torch.random.fork_rng():
        torch.manual_seed(state.dropout_seed)
        return (F.dropout(torch.ones(shape), state.dropout) > 0).double()


def attention(state: State, q: Tensor, k: Tensor, v: Tensor, typed, keep) -> Numbers:
    """One attention; `typed` weights or None, `keep` of dropout or None."""
    T = len(q)
    scores = torch.einsum("ic,jc->ij", q, k)
    scaled = scores / torch.tensor(q.size(1), dtype=torch.float64).sqrt() if state.scale else scores
    masked = scaled.clone()
    if state.causal:
        masked[hidden(T)] = -torch.inf
    weights = torch.softmax(masked, -1) if typed is None else numbers(typed)
    found = {"scores": scores, "scaled": scaled, "masked": masked, "weights": weights}
    if keep is not None:
        found["dropped"] = weights * keep / (1 - state.dropout)
    output = torch.einsum("ij,jc->ic", found.get("dropped", weights), v)
    if typed is None and keep is None:
        fused = F.scaled_dot_product_attention(
            *(t[None, None] for t in (q, k, v)),
            is_causal=state.causal,
            scale=None if state.scale else 1.0,
        )
        torch.testing.assert_close(output, fused[0, 0], rtol=1e-9, atol=1e-9)
        output = fused[0, 0]
    return found | {"output": output}


def self_attention(state: State) -> Numbers:
    q, k, v = given(state)
    typed = state.weights[0] if state.typed else None
    keep = survivors(state, len(q), len(q)) if state.dropout else None
    return {"vectors": x_of(state), "q": q, "k": k, "v": v} | attention(state, q, k, v, typed, keep)


def dot_product(state: State) -> Numbers:
    x = x_of(state)
    scores = torch.stack([(x[state.query] * row).sum() for row in x])[None]
    weights = numbers(state.weights[0]) if state.typed else torch.softmax(scores, -1)
    voices = torch.stack([w * row for w, row in zip(weights[0], x, strict=True)])
    running = torch.stack([voices[: n + 1].sum(0) for n in range(len(x))])
    divided = scores / scores.sum()
    return {
        "vectors": x, "scores": scores, "divided": divided, "weights": weights, "voices": voices,
        "running": running, "output": running[-1:],
    }  # fmt: skip


def four_weights(scaled: Tensor) -> Numbers:
    """The four maskings of scaled scores, by exponentials alone."""
    powers = (scaled - scaled.amax(-1, keepdim=True)).exp()
    share = powers / powers.sum(-1, keepdim=True)
    # Shifted anew within what is seen: the largest power may be a hidden one.
    low = scaled.masked_fill(hidden(len(scaled)), -1e300)
    inside = (low - low.amax(-1, keepdim=True)).exp().tril()
    after = share.tril()
    return {
        "weights": inside / inside.sum(-1, keepdim=True),
        "weights_after": after,
        "weights_renormalised": after / after.sum(-1, keepdim=True),  # 0 / 0 where all underflows
        "weights_none": share,
    }


def four_typed(typed: Tensor) -> Numbers:
    """The four maskings of weights typed by hand: the third share is of what is seen."""
    seen = typed.tril()
    share = seen / seen.sum(-1, keepdim=True)
    return {
        "weights": share, "weights_after": seen, "weights_renormalised": share, "weights_none": typed,
    }  # fmt: skip


def masking(state: State) -> Numbers:
    """The steps, the four weights, and beside each its row sums, future and leak."""
    x, T = x_of(state), len(state.tokens)

    def steps(x: Tensor) -> tuple[Numbers, Tensor]:
        q, k, v = (x if w is None else x @ w for w in w_of(state))
        plain = attention(state.but(causal=True, dropout=0.0), q, k, v, None, None)
        found = {"q": q, "k": k, "v": v, "scores": plain["scores"], "scaled": plain["scaled"]}
        if state.typed:
            typed = numbers(state.weights[0])
            return found | {"scaled": typed.log()} | four_typed(typed), v
        return found | four_weights(plain["scaled"]), v

    found, v = steps(x)
    found["vectors"] = x
    found["masked"] = torch.where(hidden(T), -torch.inf, found["scaled"])
    four = ("weights", "weights_after", "weights_renormalised", "weights_none")
    leaks = {name: [] for name in four}
    for t in range(T):
        erased = x.clone()
        erased[t + 1 :] = 0.0
        other, v_other = steps(erased)
        for name in four:
            moved = other[name][t] @ v_other - found[name][t] @ v
            leaks[name].append(moved.abs().max())
    for name in four:
        w = found[name]
        future = torch.stack([w[t, t + 1 :].sum() for t in range(T)])
        found[f"sums_{name}"] = torch.stack([w.sum(-1), future, torch.stack(leaks[name])], dim=-1)
    return found


def multi_head(state: State) -> tuple[list[Numbers], Numbers]:
    """(the numbers of each head, those after the heads)."""
    x, C, nh = x_of(state), state.channels, state.n_head
    q, k, v = given(state)
    hs, T = C // nh, len(x)
    keep = survivors(state, nh, T, T) if state.dropout else None
    heads = []
    for h in range(nh):
        own = slice(h * hs, (h + 1) * hs)
        typed = state.weights[h] if state.typed else None
        one = attention(
            state, q[:, own], k[:, own], v[:, own], typed, None if keep is None else keep[h]
        )
        one["head_output"] = one.pop("output")
        heads.append({"q": q[:, own], "k": k[:, own], "v": v[:, own]} | one)
    concat = torch.cat([one["head_output"] for one in heads], dim=1)
    w_out = w_of(state, out=True)[3]
    output = concat if w_out is None else torch.einsum("tc,cd->td", concat, w_out)
    return heads, {"vectors": x, "concat": concat, "output": output}


def module(state: State) -> tuple[Tensor, Tensor]:
    """(output (T, C), weights (nh, T, T)) of `nn.MultiheadAttention` with the state's W copied in."""
    x, C = x_of(state), state.channels
    *w, w_out = w_of(state, out=True)
    eye = torch.eye(C, dtype=torch.float64)
    mha = torch.nn.MultiheadAttention(C, state.n_head, bias=False, batch_first=True).double()
    with torch.no_grad():
        mha.in_proj_weight.copy_(torch.cat([(eye if m is None else m).T for m in w]))
        mha.out_proj.weight.copy_((eye if w_out is None else w_out).T)
        mask = hidden(len(x)) if state.causal else None
        output, weights = mha(x[None], x[None], x[None], attn_mask=mask, average_attn_weights=False)
    return output[0], weights[0]


def spoiled(state: State, name: str, mask: bool) -> tuple[Tensor, Tensor]:
    """(weights or dropped weights, output) of one attention with that mistake made in it."""
    q, k, v = given(state)
    T, hs = q.shape
    off = hidden(T) if mask else torch.zeros(T, T, dtype=torch.bool)
    scores = k @ q.T if name == "queries_and_keys_swapped" else q @ k.T
    usual = hs**0.5 if state.scale else 1.0
    by = {"no_scale": 1.0, "scale_without_root": hs, "scale_by_d_model": state.width**0.5}
    scaled = scores / by.get(name, usual)
    if mask and name == "mask_diagonal":
        off = off | torch.eye(T, dtype=torch.bool)
    if mask and name == "mask_inverted":
        off = ~off
    if name in ("no_mask", "mask_after_softmax"):
        off = torch.zeros_like(off)
    value = 0.0 if name == "mask_with_zero" else -torch.inf
    masked = torch.where(off, value, scaled)
    weights = torch.softmax(masked, 0 if name == "softmax_over_queries" else 1)
    if name == "mask_after_softmax" and mask:
        weights = weights.tril()
    if name == "divide_by_sum":
        seen = torch.where(off, 0.0, scaled)
        weights = seen / seen.sum(1, keepdim=True)
    if state.dropout:
        keep, p = survivors(state, T, T), state.dropout
        left = weights * keep
        weights = left / (p if name == "dropout_divides_by_p" else 1 - p)
        if name == "dropout_renormalised":
            weights = left / left.sum(1, keepdim=True)
    return weights, weights @ v
