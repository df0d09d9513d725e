"""A gradient by the definition: move one weight a little, and see how the loss moves.

    ∂L/∂w ≈ (L(w + h) − L(w − h)) / 2h

The error falls with h², until rounding, about ε·L/h, outgrows it: in float64 h = 1e-5
leaves some nine digits. It costs two passes for each weight, where backpropagation gets
all of them for the price of about three.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from model import errors


@dataclass(frozen=True)
class Difference:
    """A central difference: the loss a little above and a little below, and the slope between."""

    h: float
    above: float  # L(w + h)
    below: float  # L(w − h)

    @property
    def slope(self) -> float:
        return (self.above - self.below) / (2 * self.h)


@torch.no_grad()
def difference(
    loss: Callable[[], Tensor], weight: Tensor, index: tuple[int, ...], h: float = 1e-5
) -> Difference:
    """`loss()` with the one number `weight[index]` moved up and down by h, and put back.

    Raises `RangeError` for an h that is not above 0.
    """
    if not h > 0:
        raise errors.RangeError(name="h", found=h, wanted="> 0")
    kept = weight[index].item()
    try:
        weight[index] = kept + h
        above = loss().item()
        weight[index] = kept - h
        below = loss().item()
    finally:
        weight[index] = kept
    return Difference(h, above, below)


def finite_difference(
    loss: Callable[[], Tensor], weight: Tensor, index: tuple[int, ...], h: float = 1e-5
) -> float:
    """∂L/∂w of one number, without any backward pass. Raises what `difference` raises."""
    return difference(loss, weight, index, h).slope
