"""One full pass against the same tokens in pieces, through a KV cache."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from model import KVCache, MultiHeadAttention, causal_mask
from model.errors import CacheError

B, T, C, N_HEAD = 2, 11, 12, 3

PIECES = {
    "ones": [1] * T,
    "twos": [2] * 5 + [1],
    "fives": [5, 5, 1],
    "all": [T],
    "uneven": [3, 1, 5, 2],
    "prompt, then one by one": [7, 1, 1, 1, 1],
}


def in_pieces(module, x, pieces, trace=None):
    """The outputs of `module` over `x` fed piece by piece, laid together again."""
    cache, outputs = KVCache(T), []
    for piece in x.split(pieces, dim=1):
        mask = causal_mask(piece.size(1), cache.length + piece.size(1))
        outputs.append(module(piece, mask=mask, cache=cache, trace=trace))
    assert cache.length == T
    return torch.cat(outputs, dim=1)


@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES)
@pytest.mark.parametrize("traced", [False, True], ids=["fast", "traced"])
def test_pieces_equal_one_full_pass_of_pytorchs_module(precision, pieces, traced):
    module = MultiHeadAttention(C, N_HEAD).to(precision.dtype)
    theirs = nn.MultiheadAttention(C, N_HEAD, batch_first=True).to(precision.dtype)
    theirs.in_proj_weight, theirs.in_proj_bias = module.c_attn.weight, module.c_attn.bias
    theirs.out_proj.weight, theirs.out_proj.bias = module.c_proj.weight, module.c_proj.bias
    x = precision.normal(B, T, C)
    hide = ~causal_mask(T)  # True hides there
    full, weights = theirs(x, x, x, attn_mask=hide, average_attn_weights=False)
    steps = [] if traced else None
    precision.close(in_pieces(module, x, pieces, steps), full)
    precision.close(module(x, mask=causal_mask(T)), full)
    if traced:
        start = 0
        for size, step in zip(pieces, steps, strict=True):
            end = start + size
            precision.close(step.heads.weights, weights[:, :, start:end, :end])
            start = end


def test_append_returns_all_keys_and_values_so_far(exact):
    k, v = exact.normal(2, B, N_HEAD, T, 4).unbind(0)
    cache, end = KVCache(T), 0
    for size in PIECES["uneven"]:
        start, end = end, end + size
        so_far = cache.append(k[..., start:end, :], v[..., start:end, :])
        assert torch.equal(so_far[0], k[..., :end, :])
        assert torch.equal(so_far[1], v[..., :end, :])
        assert cache.length == end


def test_what_append_returned_stays_as_it_was(exact):
    """A trace of an early piece must not change when later tokens come in."""
    k = exact.normal(1, 2, 4)
    cache = KVCache(4)
    early, _ = cache.append(k, k)
    kept = early.clone()
    cache.append(k + 1, k + 1)
    assert torch.equal(early, kept)


def test_an_overfull_cache_refuses_and_stays_usable(exact):
    k = exact.normal(1, 3, 4)
    cache = KVCache(4)
    cache.append(k, k)
    with pytest.raises(CacheError) as caught:
        cache.append(k, k)
    assert caught.value.values == {"capacity": 4, "length": 3, "more": 3}
    assert cache.length == 3
    all_k, _ = cache.append(k[:, :1], k[:, :1])
    assert torch.equal(all_k, torch.cat([k, k[:, :1]], dim=1))
