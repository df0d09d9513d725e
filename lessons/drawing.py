"""What a generated question is made of: fresh numbers, the answer, and the answers of mistakes.

A generator is a function of a `Random`; whatever it draws from it, the same seed gives
again. Right answers come from `model`, wrong ones from `model.mistakes`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import Random
from typing import Any

import torch
from torch import Tensor

from lessons.words import Words
from model import attend, multi_head, steps
from model.errors import PlaygroundError
from model.mistakes import MISTAKES, in_every_head

Answer = float | str  # a number, or a shape as text
LEAVE_OUT: ContextVar[bool] = ContextVar("LEAVE_OUT", default=True)  # those that look alike


@dataclass(frozen=True)
class Drawn:
    """A generated question: what fills the blanks of its text, and what it comes to."""

    blanks: Mapping[str, object]  # a value alike in both languages, or `Words`
    answer: Answer
    mistakes: Mapping[str, Answer]
    worked: tuple[str | Words, ...] = field(default=())  # the solution, a line each


def matrix(
    draw: Random, rows: int, cols: int, low: float = -2, high: float = 2, step: float = 0.5
) -> Tensor:
    """`(rows, cols)` of multiples of `step` between `low` and `high`, in float64."""
    return torch.stack([vector(draw, cols, low, high, step) for _ in range(rows)])


def vector(draw: Random, n: int, low: float = -2, high: float = 2, step: float = 0.5) -> Tensor:
    """`(n,)` of multiples of `step` between `low` and `high`, in float64."""
    first, last = math.ceil(low / step), math.floor(high / step)
    numbers = [round(draw.randint(first, last) * step, 6) for _ in range(n)]
    return torch.tensor(numbers, dtype=torch.float64)


def compared(
    function: str,
    *arguments: Any,
    pick: Callable[[Any], Any] = float,
    leave: Collection[str] = (),
    alike: Collection[str] = (),
    d_model: int | None = None,
    **options: Any,
) -> tuple[Any, dict[str, Any]]:
    """The right answer of a function of `model`, and what each mistake that spoils it gives.

    `function` is "attend", "multi_head" or a name in `model.steps`; `pick` takes the asked
    number from what it returns. `leave` names mistakes that have no place in this question
    (the step they spoil is given), `alike` those that give what another gives; `d_model` is
    how wide the model is around one head. A mistake that gives the right answer, NaN, ∞ or
    nothing is not among them.
    """
    right = {"attend": attend, "multi_head": multi_head}.get(function)
    right = right or getattr(steps, function)
    answer = plain(pick(right(*arguments, **options)))
    wrong = {}
    for name, mistake in MISTAKES.items():
        if name in leave or (name in alike and LEAVE_OUT.get()):
            continue
        if mistake.spoils not in (function, inner(function)):
            continue
        also = {"d_model": d_model} if name == "scale_by_d_model" else {}
        try:
            if mistake.spoils == function:
                made = mistake(*arguments, **options, **also)
            else:
                made = in_every_head(mistake, *arguments, **options, **also)
            value = plain(pick(made))
        except (PlaygroundError, IndexError, RuntimeError):
            continue  # it cannot be made with these sizes (K Qᵀ of two texts, say)
        if differs(value, answer):
            wrong[name] = value
    return answer, wrong


@contextmanager
def none_left_out() -> Iterator[None]:
    """Inside, `compared` gives the answers of all mistakes, those that look like another too."""
    token = LEAVE_OUT.set(False)
    try:
        yield
    finally:
        LEAVE_OUT.reset(token)


def inner(function: str) -> str:
    """Mistakes of one attention are made in each head as well."""
    return "attend" if function == "multi_head" else function


def plain(value: Any) -> Answer:
    return value if isinstance(value, str) else float(value)


def differs(value: Answer, answer: Answer) -> bool:
    if isinstance(value, str) or isinstance(answer, str):
        return value != answer
    return math.isfinite(value) and not math.isclose(value, answer, rel_tol=1e-9, abs_tol=1e-9)


# Numbers as text


def show(value: Tensor | float | int) -> str:
    """Numbers as a question writes them, ready to be copied into Python.

    >>> show(torch.tensor([[1.0, -0.5], [0.25, 2.0]]))
    '[[1, -0.5], [0.25, 2]]'
    """
    if isinstance(value, Tensor) and value.dim():
        return "[" + ", ".join(show(part) for part in value) + "]"
    return f"{float(value):.6g}"


def n(value: Tensor | float | int) -> str:
    """A number in a worked solution: four decimals at most, a true minus.

    >>> n(-1.06066), n(2.0), n(0.5)
    ('−1.0607', '2', '0.5')
    """
    number = float(value)
    if math.isinf(number):
        return "−∞" if number < 0 else "∞"
    text = f"{number:.4f}".rstrip("0").rstrip(".")
    return text.replace("-", "−") if text not in ("-0", "") else "0"
