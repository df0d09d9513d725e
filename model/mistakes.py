"""Known wrong attentions, each a function that makes exactly one mistake.

One list, three uses: the "break it" switches of the tabs, the wrong answers a
quiz recognises, the diagnosis of a learner's code. Adding one is one function
here and one entry (its words) in lessons/mistakes.toml.

How to read one: `right` is the correct attention; the line that assigns to a
step (`scaled = ...`, `weights = ...`) is the mistake; all later steps are then
computed rightly from it. That line is also what "Copy as PyTorch" and the glass
box show, so it uses only names a reader of `attend` or `multi_head` knows.

A mistake may return NaN or a fully masked row where `attend` would refuse: that
is what the mistake looks like. They are mistakes that people make, collected from
issue threads, books and lecture notes; none is invented.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from model.attention import AttentionTrace, attend, resume
from model.errors import SliceError
from model.multihead import MultiHeadTrace, merge_heads, multi_head, split_heads


@dataclass(frozen=True)
class Mistake:
    """A wrong attention: call it like the function it spoils, `attend` or `multi_head`."""

    name: str
    spoils: str  # "attend" or "multi_head"
    step: str  # the step that goes wrong, a field of the trace
    needs: str  # "mask" or "keep" (dropout): without it there is nothing to get wrong; or ""
    function: Callable[..., Any]

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.function(*args, **options)


MISTAKES: dict[str, Mistake] = {}


def mistake(step: str, needs: str = "") -> Callable[[Callable[..., Any]], Mistake]:
    """Register a function as the mistake that spoils `step`."""

    def register(function: Callable[..., Any]) -> Mistake:
        first = next(iter(inspect.signature(function).parameters))
        spoils = "attend" if first == "q" else "multi_head"
        MISTAKES[function.__name__] = Mistake(function.__name__, spoils, step, needs, function)
        return MISTAKES[function.__name__]

    return register


def names(spoils: str, without: str = "none") -> tuple[str, ...]:
    """Names of the mistakes that spoil a function, less those that need `without`."""
    return tuple(n for n, m in MISTAKES.items() if m.spoils == spoils and m.needs != without)


# Mistakes in one attention: q (..., Tq, hs), k (..., Tk, hs), v (..., Tk, hv).
# `options` are those of `attend`: scale, dropout, keep.


@mistake("scores")
def queries_and_keys_swapped(q, k, v, mask=None, **options) -> AttentionTrace:
    """K Qᵀ instead of Q Kᵀ: row i holds what others think of token i."""
    right = attend(q, k, v, mask, **options)
    scores = k @ q.mT
    return resume(right, mask, scores=scores, **options)


@mistake("scaled")
def no_scale(q, k, v, mask=None, **options) -> AttentionTrace:
    """The division by √head_size is forgotten: softmax saturates."""
    right = attend(q, k, v, mask, **options)
    scaled = right.scores
    return resume(right, mask, scaled=scaled, **options)


@mistake("scaled")
def scale_by_d_model(q, k, v, mask=None, *, d_model=None, **options) -> AttentionTrace:
    """÷ √d_model, the width of the whole model, instead of the head's own √head_size."""
    right = attend(q, k, v, mask, **options)
    d_model = d_model or q.size(-1)
    scaled = right.scores / d_model**0.5
    return resume(right, mask, scaled=scaled, **options)


@mistake("scaled")
def scale_without_root(q, k, v, mask=None, **options) -> AttentionTrace:
    """÷ head_size instead of its square root: the weights come out too even."""
    right = attend(q, k, v, mask, **options)
    scaled = right.scores / q.size(-1)
    return resume(right, mask, scaled=scaled, **options)


@mistake("masked", needs="mask")
def no_mask(q, k, v, mask=None, **options) -> AttentionTrace:
    """The mask is forgotten: every token reads the future it should predict."""
    right = attend(q, k, v, mask, **options)
    masked = right.scaled
    return resume(right, mask, masked=masked, **options)


@mistake("masked", needs="mask")
def mask_diagonal(q, k, v, mask=None, **options) -> AttentionTrace:
    """The diagonal is masked too: the first token has nothing left, its row is NaN."""
    right = attend(q, k, v, mask, **options)
    if mask is None:
        return right  # without a mask there is no mask to get wrong
    diagonal = torch.eye(*mask.shape[-2:]).bool()
    masked = right.scaled.masked_fill(~mask | diagonal, -torch.inf)
    return resume(right, mask, masked=masked, **options)


@mistake("masked", needs="mask")
def mask_inverted(q, k, v, mask=None, **options) -> AttentionTrace:
    """True taken for "hide": what nn.MultiheadAttention's mask means, not SDPA's."""
    right = attend(q, k, v, mask, **options)
    if mask is None:
        return right
    masked = right.scaled.masked_fill(mask, -torch.inf)
    return resume(right, mask, masked=masked, **options)


@mistake("masked", needs="mask")
def mask_with_zero(q, k, v, mask=None, **options) -> AttentionTrace:
    """Masked scores set to 0 instead of −∞: e⁰ = 1 is still a vote."""
    right = attend(q, k, v, mask, **options)
    if mask is None:
        return right
    masked = right.scaled.masked_fill(~mask, 0.0)
    return resume(right, mask, masked=masked, **options)


@mistake("weights", needs="mask")
def mask_after_softmax(q, k, v, mask=None, **options) -> AttentionTrace:
    """Softmax first, then zeros: the future is gone but the rows no longer sum to 1."""
    right = attend(q, k, v, mask, **options)
    if mask is None:
        return right
    weights = right.scaled.softmax(dim=-1).masked_fill(~mask, 0.0)
    return resume(right, mask, weights=weights, **options)


