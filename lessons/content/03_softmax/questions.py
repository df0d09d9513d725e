"""Generated questions about softmax."""

from __future__ import annotations

from random import Random

import torch

from lessons.drawing import Drawn, compared, matrix, n, show, vector
from lessons.worked import worked_softmax

UNASKED = ("scale_by_d_model", "scale_without_root")  # nothing is scaled at this station


def weight(draw: Random) -> Drawn:
    """One weight of one query."""
    scores, j = vector(draw, 3), draw.randrange(3)
    answer, wrong = compared("softmax", scores, pick=lambda p: p[j])
    worked = (worked_softmax(f"weights[{j}]", scores, j),)
    return Drawn({"scores": show(scores), "j": j}, answer, wrong, worked)


def how_many_times(draw: Random) -> Drawn:
    """The largest weight over another: e to the difference of their scores, whatever the rest."""
    scores = vector(draw, 3)
    a, b = int(scores.argmax()), int(scores.argmin())
    answer, wrong = compared("softmax", scores, pick=lambda p: p[a] / p[b])
    blanks = {"scores": show(scores), "a": a, "b": b}
    gap = n(scores[a] - scores[b])
    worked = (
        f"{n(scores[a])} − ({n(scores[b])}) = {gap}",
        f"weights[{a}] / weights[{b}] = e^{gap} = {n(answer)}",
    )
    return Drawn(blanks, answer, wrong, worked)


def after_adding(draw: Random) -> Drawn:
    """A weight after the same number was added to every score: the weight from before."""
    scores, more, j = vector(draw, 3), draw.randint(3, 9), draw.randrange(3)
    answer, wrong = compared("softmax", scores + more, pick=lambda p: p[j])
    blanks = {"scores": show(scores), "more": more, "j": j}
    worked = (
        worked_softmax(f"weights[{j}]", scores + more, j),
        worked_softmax(f"weights[{j}]", scores, j),
    )
    return Drawn(blanks, answer, wrong, worked)


def in_a_matrix(draw: Random) -> Drawn:
    """One weight of a matrix of scores: each query, a row, has its own softmax."""
    scores, identity = matrix(draw, 2, 3), torch.eye(3).double()  # Q Kᵀ = scores where K = 1
    i, j = draw.randrange(2), draw.randrange(3)
    answer, wrong = compared(
        "attend",
        scores,
        identity,
        identity,
        scale=False,
        pick=lambda trace: trace.weights[i, j],
        leave=(*UNASKED, "queries_and_keys_swapped"),  # the scores are given
    )
    _, of_one_row = compared(
        "softmax", scores[i], pick=lambda p: p[j], leave=("softmax_by_sum",)
    )  # divide_by_sum is the same
    worked = (worked_softmax(f"weights[{i}, {j}]", scores[i], j),)
    return Drawn({"scores": show(scores), "i": i, "j": j}, answer, wrong | of_one_row, worked)
