"""Looking at tables of vectors: which tokens lie near each other, and what positions know.

A row of `wte` is a token, a row of `wpe` (or of the sinusoidal table) a position. Nothing
here is learned or changed; all numbers are float64, so that equal vectors have cosine 1.

Axes: V rows, C numbers each; T positions.
Sources: Mikolov et al. 2013, "Linguistic Regularities in Continuous Space Word
Representations" (b − a + c); Vaswani et al. 2017, section 3.5 (sinusoids).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.errors import RangeError, RankError, SizeError, WidthError
from model.steps import sinusoid

PART = 8192  # rows at once: GPT-2's 50,257 in float64 would fill 300 MB


@dataclass(frozen=True)
class Neighbour:
    """A row of a table, and how nearly it points where the vector points: −1 to 1."""

    index: int
    cosine: float


def cosine(matrix: Tensor, vector: Tensor) -> Tensor:
    """The cosine between each row of `(V, C)` and a vector `(C,)`: `(V,)` from −1 to 1.

    A row or vector of zeros points nowhere: 0. Raises `RankError` or `WidthError`.

    >>> cosine(torch.tensor([[2.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]), torch.tensor([3.0, 0.0])).tolist()
    [1.0, 0.0, -1.0]
    """
    check_table(matrix)
    if vector.shape != matrix.shape[1:]:
        raise WidthError(q_width=vector.numel(), k_width=matrix.size(1))
    vector = vector.detach().double()
    found = []
    for rows in matrix.detach().split(PART):
        rows = rows.double()
        both = lengths(rows) * vector.norm()  # |a| |b|
        found.append(torch.where(both > 0, rows @ vector / both, 0.0))  # a · b / (|a| |b|)
    return torch.cat(found)


def nearest(
    matrix: Tensor, vector: Tensor, k: int, *, exclude: Iterable[int] = ()
) -> list[Neighbour]:
    """The `k` rows of `(V, C)` with the largest cosine to a vector `(C,)`, the nearest first.

    `exclude` names rows that may not win: the token itself, or the three of an analogy.
    Fewer than k where no more are left; of equal ones the earlier row first.
    Raises `SizeError` for k below 1, `RangeError` for a row that is none, and as `cosine`.
    """
    if k < 1:
        raise SizeError(name="k", found=k)
    cosines = cosine(matrix, vector)
    out = set(exclude)
    for index in out:
        check_row("exclude", index, matrix)
    order = cosines.argsort(descending=True, stable=True).tolist()
    best = [index for index in order if index not in out][:k]
    return [Neighbour(index, cosines[index].item()) for index in best]


@dataclass(frozen=True)
class Usual:
    """How near rows of a table usually are to a vector: without it no cosine says much."""

    mean: float
    high: float  # only 1 in 100 is nearer


def usual(matrix: Tensor, vector: Tensor, *, exclude: Iterable[int] = ()) -> Usual:
    """The cosines of all rows of `(V, C)` but `exclude` with a vector `(C,)`, in two numbers."""
    keep = torch.ones(len(matrix), dtype=torch.bool)
    keep[list(exclude)] = False
    found = cosine(matrix, vector)[keep]
    return Usual(found.mean().item(), found.quantile(0.99).item())


def lengths(matrix: Tensor) -> Tensor:
    """The length of each row: `(V, C)` -> `(V,)`."""
    return matrix.detach().double().norm(dim=-1)  # |a| = √ Σ aᵢ²


def middle(matrix: Tensor, indices: Sequence[int]) -> Tensor:
    """The mean of some rows of `(V, C)`: `(C,)`. What stands for a word of several tokens."""
    return matrix.detach()[list(indices)].double().mean(dim=0)  # Σ rows / n


def analogy(matrix: Tensor, a: int, b: int, c: int) -> Tensor:
    """a is to b as c is to what? The vector b − a + c of three rows of `(V, C)`: `(C,)`.

    Raises `RangeError` for a row that is none.
    """
    check_table(matrix)
    for name, index in (("a", a), ("b", b), ("c", c)):
        check_row(name, index, matrix)
    rows = matrix.detach().double()
    return rows[b] - rows[a] + rows[c]  # man, king, woman: king − man + woman


# Positions


def position_table(T: int, C: int) -> Tensor:
    """The sinusoidal positions 0 to T − 1, `(T, C)`. Raises `SizeError` for a size below 1.

    >>> position_table(2, 2)[0].tolist()
    [0.0, 1.0]
    """
    for name, size in (("T", T), ("C", C)):
        if size < 1:
            raise SizeError(name=name, found=size)
    return torch.stack([sinusoid(position, C) for position in range(T)])


def dots(table: Tensor) -> Tensor:
    """The dot product of each two positions of `(T, C)`: `(T, T)`.

    Sinusoids of an even width depend on the distance δ alone: Σᵢ cos(δ ωᵢ), with
    ωᵢ = 10000^(−2i/C), because cos a cos b + sin a sin b = cos(a − b).
    """
    check_table(table)
    table = table.detach().double()
    return table @ table.mT  # pₛ · pₜ


def cosines(table: Tensor) -> Tensor:
    """The cosine of each two positions of `(T, C)`: `(T, T)`, 1 on the diagonal.

    A position of zeros points nowhere: 0 with all.
    """
    products = dots(table)
    length = products.diagonal().sqrt()  # |p| = √(p · p)
    both = length.unsqueeze(1) * length  # (T, 1) * (T,) -> (T, T)
    return torch.where(both > 0, products / both, 0.0)


def by_distance(pairs: Tensor) -> Tensor:
    """What positions a distance apart have in common: `(T, T)` -> `(T, 3)`.

    Row δ holds the mean, the smallest and the largest of all pairs δ apart. Where the
    three are equal, the distance alone decides.
    """
    check_table(pairs)
    diagonals = [pairs.diagonal(delta) for delta in range(len(pairs))]  # t and t + δ
    return torch.stack([torch.stack([d.mean(), d.min(), d.max()]) for d in diagonals])


def check_table(matrix: Tensor) -> None:
    if matrix.dim() != 2:
        raise RankError(name="table", rank=matrix.dim(), shape=tuple(matrix.shape), needed=2)


def check_row(name: str, index: int, matrix: Tensor) -> None:
    if not 0 <= index < len(matrix):
        raise RangeError(name=name, found=index, wanted=f"0 … {len(matrix) - 1}")
