"""Generated questions about the weighted sum."""

from __future__ import annotations

from random import Random

import torch

from lessons.drawing import Drawn, compared, matrix, n, show
from lessons.worked import worked_attention
from model import attend
from model.attention import voices

UNASKED = ("scale_by_d_model", "scale_without_root")  # nothing is scaled at this station


def mixed(draw: Random) -> Drawn:
    """One number of the output from weights given by hand: a dot product down the column."""
    first, second = draw.sample(range(1, 6), 2)
    weights = torch.tensor([first, second, 10 - first - second]).double() / 10
    vectors, c = matrix(draw, 3, 2, -5, 10, 1), draw.randrange(2)
    answer, wrong = compared("dot", weights, vectors[:, c], leave=("dot_as_cosine",))
    blanks = {"weights": show(weights), "vectors": show(vectors), "c": c}
    products = [f"{n(w)} × {n(v)}" for w, v in zip(weights, vectors[:, c], strict=True)]
    worked = (f"output[{c}] = {' + '.join(products)} = {n(answer)}",)
    return Drawn(blanks, answer, wrong, worked)


def voice(draw: Random) -> Drawn:
    """One number of one voice: a weight from softmax times a number of that token's vector."""
    x = matrix(draw, 3, 2, -1.5, 1.5)
    x = torch.where(x == 0, 1.0, x)  # of 0 no weight makes anything
    i, j, c = (draw.randrange(size) for size in (3, 3, 2))
    answer, wrong = compared(
        "attend",
        x,
        x,
        x,
        scale=False,
        pick=lambda trace: voices(trace.weights, trace.v)[i, j, c],
        leave=UNASKED,
    )
    trace = attend(x, x, x, scale=False)
    worked = (
        *worked_attention(trace, "weights", i, j),
        f"{n(trace.weights[i, j])} × x[{j}, {c}] = {n(trace.weights[i, j])} × {n(x[j, c])} = {n(answer)}",
    )
    return Drawn({"x": show(x), "i": i, "j": j, "c": c}, answer, wrong, worked)


def context_cell(draw: Random) -> Drawn:
    """One number of the context vectors of a self-attention without W, ÷ √d and mask."""
    x = matrix(draw, 3, 2, -1.5, 1.5)
    i, c = draw.randrange(3), draw.randrange(2)
    answer, wrong = compared(
        "attend", x, x, x, scale=False, pick=lambda trace: trace.output[i, c], leave=UNASKED
    )
    worked = worked_attention(attend(x, x, x, scale=False), "output", i, c)
    return Drawn({"x": show(x), "i": i, "c": c}, answer, wrong, worked)
