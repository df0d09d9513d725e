"""Practical 2: the scores of attention, every query against every key.
실습 2: 어텐션 점수. 쿼리마다 모든 키와 점곱합니다.

    python -m lessons practise 2
"""

import torch


def scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    """Row i, column j: the dot product of query i and key j. Not yet divided by anything.
    i번 행 j번 열: i번 쿼리와 j번 키의 점곱. 아직 아무것으로도 나누지 않습니다.

    q (..., Tq, hs), k (..., Tk, hs) -> (..., Tq, Tk)
    """
    raise NotImplementedError
