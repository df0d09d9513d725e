"""Generated questions about what a block is made of."""

from __future__ import annotations

from random import Random

import torch

from lessons.drawing import Drawn, compared, matrix, n, show, vector
from model.steps import layer_norm


def normed_token(draw: Random) -> Drawn:
    """One number after LayerNorm, without its weight and bias."""
    x = matrix(draw, 2, 4, low=-3, high=9, step=1)
    i, j = draw.randrange(2), draw.randrange(4)
    answer, wrong = compared("layer_norm", x, pick=lambda normed: normed[i, j])
    return Drawn({"x": show(x), "i": i, "j": j}, answer, wrong, worked_norm(x[i], j, f"x[{i}]"))


def worked_norm(x: torch.Tensor, j: int, name: str = "x") -> tuple[str, ...]:
    """Mean, variance and number j of LayerNorm(x), x `(C,)`."""
    mean, variance = x.mean(), x.var(correction=0)
    squares = " + ".join(f"({less(value, mean)})²" for value in x)
    return (
        f"mean({name}) = ({' + '.join(n(value) for value in x)}) / {len(x)} = {n(mean)}",
        f"var({name}) = ({squares}) / {len(x)} = {n(variance)}",
        f"LN({name})[{j}] = ({less(x[j], mean)}) / √{n(variance)} = {n(layer_norm(x)[j])}",
    )


def less(a: torch.Tensor, b: torch.Tensor) -> str:
    """a − b, without two signs in a row."""
    return f"{n(a)} + {n(-b)}" if b < 0 else f"{n(a)} − {n(b)}"


def half_a_block(draw: Random) -> Drawn:
    """x + f(LayerNorm(x)), where f is as simple as can be: it multiplies."""
    x, times = vector(draw, 4, low=-2, high=8, step=1), draw.choice((2, 3, 4))
    j = draw.randrange(4)
    answer, wrong = compared("pre_norm", x, lambda h: times * h, pick=lambda out: out[j])
    normed = layer_norm(x)[j]
    last = f"{n(x[j])} + {times} × {n(normed)} = {n(answer)}"
    blanks = {"x": show(x), "times": times, "j": j}
    return Drawn(blanks, answer, wrong, (*worked_norm(x, j), last))


def stream_after_attention(draw: Random) -> Drawn:
    """One number of the stream after attention has added what it found."""
    values = matrix(draw, 3, 2, low=0, high=100, step=5)
    shares = draw.choice(((0.1, 0.8, 0.1), (0.2, 0.7, 0.1), (0.3, 0.6, 0.1), (0.1, 0.3, 0.6)))
    weights = torch.tensor(shares, dtype=torch.float64)
    j, found = draw.randrange(2), weights @ values
    answer, wrong = compared("residual", values[0], found, pick=lambda stream: stream[j])
    products = " + ".join(f"{n(w)} × {n(v)}" for w, v in zip(weights, values[:, j], strict=True))
    lines = (
        f"attention[0, {j}] = {products} = {n(found[j])}",
        f"{n(values[0, j])} + {n(found[j])} = {n(answer)}",
    )
    blanks = {"values": show(values), "weights": show(weights), "own": show(values[0]), "j": j}
    return Drawn(blanks, answer, wrong, lines)


def first_linear(draw: Random) -> Drawn:
    """How many numbers the MLP's first Linear learns, C -> 4C."""
    C = draw.choice((12, 16, 20, 24, 32, 40, 48, 80, 96))
    answer, wrong = compared("linear_parameters", C, 4 * C)
    lines = (f"{C} × {4 * C} = {4 * C * C}", f"{4 * C * C} + {4 * C} = {int(answer)}")
    return Drawn({"C": C, "wide": 4 * C}, answer, wrong, lines)
