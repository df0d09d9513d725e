"""A KV cache: the keys and values of the tokens so far, so that a new token
computes only its own.

Without it, writing token 100 computes the keys and values of the other 99
again. One `KVCache` serves one attention layer; the room for `capacity` tokens
is made once, at the first `append`, and filled from the left.
"""

from __future__ import annotations

from torch import Tensor

from model import errors


class KVCache:
    """Keys and values `(..., length, hs)`, up to `capacity` tokens."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.length = 0
        self._k: Tensor | None = None
        self._v: Tensor | None = None

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add `(..., T, hs)` each; return all so far, `(..., length, hs)` each.

        Raises `CacheError` when they do not fit.
        """
        more = k.size(-2)
        if self.length + more > self.capacity:
            raise errors.CacheError(capacity=self.capacity, length=self.length, more=more)
        if self._k is None or self._v is None:
            self._k = k.new_empty((*k.shape[:-2], self.capacity, k.size(-1)))
            self._v = v.new_empty((*v.shape[:-2], self.capacity, v.size(-1)))
        end = self.length + more
        if k.requires_grad or v.requires_grad:  # a cache serves writing, not learning
            k, v = k.detach(), v.detach()
        self._k.narrow(-2, self.length, more).copy_(k)
        self._v.narrow(-2, self.length, more).copy_(v)
        self.length = end
        return self._k.narrow(-2, 0, end), self._v.narrow(-2, 0, end)
