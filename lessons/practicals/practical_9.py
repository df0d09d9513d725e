"""Practical 9: multi-head attention with a causal mask.
실습 9: 코잘 마스크를 쓰는 멀티 헤드 어텐션.

    python -m lessons practise 9
"""

import torch


def multi_head(
    x: torch.Tensor,
    w_query: torch.Tensor,
    w_key: torch.Tensor,
    w_value: torch.Tensor,
    w_out: torch.Tensor,
    n_head: int,
) -> torch.Tensor:
    """Causal self-attention in n_head heads, laid side by side, then projected by w_out.
    n_head개의 헤드에서 코잘 셀프 어텐션을 하고, 나란히 이어 붙인 다음 w_out으로 투영합니다.

    Head h owns columns h·hs to (h+1)·hs - 1 of each w, where hs = C / n_head.
    h번 헤드는 각 w의 h·hs열부터 (h+1)·hs - 1열까지를 씁니다(hs = C / n_head).

    x (..., T, d_in), w_query, w_key, w_value (d_in, C), w_out (C, C) -> (..., T, C)
    """
    raise NotImplementedError
