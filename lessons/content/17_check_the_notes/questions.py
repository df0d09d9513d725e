"""Generated questions: claims of the kind that notes make, with fresh numbers."""

from __future__ import annotations

from random import Random

import torch

from lessons.drawing import Drawn, compared, matrix, n, show, vector
from lessons.worked import worked_softmax
from model import causal_mask
from model.steps import residual

# The scores are given, and scaled already.
BEFORE = ("queries_and_keys_swapped", "no_scale", "scale_by_d_model", "scale_without_root")


def printed_row(draw: Random) -> Drawn:
    """One weight of a small masked softmax whose scores are given."""
    scores = matrix(draw, 3, 3, low=0, high=3, step=0.1)
    i = draw.choice((1, 2))
    j = draw.randint(0, i)
    eye, mask = torch.eye(3).double(), causal_mask(3)
    answer, wrong = compared(
        "attend",
        scores,
        eye,  # scores · 1 = scores
        eye,
        mask,
        scale=False,
        pick=lambda trace: trace.weights[i, j],
        leave=BEFORE,
    )
    masked = scores.masked_fill(~mask, -torch.inf)
    hidden = tuple(f"masked[{i}, {c}] = −∞" for c in range(i + 1, 3))
    return Drawn(
        {"scores": show(scores), "i": i, "j": j},
        answer,
        wrong,
        (*hidden, worked_softmax(f"weights[{i}, {j}]", masked[i], j)),
    )


def printed_weight(draw: Random) -> Drawn:
    """Three scores, and the weights that dividing by their sum would print."""
    scores = vector(draw, 3, low=0.5, high=4)
    j = draw.randrange(3)
    answer, wrong = compared("softmax", scores, pick=lambda weights: weights[j])
    claimed = ", ".join(f"{share:.2f}" for share in scores / scores.sum())
    return Drawn(
        {"scores": show(scores), "claimed": f"[{claimed}]", "j": j},
        answer,
        wrong,
        (worked_softmax(f"weights[{j}]", scores, j),),
    )


def what_is_left(draw: Random) -> Drawn:
    """A word's vector and what attention found for it, added."""
    x, found = vector(draw, 2, low=-9, high=9), vector(draw, 2, low=-9, high=9)
    j = draw.randrange(2)
    answer, wrong = compared("residual", x, found, pick=lambda stream: stream[j])
    blanks = {"x": show(x), "found": show(found), "j": j}
    line = f"x[{j}] + attention[{j}] = {n(x[j])} + {n(found[j])} = {n(residual(x, found)[j])}"
    return Drawn(blanks, answer, wrong, (line,))


def who_changes_it(draw: Random) -> Drawn:
    """A weight after one step of plain gradient descent."""
    weight, gradient = vector(draw, 2, low=-3, high=3)
    rate = draw.choice((0.1, 0.2, 0.25, 0.5))
    answer, wrong = compared("gradient_step", weight, gradient, rate)
    blanks = {"weight": show(weight), "gradient": show(gradient), "rate": show(rate)}
    line = f"w − η × ∂L/∂w = {n(weight)} − {n(rate)} × {n(gradient)} = {n(answer)}"
    return Drawn(blanks, answer, wrong, (line,))


def how_much_memory(draw: Random) -> Drawn:
    """The scores of one head, in MiB."""
    T, size = 256 * draw.randint(2, 32), draw.choice((2, 4))
    answer, wrong = compared("score_bytes", T, size, pick=lambda found: found / 2**20)
    line = f"{T} × {T} × {size} / 1048576 = {n(answer)}"
    return Drawn({"T": T, "size": size}, answer, wrong, (line,))
