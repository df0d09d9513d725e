"""Known mistakes in attention and around it, each a function that makes exactly one.

One list, three uses: the "break it" switches of the tabs, the wrong answers a
quiz recognises, the diagnosis of a learner's code. Adding one is one function
here and one entry (its words) in lessons/mistakes.toml. The file may be long:
it is a list.

How to read one of attention: `right` is the correct attention; the line that
assigns to a step (`scaled = ...`, `weights = ...`) is the mistake; all later steps
are then computed rightly from it. That line is also what "Copy as PyTorch" and the
glass box show, so it uses only names a reader of `attend` or `multi_head` knows.

How to read one of a small step (model/steps.py): it takes what the step takes and
returns what it returns, and is wrong in the line that assigns to the name in
`@mistake("angle", of=sinusoid)`, or without a name in the line that returns.

A mistake may return NaN or a fully masked row where `attend` would refuse: that
is what the mistake looks like. They are mistakes that people make, collected from
issue threads, books and lecture notes; none is invented.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from model.attention import AttentionTrace, attend, resume
from model.errors import SliceError
from model.multihead import MultiHeadTrace, merge_heads, multi_head, split_heads
from model.steps import (
    BASE,
    EPS,
    attention_parameters,
    cross_entropy,
    dot,
    embed,
    gradient_step,
    kv_cache_bytes,
    layer_norm,
    linear_parameters,
    pre_norm,
    residual,
    score_bytes,
    sinusoid,
    softmax,
    softmax_slope,
    temperature,
    top_k,
    top_p,
    utf8_bytes,
    visible_pairs,
)


@dataclass(frozen=True)
class Mistake:
    """A wrong computation: call it like the function it spoils."""

    name: str
    spoils: str  # "attend", "multi_head" or the name of a function in model.steps
    step: str  # what goes wrong: a field of the trace, a name in a small step; or "", its result
    needs: str  # "mask" or "keep" (dropout): without it there is nothing to get wrong; or ""
    function: Callable[..., Any]

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.function(*args, **options)


MISTAKES: dict[str, Mistake] = {}


def mistake(
    step: str = "", needs: str = "", of: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Any]], Mistake]:
    """Register a function as the mistake that spoils `step` of an attention, or the function `of`."""

    def register(function: Callable[..., Any]) -> Mistake:
        first = next(iter(inspect.signature(function).parameters))
        spoils = of.__name__ if of else "attend" if first == "q" else "multi_head"
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


# Mistakes in the small steps, in the order of model/steps.py.
# dot: q (..., hs), k (..., hs)


@mistake(of=dot)
def dot_as_cosine(q, k) -> Tensor:
    """Divided by both lengths: the cosine, for which a long vector is worth no more than a short."""
    return dot(q, k) / (q.norm(dim=-1) * k.norm(dim=-1))


@mistake(of=dot)
def dot_ignores_signs(q, k) -> Tensor:
    """Minus signs dropped: numbers that disagree count as agreeing."""
    return dot(q.abs(), k.abs())


@mistake(of=dot)
def dot_adds_instead(q, k) -> Tensor:
    """Pairs added instead of multiplied: Σ (qᵢ + kᵢ)."""
    return (q + k).sum(dim=-1)


@mistake(of=dot)
def dot_of_sums(q, k) -> Tensor:
    """Each vector summed first, the sums multiplied: which numbers meet no longer matters."""
    return q.sum(dim=-1) * k.sum(dim=-1)


# softmax and its slope: scores (..., n)


@mistake(of=softmax)
def softmax_by_sum(scores) -> Tensor:
    """Scores divided by their sum, without e to their power: negative shares, or huge ones."""
    return scores / scores.sum(dim=-1, keepdim=True)


@mistake(of=softmax)
def softmax_not_normalised(scores) -> Tensor:
    """e to each score, never divided by their sum."""
    return scores.exp()


@mistake(of=softmax)
def softmax_hard(scores) -> Tensor:
    """1 for the largest score, 0 for all others: a maximum, and nothing soft about it."""
    return (scores == scores.amax(dim=-1, keepdim=True)).to(scores.dtype)


@mistake(of=softmax)
def softmax_base_2(scores) -> Tensor:
    """2 to each score instead of e: the shares come out too even."""
    return scores.exp2() / scores.exp2().sum(dim=-1, keepdim=True)


@mistake(of=softmax_slope)
def slope_is_p(scores) -> Tensor:
    """Only e^s differentiated, the sum below it taken as fixed: p instead of p (1 − p)."""
    return softmax(scores)


@mistake(of=softmax_slope)
def slope_is_one_minus_p(scores) -> Tensor:
    """1 − p: the slope of ln p, not of p."""
    return 1 - softmax(scores)


@mistake(of=softmax_slope)
def slope_minus_p_squared(scores) -> Tensor:
    """−p²: the formula for two different places, −pᵢ pⱼ, used for a score's own share."""
    return -(softmax(scores) ** 2)


