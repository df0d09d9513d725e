"""Cheaper kinds of attention: what is left out, and what comes of it.

- sparse: a mask that leaves each query a few keys (`window_mask`, `strided_mask`), or the
  keys that fit it best (`top_k_mask`, as retrieval does); used with `attend`.
- `attend_window`: the same numbers as `attend` with `window_mask`, but only the scores
  inside the window are ever computed. A mask alone saves nothing: it hides what is there.
- linear: `attend_linear` replaces softmax by a product of features, and no score is computed
  at all. Another function, not the same one faster.

Left out: features that approximate softmax (Performer, Choromanski et al. 2021).

Axes: Tq queries, Tk keys (T where both are the same tokens), hs = head_size, hv width of a
value; `...` any leading axes. Masks: True = may attend.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from model import errors
from model.attention import attend, causal_mask, check_axes, check_inputs, check_overflow

# Sparse: which keys a query may see


def window_mask(T: int, window: int, causal: bool = True) -> Tensor:
    """`(T, T)` booleans: each token sees `window` tokens, itself the last of them.

    Without `causal` it sees as many after it. A window of T leaves everything.
    Raises `SizeError` for a window below 1. Source: Beltagy et al. 2020, "Longformer",
    section 3.1 (sliding window).

    >>> window_mask(4, 2).int().tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    """
    check_size("window", window)
    back = distance(range(T), range(T))
    near = back.abs() < window
    return near & (back >= 0) if causal else near


def strided_mask(T: int, stride: int, causal: bool = True) -> Tensor:
    """`(T, T)` booleans: the last `stride` tokens, and every `stride`-th before them.

    With a stride near √T two steps of such attention reach any token from any other, and
    each query sees about 2√T keys. Without `causal` the same holds of the tokens after it.
    Raises `SizeError` for a stride below 1. Source: Child et al. 2019, "Generating Long
    Sequences with Sparse Transformers", section 4.3 (both heads of the strided pattern in one).

    >>> strided_mask(5, 2).int().tolist()[4]
    [1, 0, 1, 1, 1]
    """
    check_size("stride", stride)
    back = distance(range(T), range(T))
    seen = (back.abs() < stride) | (back % stride == 0)
    return seen & (back >= 0) if causal else seen


def top_k_mask(scores: Tensor, k: int, mask: Tensor | None = None) -> Tensor:
    """Booleans like scores `(..., Tq, Tk)`: the k largest scores of each query, no other.

    Only keys that `mask` allows are looked up; of equal scores the choice is PyTorch's.
    Retrieval finds these keys without computing all scores, by an index of the keys; here
    all are there to be compared. Raises `SizeError` for k below 1.
    Source: Gupta et al. 2021, "Memory-efficient Transformers via Top-k Attention".

    >>> top_k_mask(torch.tensor([[3.0, 1.0, 2.0]]), 2).int().tolist()
    [[1, 0, 1]]
    """
    check_size("k", k)
    visible = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    best = visible.topk(min(k, scores.size(-1)), dim=-1).indices  # (..., Tq, k)
    kept = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, best, True)
    return kept if mask is None else kept & mask


def attend_window(
    q: Tensor, k: Tensor, v: Tensor, window: int, *, causal: bool = True, scale: bool = True
) -> Tensor:
    """The `output` of `attend` with `window_mask`, `(..., T, hv)`, block by block.

    q, k `(..., T, hs)`, v `(..., T, hv)`. `window` queries at a time meet the keys that one
    of them may see, fewer than 2 × window (3 × without `causal`): T × 2 window scores in all,
    not T × T. Raises what `attend` raises, and `SizeError`. Source: Beltagy et al. 2020,
    section 3.1 and appendix A (chunks).
    """
    check_size("window", window)
    check_inputs(q, k, v, None, 0.0)
    T, outputs = q.size(-2), []
    for start in range(0, T, window):
        end = min(T, start + window)
        first, last = max(0, start - window + 1), end if causal else min(T, end + window - 1)
        back = distance(range(start, end), range(first, last))
        near = (back < window) & (back >= 0) if causal else back.abs() < window
        keys, values = k[..., first:last, :], v[..., first:last, :]
        outputs.append(attend(q[..., start:end, :], keys, values, near, scale=scale).output)
    return torch.cat(outputs, dim=-2)


def distance(queries: range, keys: range) -> Tensor:
    """`(len(queries), len(keys))`: how many places a key lies back from a query; after it, below 0.

    >>> distance(range(2, 4), range(3)).tolist()
    [[2, 1, 0], [3, 2, 1]]
    """
    return torch.tensor(queries).unsqueeze(-1) - torch.tensor(keys)  # i − j


# Linear: features instead of softmax


class VanishedError(errors.PlaygroundError):
    """A query whose features and those of its keys are so small that no weight can be had."""

    en = (
        "Query {row}: its products φ(q) · φ(k) add up to {total}, which nothing can be divided by. "
        "φ is eˣ below 0, and the smallest of the numbers in q and k is {smallest}; use larger ones."
    )
    ko = (
        "{row}번 쿼리에서 φ(q) · φ(k)의 합이 {total}이라 나눌 수 없습니다. 0보다 작은 수에서 φ는 eˣ이고, "
        "q와 k의 가장 작은 숫자는 {smallest}입니다. 더 큰 숫자를 쓰십시오."
    )


@dataclass(frozen=True)
class LinearTrace:
    """Every step of one linear attention. Each field is a tensor `(..., *AXES[field])`.

    S is 1, one sum that all queries read; causal, S = Tq: each query has the sum so far.
    """

    AXES: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "q": ("Tq", "hs"),
        "k": ("Tk", "hs"),
        "v": ("Tk", "hv"),
        "phi_q": ("Tq", "hs"),
        "phi_k": ("Tk", "hs"),
        "kv": ("S", "hs", "hv"),
        "z": ("S", "hs"),
        "totals": ("Tq", "one"),
        "output": ("Tq", "hv"),
    }

    q: Tensor
    k: Tensor
    v: Tensor
    phi_q: Tensor  # φ(Q)
    phi_k: Tensor  # φ(K)
    kv: Tensor  # Σ φ(kⱼ) vⱼᵀ: all keys and values in one matrix, however many they are
    z: Tensor  # Σ φ(kⱼ)
    totals: Tensor  # φ(qᵢ) · z: what a row of similarities sums to
    output: Tensor  # φ(qᵢ)ᵀ kv / φ(qᵢ) · z
    causal: bool

    def __post_init__(self) -> None:
        check_axes({name: getattr(self, name) for name in self.AXES}, self.AXES)

    @property
    def similarity(self) -> Tensor:
        """φ(Q) φ(K)ᵀ, `(..., Tq, Tk)`, 0 where a query may not look. The output needs none of it."""
        similar = self.phi_q @ self.phi_k.mT
        if self.causal:
            similar = similar.masked_fill(~causal_mask(*similar.shape[-2:]), 0.0)
        return similar

    @property
    def weights(self) -> Tensor:
        """The weights that the output implies, `(..., Tq, Tk)`: each row sums to 1, as softmax's do."""
        return self.similarity / self.totals