@mistake("weights")
def softmax_over_queries(q, k, v, mask=None, **options) -> AttentionTrace:
    """Softmax down the columns: each key's weights sum to 1, each query's do not."""
    right = attend(q, k, v, mask, **options)
    weights = right.masked.softmax(dim=-2)
    return resume(right, mask, weights=weights, **options)


@mistake("weights")
def divide_by_sum(q, k, v, mask=None, **options) -> AttentionTrace:
    """Scores divided by their sum instead of softmax: negative scores, negative weights."""
    right = attend(q, k, v, mask, **options)
    visible = right.masked.masked_fill(right.masked == -torch.inf, 0.0)
    weights = visible / visible.sum(dim=-1, keepdim=True)
    return resume(right, mask, weights=weights, **options)


@mistake("dropped", needs="keep")
def dropout_divides_by_p(q, k, v, mask=None, *, dropout=0.0, keep=None, **options):
    """Kept weights divided by p instead of 1 - p: the same at 0.5, wrong elsewhere."""
    right = attend(q, k, v, mask, dropout=dropout, keep=keep, **options)
    if keep is None:
        return right  # no dropout, nothing to divide
    dropped = right.weights * keep / dropout
    return resume(right, mask, dropped=dropped)


@mistake("dropped", needs="keep")
def dropout_renormalised(q, k, v, mask=None, *, dropout=0.0, keep=None, **options):
    """Rows made to sum to 1 again after dropout: dropout leaves their sums uneven."""
    right = attend(q, k, v, mask, dropout=dropout, keep=keep, **options)
    if keep is None:
        return right
    dropped = right.weights * keep / (right.weights * keep).sum(dim=-1, keepdim=True)
    return resume(right, mask, dropped=dropped)


# Mistakes between the heads: x (..., T, d_in), W (d_in, C), w_out (C, C) or None.


@mistake("q")
def slice_instead_of_project(x, w_query, w_key, w_value, w_out, n_head, mask=None, **options):
    """Each head gets only its slice of the inputs, instead of projecting all of them."""
    right = multi_head(x, w_query, w_key, w_value, w_out, n_head, mask, **options)
    if x.size(-1) % n_head:
        raise SliceError(width=x.size(-1), n_head=n_head)
    q = split_heads(x, n_head) @ diagonal_blocks(w_query, n_head)
    k = split_heads(x, n_head) @ diagonal_blocks(w_key, n_head)
    v = split_heads(x, n_head) @ diagonal_blocks(w_value, n_head)
    return rejoin(right, attend(q, k, v, mask, **options), w_out)


@mistake("q")
def view_without_transpose(x, w_query, w_key, w_value, w_out, n_head, mask=None, **options):
    """view(nh, T, hs) instead of view(T, nh, hs) and transpose: rows of tokens torn apart."""
    right = multi_head(x, w_query, w_key, w_value, w_out, n_head, mask, **options)
    q = (x @ w_query).reshape(*x.shape[:-2], n_head, x.size(-2), -1)
    k = (x @ w_key).reshape(*x.shape[:-2], n_head, x.size(-2), -1)
    v = (x @ w_value).reshape(*x.shape[:-2], n_head, x.size(-2), -1)
    return rejoin(right, attend(q, k, v, mask, **options), w_out)


@mistake("concat")
def merge_without_transpose(x, w_query, w_key, w_value, w_out, n_head, mask=None, **options):
    """The heads' outputs reshaped to (T, C) without transposing back: tokens get mixed up."""
    right = multi_head(x, w_query, w_key, w_value, w_out, n_head, mask, **options)
    concat = right.heads.output.reshape(*x.shape[:-1], -1)
    return rejoin(right, right.heads, w_out, concat=concat)


@mistake("output")
def no_output_projection(x, w_query, w_key, w_value, w_out, n_head, mask=None, **options):
    """The last projection is forgotten: the heads stay side by side, never mixed."""
    right = multi_head(x, w_query, w_key, w_value, w_out, n_head, mask, **options)
    output = right.concat
    return MultiHeadTrace(right.heads, right.concat, output)


def in_every_head(
    wrong: Mistake, x, w_query, w_key, w_value, w_out, n_head, mask=None, **options
) -> MultiHeadTrace:
    """`multi_head` with a mistake of one attention made in each of its heads."""
    right = multi_head(x, w_query, w_key, w_value, w_out, n_head, mask, **for_attend(options))
    q, k, v = right.heads.q, right.heads.k, right.heads.v
    return rejoin(right, wrong(q, k, v, mask, **options), w_out)


def diagonal_blocks(w: Tensor, n_head: int) -> Tensor:
    """`(d_in, C)` -> `(nh, d_in / nh, hs)`: what is left of W when head h sees only slice h."""
    blocks = zip(*(rows.chunk(n_head, dim=-1) for rows in w.chunk(n_head, dim=0)), strict=True)
    return torch.stack([column[h] for h, column in enumerate(blocks)])


def for_attend(options: dict[str, Any]) -> dict[str, Any]:
    """Those options that `attend` itself takes (not a mistake's own `d_model`)."""
    return {name: options[name] for name in ("scale", "dropout", "keep") if name in options}


def rejoin(
    right: MultiHeadTrace, heads: AttentionTrace, w_out: Tensor | None, **given: Tensor
) -> MultiHeadTrace:
    """The steps after the heads, computed rightly from heads (or a concat) gone wrong."""
    concat = given.get("concat", merge_heads(heads.output))
    output = concat if w_out is None else concat @ w_out
    return MultiHeadTrace(heads, concat, output)
