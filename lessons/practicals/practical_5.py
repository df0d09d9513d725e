"""Practical 5: queries, keys and values from the same vectors.
실습 5: 같은 벡터에서 쿼리, 키, 값 만들기.

    python -m lessons practise 5
"""

import torch


def project(
    x: torch.Tensor, w_query: torch.Tensor, w_key: torch.Tensor, w_value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Each token's query, key and value, returned in this order.
    토큰마다 쿼리, 키, 값을 구해 이 순서로 돌려줍니다.

    x (..., T, d_in), each w (d_in, d_out) -> q, k, v, each (..., T, d_out)
    """
    raise NotImplementedError
