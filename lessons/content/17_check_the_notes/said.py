"""Numbers as verdicts write them, and the shipped models they come from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cache, wraps
from threading import RLock
from typing import TypeVar

import torch
from torch import Tensor

from lessons.drawing import n
from model import Checkpoint, load_checkpoint

Made = TypeVar("Made")
MAKING = RLock()  # held while the shared random state is drawn from: one fork of it at a time
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def fixed(value: Tensor | float, digits: int) -> str:
    """A number with that many decimals and a true minus.

    >>> fixed(-0.25, 1), fixed(0.11776, 3), fixed(-0.0, 1)
    ('−0.2', '0.118', '0.0')
    """
    return f"{float(value):z.{digits}f}".replace("-", "−")


def listed(values: Tensor | Iterable[float], digits: int) -> str:
    """Several numbers, alike.

    >>> listed([1, 2.5], 1)
    '1.0, 2.5'
    """
    return ", ".join(fixed(value, digits) for value in values)


def plain(values: Tensor | Iterable[float]) -> str:
    """Several numbers, four decimals at most.

    >>> plain([1, 0.5, 0])
    '1, 0.5, 0'
    """
    return ", ".join(n(value) for value in values)


def tiny(value: Tensor | float) -> str:
    """A difference of rounding size: one digit and a power of ten; 0 where it is exactly that.

    >>> tiny(2.4e-7), tiny(0.0)
    ('2 × 10⁻⁷', '0')
    """
    digit, power = f"{float(value):.0e}".split("e")
    return f"{digit} × 10{str(int(power)).translate(SUPERSCRIPT)}" if float(value) else "0"


def largest(difference: Tensor) -> float:
    """The largest distance from 0 in a tensor."""
    return float(difference.abs().max())


def drawing(seed: int = 1) -> torch.Generator:
    """Draws of its own: nobody else's random numbers are touched, and the verdict stays the same."""
    return torch.Generator().manual_seed(seed)


def once(function: Callable[..., Made]) -> Callable[..., Made]:
    """`cache` for what draws in a fork: two visitors at once neither make it twice nor mix draws."""
    made = cache(function)

    @wraps(function)
    def locked(*names: Hashable) -> Made:
        with MAKING:
            return made(*names)

    return locked


@once
def shipped(name: str) -> Checkpoint:
    """A model by its name. Building it draws weights that are then replaced: in a fork."""
    with torch.random.fork_rng(devices=[]):
        return load_checkpoint(name)


def pieces(checkpoint: Checkpoint, text: str) -> list[str]:
    """The tokens of a text, as text."""
    return [checkpoint.tokenizer.decode([i]) for i in checkpoint.tokenizer.encode(text)]


def quoted(parts: Iterable[str]) -> str:
    return " | ".join(parts)
