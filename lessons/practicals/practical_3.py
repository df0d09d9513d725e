"""Practical 3: softmax, from exp and sum.
실습 3: exp와 sum으로 쓰는 소프트맥스.

    python -m lessons practise 3
"""

import torch


def softmax(scores: torch.Tensor) -> torch.Tensor:
    """Each row turned into weights: e to each score, divided by the row's sum of these.
    행마다 가중치로 바꿉니다. e를 점수만큼 거듭제곱하고, 그 행의 합으로 나눕니다.

    scores (..., T, n) -> weights (..., T, n), every row sums to 1; scores of ±1000 too
    """
    raise NotImplementedError
