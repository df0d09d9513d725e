"""Lists of rows, as JSON carries them, to matrices and back.

Everything that comes from outside (the API, links, uploads) goes through
`to_matrix`, so that what is wrong with it is said in one way.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from model.errors import NotFiniteError
from playground import errors
from playground.errors import shown

MAX_ROWS = 64  # tokens
MAX_COLUMNS = 64  # dimensions


def to_matrix(
    name: str, rows: object, max_rows: int = MAX_ROWS, max_cols: int = MAX_COLUMNS
) -> Tensor:
    """A list of rows -> `(rows, columns)` in float64, every entry a finite number.

    Raises an `InputError` that says what is wrong with `name` and where, or
    `NotFiniteError` for NaN and infinity.
    """
    if not isinstance(rows, list | tuple):
        raise errors.NotAMatrixError(name=name, value=shown(rows))
    if not rows:
        raise errors.EmptyError(name=name, unit_en="rows", unit_ko="행")
    if len(rows) > max_rows:
        raise errors.TooManyRowsError(name=name, rows=len(rows), limit=max_rows)
    for i, row in enumerate(rows):
        check_row(name, i, row, rows[0], max_cols)
    return torch.tensor(
        [[to_number(name, i, j, x) for j, x in enumerate(row)] for i, row in enumerate(rows)],
        dtype=torch.float64,
    )


def check_row(name: str, i: int, row: object, first: list, max_cols: int) -> None:
    """Row `i` is a list, neither empty nor too long, and as long as the first."""
    if not isinstance(row, list | tuple):
        raise errors.NotARowError(name=name, row=i, value=shown(row))
    if not row:
        raise errors.EmptyError(name=f"{name}[{i}]", unit_en="numbers", unit_ko="숫자")
    if len(row) > max_cols:
        raise errors.TooManyColumnsError(name=name, columns=len(row), limit=max_cols)
    if len(row) != len(first):
        raise errors.RaggedError(name=name, row=i, length=len(row), first=len(first))


def to_number(name: str, i: int, j: int, value: object) -> float:
    """The entry at row i, column j as a finite float; booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise errors.NotANumberError(name=name, row=i, column=j, value=shown(value))
    try:
        number = float(value)
    except OverflowError:  # JSON allows whole numbers of any length
        digits = int(value.bit_length() * math.log10(2)) + 1
        raise errors.TooLargeError(name=name, row=i, column=j, digits=digits) from None
    if not math.isfinite(number):
        raise NotFiniteError(name=name, value=number, position=[i, j])
    return number


def to_rows(matrix: Tensor) -> list[list[float | None]]:
    """`(rows, columns)` -> a list of rows; -∞, which JSON cannot write, becomes None.

    >>> to_rows(torch.tensor([[1.5, -torch.inf]]))
    [[1.5, None]]
    """
    rows = matrix.tolist()
    if torch.isneginf(matrix).any():
        return [[None if x == -math.inf else x for x in row] for row in rows]
    return rows
