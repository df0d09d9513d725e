"""Generated questions about the projections to queries, keys and values."""

from __future__ import annotations

from random import Random

import torch

from lessons.drawing import Drawn, compared, matrix, show, vector
from lessons.worked import worked_attention, worked_dot
from model import attend


def query_number(draw: Random) -> Drawn:
    """One number of a query: a token's row times a column of W_q."""
    x, w_query = vector(draw, 3, -1, 1, 0.1), matrix(draw, 3, 2)
    j = draw.randrange(2)
    answer, wrong = compared("dot", x, w_query[:, j])
    blanks = {"x": show(x), "w_query": show(w_query), "j": j}
    return Drawn(blanks, answer, wrong, (worked_dot(f"q[{j}]", x, w_query[:, j]),))


def weight_from_x(draw: Random) -> Drawn:
    """One weight, all the way from two tokens and the two matrices that make q and k."""
    x, w_query, w_key = (matrix(draw, rows, 2, -1.5, 1.5) for rows in (2, 2, 2))
    i, j = draw.randrange(2), draw.randrange(2)
    answer, wrong = compared(
        "multi_head",
        *(x, w_query, w_key, torch.eye(2).double(), None),
        n_head=1,
        pick=lambda trace: trace.heads.weights[0, i, j],
    )
    q, k = x @ w_query, x @ w_key
    lines = [worked_dot(f"q[{i}, {c}]", x[i], w_query[:, c]) for c in range(2)]
    lines += [worked_dot(f"k[{r}, {c}]", x[r], w_key[:, c]) for r in range(2) for c in range(2)]
    lines += worked_attention(attend(q, k, x), "weights", i, j)
    blanks = {"x": show(x), "w_query": show(w_query), "w_key": show(w_key), "i": i, "j": j}
    return Drawn(blanks, answer, wrong, tuple(lines))


def c_attn_parameters(draw: Random) -> Drawn:
    """How many numbers the fused projection of q, k and v learns."""
    C = draw.choice((8, 12, 16, 24, 32, 48, 64, 96, 128))
    answer, wrong = compared("linear_parameters", C, 3 * C)
    worked = f"{C} × {3 * C} + {3 * C} = {C * 3 * C} + {3 * C} = {answer:.0f}"
    return Drawn({"C": C, "C3": 3 * C}, answer, wrong, (worked,))
