"""Generated questions about scaling."""

from __future__ import annotations

from random import Random

import torch

from lessons.drawing import Drawn, compared, matrix, show
from lessons.worked import worked_attention
from model import attend


def scaled_score(draw: Random) -> Drawn:
    """The scaled score of one query and one key, in a head of a wider model."""
    q, k = matrix(draw, 1, 4), matrix(draw, 1, 4)
    answer, wrong = compared(
        "attend", q, k, torch.eye(1).double(), pick=lambda trace: trace.scaled[0, 0], d_model=16
    )
    blanks = {"q": show(q[0]), "k": show(k[0]), "d_model": 16}
    return Drawn(blanks, answer, wrong, worked_attention(attend(q, k, k), "scaled", 0, 0))


def weight_after_scaling(draw: Random) -> Drawn:
    """One weight of a small attention without a mask."""
    q, k = matrix(draw, 2, 2), matrix(draw, 3, 2)
    i, j = draw.randrange(2), draw.randrange(3)
    answer, wrong = compared(
        "attend", q, k, k, pick=lambda trace: trace.weights[i, j], leave=("scale_by_d_model",)
    )
    blanks = {"q": show(q), "k": show(k), "i": i, "j": j}
    return Drawn(blanks, answer, wrong, worked_attention(attend(q, k, k), "weights", i, j))
