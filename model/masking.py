"""Four ways to apply a mask, from the same scaled scores, and what leaks through each.

`before` is the one that transformers use. `renormalised` gives the same numbers
by a detour. `after` looks as if it hid the future, but its rows no longer sum to
1, and the sums still depend on what is hidden. `none` is cheating.

Source: Vaswani et al. 2017, section 3.2.3 (mask with −∞ before softmax).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Masking = Callable[[Tensor, Tensor], Tensor]  # scaled (..., Tq, Tk), mask -> weights


def before(scaled: Tensor, mask: Tensor) -> Tensor:
    """−∞ before softmax: e^−∞ = 0, and the rest of the row shares the 1."""
    return scaled.masked_fill(~mask, -torch.inf).softmax(dim=-1)


def after(scaled: Tensor, mask: Tensor) -> Tensor:
    """Zeros after softmax: the hidden scores still sat in the denominator."""
    return scaled.softmax(dim=-1).masked_fill(~mask, 0.0)


def renormalised(scaled: Tensor, mask: Tensor) -> Tensor:
    """Zeros after softmax, then each row divided by its sum: equal to `before`."""
    weights = scaled.softmax(dim=-1).masked_fill(~mask, 0.0)
    return weights / weights.sum(dim=-1, keepdim=True)


def none(scaled: Tensor, mask: Tensor) -> Tensor:
    """No mask at all: every token reads the future."""
    return scaled.softmax(dim=-1)


MASKINGS: dict[str, Masking] = {
    "before": before,
    "after": after,
    "renormalised": renormalised,
    "none": none,
}


def future_weight(weights: Tensor, mask: Tensor) -> Tensor:
    """`(Tq, Tk)` -> `(Tq,)`: the weight that each query gives to what it may not see."""
    return weights.masked_fill(mask, 0.0).sum(dim=-1)


def leak(attention: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """How far each token's output moves when everything after it is set to zero.

    `attention` takes x `(..., T, d)` to outputs `(..., T, hv)`. Returns `(T,)`: 0 for
    every token means that nothing of the future reaches the past, by any way.
    """
    T = x.size(-2)
    seen = torch.ones(T, T, dtype=torch.bool).tril()  # row t: the tokens up to t
    cut = x * seen.unsqueeze(-1)  # (T, d) * (T, T, 1) -> (T, T, d): one copy for each t
    moved = attention(cut) - attention(x)  # (T, T, hv)
    return moved.diagonal(dim1=0, dim2=1).abs().amax(dim=0)  # copy t, token t: (hv, T) -> (T,)
