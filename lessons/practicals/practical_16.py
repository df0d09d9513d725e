"""Practical 16: the probabilities that the next token is drawn from.
실습 16: 다음 토큰을 뽑을 확률.

    python -m lessons practise 16
"""

import torch


def sample_top_k(logits: torch.Tensor, k: int, temperature: float) -> torch.Tensor:
    """Probabilities at this temperature among the k most probable tokens; 0 for all others.
    이 온도에서 가장 그럴듯한 토큰 k개가 나누어 갖는 확률. 나머지 토큰은 0입니다.

    logits (V,), k at least 1 and perhaps above V, temperature above 0 -> (V,), sum 1
    logits (V,), k는 1 이상이며 V보다 클 수도 있고, temperature는 0보다 큽니다 -> (V,), 합은 1
    """
    raise NotImplementedError
