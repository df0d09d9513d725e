"""Attention the other way round: which vectors would give the weight that is wanted?

A `Goal` says how much of its attention a query should give to a key. `step` measures how
far the vectors are from it and finds the gradient of that loss with autograd, through our
own `attend`; `descend` walks against the gradient, one step at a time, on the vectors
themselves. The numbers W stay as they are.

Two losses, for the share w and the goal t, both 0 when w = t:

    cross_entropy   t ln(t / w) + (1 − t) ln((1 − t) / (1 − w))     ∂/∂s = w − t
    squares         (w − t)²                                        ∂/∂s = 2 (w − t) w (1 − w)

s is the scaled score of the goal's key. Under squares a saturated softmax (w near 0 or 1)
leaves next to no gradient, however wrong it is; under cross-entropy the w (1 − w) cancels.

Axes: T tokens, C numbers each. Sources: Vaswani et al. 2017, equation 1 (the weights);
Goodfellow et al. 2016, "Deep Learning", sections 4.3 (gradient descent) and 6.2.2 (why
cross-entropy does not saturate where squares do).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from model import gradients
from model.attention import AttentionTrace, attend
from model.errors import (
    ChoiceError,
    NotFiniteError,
    OverflowsError,
    PlaygroundError,
    ProjectionError,
    RangeError,
)
from model.gradients import Difference
from model.steps import gradient_step

REACHED = 0.005  # so near, the share reads as the goal does in whole percent
FLAT = 1e-6  # with no gradient above it, a step at rate 1 leaves six decimals as they are
RATE = 1.0  # from normal vectors, with ÷ √d and cross-entropy: at the goal of 80 % in 100 steps
MOST = 500  # steps, unless told otherwise


class HiddenKeyError(PlaygroundError):
    en = (
        "Under this mask, token {query} cannot see token {key}: its weight is exactly 0, and no "
        "vectors change that. Choose a key that it sees, or take the mask away."
    )
    ko = (
        "이 마스크를 쓰면 {query}번 토큰이 {key}번 토큰을 볼 수 없습니다. 벡터를 어떻게 바꾸어도 가중치는 정확히 0입니다. "
        "볼 수 있는 키를 고르거나 마스크를 끄십시오."
    )


class OnlyKeyError(PlaygroundError):
    en = (
        "Token {query} sees token {key} alone, so it gives it 100 %, whatever the vectors; {share} % "
        "is out of reach. Choose a query that sees at least 2 tokens."
    )
    ko = (
        "{query}번 토큰이 볼 수 있는 것은 {key}번 토큰뿐이어서, 벡터와 관계없이 늘 100 %를 줍니다. {share} %에는 "
        "이를 수 없습니다. 토큰을 2개 이상 보는 쿼리를 고르십시오."
    )


class TooFastError(PlaygroundError):
    en = (
        "A step at the learning rate {rate} would make numbers as large as {largest}. Such steps "
        "are too long: use a smaller rate."
    )
    ko = (
        "학습률이 {rate}일 때 한 걸음 가면 숫자가 {largest}까지 커집니다. 걸음이 너무 깁니다. "
        "더 작은 학습률을 쓰십시오."
    )


@dataclass(frozen=True)
class Goal:
    """Query `query` is to give the share `share` (between 0 and 1) to key `key`; both from 0."""

    query: int
    key: int
    share: float


@dataclass(frozen=True)
class How:
    """How attention reads the vectors: mask (True = may attend), scaling, W (None: identity).

    W_q and W_k `(C, hs)`, W_v `(C, hv)`, mask `(T, T)`. W_v changes the output alone: no
    weight, and so no gradient, depends on it.
    """

    mask: Tensor | None = None
    scale: bool = True
    w_query: Tensor | None = None
    w_key: Tensor | None = None
    w_value: Tensor | None = None
    loss: str = "cross_entropy"  # or "squares"

    def trace(self, x: Tensor) -> AttentionTrace:
        """The attention of vectors `(T, C)`, every step kept. Raises `ProjectionError`."""
        projected = []
        for name in ("w_query", "w_key", "w_value"):
            w = getattr(self, name)
            if w is not None and w.size(0) != x.size(-1):
                raise ProjectionError(name=name, rows=w.size(0), width=x.size(-1))
            projected.append(x if w is None else x @ w)
        return attend(*projected, self.mask, scale=self.scale)


@dataclass(frozen=True)
class Descent:
    """Where one set of vectors stands, and which way is down. All in float64."""

    vectors: Tensor  # (T, C), before the step
    gradient: Tensor  # (T, C): ∂loss / ∂vectors
    score_gradient: Tensor  # (T, T): ∂loss / ∂masked, 0 outside the query's row
    loss: float
    weight: float  # the share that the query gives to the key now
    after: Tensor  # (T, C): vectors − rate × gradient
    trace: AttentionTrace
    state: str  # "reached"; "flat": next to no gradient, and the goal not reached; "moving"


def cross_entropy(row: Tensor, goal: Goal) -> Tensor:
    """KL(t ‖ w) of the goal t and the share w, from the query's scores `(T,)`: 0 when reached.

    From scores and not from weights: a weight that rounds to 0 or 1 has no logarithm to use.
    """
    t, j = goal.share, goal.key
    rest = torch.cat([row[:j], row[j + 1 :]])
    ln_w = row[j] - row.logsumexp(0)  # ln (e^sⱼ / Σ e^s)
    ln_rest = rest.logsumexp(0) - row.logsumexp(0)  # ln (1 − w)
    return t * (math.log(t) - ln_w) + (1 - t) * (math.log(1 - t) - ln_rest)


def squares(row: Tensor, goal: Goal) -> Tensor:
    """(w − t)², from the query's scores `(T,)`."""
    return (row.softmax(dim=-1)[goal.key] - goal.share) ** 2


