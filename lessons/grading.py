"""Grading of numbers: what a person typed -> a number -> right, or which mistake.

`parse_number` reads a number the way people write one; `diagnose` compares it
with the right answer and with what each known mistake would give.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from model.errors import PlaygroundError

MOST_SHOWN = 40  # characters of what was typed that a message repeats

# Full-width forms (！ to ～) become ASCII, other minus signs and slashes the plain ones.
PLAIN = str.maketrans(
    {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
    | dict.fromkeys(map(ord, "−–﹣"), "-")
    | dict.fromkeys(map(ord, "⁄∕"), "/")
)
NUMBER = r"(?:[0-9]+(?:\.[0-9]*|,[0-9]+)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?"
TYPED = re.compile(
    rf"(?P<sign>[+-]?)\s*(?P<number>{NUMBER})(?:\s*(?P<percent>%)|\s*/\s*(?P<below>{NUMBER}))?"
)
# Three digits after a comma, a whole number before it: a thousand and more, or a decimal comma?
TWO_READINGS = re.compile(r"(?<![0-9])[1-9][0-9]{0,2},[0-9]{3}(?![0-9])")


class NotANumberError(PlaygroundError):
    en = "“{typed}” cannot be read as a number. Write one like 0.42, −0.2, 1/3 or 42 %, without thousands separators."
    ko = "‘{typed}’ 값은 숫자로 읽을 수 없습니다. 0.42, −0.2, 1/3, 42 %처럼 쓰고, 천 단위 구분 기호는 넣지 마십시오."


class TwoReadingsError(NotANumberError):
    en = "“{typed}” can mean {whole} or {decimal}. Write the one you mean without a comma."
    ko = "‘{typed}’ 값은 {whole} 또는 {decimal}, 두 가지로 읽을 수 있습니다. 쉼표 없이 써 주십시오."


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right; if not, the mistake it comes from, where one is known."""

    correct: bool
    mistake: str | None


def parse_number(text: str) -> float:
    """The finite number that `text` stands for: a decimal, a fraction or a percentage.

    A comma may stand for the decimal point, except where it could as well group
    thousands (`TwoReadingsError`). Anything else raises `NotANumberError`.

    >>> parse_number("0,42"), parse_number("−1/4"), parse_number("42 %")
    (0.42, -0.25, 0.42)
    """
    plain = text.translate(PLAIN).strip()
    typed = TYPED.fullmatch(plain)
    if typed is None:
        raise NotANumberError(typed=shortened(text))
    if TWO_READINGS.search(plain):
        whole, decimal = plain.replace(",", ""), plain.replace(",", ".")
        raise TwoReadingsError(
            typed=shortened(text), whole=shortened(whole), decimal=shortened(decimal)
        )
    above = as_float(typed["number"])
    below = as_float(typed["below"]) if typed["below"] else (100.0 if typed["percent"] else 1.0)
    number = above / below if below else math.nan
    if not math.isfinite(number):  # 1e999, 1/0
        raise NotANumberError(typed=shortened(text))
    return -number if typed["sign"] == "-" else number


def as_float(digits: str) -> float:
    """Digits with a decimal point or comma -> float."""
    return float(digits.replace(",", "."))


def shortened(text: str) -> str:
    """`text` on one line, cut where it is too long to repeat in a message."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_SHOWN else line[: MOST_SHOWN - 1] + "…"


def tolerance(right: float) -> float:
    """How far an answer may be off: two decimals rightly rounded, or 0.1 % of large numbers.

    0.005 and 0.001·|right|, whichever is larger, and a hair more, since 0.425 - 0.42
    is 0.0050000000000000044 in floating point.
    """
    return max(0.005, 0.001 * abs(right)) + 1e-9 * max(1.0, abs(right))


def diagnose(answer: float, right: float, wrong: Mapping[str, float]) -> Verdict:
    """Compare `answer` with the right number, then with what each mistake gives.

    `wrong` holds each mistake's number by its name. A mistake is named when its
    number is within the tolerance of the answer and more than twice that from
    the right one: nearer, nobody could tell the two apart. The nearest wins; NaN
    and infinity match nothing.
    """
    assert math.isfinite(right), "a question asks for a finite number"
    near = tolerance(right)
    if abs(answer - right) <= near:
        return Verdict(correct=True, mistake=None)
    fitting = {
        name: abs(answer - value)
        for name, value in wrong.items()
        if abs(answer - value) <= near and abs(value - right) > 2 * near
    }
    return Verdict(correct=False, mistake=min(fitting, key=fitting.__getitem__, default=None))
