"""Generated questions about multi-head attention."""

from __future__ import annotations

from random import Random

import torch

from lessons.drawing import Drawn, compared, matrix, n, show
from lessons.words import Words
from lessons.worked import worked_attention, worked_dot
from model import attend
from model.mistakes import names

ORDINALS = (Words("first", "첫째"), Words("second", "둘째"))


def query_of_a_head(draw: Random) -> Drawn:
    """One number of one head's q: it reads all four inputs."""
    x, w = matrix(draw, 2, 4), matrix(draw, 4, 4)
    h, i, j = draw.randrange(2), draw.randrange(2), draw.randrange(2)
    eye = torch.eye(4).double()
    answer, wrong = compared(
        "multi_head", x, w, eye, eye, None, 2, pick=lambda trace: trace.heads.q[h, i, j]
    )
    blanks = {"x": show(x), "w": show(w), "head": ORDINALS[h], "i": i, "j": j}
    return Drawn(blanks, answer, wrong, (worked_dot(f"q[{i}, {j}]", x[i], w[:, 2 * h + j]),))


def concat_of_two_heads(draw: Random) -> Drawn:
    """One number of concat, where q = k = v = x and each head is 3 wide."""
    x, eye = matrix(draw, 2, 6), torch.eye(6).double()
    i, j = draw.randrange(2), draw.randrange(6)
    answer, wrong = compared(
        "multi_head", x, eye, eye, eye, None, 2,
        pick=lambda trace: trace.concat[i, j],
        d_model=6,
    )  # fmt: skip
    part = x[:, 3 * (j // 3) :][:, :3]
    lines = worked_attention(attend(part, part, part), "output", i, j % 3)
    cell, number = f"concat[{i}, {j}]", f"output[{i}, {j % 3}] = {n(answer)}"
    head = j // 3 + 1
    last = Words(f"{cell} = head {head}: {number}", f"{cell} = 헤드 {head}: {number}")
    return Drawn({"x": show(x), "i": i, "j": j}, answer, wrong, (*lines, last))


def mixed_output(draw: Random) -> Drawn:
    """One number of output = concat × W_out. Each token sees itself alone, so concat is x."""
    x, w_out = matrix(draw, 2, 4), matrix(draw, 4, 4, low=-1, high=1)
    i, j = draw.randrange(2), draw.randrange(4)
    eye = torch.eye(4).double()
    answer, wrong = compared(
        "multi_head", x, eye, eye, eye, w_out, 2, torch.eye(2).bool(),
        pick=lambda trace: trace.output[i, j],
        leave=(*names("attend"), "view_without_transpose"),  # before the heads' outputs
    )  # fmt: skip
    blanks = {"one": show(x[:, :2]), "two": show(x[:, 2:]), "w_out": show(w_out), "i": i, "j": j}
    lines = (f"concat[{i}] = {show(x[i])}", worked_dot(f"output[{i}, {j}]", x[i], w_out[:, j]))
    return Drawn(blanks, answer, wrong, lines)


def parameters_of_attention(draw: Random) -> Drawn:
    """How many numbers multi-head attention learns, whatever the number of heads."""
    n_head, head_size = draw.choice((2, 4, 5, 6, 8)), draw.choice((4, 8, 10, 16))
    C = n_head * head_size
    answer, wrong = compared("attention_parameters", C, n_head)
    lines = (
        f"W_query, W_key, W_value, W_out: 4 × {C} × {C} = {4 * C * C}",
        Words(f"biases: 4 × {C} = {4 * C}", f"편향: 4 × {C} = {4 * C}"),
        f"{4 * C * C} + {4 * C} = {int(answer)}",
    )
    return Drawn({"C": C, "n_head": n_head}, answer, wrong, lines)


def w_of_one_head(draw: Random) -> Drawn:
    """The shape of one head's W_query: all inputs to head_size numbers."""
    n_head, head_size = draw.choice((2, 3, 4, 6, 8, 12)), draw.choice((8, 16, 32, 64))
    C = n_head * head_size
    wrong = {
        "slice_instead_of_project": f"{head_size}, {head_size}",
        "parameters_per_head_times_n": f"{C}, {C}",
    }
    lines = (
        f"head_size = {C} / {n_head} = {head_size}",
        f"(T, {C}) @ ({C}, {head_size}) -> (T, {head_size})",
    )
    return Drawn({"C": C, "n_head": n_head}, f"{C}, {head_size}", wrong, lines)