# layer_norm: x (T, C)


@mistake(of=layer_norm)
def norm_keeps_mean(x) -> Tensor:
    """The mean is not taken away: what RMSNorm does."""
    return x / (x.square().mean(dim=-1, keepdim=True) + EPS).sqrt()


@mistake(of=layer_norm)
def norm_only_centred(x) -> Tensor:
    """The mean is taken away, and nothing is divided."""
    return x - x.mean(dim=-1, keepdim=True)


@mistake(of=layer_norm)
def norm_over_tokens(x) -> Tensor:
    """Mean and variance down the column, over the tokens: what BatchNorm does."""
    return (x - x.mean(-2, keepdim=True)) / (x.var(-2, correction=0, keepdim=True) + EPS).sqrt()


@mistake(of=layer_norm)
def norm_by_variance(x) -> Tensor:
    """Divided by the variance, without the root."""
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + EPS)


@mistake(of=layer_norm)
def norm_unbiased(x) -> Tensor:
    """Variance over C − 1, as torch.var has it unless told otherwise: a little too small."""
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + EPS).sqrt()


# residual: x (..., C), sublayer (..., C); in pre_norm a function from one to the other


@mistake(of=residual)
def no_residual(x, sublayer) -> Tensor:
    """What came in is thrown away: only what the sublayer found goes on."""
    return sublayer


@mistake(of=residual)
def residual_averaged(x, sublayer) -> Tensor:
    """The mean of both instead of their sum."""
    return (x + sublayer) / 2


@mistake(of=pre_norm)
def residual_of_the_normed(x, sublayer) -> Tensor:
    """x overwritten by LayerNorm(x), then added to: the stream itself is lost."""
    return residual(layer_norm(x), sublayer(layer_norm(x)))


@mistake(of=pre_norm)
def norm_after_adding(x, sublayer) -> Tensor:
    """LayerNorm around the sum: the post-norm of the first transformer, not GPT-2's."""
    return layer_norm(residual(x, sublayer(x)))


@mistake(of=pre_norm)
def norm_left_out(x, sublayer) -> Tensor:
    """The sublayer reads the stream as it is, without LayerNorm."""
    return residual(x, sublayer(x))


# Positions: token (..., C), position (..., C); a sinusoid's position and width are whole numbers


@mistake(of=embed)
def position_forgotten(token, position) -> Tensor:
    """Only the token: the same word reads the same at every place."""
    return token


@mistake(of=embed)
def position_multiplied(token, position) -> Tensor:
    """Multiplied number by number instead of added."""
    return token * position


@mistake(of=embed)
def embedding_times_root_width(token, position) -> Tensor:
    """The token's row times √C first: Vaswani et al. do (section 3.4), a GPT does not."""
    return token * token.size(-1) ** 0.5 + position


