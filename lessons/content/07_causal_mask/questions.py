"""Generated questions about the causal mask.

They ask for outputs: a visible weight is the same without a mask and with one after softmax.
"""

from __future__ import annotations

from random import Random

import torch

from lessons.drawing import Drawn, compared, matrix, show
from lessons.worked import worked_attention
from model import attend, causal_mask

T, HEAD_SIZE = 3, 4


def output_under_mask(draw: Random) -> Drawn:
    """What the second of three tokens hears, from the scores on."""
    scores, v, j = matrix(draw, T, T, -4, 4, 1), matrix(draw, T, 2, -4, 4, 1), draw.randrange(2)
    # These q and k have just these scores.
    q = torch.cat([scores, torch.zeros(T, HEAD_SIZE - T).double()], dim=-1)
    arguments = (q, torch.eye(T, HEAD_SIZE).double(), v, causal_mask(T))
    answer, wrong = compared("attend", *arguments, pick=lambda trace: trace.output[1, j])
    lines = worked_attention(attend(*arguments), "output", 1, j)[T:]  # the T scores are given
    blanks = {"scores": show(scores), "v": show(v), "head_size": HEAD_SIZE, "j": j}
    return Drawn(blanks, answer, wrong, lines)


def output_from_x(draw: Random) -> Drawn:
    """The same from the tokens on, which are their own queries, keys and values."""
    x, j = matrix(draw, T, 2), draw.randrange(2)
    arguments = (x, x, x, causal_mask(T))
    answer, wrong = compared("attend", *arguments, pick=lambda trace: trace.output[1, j])
    lines = worked_attention(attend(*arguments), "output", 1, j)
    return Drawn({"x": show(x), "j": j}, answer, wrong, lines)


def pairs(draw: Random) -> Drawn:
    """How many pairs of query and key a causal mask leaves."""
    tokens = draw.randint(5, 40)
    answer, wrong = compared("visible_pairs", tokens)
    worked = f"1 + 2 + … + {tokens} = {tokens} × {tokens + 1} / 2 = {answer:.0f}"
    return Drawn({"T": tokens}, answer, wrong, (worked,))
