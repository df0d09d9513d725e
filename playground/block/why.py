"""The sums behind a block's numbers, as the glass box writes them out.

Each function makes a `Why` for one matrix, from the whole of what the matrix is made of:
a long sum shows its first terms, … and its last, and its value is that of the whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from torch import Tensor, nn

from model.anatomy import moments
from playground.arithmetic import Explanation, Frac, Num, add_up, total
from playground.flow import Flow, Matrix

Why = Callable[[Flow, Matrix, int, int], Explanation]
WHOLE = 8  # terms of a sum that are all written out
FIRST = 3  # else as many, and the last


def few(terms: Sequence[list]) -> list:
    """A sum written out, the middle of a long one left out."""
    if len(terms) <= WHOLE:
        return total(list(terms))
    return total([*terms[:FIRST], ["…"], terms[-1]])


def nums(numbers: Tensor, name: str | None, i: int, head: int = 0) -> list[Num]:
    """Numbers `(D,)` that stand in row i of a matrix; in none where `name` is None."""
    places = [(name, head, i, d) if name else None for d in range(len(numbers))]
    return [Num(v, at) for v, at in zip(numbers.tolist(), places, strict=True)]


def mean_and_variance(name: str, x: Tensor) -> Why:
    """Column 0: Σ x / C; column 1: Σ (x − mean)² / C. x `(rows, C)`."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        row, count = nums(x[i], name, i), Num(x.size(1))
        mean = Num(float(moments(x[i])[0]), (m.name, m.head, i, 0))
        if j == 0:
            return Explanation(
                [Frac(few([[n] for n in row]), [count])], add_up(n.value for n in row) / count.value
            )
        squares = [["(", n, "−", mean, ")²"] for n in row]
        value = add_up((n.value - mean.value) ** 2 for n in row) / count.value
        return Explanation([Frac(few(squares), [count])], value)

    return why


def normalised(name: str, x: Tensor, stats: str, ln: nn.LayerNorm) -> Why:
    """(x − mean) / √(variance + ε) × γ + β, x `(rows, C)`. Source: Ba et al. 2016."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        n = nums(x[i], name, i)[j]
        mean, variance = nums(moments(x[i]), stats, i)
        gamma = float(ln.weight[j])
        value = (n.value - mean.value) / math.sqrt(variance.value + ln.eps) * gamma
        bottom = ["√(", variance, f"+ {ln.eps:.5f})"]
        parts = [Frac([n, "−", mean], bottom), "×", Num(gamma)]
        return plus_bias(parts, value, ln.bias, j)

    return why


def plus_bias(parts: list, value: float, bias: Tensor | None, j: int) -> Explanation:
    if bias is None:
        return Explanation(parts, value)
    return Explanation([*parts, "+", Num(float(bias[j]))], value + float(bias[j]))


def linear(name: str | None, x: Tensor, layer: nn.Linear, first: int = 0) -> Why:
    """Σ x w + b: a row of x `(rows, d_in)` times column first + j of the weights."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        row, weights = nums(x[i], name, i), layer.weight[first + j].tolist()
        terms = [[n, "×", Num(w)] for n, w in zip(row, weights, strict=True)]
        value = add_up(n.value * w for n, w in zip(row, weights, strict=True))
        return plus_bias(few(terms), value, layer.bias, first + j)

    return why


def voices(weights: Tensor, v: Tensor) -> Why:
    """Σ weight × value, the head that owns the column. weights `(nh, rows, T)`, v `(nh, T, hs)`."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        h, d = divmod(j, v.size(-1))
        loud = nums(weights[h, i], "weights", i, h)
        values = [Num(x, ("v", h, t, d)) for t, x in enumerate(v[h, :, d].tolist())]
        terms = [[a, "×", b] for a, b in zip(loud, values, strict=True)]
        return Explanation(
            few(terms), add_up(a.value * b.value for a, b in zip(loud, values, strict=True))
        )

    return why


def added(*parts: tuple[str | None, Tensor]) -> Why:
    """The sum of the same cell in several matrices, each `(name, (rows, C))`."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        found = [nums(values[i], name, i)[j] for name, values in parts]
        return Explanation(total([[n] for n in found]), add_up(n.value for n in found))

    return why


def bent(name: str, x: Tensor, activation: str) -> Why:
    """ReLU, or GELU by its tanh: x `(rows, H)`. Source: Hendrycks & Gimpel 2016, section 2."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        n = nums(x[i], name, i)[j]
        if activation == "relu":
            return Explanation(["max(0,", n, ")"], max(0.0, n.value))
        cube = n.value**3
        inner = math.sqrt(2 / math.pi) * (n.value + 0.044715 * cube)
        parts = ["½ ×", n, "× (1 + tanh(√(2/π) × (", n, "+ 0.044715 ×", Num(cube), ")))"]
        return Explanation(parts, 0.5 * n.value * (1 + math.tanh(inner)))

    return why


def lengths(steps: Sequence[tuple[str, Tensor]]) -> Why:
    """√Σ x² of a row; column j is of step j, `(name, (rows, C))`."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        name, x = steps[j]
        row = nums(x[i], name, i)
        value = math.sqrt(add_up(n.value**2 for n in row))
        return Explanation(["√(", *few([[n, "×", n] for n in row]), ")"], value)

    return why
