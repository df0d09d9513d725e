"""Scaled dot-product attention: the whole computation, every step kept.

`attend` computes attention one line a step and returns every step;
`attend_fast` computes the same output in one call of PyTorch. They are held
equal by tests. Self-, cross-, toy and trained attention all come through here.

Left out: where q, k and v come from (multihead.py) and what goes wrong in
practice (mistakes.py).

Axes: Tq queries, Tk keys (T where both are the same tokens), hs = head_size.
`...` stands for any leading axes (batch, heads). Masks: True = may attend.
Source: Vaswani et al. 2017, "Attention Is All You Need", equation 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from model import errors


@dataclass(frozen=True)
class AttentionTrace:
    """Every step of one attention, in order. Each field is a tensor `(..., *AXES[field])`.

    Raises `RankError` or `AxisError` when a field has too few axes, or when one
    axis has two sizes.
    """

    AXES: ClassVar[Mapping[str, tuple[str, str]]] = {
        "q": ("Tq", "hs"),
        "k": ("Tk", "hs"),
        "v": ("Tk", "hv"),  # values may be wider or narrower than keys
        "scores": ("Tq", "Tk"),
        "scaled": ("Tq", "Tk"),
        "masked": ("Tq", "Tk"),
        "weights": ("Tq", "Tk"),
        "dropped": ("Tq", "Tk"),
        "output": ("Tq", "hv"),
    }

    q: Tensor
    k: Tensor
    v: Tensor
    scores: Tensor  # QKᵀ
    scaled: Tensor  # QKᵀ / √hs
    masked: Tensor  # −∞ where a query may not look
    weights: Tensor  # softmax: each row sums to 1
    dropped: Tensor  # weights after dropout; the weights themselves without it
    output: Tensor  # weights × V

    def __post_init__(self) -> None:
        check_axes({name: getattr(self, name) for name in self.AXES}, self.AXES)


def causal_mask(Tq: int, Tk: int | None = None) -> Tensor:
    """`(Tq, Tk)` booleans: token i may attend to itself and to what came before.

    With fewer queries than keys the queries are the *last* tokens, as they are
    when a KV cache holds the earlier ones.

    >>> causal_mask(3).int().tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> causal_mask(1, 3).int().tolist()
    [[1, 1, 1]]
    """
    Tk = Tq if Tk is None else Tk
    return torch.ones(Tq, Tk, dtype=torch.bool).tril(Tk - Tq)


def draw_keep(
    shape: tuple[int, ...], dropout: float, generator: torch.Generator | None = None
) -> Tensor:
    """Which weights survive dropout: booleans of `shape`, each True with probability 1 - dropout.

    Raises `DropoutError` for a rate outside [0, 1).
    Source: Srivastava et al. 2014, "Dropout"; the draws are those of `F.dropout`.
    """
    if not 0 <= dropout < 1:
        raise errors.DropoutError(dropout=dropout)
    return torch.empty(shape).bernoulli_(1 - dropout, generator=generator).bool()


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    scale: bool = True,
    dropout: float = 0.0,
    keep: Tensor | None = None,
) -> AttentionTrace:
    """softmax(QKᵀ / √hs + mask) V, with every step kept.

    q `(..., Tq, hs)`, k `(..., Tk, hs)`, v `(..., Tk, hv)`; mask, boolean, fits
    `(..., Tq, Tk)`; `keep` (from `draw_keep`) says which weights survive `dropout`.

    Raises a `ShapeError`, `NotFiniteError`, `MaskTypeError`, `FullyMaskedError`,
    `OverflowsError` or `DropoutError`, each with both numbers in its message.
    Source: Vaswani et al. 2017, equation 1.
    """
    check_inputs(q, k, v, mask, dropout)
    scores = q @ k.mT  # (..., Tq, hs) @ (..., hs, Tk) -> (..., Tq, Tk)
    check_overflow((q, k), scores=scores)
    scaled = scores / q.size(-1) ** 0.5 if scale else scores
    masked = scaled if mask is None else scaled.masked_fill(~mask, -torch.inf)
    weights = masked.softmax(dim=-1)  # over the keys: each query's row sums to 1
    dropped = weights if keep is None else weights * keep / (1 - dropout)
    output = dropped @ v  # (..., Tq, Tk) @ (..., Tk, hv) -> (..., Tq, hv)
    return AttentionTrace(q, k, v, scores, scaled, masked, weights, dropped, output)


def attend_fast(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    causal: bool = False,
    scale: bool = True,
    dropout: float = 0.0,
) -> Tensor:
    """The `output` of `attend`, `(..., Tq, hv)`, by PyTorch's fused kernel; no steps kept.

    `causal` stands for `causal_mask(Tq, Tk)` as the mask, and is faster. It checks
    nothing and lets PyTorch raise. `dropout` draws its own survivors.
    """
    if q.dtype == torch.bfloat16 and q.device.type == "cpu":
        # the fused kernel's backward pass there is six times slower than float32's (torch 2.13)
        with torch.autocast("cpu", enabled=False):
            exact = (tensor.float() for tensor in (q, k, v))
            output = attend_fast(*exact, mask, causal=causal, scale=scale, dropout=dropout)
        return output.to(q.dtype)
    Tq, Tk = q.size(-2), k.size(-2)
    if causal and 1 < Tq < Tk:  # PyTorch's own would put the diagonal at the first key
        mask = causal_mask(Tq, Tk).to(q.device)
    return F.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=mask,
        dropout_p=dropout,
        is_causal=causal and Tq == Tk > 1,  # a single query, the last, sees every key
        scale=None if scale else 1.0,
    )


def voices(weights: Tensor, v: Tensor) -> Tensor:
    """Each value at the volume its weight gives it: `(..., Tq, Tk, hv)`.

    Their sum over the keys is the `output` of attention: `voices(w, v).sum(-2) == w @ v`.

    >>> voices(torch.tensor([[0.5, 0.5]]), torch.tensor([[2.0], [4.0]])).tolist()
    [[[1.0], [2.0]]]
    """
    return weights.unsqueeze(-1) * v.unsqueeze(-3)  # (..., Tq, Tk, 1) * (..., 1, Tk, hv)


def resume(
    trace: AttentionTrace,
    mask: Tensor | None = None,
    *,
    scale: bool = True,
    dropout: float = 0.0,
    keep: Tensor | None = None,
    **given: Tensor,
) -> AttentionTrace:
    """`trace` with the steps in `given` replaced, and all later steps computed from them.

    `resume(trace, weights=typed)` is attention with weights typed by hand;
    `mistakes.py` spoils one step and lets the rest go on rightly. Nothing is
    checked but shapes: a spoiled step may well be NaN.
    """
    steps = list(AttentionTrace.AXES)
    first = min(steps.index(name) for name in given)  # what comes before it stays as it was
    q, k, v = (given.get(name, getattr(trace, name)) for name in ("q", "k", "v"))
    recompute = {
        "scores": lambda done: q @ k.mT,
        "scaled": lambda done: done["scores"] / q.size(-1) ** 0.5 if scale else done["scores"],
        "masked": lambda done: (
            done["scaled"] if mask is None else done["scaled"].masked_fill(~mask, -torch.inf)
        ),
        "weights": lambda done: done["masked"].softmax(dim=-1),
        "dropped": lambda done: (
            done["weights"] if keep is None else done["weights"] * keep / (1 - dropout)
        ),
        "output": lambda done: done["dropped"] @ v,
    }
    done: dict[str, Tensor] = {"q": q, "k": k, "v": v}
    for name, compute in recompute.items():
        if name in given:
            done[name] = given[name]
        elif steps.index(name) < first:
            done[name] = getattr(trace, name)
        else:
            done[name] = compute(done)
    return AttentionTrace(**done)


def check_axes(tensors: Mapping[str, Tensor], axes: Mapping[str, tuple[str, ...]]) -> None:
    """Each tensor has its axes, and each named axis one size; else `RankError`, `AxisError`."""
    seen: dict[str, tuple[int, str]] = {}
    for name, tensor in tensors.items():
        if tensor.dim() < len(axes[name]):
            raise errors.RankError(
                name=name, rank=tensor.dim(), shape=tuple(tensor.shape), needed=len(axes[name])
            )
        for axis, size in zip(axes[name], tensor.shape[-len(axes[name]) :], strict=True):
            first, first_name = seen.setdefault(axis, (size, name))
            if first != size:
                raise errors.AxisError(
                    axis=axis, first=first, first_name=first_name, second=size, second_name=name
                )


def check_finite(name: str, tensor: Tensor) -> None:
    """Every entry is a finite number; else `NotFiniteError` with the first that is not."""
    if not torch.isfinite(tensor).all():
        at = tuple((~torch.isfinite(tensor)).nonzero()[0].tolist())
        raise errors.NotFiniteError(name=name, value=tensor[at].item(), position=list(at))


def check_inputs(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float) -> None:
    """What `attend` needs of its arguments, each with an error of its own."""
    for name, tensor in (("q", q), ("k", k), ("v", v)):
        if tensor.dim() < 2:
            raise errors.RankError(
                name=name, rank=tensor.dim(), shape=tuple(tensor.shape), needed=2
            )
        check_finite(name, tensor)
    if q.size(-1) != k.size(-1):
        raise errors.WidthError(q_width=q.size(-1), k_width=k.size(-1))
    if k.size(-2) != v.size(-2):
        raise errors.LengthError(keys=k.size(-2), values_=v.size(-2))
    leading = [tuple(tensor.shape[:-2]) for tensor in (q, k, v)]
    together = broadcast(*leading)
    if together is None:
        raise errors.LeadingAxesError(q=leading[0], k=leading[1], v=leading[2])
    if not 0 <= dropout < 1:
        raise errors.DropoutError(dropout=dropout)
    if mask is not None:
        check_mask(mask, (*together, q.size(-2), k.size(-2)))


def check_mask(mask: Tensor, shape: tuple[int, ...]) -> None:
    """A mask is boolean, fits scores of `shape` `(..., Tq, Tk)`, and leaves every query a key."""
    if mask.dtype != torch.bool:
        raise errors.MaskTypeError(dtype=mask.dtype)
    fits = all(
        m in (1, s) for m, s in zip(reversed(mask.shape[-2:]), reversed(shape), strict=False)
    )
    if not fits or broadcast(tuple(mask.shape[:-2]), shape[:-2]) is None:
        raise errors.MaskShapeError(mask=tuple(mask.shape), scores=shape)
    if not mask.any(dim=-1).all():
        row = (~mask.any(dim=-1)).nonzero()[0][-1:].tolist()
        raise errors.FullyMaskedError(row=row[0] if row else 0, keys=shape[-1])


def check_overflow(factors: tuple[Tensor | None, ...], **products: Tensor) -> None:
    """Finite factors can still multiply to infinity, and softmax would then give NaN.

    Raises `OverflowsError`, naming the first of `products` that is not finite.
    """
    for name, product in products.items():
        if not torch.isfinite(product).all():
            largest = max(f.abs().max().item() for f in factors if f is not None)
            raise errors.OverflowsError(name=name, largest=f"{largest:.3g}")


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The leading axes of all together, or None where they do not fit: from the right,
    sizes are equal or 1.

    >>> broadcast((2, 1), (3,)), broadcast((2,), (3,))
    ((2, 3), None)

    `torch.broadcast_shapes` says the same, but its first call imports sympy: half a
    second before the first page.
    """
    together: list[int] = []
    for sizes in zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        longer = set(sizes) - {1}
        if len(longer) > 1:
            return None
        together.insert(0, longer.pop() if longer else 1)
    return tuple(together)
