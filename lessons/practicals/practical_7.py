"""Practical 7: attention that cannot see the future.
실습 7: 미래를 보지 못하는 어텐션.

    python -m lessons practise 7
"""

import torch


def causal_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Scaled attention in which token i sees tokens 0 to i, itself included.
    i번 토큰이 자신을 포함해 0번부터 i번까지의 토큰만 보는 스케일드 어텐션.

    q (..., T, hs), k (..., T, hs), v (..., T, hv) -> (..., T, hv)
    """
    raise NotImplementedError
