"""What the three sections share: units, labels of rows, sums of products written out."""

from __future__ import annotations

import math

from lessons.words import Words
from playground.arithmetic import Num
from playground.html import Html, esc
from playground.table_cells import HUES

MIB = 2**20  # bytes
TO_MIB = "÷ 2²⁰"
TOKENS = Words("{n} tokens", "토큰 {n}개")


def thousands(n: int) -> str:
    """A whole number with commas between its thousands."""
    return f"{n:,}"


def times(ratio: float) -> str:
    """A ratio with as many decimals as tell something: 2.2, 4, 0.25, 16.

    >>> times(2.2), times(4.0), times(0.254), times(15.97)
    ('2.2', '4', '0.25', '16')
    """
    return f"{ratio:.3g}" if ratio < 1 else f"{round(ratio, 1):.10g}"


def mebibytes(n_bytes: int) -> str:
    """Bytes as MiB, with two decimals where they are needed."""
    return f"{n_bytes / MIB:,.2f}".removesuffix(".00")


def names_of(labels: list[str]) -> tuple[list[str], list[int]]:
    """(names, rows) for `Flow.facts` and `Matrix.rows`: the first names have the hues of
    tokens, and these rows are no tokens."""
    return [""] * HUES + labels, list(range(HUES, HUES + len(labels)))


def product(*factors: float) -> tuple[list, float]:
    """Whole numbers multiplied: (the parts to write, the value)."""
    parts: list = []
    for factor in factors:
        parts += ["×", Num(factor)] if parts else [Num(factor)]
    return parts, math.prod(factors)


def sentence(text: str) -> Html:
    return Html(f'<p class="sentence">{esc(text)}</p>')


def told(text: str) -> Html:
    return Html(f'<p class="told">{esc(text)}</p>')


def told_wrong(text: str) -> Html:
    return Html(f'<p class="notice" role="alert">{esc(text)}</p>')
