"""Numbers as a person types them into a cell, and as a cell shows them again."""

from __future__ import annotations

from lessons.grading import TwoReadingsError, parse_number
from model.errors import PlaygroundError
from playground import input_errors as errors
from playground.state import LARGEST


def typed(value: float) -> str:
    """A number as an input holds it: short, with the hyphen a keyboard has."""
    text = f"{value:.10g}"
    return text if float(text) == value and len(text) <= 9 else f"{value:.4f}"


def read_number(text: str, kept: float, weight: bool = False) -> float:
    """The number typed into a cell; a sentence of its own for each way to be wrong."""
    if not text.strip():
        raise errors.EmptyCellError(kept=typed(kept))
    try:
        value = parse_number(text)
    except TwoReadingsError:
        raise
    except PlaygroundError as error:
        raise errors.CellError(found=errors.short(text), kept=typed(kept)) from error
    if abs(value) > LARGEST:
        big = f"{LARGEST:,.0f}"
        raise errors.RangeError(found=errors.short(text), low=f"−{big}", high=big, kept=typed(kept))
    if weight and value < 0:
        raise errors.SmallestWeightError(found=errors.short(text), kept=typed(kept))
    return value
