"""The matrices of inverse attention, each number with the sum that made it.

Forward: X → scores → scaled (→ masked) → weights → how near the goal is. Back again: the
gradient of the scores, the gradient of the vectors, and the vectors after one step.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch

from lessons.words import Words, same
from model.inverse import points
from playground.arithmetic import Explanation, Frac, Num, cell, over, products, row_of, total
from playground.explain import copied, divided_by
from playground.explain_weights import softmax_row
from playground.flow import Flow, Matrix
from playground.inverse.state import InverseState, Look, goal_at, goal_of, look

MEASURES = [
    Words("share", "비율"),
    Words("loss", "손실"),
    Words("points", "달성도"),
]


def flow(state: InverseState, lang: str) -> Flow:
    found = look(state)
    tokens = list(range(len(state.tokens)))
    facts = {"head_size": len(state.vectors[0]), "state": state}
    matrices = [*forward(state, found, tokens), *backward(state, found, tokens)]
    return Flow(matrices, facts)


def forward(state: InverseState, found: Look, tokens: list[int]) -> list[Matrix]:
    trace, d = found.trace, len(state.vectors[0])
    x = torch.tensor(state.vectors, dtype=torch.float64)
    seen = "masked" if state.causal else "scaled"
    steps = [
        Matrix(
            "scores", "scores", trace.scores, op=same("X Xᵀ"), why=dot, line="scores = x @ x.mT"
        ),
        Matrix(
            "scaled",
            "scaled",
            trace.scaled,
            op=same(f"÷ √{d}") if state.scale else Words("no ÷ √d", "÷ √d 없음"),
            why=divided_by(True, "head_size") if state.scale else copied("scores"),
            line="scaled = scores / x.size(-1) ** 0.5" if state.scale else "scaled = scores",
        ),
        Matrix(
            "masked",
            "masked",
            trace.masked,
            op=Words("mask", "마스크"),
            why=masked,
            line="masked = scaled.masked_fill(~mask, -torch.inf)",
            shown=state.causal,
        ),
        Matrix(
            "weights",
            "weights",
            trace.weights,
            op=same("softmax"),
            kind="weight",
            causal=state.causal,
            why=softmax_row(seen),
            line=f"weights = {seen}.softmax(dim=-1)",
        ),
    ]
    vectors = Matrix("vectors", "X", x, rows=tokens, kind="input", editable=True)
    return [vectors, *(replace(m, rows=tokens, cols=tokens) for m in steps)]


def backward(state: InverseState, found: Look, tokens: list[int]) -> list[Matrix]:
    """From the goal back to the vectors; nothing where the goal is out of reach."""
    here = found.here
    if here is None:
        return []
    measures = [here.weight, here.loss, points(here.weight, goal_of(state))]
    return [
        Matrix(
            "measures",
            "goal",
            torch.tensor([measures], dtype=torch.float64),
            rows=[state.query],
            headers=MEASURES,
            op=Words("measured", "측정"),
            new_row=True,
            why=measured,
            digits=4,
            column_lines=("weights[query, key]", LOSS_LINES[state.loss], POINTS_LINE),
        ),
        Matrix(
            "score_gradient",
            "∂ scores",
            here.score_gradient[state.query : state.query + 1],
            rows=[state.query],
            cols=tokens,
            op=Words("backward", "역전파"),
            why=pulled,
            digits=4,
            line="torch.autograd.grad(loss, masked)  # the query's row; the others are 0",
        ),
        Matrix(
            "gradient",
            "∂ X",
            here.gradient,
            rows=tokens,
            op=Words("backward", "역전파"),
            why=chained,
            digits=4,
            line="gradient = torch.autograd.grad(loss, x)",
        ),
        Matrix(
            "after",
            "X after",
            here.after,
            rows=tokens,
            op=Words("one step", "한 걸음"),
            op_note=same(f"− {state.rate:g} × ∂"),
            why=moved,
            digits=4,
            line=f"x = x - {state.rate:g} * gradient",
            shown=bool(here.after.isfinite().all()),
        ),
    ]


LOSS_LINES = {
    "cross_entropy": "loss = t * (t / w).log() + (1 - t) * ((1 - t) / (1 - w)).log()",
    "squares": "loss = (w - t) ** 2",
}
POINTS_LINE = "points = 100 * (1 - abs(w - t) / max(t, 1 - t))"


# Where each number comes from. A sum that rounding spoils is left out by `explain`.


def dot(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    x = flow.get("vectors")
    return products(row_of(x, i), row_of(x, j))


def masked(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    if m.values[i, j] == -math.inf:
        return Explanation([Num(-math.inf)], -math.inf)
    return copied("scaled")(flow, m, i, j)


def goal(flow: Flow) -> tuple[Num, Num]:
    """(the share now, the goal's)."""
    state = flow.facts["state"]
    return cell(flow.get("weights"), *goal_at(state)), Num(state.percent / 100)


def measured(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
    w, t = goal(flow)
    if j == 0:
        return Explanation([w], w.value)
    if j == 2:
        far = max(t.value, 1 - t.value)
        parts = ["100 × (1 −", Frac(["|", w, "−", t, "|"], [Num(far)]), ")"]
        return Explanation(parts, 100 * (1 - abs(w.value - t.value) / far))
    if flow.facts["state"].loss == "squares":
        return Explanation(["(", w, "−", t, ")²"], (w.value - t.value) ** 2)
    if not 0 < w.value < 1:  # its logarithm is taken from the scores, not from what it rounds to
        return None
    rest, left = Num(1 - t.value), 1 - w.value
    parts = [t, "× ln", Frac([t], [w]), "+", rest, "× ln", Frac([rest], ["1 −", w])]
    value = t.value * math.log(t.value / w.value) + rest.value * math.log(rest.value / left)
    return Explanation(parts, value)


def pulled(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
    """How far the loss moves with one score of the query: see the docstring of `model.inverse`."""
    state = flow.facts["state"]
    w, t = goal(flow)
    row = row_of(flow.get("weights"), state.query)
    others = [n for at, n in enumerate(row) if at != state.key]
    rest = math.fsum(n.value for n in others)  # 1 − w, without what rounding takes from it
    off = w.value - t.value
    if state.loss == "squares":
        if j == state.key:
            parts = ["2 × (", w, "−", t, ") ×", w, "× (", *total([[n] for n in others]), ")"]
            return Explanation(parts, 2 * off * w.value * rest)
        return Explanation(
            ["−2 × (", w, "−", t, ") ×", w, "×", row[j]], -2 * off * w.value * row[j].value
        )
    if j == state.key:
        return Explanation([w, "−", t], off)
    if not rest:
        return None
    share = Frac([row[j]], total([[n] for n in others]))
    return Explanation(["− (", w, "−", t, ") ×", share], -off * row[j].value / rest)


def chained(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    """Σ of each score's gradient × the other vector of that score, ÷ √d.

    The query's vector is in each score of its row, and twice in the score with itself.
    """
    state = flow.facts["state"]
    g, x = flow.get("score_gradient"), flow.get("vectors")
    pulls = row_of(g, 0)
    if i == state.query:
        lefts = [*pulls, pulls[i]]
        rights = [cell(x, k, j) for k in [*range(len(pulls)), i]]
    else:
        lefts, rights = [pulls[i]], [cell(x, state.query, j)]
    made = products(lefts, rights)
    if not state.scale:
        return made
    d = flow.facts["head_size"]
    return over(made.parts, ["√", Num(d)], made.value / d**0.5)


def moved(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    x, g = cell(flow.get("vectors"), i, j), cell(flow.get("gradient"), i, j)
    rate = flow.facts["state"].rate
    return Explanation([x, "−", Num(rate), "×", g], x.value - rate * g.value)
