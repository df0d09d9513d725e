"""Generated questions about dot products."""

from __future__ import annotations

from random import Random

import torch

from lessons.drawing import Drawn, compared, matrix, n, show, vector
from lessons.worked import worked_dot


def score(draw: Random) -> Drawn:
    """The dot product of one query and one key."""
    q, k = vector(draw, 3), vector(draw, 3)
    answer, wrong = compared("dot", q, k)
    return Drawn({"q": show(q), "k": show(k)}, answer, wrong, (worked_dot("q · k", q, k),))


def score_cell(draw: Random) -> Drawn:
    """One cell of Q Kᵀ: which row meets which row."""
    q, k = matrix(draw, 3, 2), matrix(draw, 3, 2)
    i, j = draw.sample(range(3), 2)
    answer, wrong = compared("dot", q[i], k[j])
    _, mirrored = compared("attend", q, k, torch.eye(3).double(), pick=lambda t: t.scores[i, j])
    blanks = {"q": show(q), "k": show(k), "i": i, "j": j}
    worked = (worked_dot(f"scores[{i}, {j}]", q[i], k[j]),)
    return Drawn(blanks, answer, wrong | mirrored, worked)


def lead(draw: Random) -> Drawn:
    """By how much one key's score is above another's."""
    q, keys = vector(draw, 3), matrix(draw, 2, 3)
    answer, wrong = compared("dot", q, keys, pick=lambda scores: scores[0] - scores[1])
    first, second = (q @ k for k in keys)
    worked = (
        worked_dot("q · k₀", q, keys[0]),
        worked_dot("q · k₁", q, keys[1]),
        f"{n(first)} − {n(second)} = {n(answer)}",
    )
    return Drawn({"q": show(q), "a": show(keys[0]), "b": show(keys[1])}, answer, wrong, worked)
