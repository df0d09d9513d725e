"""Generated questions about dropout on the attention weights."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import torch
from torch import Tensor

from lessons.drawing import Drawn, matrix, n, show
from model import AttentionTrace, attend
from model.mistakes import MISTAKES

KEYS = 4


def dropped_weight(draw: Random) -> Drawn:
    """A weight that survives."""
    weights, keep, p = row(draw)
    j = draw.choice([c for c in range(KEYS) if keep[0, c]])
    answer, wrong = after_dropout(weights, keep, p, lambda trace: trace.dropped[0, j])
    worked = (f"dropped[{j}] = {n(weights[j])} / (1 − {p}) = {n(answer)}",)
    return Drawn(blanks(weights, keep, p) | {"j": j}, answer, wrong, worked)


def row_sum(draw: Random) -> Drawn:
    """What a row sums to after dropout."""
    weights, keep, p = row(draw)
    answer, wrong = after_dropout(weights, keep, p, lambda trace: trace.dropped.sum())
    kept = " + ".join(n(w) for w in weights[keep[0]])
    worked = (f"({kept}) / (1 − {p}) = {n(weights[keep[0]].sum())} / {n(1 - p)} = {n(answer)}",)
    return Drawn(blanks(weights, keep, p), answer, wrong, worked)


def output_after_dropout(draw: Random) -> Drawn:
    """The output of a token whose row went through dropout."""
    weights, keep, p = row(draw)
    v, j = matrix(draw, KEYS, 2, -4, 4, 1), draw.randrange(2)
    answer, wrong = after_dropout(weights, keep, p, lambda trace: trace.output[0, j], v)
    kept = [c for c in range(KEYS) if keep[0, c]]
    dropped = weights / (1 - p)
    lines = [f"dropped[{c}] = {n(weights[c])} / (1 − {p}) = {n(dropped[c])}" for c in kept]
    products = " + ".join(f"{n(dropped[c])} × {n(v[c, j])}" for c in kept)
    lines.append(f"output[{j}] = {products} = {n(answer)}")
    return Drawn(blanks(weights, keep, p) | {"v": show(v), "j": j}, answer, wrong, tuple(lines))


def row(draw: Random) -> tuple[Tensor, Tensor, float]:
    """A row of weights `(4,)` in steps of 0.05, which survive `(1, 4)`, and the rate."""
    cuts = [0, *sorted(draw.sample(range(1, 20), KEYS - 1)), 20]
    weights = torch.tensor(cuts, dtype=torch.float64).diff() / 20
    n_kept = draw.randint(2, KEYS - 1)
    kept = draw.sample(range(KEYS), n_kept)
    keep = torch.tensor([[c in kept for c in range(KEYS)]])
    return weights, keep, draw.choice((0.1, 0.2, 0.25, 0.4))  # at 0.5 ÷ p and ÷ (1 − p) agree


def after_dropout(
    weights: Tensor,
    keep: Tensor,
    p: float,
    pick: Callable[[AttentionTrace], Tensor],
    v: Tensor | None = None,
) -> tuple[float, dict[str, float]]:
    """The right number, and those of the mistakes in dropout.

    No others: the questions begin from the weights, so nobody gets a score or a softmax
    wrong. Scores of ln w have just the weights w.
    """
    eye = torch.eye(KEYS).double()
    arguments = (weights.log()[None], eye, eye if v is None else v)
    options = {"scale": False, "dropout": p, "keep": keep}
    wrong = [mistake for mistake in MISTAKES.values() if mistake.needs == "keep"]
    answer = float(pick(attend(*arguments, **options)))
    return answer, {m.name: float(pick(m(*arguments, **options))) for m in wrong}


def blanks(weights: Tensor, keep: Tensor, p: float) -> dict[str, object]:
    return {"weights": show(weights), "keep": show(keep[0].double()), "p": p}