LOSSES: dict[str, Callable[[Tensor, Goal], Tensor]] = {
    "cross_entropy": cross_entropy,
    "squares": squares,
}


def score(trace: AttentionTrace, goal: Goal, loss: str = "cross_entropy") -> Tensor:
    """The loss of an attention of one head, a scalar: 0 when the goal is reached, else above.

    Raises `ChoiceError`, `RangeError`, `HiddenKeyError` or `OnlyKeyError`.
    """
    if loss not in LOSSES:
        raise ChoiceError(name="loss", found=loss, choices=" | ".join(LOSSES))
    row = reachable(trace, goal)
    return LOSSES[loss](row, goal)


def points(weight: float, goal: Goal) -> float:
    """From 0 (as far from the goal as a share can be) to 100 (there): what a person plays for.

    >>> points(0.4, Goal(0, 1, 0.8)), points(0.8, Goal(0, 1, 0.8)), points(1.0, Goal(0, 1, 0.5))
    (50.0, 100.0, 0.0)
    """
    farthest = max(goal.share, 1 - goal.share)
    return 100 * (1 - abs(weight - goal.share) / farthest)  # 100 (1 − |w − t| / max(t, 1 − t))


def step(x: Tensor, goal: Goal, rate: float = RATE, how: How | None = None) -> Descent:
    """One step of plain gradient descent on the vectors x `(T, C)`: x − rate × ∂loss/∂x.

    Raises what `score` and `attend` do, and `RangeError` for a rate that is not above 0.
    """
    how = how or How()
    if not 0 < rate < math.inf:
        raise RangeError(name="rate", found=rate, wanted="> 0")
    x = x.detach().double()
    with torch.enable_grad():
        leaf = x.clone().requires_grad_()
        trace = how.trace(leaf)
        loss = score(trace, goal, how.loss)
        gradient, score_gradient = torch.autograd.grad(loss, (leaf, trace.masked))
    weight = trace.weights[goal.query, goal.key].item()
    return Descent(
        vectors=x,
        gradient=gradient,
        score_gradient=score_gradient,
        loss=loss.item(),
        weight=weight,
        after=gradient_step(x, gradient, rate),  # x − rate × gradient
        trace=detached(trace),
        state=state_of(weight, gradient, goal),
    )


def descend(
    x: Tensor, goal: Goal, rate: float = RATE, how: How | None = None, most: int = MOST
) -> Iterator[Descent]:
    """Step after step, at most `most`; ends with the first that is "reached" or "flat".

    Each `Descent` but the last has been followed: the next one's vectors are its `after`.
    Raises what `step` does, and `TooFastError` where it leads to numbers too large to multiply.
    """
    for _ in range(most):
        here = step(x, goal, rate, how)
        yield here
        if here.state != "moving":
            return
        check_next(here.after, rate, how)
        x = here.after


def difference(
    x: Tensor, goal: Goal, row: int, column: int, how: How | None = None, h: float = 1e-4
) -> Difference:
    """The central finite difference of the loss at one number of the vectors x `(T, C)`.

    Its error shrinks with h²; below about 1e-6 rounding outweighs it. Raises what `score` and
    `attend` do, and `RangeError` for an h that is not above 0.
    """
    how, moved = how or How(), x.detach().double().clone()
    return gradients.difference(
        lambda: score(how.trace(moved), goal, how.loss), moved, (row, column), h
    )


def reachable(trace: AttentionTrace, goal: Goal) -> Tensor:
    """The query's masked scores `(T,)`, where some vectors could reach the goal; else an error."""
    Tq, Tk = trace.masked.shape[-2:]
    for name, found, size in (("query", goal.query, Tq), ("key", goal.key, Tk)):
        if not 0 <= found < size:
            raise RangeError(name=name, found=found, wanted=f"0 … {size - 1}")
    if not 0 < goal.share < 1:
        raise RangeError(name="share", found=goal.share, wanted="0 < share < 1")
    row = trace.masked[goal.query]
    seen = row > -torch.inf
    if not seen[goal.key]:
        raise HiddenKeyError(query=goal.query + 1, key=goal.key + 1)
    if seen.sum() == 1:
        share = f"{100 * goal.share:g}"
        raise OnlyKeyError(query=goal.query + 1, key=goal.key + 1, share=share)
    return row


def state_of(weight: float, gradient: Tensor, goal: Goal) -> str:
    if abs(weight - goal.share) <= REACHED:
        return "reached"
    return "flat" if gradient.abs().max() < FLAT else "moving"


def check_next(
    after: Tensor, rate: float, how: How | None = None, largest: float = math.inf
) -> None:
    """The vectors after a step are at most `largest` and can be attended to; else `TooFastError`."""
    found = after.abs().max().item()
    try:
        (how or How()).trace(after)
        fits = found <= largest
    except (NotFiniteError, OverflowsError):
        fits = False
    if not fits:
        raise TooFastError(rate=f"{rate:g}", largest=f"{found:.3g}")


def detached(trace: AttentionTrace) -> AttentionTrace:
    return AttentionTrace(**{name: getattr(trace, name).detach() for name in trace.AXES})
