"""The teaching code: attention, computed one readable step at a time.

Read in this order: attention.py, multihead.py, cache.py, mistakes.py.
"""

from model.attention import AttentionTrace, attend, attend_fast, causal_mask, draw_keep, resume
from model.cache import KVCache
from model.errors import PlaygroundError
from model.multihead import (
    MultiHeadAttention,
    MultiHeadTrace,
    merge_heads,
    multi_head,
    multi_head_fast,
    multi_head_loop,
    split_heads,
)

__all__ = [
    "AttentionTrace",
    "KVCache",
    "MultiHeadAttention",
    "MultiHeadTrace",
    "PlaygroundError",
    "attend",
    "attend_fast",
    "causal_mask",
    "draw_keep",
    "merge_heads",
    "multi_head",
    "multi_head_fast",
    "multi_head_loop",
    "resume",
    "split_heads",
]
