"""Dot products, lengths and cosines of long vectors, written out as far as can be read."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from lessons.words import Words, same
from model import steps
from model.embeddings import cosine, lengths
from playground.arithmetic import Explanation, Frac, Num, cell, over, total
from playground.embeddings.state import SHOWN
from playground.flow import Flow, Matrix

WRITTEN = 12  # terms of a sum that are written out; of a longer one the first SHOWN
HEADS = [
    Words("dot product", "점곱"),
    Words("length", "길이"),
    Words("cosine", "코사인 유사도"),
]
LINES = ("dots = rows @ vector", "lengths = rows.norm(dim=-1)", "cosines = dots / (lengths * vector.norm())")  # fmt: skip


@dataclass(frozen=True)
class Vector:
    """A whole vector, and the table in which some of its numbers stand."""

    values: Tensor  # (C,)
    matrix: str = ""
    row: int = 0
    column: int = 0  # the first that is shown

    def nums(self) -> list[Num]:
        shown = range(self.column, self.column + SHOWN)
        return [
            Num(
                v,
                (self.matrix, 0, self.row, j - self.column) if self.matrix and j in shown else None,
            )
            for j, v in enumerate(self.values.tolist())
        ]


def long_sum(terms: list[list], values: list[float], lang: str) -> list:
    """Terms joined by +; of many the shown ones, and what the others add together."""
    if len(terms) <= WRITTEN:
        return total(terms)
    rest = math.fsum(values[SHOWN:])
    return [*total(terms[:SHOWN]), "+", Num(rest), f"({REST(lang, n=len(terms) - SHOWN)})"]


REST = Words("the {n} other columns", "나머지 {n}개 열")


def dot(a: Vector, b: Vector, lang: str) -> Explanation:
    """Σ aᵢ bᵢ."""
    pairs = in_order(list(zip(a.nums(), b.nums(), strict=True)), a.column)
    values = [x.value * y.value for x, y in pairs]
    return Explanation(long_sum([[x, "×", y] for x, y in pairs], values, lang), math.fsum(values))


def length(a: Vector, lang: str) -> Explanation:
    """√ Σ aᵢ²."""
    nums = in_order(a.nums(), a.column)
    squares = [n.value**2 for n in nums]
    parts = ["√(", *long_sum([[n, "²"] for n in nums], squares, lang), ")"]
    return Explanation(parts, math.sqrt(math.fsum(squares)))


def in_order(terms: list, column: int) -> list:
    """The terms of the shown columns first, then all others."""
    return [*terms[column : column + SHOWN], *terms[:column], *terms[column + SHOWN :]]


def compared(
    name: str, symbol: str, vectors: list[Vector], with_: Vector, lang: str, **options: object
) -> Matrix:
    """Each row beside one vector: dot product, its own length, cosine. Row 0 is that vector."""
    assert torch.equal(vectors[0].values, with_.values), (
        "row 0 is what the others are compared with"
    )
    matrix = torch.stack([vector.values for vector in vectors])
    found = [steps.dot(matrix, with_.values), lengths(matrix), cosine(matrix, with_.values)]

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        if j == 0:
            return dot(vectors[i], with_, lang)
        if j == 1:
            return length(vectors[i], lang)
        top, first, own = cell(m, i, 0), cell(m, 0, 1), cell(m, i, 1)
        if not first.value * own.value:
            return Explanation([Num(0.0)], 0.0)
        return over([top], [first, "×", own], top.value / (first.value * own.value))

    return Matrix(
        name,
        symbol,
        torch.stack(found, dim=1),
        headers=HEADS,
        why=why,
        digits=4,
        column_lines=LINES,
        **options,
    )


def numbered(column: int, n: int) -> list[Words]:
    """Headers: the numbers of the columns that are shown."""
    return [same(f"{column + j}") for j in range(n)]


def mean(terms: list[Num]) -> Explanation:
    top = total([[n] for n in terms])
    return Explanation(
        [Frac(top, [Num(len(terms))])], math.fsum(n.value for n in terms) / len(terms)
    )
