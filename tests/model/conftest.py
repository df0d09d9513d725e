"""What the tests of model/ share: a precision, and how close it asks numbers to be."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor


@dataclass(frozen=True)
class Precision:
    """A type of number and the largest difference allowed between two routes to it."""

    dtype: torch.dtype
    bound: float

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, dtype=self.dtype)

    def close(self, actual: Tensor, expected: Tensor) -> None:
        """Same shape, same type, no entry further apart than the bound."""
        torch.testing.assert_close(actual, expected, atol=self.bound, rtol=0)


@pytest.fixture(params=[(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=["float64", "float32"])
def precision(request: pytest.FixtureRequest) -> Precision:
    torch.manual_seed(20)
    return Precision(*request.param)


@pytest.fixture
def exact() -> Precision:
    torch.manual_seed(21)
    return Precision(torch.float64, 1e-10)
