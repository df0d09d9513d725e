"""Practical 6: scaled dot-product attention.
실습 6: 스케일드 점곱 어텐션.

    python -m lessons practise 6
"""

import torch


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """softmax(Q Kᵀ / √hs) V, without a mask. torch.softmax may be used.
    마스크가 없는 softmax(Q Kᵀ / √hs) V. torch.softmax를 써도 됩니다.

    q (..., Tq, hs), k (..., Tk, hs), v (..., Tk, hv) -> (..., Tq, hv)
    """
    raise NotImplementedError
