"""Where a weight comes from: softmax and its mistakes, dropout, the sums of rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from playground.arithmetic import (
    Exp,
    Explanation,
    Frac,
    Num,
    add_up,
    cell,
    column_of,
    divide,
    over,
    row_of,
    total,
)
from playground.flow import Flow, Matrix

Candidate = Callable[[Flow, Matrix, int, int], "Explanation | None"]

DIGITS = 4  # decimals of a quotient in the glass box
PLAIN = 10_000.0  # powers up to here are written as they are


@dataclass(frozen=True)
class Power(Num):
    """A power of e, worked out, with as many decimals as its quotient needs."""

    digits: int = DIGITS


def softmax_of(nums: list[Num], chosen: int) -> Explanation:
    """e^s over the sum of all e^s; masked scores (e^−∞ = 0) are left out of the sum."""
    seen = [n for n in nums if n.value != -math.inf]
    if not seen or any(math.isnan(n.value) for n in nums):
        return over([Num(0.0)], [Num(0.0)], math.nan)
    shift, digits = form([n.value for n in seen])
    bottom = total([[Exp(n, shift)] for n in seen])
    mine = nums[chosen]
    if mine.value == -math.inf:
        return over([Exp(mine)], bottom, 0.0)
    powers = [math.exp(n.value - shift) for n in seen]
    power = math.exp(mine.value - shift)
    second = Frac([Power(power, digits=digits)], total([[Power(p, digits=digits)] for p in powers]))
    return Explanation([Frac([Exp(mine, shift)], bottom), "=", second], power / add_up(powers))


def form(scores: list[float]) -> tuple[float, int]:
    """How a row's powers are written: (what each exponent is lessened by, decimals).

    The first way whose printed powers give every quotient of the row: e^s with four
    decimals, else the row's maximum is taken off, with four, five or six of them. The
    largest power is then 1, and six decimals are enough for 64 tokens.
    """
    high = max(scores)
    ways = [(0.0, DIGITS)] if high <= math.log(PLAIN) else []
    ways += [(high, DIGITS), (high, DIGITS + 1), (high, DIGITS + 2)]
    return next((way for way in ways if printed_right(scores, *way)), ways[-1])


def printed_right(scores: list[float], shift: float, digits: int) -> bool:
    """Whether powers with so many decimals give each quotient but for 1 in its last digit."""
    powers = [math.exp(s - shift) for s in scores]
    printed = [round(p, digits) for p in powers]
    whole, shown = math.fsum(powers), math.fsum(printed)
    last = 1.001 * 10**-DIGITS  # a little more than 1: floats
    return shown > 0 and all(
        abs(few / shown - round(p / whole, DIGITS)) <= last
        for few, p in zip(printed, powers, strict=True)
    )


def softmax_row(name: str) -> Candidate:
    def candidate(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
        scores = flow.get(name, m.head)
        return softmax_of(row_of(scores, i), j) if scores else None

    return candidate


def softmax_column(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
    scores = flow.get("masked", m.head)
    return softmax_of(column_of(scores, j), i) if scores else None


def share_of(name: str) -> Candidate:
    """A number over the sum of its row; −∞ counts as nothing."""

    def candidate(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
        source = flow.get(name, m.head)
        if source is None:
            return None
        row = [n for n in row_of(source, i) if n.value != -math.inf]
        top = cell(source, i, j)
        top = Num(0.0) if top.value == -math.inf else top
        # Summed as the mistake sums it: near 0, another order of adding is another number.
        bottom = source.values.masked_fill(source.values == -math.inf, 0.0).sum(dim=-1)[i]
        return over([top], total([[n] for n in row]), divide(top.value, float(bottom)))

    return candidate


def zeroed(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
    """Softmax over all of a row, then 0 above the diagonal."""
    scaled = flow.get("scaled", m.head)
    if scaled is None:
        return None
    if j > i:
        return Explanation([Num(0.0)], 0.0)
    return softmax_of(row_of(scaled, i), j)


# dropout


def kept(by_p: bool = False) -> Candidate:
    """weight × 1 or 0, ÷ (1 − p); with `by_p` ÷ p, the mistake."""

    def candidate(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
        weight, keep = cell(flow.get("weights", m.head), i, j), flow.facts.get("keep")
        if weight is None or keep is None:
            return None
        alive = float(keep[m.head][i, j] if keep.dim() == 3 else keep[i, j])
        p = flow.facts["dropout"]
        bottom = [Num(p)] if by_p else ["1 −", Num(p)]
        return over(
            [weight, "×", Num(alive)], bottom, weight.value * alive / (p if by_p else 1 - p)
        )

    return candidate


def kept_share(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
    weights, keep = flow.get("weights", m.head), flow.facts.get("keep")
    if weights is None or keep is None:
        return None
    alive = keep[m.head] if keep.dim() == 3 else keep
    row = [n for n, k in zip(row_of(weights, i), alive[i].tolist(), strict=True) if k]
    mine, one = cell(weights, i, j), float(alive[i, j])
    bottom = total([[n] for n in row]) or [Num(0.0)]
    value = divide(mine.value * one, add_up(n.value for n in row))
    return over([mine, "×", Num(one)], bottom, value)


# the sums of rows


def row_sum(name: str) -> Candidate:
    def candidate(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
        weights = flow.get(name)
        if weights is None or j != 0:
            return None
        nums = row_of(weights, i)
        return Explanation(total([[n] for n in nums]), add_up(n.value for n in nums))

    return candidate


def future_sum(name: str) -> Candidate:
    def candidate(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
        weights = flow.get(name)
        if weights is None or j != 1:
            return None
        nums = row_of(weights, i)[i + 1 :] or [Num(0.0)]
        return Explanation(total([[n] for n in nums]), add_up(n.value for n in nums))

    return candidate
