"""What the tests of the documents share: the notebook's inputs and how it prints."""

from __future__ import annotations

import torch
from torch import Tensor, nn

INPUTS = torch.tensor(
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ]
)


def printed(tensor: Tensor, rows: list, decimals: int = 4) -> None:
    """`tensor` shows as `rows` when rounded to that many decimals."""
    atol = 0.5001 * 10**-decimals
    torch.testing.assert_close(tensor, torch.tensor(rows), atol=atol, rtol=0)


def linears(d_in: int, d_out: int, count: int) -> list[Tensor]:
    """That many nn.Linear without bias, in the order drawn, as `x @ W` matrices (d_in, d_out)."""
    return [nn.Linear(d_in, d_out, bias=False).weight.detach().mT for _ in range(count)]


def queries_keys_values() -> list[Tensor]:
    """q, k, v of the notebook's second self-attention class, from its seed."""
    torch.manual_seed(789)
    return [INPUTS @ w for w in linears(3, 2, 3)]
