"""Generated questions about reading the weights of a head."""

from __future__ import annotations

from random import Random

import torch

from lessons.drawing import Drawn, compared, matrix, n, show, vector
from lessons.worked import worked_attention, worked_softmax
from model import attend, causal_mask
from model.steps import softmax

# Where masked scores are given, nothing is left to divide or to mask.
GIVEN = (
    *("no_scale", "scale_by_d_model", "scale_without_root", "no_mask", "mask_diagonal"),
    *("mask_inverted", "mask_with_zero", "mask_after_softmax", "queries_and_keys_swapped"),
)


def token_before(draw: Random) -> Drawn:
    """How much of its attention the last token gives to the one before it, in a causal model."""
    q, k, i = matrix(draw, 3, 2), matrix(draw, 3, 2), 2
    mask = causal_mask(3)
    answer, wrong = compared("attend", q, k, k, mask, pick=lambda t: t.weights[i, i - 1])
    worked = worked_attention(attend(q, k, k, mask), "weights", i, i - 1)
    return Drawn({"q": show(q), "k": show(k), "i": i, "before": i - 1}, answer, wrong, worked)


def previous(draw: Random) -> Drawn:
    """The measure of a head: its mean weight on the token before, from its masked scores."""
    scaled, one = matrix(draw, 3, 3), torch.eye(3).double()
    mask = causal_mask(3)
    answer, wrong = compared(
        "attend",
        scaled,
        one,
        one,
        mask,
        pick=lambda t: (t.weights[1, 0] + t.weights[2, 1]) / 2,
        leave=GIVEN,
        scale=False,
    )
    right = attend(scaled, one, one, mask, scale=False)
    first, second = right.weights[1, 0], right.weights[2, 1]
    worked = (
        worked_softmax("weights[1, 0]", right.masked[1], 0),
        worked_softmax("weights[2, 1]", right.masked[2], 1),
        f"({n(first)} + {n(second)}) / 2 = {n(answer)}",
    )
    return Drawn({"masked": show(right.masked)}, answer, wrong, worked)


def top_two(draw: Random) -> Drawn:
    """What the two most looked-at tokens of a row get together."""
    scaled = vector(draw, 4, 0, 3)
    answer, wrong = compared("softmax", scaled, pick=lambda p: p.topk(2).values.sum())
    first, second = softmax(scaled).topk(2).indices.tolist()
    worked = (
        worked_softmax(f"weights[{first}]", scaled, first),
        worked_softmax(f"weights[{second}]", scaled, second),
        f"{n(softmax(scaled)[first])} + {n(softmax(scaled)[second])} = {n(answer)}",
    )
    return Drawn({"scaled": show(scaled)}, answer, wrong, worked)
