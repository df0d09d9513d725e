"""Generated questions about the causal mask."""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor

from lessons.drawing import Drawn, compared, matrix, show
from lessons.worked import worked_attention
from model import attend, causal_mask

# The questions begin from scaled scores: nobody multiplies q by k or divides here.
BEFORE_MASK = ("queries_and_keys_swapped", "scale_by_d_model", "scale_without_root")


def weight_under_mask(draw: Random) -> Drawn:
    """A visible weight of a row in which something is hidden."""
    T = 4
    scaled, i = matrix(draw, T, T), draw.randrange(1, T - 1)
    j = draw.randrange(i)
    arguments = given(scaled, torch.eye(T).double())
    answer, wrong = compared(
        "attend",
        *arguments,
        scale=False,
        pick=lambda trace: trace.weights[i, j],
        leave=(*BEFORE_MASK, "no_mask"),  # a visible weight is the same if masked after softmax
    )
    lines = worked_attention(attend(*arguments, scale=False), "weights", i, j)[
        T:
    ]  # the T scores are given
    return Drawn({"scaled": show(scaled), "i": i, "j": j}, answer, wrong, lines)


def output_under_mask(draw: Random) -> Drawn:
    """What the second of three tokens hears when the third is hidden from it."""
    T = 3
    scaled, v, j = matrix(draw, T, T), matrix(draw, T, 2, -4, 4, 1), draw.randrange(2)
    arguments = given(scaled, v)
    answer, wrong = compared(
        "attend",
        *arguments,
        scale=False,
        pick=lambda trace: trace.output[1, j],
        leave=BEFORE_MASK,
    )
    lines = worked_attention(attend(*arguments, scale=False), "output", 1, j)[T:]
    return Drawn({"scaled": show(scaled), "v": show(v), "j": j}, answer, wrong, lines)


def given(scaled: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """q, k, v and a causal mask; with the identity as keys, `scaled` `(T, T)` are the scores."""
    T = scaled.size(0)
    return scaled, torch.eye(T).double(), v, causal_mask(T)


def pairs(draw: Random) -> Drawn:
    """How many pairs of query and key a causal mask leaves."""
    tokens = draw.randint(5, 40)
    answer, wrong = compared("visible_pairs", tokens)
    worked = f"1 + 2 + … + {tokens} = {tokens} × {tokens + 1} / 2 = {answer:.0f}"
    return Drawn({"T": tokens}, answer, wrong, (worked,))
