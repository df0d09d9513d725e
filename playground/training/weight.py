"""The section that opens one step: one weight, its gradient, Adam, the new value; and the gradient tried out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lessons.words import Words, same
from model.live import BETAS, EPS
from playground.arithmetic import Explanation, Frac, Num
from playground.explain_weights import Power
from playground.flow import Flow, Matrix
from playground.html import Html, esc
from playground.training.learning import bar, name_of
from playground.training.look import Opened, opened
from playground.training.state import SHOWN, TrainingState, looked_into, refused, shapes

FIGURES = 4  # that count, in a number however small
MOST_DIGITS = 14


def digits_of(values: Sequence[float]) -> int:
    """Decimals with which the smallest of these numbers still shows its figures.

    >>> digits_of([0.5, 0.00012]), digits_of([3.0, 0.0])
    (7, 4)
    """
    smallest = min((abs(v) for v in values if v), default=1.0)
    wanted = FIGURES - 1 - math.floor(math.log10(smallest))
    return min(max(wanted, 4), MOST_DIGITS)


@dataclass(frozen=True)
class Fine(Power):
    """A number in a sum, with as many decimals as it needs."""


def fine(value: float, place: tuple[str, int, int, int] | None = None) -> Num:
    return Fine(value, place, digits_of([value]))


# The matrices


def index_of(state: TrainingState) -> tuple[int, ...]:
    """The place in the tensor; a bias has rows alone."""
    two = len(shapes(looked_into(state))[state.weight]) == 2
    return (state.row, state.col) if two else (state.row,)


def found_of(state: TrainingState) -> Opened:
    return opened(looked_into(state), state.step, state.weight, index_of(state))


def flow(state: TrainingState, lang: str) -> Flow:
    if refused(state):
        return Flow([])
    found = found_of(state)
    windows = [
        window("tensor", state.weight, found.tensor, state, op=None, line=f"w = {state.weight}"),
        window(
            "gradient",
            "∂loss/∂w",
            found.gradient,
            state,
            op=Words("backward", "역전파"),
            line=f"loss.backward(); {state.weight}.grad",
        ),
    ]
    return Flow([*windows, *adam(found, state), difference(found)], {"names": numbered(found)})


def numbered(found: Opened) -> list[str]:
    return [str(n) for n in range(max(found.tensor.shape))]


def window(
    name: str, symbol: str, tensor: Tensor, state: TrainingState, op: Words | None, line: str
) -> Matrix:
    """The part of a tensor that holds the opened weight; a number in it is chosen by a click."""
    table = tensor if tensor.dim() == 2 else tensor.unsqueeze(1)
    top, left = (n // SHOWN * SHOWN for n in (state.row, state.col))
    part = table[top : top + SHOWN, left : left + SHOWN].double()
    return Matrix(
        name,
        symbol,
        part,
        rows=list(range(top, top + part.size(0))),
        cols=list(range(left, left + part.size(1))),
        op=op,
        op_note=Words("on the next batch", "다음 배치에서") if op else None,
        note=Words("choose a weight", "가중치를 고르십시오") if op is None else None,
        digits=4,
        line=line,
        why=itself,
    )


def itself(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    return Explanation([], float(m.values[i, j]))


def adam(found: Opened, state: TrainingState) -> list[Matrix]:
    """What Adam knew, and what it makes of the gradient: model.live.WeightStep as two rows."""
    s, here = found.step, ("tensor", "gradient")
    before = [s.value, s.gradient, s.m_before, s.v_before]
    after = [s.m, s.v, s.m_hat, s.v_hat, s.new_value]
    places = [(name, 0, state.row % SHOWN, state.col % SHOWN) for name in here]

    def told(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        place = places[j] if j < len(places) else None
        return Explanation([fine(before[j], place)], before[j])

    def made(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        known = [fine(v, ("before", 0, 0, n)) for n, v in enumerate(before)]
        new = [fine(v, ("after", 0, 0, n)) for n, v in enumerate(after)]
        return adam_sum(known, new, s.t, s.learning_rate, j)

    return [
        Matrix(
            "before",
            "Adam",
            torch.tensor([before], dtype=torch.float64),
            headers=[same("w"), same("g"), same("m"), same("v")],
            op=Words("before the step", "걸음 앞"),
            note=same(f"t = {s.t}"),
            new_row=True,
            digits=digits_of(before),
            why=told,
            column_lines=("w", "g = w.grad", "m = state['exp_avg']", "v = state['exp_avg_sq']"),
        ),
        Matrix(
            "after",
            "Adam",
            torch.tensor([after], dtype=torch.float64),
            headers=[same("m"), same("v"), same("m̂"), same("v̂"), Words("new w", "새 w")],
            op=Words("by Adam", "Adam으로"),
            note=same(f"η = {s.learning_rate:g}"),
            digits=digits_of(after),
            why=made,
            column_lines=ADAM_LINES,
        ),
    ]


def adam_sum(known: list[Num], new: list[Num], t: int, rate: float, column: int) -> Explanation:
    """Kingma & Ba 2015, algorithm 1, with the digits of this step."""
    w, g, m0, v0 = known
    m, v, m_hat, v_hat, _ = new
    b1, b2 = BETAS
    if column == 0:
        parts = [fine(b1), "×", m0, "+", fine(1 - b1), "×", g]
        return Explanation(parts, b1 * m0.value + (1 - b1) * g.value)
    if column == 1:
        parts = [fine(b2), "×", v0, "+", fine(1 - b2), "×", g, "²"]
        return Explanation(parts, b2 * v0.value + (1 - b2) * g.value**2)
    if column in (2, 3):
        top, beta = ((m, b1), (v, b2))[column - 2]
        return Explanation([Frac([top], [f"1 − {beta:g}^{t}"])], top.value / (1 - beta**t))
    bottom = ["√", v_hat, "+ 10⁻⁸"]
    parts = [w, "−", fine(rate), "×", Frac([m_hat], bottom)]
    return Explanation(parts, w.value - rate * m_hat.value / (v_hat.value**0.5 + EPS))


ADAM_LINES = (
    f"m = {BETAS[0]} * m + (1 - {BETAS[0]}) * g",
    f"v = {BETAS[1]} * v + (1 - {BETAS[1]}) * g**2",
    f"m_hat = m / (1 - {BETAS[0]}**t)",
    f"v_hat = v / (1 - {BETAS[1]}**t)",
    f"w = w - learning_rate * m_hat / (v_hat**0.5 + {EPS:g})  # torch.optim.Adam",
)


def difference(found: Opened) -> Matrix:
    """The gradient by trying: the loss with the weight a little larger, and a little smaller."""
    d = found.tried
    values = [d.above, d.below, d.slope, found.autograd]

    def tried(flow: Flow, m: Matrix, i: int, j: int) -> Explanation | None:
        if j != 2:
            return Explanation([], values[j])
        above, below = (Fine(values[n], ("difference", 0, 0, n), m.digits) for n in (0, 1))
        return Explanation([Frac([above, "−", below], ["2 ×", fine(d.h)])], d.slope)

    return Matrix(
        "difference",
        "L(w ± h)",
        torch.tensor([values], dtype=torch.float64),
        headers=[
            same("L(w + h)"),
            same("L(w − h)"),
            Words("slope", "기울기"),
            Words("autograd", "자동 미분"),
        ],
        op=Words("tried out, in float64", "직접 바꾸어 보기(float64)"),
        note=same("h = 10⁻⁵"),
        new_row=True,
        digits=12,
        why=tried,
        column_lines=(
            "above = loss(w + h)",
            "below = loss(w - h)",
            "(above - below) / (2 * h)",
            "torch.autograd.grad(loss, w)",
        ),
    )


# Above the matrices


def top(state: TrainingState, lang: str) -> Html:
    error = refused(state)
    if error:
        return Html(f'<p class="notice" role="status">{esc(error.text(lang))}</p>')
    found = found_of(state)
    s, place = found.step, ", ".join(map(str, index_of(state)))
    who = f"{name_of(state, int(state.which) - 1, lang)} · " if state.compare != "nothing" else ""
    moved = s.new_value - s.value
    words = STEPS if abs(found.autograd) > ROUNDING else ROUNDED
    said = words(
        lang,
        t=f"{s.t:,}",
        name=f"<code>{esc(f'{state.weight}[{place}]')}</code>",
        value=f"<b>{plain(s.value)}</b>",
        gradient=f"<b>{plain(s.gradient)}</b>",
        move=f"<b>{plain(moved)}</b>",
        new=f"<b>{plain(s.new_value)}</b>",
        **({"off": far(found)} if words is STEPS else {}),
    )
    return Html(f'<p class="sentence">{esc(who)}{said}</p>{bar(state, lang)}')


def plain(value: float) -> str:
    """A number in a sentence, with a few figures that count."""
    return f"{value:.4g}".replace("-", "−")


def far(found: Opened) -> str:
    """How far the two ways to the gradient are apart, as a share of it."""
    return plain(abs(found.tried.slope - found.autograd) / (abs(found.autograd) or 1.0))


ROUNDING = 1e-8  # a gradient below it is lost in the rounding of two losses
STEPS = Words(
    "Step {t} moves {name} from {value} by {move} to {new}: its gradient is {gradient}. Found by trying, the gradient "
    "differs from autograd’s by a share of {off}.",
    "{t}번째 걸음에서 {name}의 값은 {value}에서 {move}만큼 움직여 {new} 값이 됩니다. 기울기는 {gradient}입니다. 직접 바꾸어 구한 기울기와 "
    "자동 미분(autograd)의 차이는 그 값의 {off}배입니다.",
)
ROUNDED = Words(
    "The loss does not depend on {name}: its gradient is {gradient}, rounding and nothing else. Step {t} moves it from "
    "{value} by {move} to {new} all the same, since Adam divides by the size of past gradients, however small.",
    "손실은 {name}에 달려 있지 않습니다. 기울기 {gradient} 값은 반올림 오차일 뿐입니다. 그래도 {t}번째 걸음에서 {value}에서 {move}만큼 움직여 {new} "
    "값이 됩니다. Adam은 지난 기울기의 크기로 나누므로 아무리 작은 값도 커지기 때문입니다.",
)
