"""The sums behind the numbers of the cheaper kinds: what the glass box writes out."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from playground.arithmetic import (
    Exp,
    Explanation,
    Num,
    cell,
    column_of,
    divide,
    over,
    products,
    row_of,
    total,
)
from playground.explain_weights import softmax_of
from playground.flow import Flow, Matrix

Why = Callable[[Flow, Matrix, int, int], Explanation]


def why_scaled(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    x = flow.get("vectors")
    made, d = products(row_of(x, i), row_of(x, j)), x.values.size(1)
    return over(made.parts, ["√", Num(d)], made.value / d**0.5)


def why_masked(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    if m.values[i, j] == -torch.inf:
        return Explanation([Num(-torch.inf)], -torch.inf)
    found = cell(flow.get("scaled"), i, j)
    return Explanation([found], found.value)


def why_weights(masked: str) -> Why:
    return lambda flow, m, i, j: softmax_of(row_of(flow.get(masked), i), j)


def why_output(weights: str) -> Why:
    return lambda flow, m, i, j: products(
        row_of(flow.get(weights), i), column_of(flow.get("vectors"), j)
    )


def why_apart(name: str) -> Why:
    """The largest |difference| of a row; each pair is written out."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        mine, full = row_of(flow.get(name), i), row_of(flow.get("output"), i)
        pairs = [["|", a, "−", b, "|"] for a, b in zip(mine, full, strict=True)]
        far = max(abs(a.value - b.value) for a, b in zip(mine, full, strict=True))
        return Explanation(["max (", *total(pairs, ","), ")"], far)

    return why


def why_phi(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    x = cell(flow.get("vectors"), i, j)
    if x.value > 0:
        return Explanation([x, "+", Num(1)], x.value + 1)
    return Explanation([Exp(x)], math.exp(x.value))


def why_similarity(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    if m.causal and j > i:
        return Explanation([Num(0.0)], 0.0)
    phi = flow.get("phi")
    return products(row_of(phi, i), row_of(phi, j))


def why_share(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    similar = flow.get("similarity")
    row = row_of(similar, i)
    seen = row[: i + 1] if m.causal else row
    return over(
        [row[j]], total([[n] for n in seen]), divide(row[j].value, sum(n.value for n in seen))
    )


def why_linear_output(causal: bool) -> Why:
    """By way of the sums over all tokens; causal, only the last token reads those shown."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        if causal and i < m.values.size(0) - 1:
            return why_output("weights_linear")(flow, m, i, j)
        feature = row_of(flow.get("phi"), i)
        top = products(feature, column_of(flow.get("kv"), j))
        bottom = products(feature, row_of(flow.get("z"), 0))
        return over(top.parts, bottom.parts, divide(top.value, bottom.value))

    return why


def why_kv(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    return products(column_of(flow.get("phi"), i), column_of(flow.get("vectors"), j))


def why_z(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    nums = column_of(flow.get("phi"), j)
    return Explanation(total([[n] for n in nums]), sum(n.value for n in nums))