def phi(x: Tensor) -> Tensor:
    """elu(x) + 1, always above 0: x + 1 above 0, eˣ below. Of the shape of x.

    Source: Katharopoulos et al. 2020, equation 7.

    >>> phi(torch.tensor([2.0, 0.0])).tolist()
    [3.0, 1.0]
    """
    # F.elu(x) + 1 is the same, but rounds to exactly 0 from x = −37 on (float64)
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


def attend_linear(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> LinearTrace:
    """φ(Q) (φ(K)ᵀ V) / φ(Q) Σφ(k), with every step kept; no T × T matrix.

    q `(..., Tq, hs)`, k `(..., Tk, hs)`, v `(..., Tk, hv)`. `causal` stands for
    `causal_mask(Tq, Tk)`. Nothing is divided by √hs: the paper does not.

    It grows with T, not T². But causal, all the sums so far are kept, hs × hv numbers for each
    query; a recurrence needs only the last (equations 16 to 20 of the paper).
    Raises what `attend` raises for q, k and v, and `VanishedError`.
    Source: Katharopoulos et al. 2020, "Transformers are RNNs", equations 5, 6; causal 9 to 11.
    """
    check_inputs(q, k, v, None, 0.0)
    Tq, Tk = q.size(-2), k.size(-2)
    if causal and Tq > Tk:  # the first queries are before all keys
        raise errors.FullyMaskedError(row=0, keys=Tk)
    phi_q, phi_k = phi(q), phi(k)
    if causal:
        pairs = phi_k.unsqueeze(-1) * v.unsqueeze(-2)  # (..., Tk, hs, 1) * (..., Tk, 1, hv)
        kv = pairs.cumsum(dim=-3)[..., Tk - Tq :, :, :]  # (..., Tq, hs, hv)
        z = phi_k.cumsum(dim=-2)[..., Tk - Tq :, :]  # (..., Tq, hs)
        numerators = (phi_q.unsqueeze(-2) @ kv).squeeze(-2)  # (..., Tq, 1, hs) @ (..., Tq, hs, hv)
    else:
        kv = (phi_k.mT @ v).unsqueeze(-3)  # (..., hs, Tk) @ (..., Tk, hv) -> (..., 1, hs, hv)
        z = phi_k.sum(dim=-2, keepdim=True)  # (..., 1, hs)
        numerators = phi_q @ kv.squeeze(-3)  # (..., Tq, hs) @ (..., hs, hv) -> (..., Tq, hv)
    totals = (phi_q * z).sum(dim=-1, keepdim=True)  # (..., Tq, 1)
    check_overflow((q, k, v), kv=kv, z=z, totals=totals, output=numerators)
    check_totals(totals, q, k)
    return LinearTrace(q, k, v, phi_q, phi_k, kv, z, totals, numerators / totals, causal)


# Checks


def check_size(name: str, found: int) -> None:
    """A size is at least 1; else `SizeError`."""
    if found < 1:
        raise errors.SizeError(name=name, found=found)


def check_totals(totals: Tensor, q: Tensor, k: Tensor) -> None:
    """What is divided by is a full number, not one that lost its digits near 0."""
    vanished = totals[..., 0] < torch.finfo(totals.dtype).tiny
    if vanished.any():
        row = vanished.nonzero()[0]
        raise VanishedError(
            row=row[-1].item(),
            total=f"{totals[(*row, 0)].item():.3g}",
            smallest=f"{min(q.min().item(), k.min().item()):.6g}",
        )
