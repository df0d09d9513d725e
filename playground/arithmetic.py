"""Arithmetic written out: the parts of a sum with the cells they stand in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from playground.flow import Matrix

Source = tuple[str, int, int, int]  # matrix, head, row, column


@dataclass(frozen=True)
class Num:
    """A number that stands in a cell (or in none)."""

    value: float
    source: Source | None = None


@dataclass(frozen=True)
class Exp:
    """e to the power of a number, less `shift` where the powers would be too large or too small to read."""

    num: Num
    shift: float = 0.0


@dataclass(frozen=True)
class Frac:
    top: list
    bottom: list


@dataclass(frozen=True)
class Explanation:
    """`parts` written one after another end in `value`; empty parts: no sum to show."""

    parts: list
    value: float

    @property
    def sources(self) -> set[Source]:
        return {num.source for num in numbers(self.parts) if num.source}


def numbers(parts: list) -> Iterator[Num]:
    for part in parts:
        if isinstance(part, Num):
            yield part
        elif isinstance(part, Exp):
            yield part.num
        elif isinstance(part, Frac):
            yield from numbers(part.top)
            yield from numbers(part.bottom)


def equal(a: float, b: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def cell(m: Matrix | None, i: int, j: int) -> Num | None:
    if m is None:
        return None
    return Num(float(m.values[i, j]), (m.name, m.head, i, j))


def total(parts: list[list], joiner: str = "+") -> list:
    """Terms joined by a sign: [[a], [b]] -> [a, "+", b]."""
    out: list = []
    for term in parts:
        out += [joiner, *term] if out else term
    return out


def add_up(values: Iterable[float]) -> float:
    """Σ, exact where it can be: `math.fsum` alone refuses ∞ − ∞, which is NaN."""
    found = list(values)
    return math.fsum(found) if all(map(math.isfinite, found)) else sum(found)


def products(lefts: list[Num], rights: list[Num]) -> Explanation:
    """Σ left × right, written out."""
    value = add_up(a.value * b.value for a, b in zip(lefts, rights, strict=True))
    return Explanation(total([[a, "×", b] for a, b in zip(lefts, rights, strict=True)]), value)


def row_of(m: Matrix, i: int) -> list[Num]:
    return [Num(v, (m.name, m.head, i, d)) for d, v in enumerate(m.values[i].tolist())]


def column_of(m: Matrix, j: int) -> list[Num]:
    return [Num(v, (m.name, m.head, i, j)) for i, v in enumerate(m.values[:, j].tolist())]


def over(top: list, bottom: list, value: float) -> Explanation:
    return Explanation([Frac(top, bottom)], value)


def divide(a: float, b: float) -> float:
    return a / b if b else math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a)
