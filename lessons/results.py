"""What a learner's function returned on a case, as numbers that can be compared."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lessons.cases import Case
from lessons.learner import Outcome

EXACT = 2e-5  # what float32 may differ by when computed in another order
ALIKE = 1e-3  # a mistake may divide by something near 0, where float32 is coarse
WANTED = "torch.float32"  # the type of the inputs, and so of the results


@dataclass(frozen=True)
class Result:
    """One case: the right tensors, and what the learner's function gave."""

    case: Case
    right: tuple[Tensor, ...]
    outcome: Outcome

    @property
    def items(self) -> list[Outcome]:
        """The returned things, where they are as many as wanted; else none."""
        if len(self.right) == 1:
            return [self.outcome]
        items = self.outcome.get("items", [])
        return items if len(items) == len(self.right) else []

    @property
    def tensors(self) -> tuple[Tensor | None, ...]:
        """The returned tensors; None for anything else."""
        return tuple(numbers_of(item) for item in self.items)

    @property
    def numbers(self) -> tuple[Tensor, ...] | None:
        """The returned tensors where all are there and of the right shapes; else None."""
        found = self.tensors
        fits = found and all(
            f is not None and f.shape == r.shape for f, r in zip(found, self.right, strict=True)
        )
        return found if fits else None

    @property
    def correct(self) -> bool:
        """The right numbers in the right type."""
        types = {item.get("dtype") for item in self.items}
        return like(self.numbers, self.right, EXACT) and types == {WANTED}


def numbers_of(outcome: Outcome) -> Tensor | None:
    """The tensor that an outcome describes, in float64; None where it is none with numbers."""
    if outcome.get("values") is None:
        return None
    return torch.tensor(outcome["values"], dtype=torch.float64).reshape(outcome["shape"])


def like(found: tuple[Tensor | None, ...] | None, wanted: tuple[Tensor, ...], off: float) -> bool:
    """As many tensors of the same shapes and, but for `off`, the same numbers."""
    return (
        found is not None
        and len(found) == len(wanted)
        and all(
            f is not None and f.shape == w.shape and bool(near(f, w, off).all())
            for f, w in zip(found, wanted, strict=True)
        )
    )


def near(found: Tensor, wanted: Tensor, off: float) -> Tensor:
    """Where two tensors agree: to `off` times the largest of the row (at least 1); NaN with NaN."""
    found, wanted = found.double(), wanted.double()
    size = wanted.abs().nan_to_num(nan=0.0, posinf=0.0)
    largest = size.amax(dim=-1, keepdim=True) if size.dim() and size.numel() else size
    close = (found - wanted).abs() <= off * largest.clamp(min=1.0)
    return close | (found == wanted) | (found.isnan() & wanted.isnan())
