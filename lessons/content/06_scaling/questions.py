"""Generated questions about scaling."""

from __future__ import annotations

from random import Random

import torch

from lessons.drawing import Drawn, compared, matrix, n, show, vector
from lessons.worked import worked_attention, worked_softmax
from model import attend


def scaled_score(draw: Random) -> Drawn:
    """The scaled score of one query and one key, in a head of a wider model."""
    q, k = matrix(draw, 1, 4), matrix(draw, 1, 4)
    answer, wrong = compared(
        "attend", q, k, torch.eye(1).double(), pick=lambda trace: trace.scaled[0, 0], d_model=8
    )
    blanks = {"q": show(q[0]), "k": show(k[0]), "d_model": 8}
    return Drawn(blanks, answer, wrong, worked_attention(attend(q, k, k), "scaled", 0, 0))


def weight_after_scaling(draw: Random) -> Drawn:
    """One weight of a small attention without a mask."""
    q, k = matrix(draw, 3, 2), matrix(draw, 3, 2)
    i, j = draw.randrange(3), draw.randrange(3)
    answer, wrong = compared("attend", q, k, k, pick=lambda trace: trace.weights[i, j])
    blanks = {"q": show(q), "k": show(k), "i": i, "j": j}
    return Drawn(blanks, answer, wrong, worked_attention(attend(q, k, k), "weights", i, j))


def slope(draw: Random) -> Drawn:
    """How fast one weight of a row grows with its own score."""
    scaled, j = vector(draw, 3, -2, 3), draw.randrange(3)
    answer, wrong = compared("softmax_slope", scaled, pick=lambda slopes: slopes[j])
    p = scaled.softmax(-1)[j]
    worked = (worked_softmax("p", scaled, j), f"p (1 − p) = {n(p)} × {n(1 - p)} = {n(answer)}")
    return Drawn({"scaled": show(scaled), "j": j}, answer, wrong, worked)
