"""The glass box: the arithmetic behind any number on the screen, with its own digits.

Each step has candidates: the ways in which its numbers may have come about,
the right one first, then those of the known mistakes. A candidate is only ever
shown when its arithmetic really gives the number in the cell, so that no
explanation can claim what the model did not do.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from playground.arithmetic import (
    Explanation,
    Num,
    add_up,
    cell,
    column_of,
    equal,
    over,
    products,
    row_of,
    total,
)
from playground.explain_weights import (
    Candidate,
    future_sum,
    kept,
    kept_share,
    row_sum,
    share_of,
    softmax_column,
    softmax_row,
    zeroed,
)
from playground.flow import Flow, Matrix


def explain(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    """The first candidate whose arithmetic gives the number in the cell."""
    found = float(m.values[i, j])
    candidates = [m.why] if m.why else CANDIDATES.get(m.name, [])
    for candidate in candidates:
        made = candidate(flow, m, i, j)
        if made is not None and equal(made.value, found):
            return made
    return Explanation([], found)


# q, k, v: a row of X times a column of W.


def projected(w_name: str) -> Candidate:
    def candidate(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
        x, w = flow.get("vectors"), flow.facts.get(w_name)
        if x is None:
            return None
        column = m.head * m.values.size(1) + j  # head h owns columns h·hs to (h+1)·hs
        if w is None:
            return Explanation([cell(x, i, column)], float(x.values[i, column]))
        made = products(row_of(x, i), w_column(w_name, w, column))
        found = float(m.values[i, j])
        if equal(made.value, found):
            return made
        return from_slice(flow, m, i, j, w_name, w) or from_elsewhere(x, w_name, w, found)

    return candidate


def w_column(name: str, w: Tensor, j: int) -> list[Num]:
    return [Num(v, (name, 0, i, j)) for i, v in enumerate(w[:, j].tolist())]


def from_slice(flow: Flow, m: Matrix, i: int, j: int, w_name: str, w: Tensor):
    """Only the head's own slice of the inputs: the sum is cut short."""
    x, nh = flow.get("vectors"), flow.facts.get("n_head", 1)
    if x.values.size(1) % nh:
        return None
    width = x.values.size(1) // nh
    part = slice(m.head * width, (m.head + 1) * width)
    made = products(row_of(x, i)[part], w_column(w_name, w, m.head * m.values.size(1) + j)[part])
    return made if equal(made.value, float(m.values[i, j])) else None


def from_elsewhere(x: Matrix, w_name: str, w: Tensor, found: float) -> Explanation | None:
    """The product of another token or another column: a tensor was cut up wrongly."""
    near = torch.isclose(
        x.values @ w, torch.tensor(found, dtype=torch.float64), rtol=1e-9, atol=1e-12
    )
    if not near.any():
        return None
    i, j = near.nonzero()[0].tolist()
    return products(row_of(x, i), w_column(w_name, w, j))


# scores, scaled, masked


def dot_product(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
    q, k = flow.get("q", m.head), flow.get("k", m.head)
    return products(row_of(q, i), row_of(k, j)) if q and k else None


def dot_product_swapped(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
    return dot_product(flow, m, j, i)


def dot_with_query(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
    x, query = flow.get("vectors"), flow.facts.get("query")
    return None if x is None or query is None else products(row_of(x, query), row_of(x, j))


def divided_by(root: bool, size: str) -> Candidate:
    """scores ÷ √size, or ÷ size; size is a fact of the flow."""

    def candidate(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
        score, d = cell(flow.get("scores", m.head), i, j), flow.facts.get(size)
        if score is None or not d:
            return None
        by = d**0.5 if root else d
        bottom = ["√", Num(d)] if root else [Num(d)]
        return over([score], bottom, score.value / by)

    return candidate


def copied(name: str) -> Candidate:
    def candidate(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
        num = cell(flow.get(name, m.head), i, j)
        return Explanation([num], num.value) if num else None

    return candidate


def log_of(name: str) -> Candidate:
    """The score that softmax turns into a typed weight: its logarithm; ln 0 = −∞."""

    def candidate(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
        weight = cell(flow.get(name, m.head), i, j)
        if weight is None or weight.value < 0:
            return None
        return Explanation(["ln", weight], math.log(weight.value) if weight.value else -math.inf)

    return candidate


def constant(value: float) -> Candidate:
    def candidate(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        return Explanation([Num(value)], value)

    return candidate


# output, and what follows the heads


def weighted_sum(values: str, weights: tuple[str, ...] = ("dropped", "weights")) -> Candidate:
    """Σ over the tokens: weight × value."""

    def candidate(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
        w = next((found for n in weights if (found := flow.get(n, m.head))), None)
        v = flow.get(values, m.head)
        return products(row_of(w, i), column_of(v, j)) if w and v else None

    return candidate


def voice(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
    weight, x = cell(flow.get("weights"), 0, i), cell(flow.get("vectors"), i, j)
    if weight is None or x is None:
        return None
    return Explanation([weight, "×", x], weight.value * x.value)


def running_sum(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
    voices = flow.get("voices")
    if voices is None:
        return None
    nums = [cell(voices, r, j) for r in range(i + 1)]
    return Explanation(total([[n] for n in nums]), add_up(n.value for n in nums))


def all_voices(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
    voices = flow.get("voices")
    return running_sum(flow, m, voices.values.size(0) - 1, j) if voices else None


def joined(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
    """A number of the concatenation: the output of the head that owns the column."""
    hs = m.values.size(1) // flow.facts["n_head"]
    head = flow.get("head_output", j // hs)
    num = cell(head, i, j % hs)
    if num is not None and equal(num.value, float(m.values[i, j])):
        return Explanation([num], num.value)
    for h in range(flow.facts["n_head"]):  # a wrong merge: whose number is it really?
        head = flow.get("head_output", h)
        if head is None:
            continue
        near = (head.values == m.values[i, j]).nonzero()
        if len(near):
            num = cell(head, *near[0].tolist())
            return Explanation([num], num.value)
    return None


def mixed(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
    """The last projection: a row of the concatenation times a column of W_o."""
    concat, w = flow.get("concat"), flow.facts.get("w_out")
    if concat is None or w is None:
        return None
    return products(row_of(concat, i), w_column("w_out", w, j))


CANDIDATES: dict[str, list[Candidate]] = {
    "q": [projected("w_query")],
    "k": [projected("w_key")],
    "v": [projected("w_value")],
    "scores": [dot_product, dot_product_swapped, dot_with_query],
    "scaled": [
        divided_by(True, "head_size"),
        copied("scores"),
        divided_by(True, "d_model"),
        divided_by(False, "head_size"),
        log_of("weights_none"),
    ],
    "masked": [copied("scaled"), constant(-math.inf), constant(0.0)],
    "divided": [share_of("scores")],
    "weights": [
        softmax_row("masked"),
        softmax_row("scores"),
        zeroed,
        softmax_column,
        share_of("masked"),
        share_of("scores"),
    ],
    "weights_after": [zeroed, copied("weights_none"), constant(0.0)],
    "weights_renormalised": [share_of("weights_after")],
    "weights_none": [softmax_row("scaled")],
    "dropped": [kept(), kept(by_p=True), kept_share, copied("weights")],
    "voices": [voice],
    "running": [running_sum],
    "head_output": [weighted_sum("v")],
    "concat": [joined],
    "output": [mixed, copied("concat"), weighted_sum("v"), all_voices],
} | {
    f"sums_{name}": [row_sum(name), future_sum(name)]
    for name in ("weights", "weights_after", "weights_renormalised", "weights_none")
}
