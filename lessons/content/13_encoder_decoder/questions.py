"""Generated questions about sinusoidal positions and cross-attention."""

from __future__ import annotations

from random import Random

from lessons.drawing import Drawn, compared, matrix, n, show
from lessons.worked import worked_attention
from model import attend
from model.steps import BASE, sinusoid


def position_number(draw: Random) -> Drawn:
    """One number of a row of sinusoidal positions."""
    position, width = draw.randint(1, 20), draw.choice((4, 6, 8))
    column = draw.randrange(width)
    answer, wrong = compared("sinusoid", position, width, pick=lambda row: row[column])
    blanks = {"position": position, "width": width, "column": column}
    return Drawn(blanks, answer, wrong, worked_position(position, width, column))


def worked_position(position: int, width: int, column: int) -> tuple[str, ...]:
    """The pair, its angle in radians, and the sine or cosine."""
    pair, wave = column // 2, "cos" if column % 2 else "sin"
    place = "2i + 1" if column % 2 else "2i"
    angle = position / BASE ** (2 * pair / width)
    return (
        f"{column} = {place} → i = {pair}, {wave}",
        f"{position} / {BASE}^(2 × {pair} / {width}) = {n(angle)} rad",
        f"{wave}({n(angle)}) = {n(sinusoid(position, width)[column])}",
    )


def cross_weight(draw: Random) -> Drawn:
    """A weight of two target tokens looking at three source tokens."""
    q, k = matrix(draw, 2, 2), matrix(draw, 3, 2)
    i, j = draw.randrange(2), draw.randrange(3)
    leave = ("scale_by_d_model", "queries_and_keys_swapped")  # 3 × 2 weights do not fit 3 values
    answer, wrong = compared("attend", q, k, k, pick=lambda t: t.weights[i, j], leave=leave)
    blanks = {"q": show(q), "k": show(k), "i": i, "j": j}
    return Drawn(blanks, answer, wrong, worked_attention(attend(q, k, k), "weights", i, j))


def cross_output(draw: Random) -> Drawn:
    """What a target token takes out of the memory: a number of the output."""
    q, k, v = matrix(draw, 2, 2), matrix(draw, 2, 2), matrix(draw, 2, 2, 0, 9, step=1)
    i, j = draw.randrange(2), draw.randrange(2)
    answer, wrong = compared(
        "attend", q, k, v, pick=lambda trace: trace.output[i, j], leave=("scale_by_d_model",)
    )
    blanks = {"q": show(q), "k": show(k), "v": show(v), "i": i, "j": j}
    return Drawn(blanks, answer, wrong, worked_attention(attend(q, k, v), "output", i, j))