@mistake(of=sinusoid)
def sine_cosine_swapped(position, width) -> Tensor:
    """Cosine first: at position 0 the row begins with 1."""
    column = torch.arange(width, dtype=torch.float64)
    angle = position / BASE ** (2 * (column // 2) / width)
    return torch.where(column % 2 == 0, angle.cos(), angle.sin())


@mistake("angle", of=sinusoid)
def sinusoid_in_degrees(position, width) -> Tensor:
    """The angle read as degrees, as a calculator may: far too small, hardly any turn."""
    column = torch.arange(width, dtype=torch.float64)
    angle = (position / BASE ** (2 * (column // 2) / width)).deg2rad()
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


@mistake("angle", of=sinusoid)
def sinusoid_pair_not_doubled(position, width) -> Tensor:
    """10000^(i/width) instead of 10000^(2i/width): every pair but the first turns too fast."""
    column = torch.arange(width, dtype=torch.float64)
    angle = position / BASE ** (column // 2 / width)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


@mistake("angle", of=sinusoid)
def sinusoid_by_column(position, width) -> Tensor:
    """The column taken for the i of 2i, so doubled once more: later columns turn too slowly."""
    column = torch.arange(width, dtype=torch.float64)
    angle = position / BASE ** (2 * column / width)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


# Choosing the next token: logits (V,)


@mistake(of=temperature)
def temperature_multiplied(logits, T) -> Tensor:
    """Logits times T: what should become more even becomes more decided."""
    return softmax(logits * T)


@mistake(of=temperature)
def temperature_after_softmax(logits, T) -> Tensor:
    """Probabilities divided by T: their order of size stays, their sum is no longer 1."""
    return softmax(logits) / T


@mistake(of=temperature)
def temperature_ignored(logits, T) -> Tensor:
    """The temperature is never used."""
    return softmax(logits)


@mistake(of=top_k)
def top_k_not_renormalised(logits, k) -> Tensor:
    """The others set to 0 after softmax: what they had is missing from the sum."""
    return softmax(logits) * (top_k(logits, k) > 0)


@mistake(of=top_k)
def top_k_off_by_one(logits, k) -> Tensor:
    """One token too many: the limit read at index k, which counts from 0."""
    return top_k(logits, k + 1)


@mistake(of=top_k)
def top_k_filled_with_zero(logits, k) -> Tensor:
    """The others' logits set to 0 instead of −∞: e⁰ = 1 is still a chance."""
    return softmax(logits.masked_fill(top_k(logits, k) == 0, 0.0))


@mistake(of=top_k)
def top_k_all_alike(logits, k) -> Tensor:
    """One of the k at random, each with the same chance."""
    return (top_k(logits, k) > 0).to(logits.dtype) / k


@mistake("n_kept", of=top_p)
def top_p_drops_crossing(logits, p) -> Tensor:
    """Stops before the token that crosses p, so what is kept has less than p together."""
    probs = softmax(logits).sort(descending=True).values
    n_kept = int((probs.cumsum(dim=-1) <= p).sum())
    return top_k(logits, max(1, n_kept))


@mistake("n_kept", of=top_p)
def top_p_as_threshold(logits, p) -> Tensor:
    """Every token that has p or more by itself; where none has, the most probable alone."""
    n_kept = int((softmax(logits) >= p).sum())
    return top_k(logits, max(1, n_kept))


@mistake(of=top_p)
def top_p_not_renormalised(logits, p) -> Tensor:
    """The others set to 0 after softmax: what they had is missing from the sum."""
    return softmax(logits) * (top_p(logits, p) > 0)


# Learning: logits (T, V), targets (T,); a step's weight and gradient of one shape


@mistake(of=cross_entropy)
def loss_in_bits(logits, targets) -> Tensor:
    """log₂ instead of ln: bits, 1.44 times as many."""
    return cross_entropy(logits, targets) / math.log(2)


@mistake(of=cross_entropy)
def loss_in_log10(logits, targets) -> Tensor:
    """log₁₀ instead of ln, the "log" key of a calculator: 0.43 times as much."""
    return cross_entropy(logits, targets) / math.log(10)


@mistake(of=cross_entropy)
def loss_summed(logits, targets) -> Tensor:
    """The sum over the tokens instead of their mean."""
    return cross_entropy(logits, targets) * targets.numel()


@mistake(of=cross_entropy)
def loss_of_the_largest(logits, targets) -> Tensor:
    """−ln of the largest probability: how sure the model was, not whether it was right."""
    return cross_entropy(logits, logits.argmax(dim=-1))


@mistake(of=cross_entropy)
def loss_is_one_minus_p(logits, targets) -> Tensor:
    """1 − p(target) instead of −ln p(target): never above 1, however wrong."""
    return (1 - softmax(logits).gather(-1, targets.unsqueeze(-1))).mean()


@mistake(of=cross_entropy)
def loss_softmax_twice(logits, targets) -> Tensor:
    """Probabilities handed to a cross-entropy that takes softmax itself: never near 0."""
    return cross_entropy(softmax(logits), targets)


@mistake(of=gradient_step)
def step_uphill(weight, gradient, learning_rate) -> Tensor:
    """Plus instead of minus: with the gradient, so the loss grows."""
    return weight + learning_rate * gradient


@mistake(of=gradient_step)
def step_without_rate(weight, gradient, learning_rate) -> Tensor:
    """The whole gradient taken away, without the learning rate."""
    return weight - gradient


@mistake(of=gradient_step)
def step_replaces(weight, gradient, learning_rate) -> Tensor:
    """The step put in the weight's place instead of added to it."""
    return -learning_rate * gradient


# Counting: whole numbers


@mistake(of=visible_pairs)
def pairs_without_diagonal(T) -> int:
    """Each token's look at itself not counted."""
    return T * (T - 1) // 2


@mistake(of=visible_pairs)
def pairs_all(T) -> int:
    """All T × T, as without a mask."""
    return T * T


@mistake(of=visible_pairs)
def pairs_half(T) -> float:
    """Half of T × T: that would leave half of the diagonal."""
    return T * T / 2


@mistake(of=linear_parameters)
def bias_forgotten(d_in, d_out) -> int:
    """The weights alone."""
    return d_in * d_out


@mistake(of=linear_parameters)
def bias_per_input(d_in, d_out) -> int:
    """A bias for each input instead of each output."""
    return d_in * d_out + d_in


@mistake(of=attention_parameters)
def parameters_per_head_times_n(n_embd, n_head=1) -> int:
    """Every head with q, k and v of the whole width C: the count grows with the heads."""
    return 3 * n_head * linear_parameters(n_embd, n_embd) + linear_parameters(n_embd, n_embd)


@mistake(of=attention_parameters)
def parameters_of_slices(n_embd, n_head=1) -> int:
    """Every head reads its own slice only, head_size × head_size: the count shrinks."""
    head_size = n_embd // n_head
    return 3 * n_head * linear_parameters(head_size, head_size) + linear_parameters(n_embd, n_embd)


@mistake(of=attention_parameters)
def one_projection_only(n_embd, n_head=1) -> int:
    """One C × C for q, k and v together, and the last one: 3 × C of c_attn read as C."""
    return 2 * linear_parameters(n_embd, n_embd)


@mistake(of=attention_parameters)
def projection_out_forgotten(n_embd, n_head=1) -> int:
    """q, k and v alone, without the last projection."""
    return 3 * linear_parameters(n_embd, n_embd)


@mistake(of=attention_parameters)
def attention_biases_forgotten(n_embd, n_head=1) -> int:
    """The four matrices without their biases."""
    return 4 * n_embd * n_embd


@mistake(of=score_bytes)
def cost_linear(T, bytes_per_number) -> int:
    """A number for each token instead of each pair of tokens."""
    return T * bytes_per_number


@mistake(of=score_bytes)
def cost_in_bits(T, bytes_per_number) -> int:
    """Bits instead of bytes: 8 times as many."""
    return 8 * T * T * bytes_per_number


@mistake(of=score_bytes)
def cost_of_the_visible(T, bytes_per_number) -> int:
    """Only what a causal mask leaves: but hidden scores are computed and kept as well."""
    return visible_pairs(T) * bytes_per_number


@mistake(of=kv_cache_bytes)
def cache_keys_only(n_layer, n_embd, T, bytes_per_number) -> int:
    """The values forgotten."""
    return n_layer * n_embd * T * bytes_per_number


@mistake(of=kv_cache_bytes)
def cache_queries_too(n_layer, n_embd, T, bytes_per_number) -> int:
    """The queries kept as well, which nobody asks for again."""
    return 3 * n_layer * n_embd * T * bytes_per_number


@mistake(of=kv_cache_bytes)
def cache_of_one_layer(n_layer, n_embd, T, bytes_per_number) -> int:
    """One layer's keys and values for the whole model."""
    return 2 * n_embd * T * bytes_per_number


@mistake(of=kv_cache_bytes)
def cache_squared(n_layer, n_embd, T, bytes_per_number) -> int:
    """T × T instead of T: that is what the scores would take, and they are not kept."""
    return 2 * n_layer * n_embd * T * T * bytes_per_number


@mistake(of=utf8_bytes)
def one_byte_a_character(text) -> int:
    """Characters counted instead of bytes: right for English letters only."""
    return len(text)


@mistake(of=utf8_bytes)
def two_bytes_a_hangul(text) -> int:
    """Two bytes for what is no English letter: EUC-KR's count for Hangul, not UTF-8's."""
    return sum(1 if character.isascii() else 2 for character in text)
