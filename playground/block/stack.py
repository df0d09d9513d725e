"""Many blocks: what becomes of the stream, of the tokens' differences and of the gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from lessons.words import Words, same
from model.stack import WIRINGS
from playground.arithmetic import Explanation, Frac, Num, add_up, total
from playground.block.run import Measured, measured_of
from playground.block.state import BlockState
from playground.block.why import few
from playground.flow import Flow, Matrix
from playground.form.chart import Axis, Line, chart
from playground.html import Html, esc, scientific

CALLED = {
    "pre": Words("pre-norm", "앞 정규화"),
    "post": Words("post-norm", "뒤 정규화"),
    "none": Words("no LayerNorm", "정규화 없음"),
    "no_residual": Words("no residual", "잔차 없음"),
    "neither": Words("neither", "둘 다 없음"),
}
assert set(CALLED) == set(WIRINGS)


def drawn(state: BlockState) -> dict[int, Measured]:
    """{place among the wirings: what was measured}, of those that are switched on."""
    return {n: measured_of(state, w) for n, w in enumerate(WIRINGS) if getattr(state, w)}


@dataclass(frozen=True)
class Measure:
    """One thing that is measured at every height: a curve, and a row of a table, for each wiring."""

    name: str
    symbol: str
    title: Words
    axis: Words
    values: Callable[[Measured], Tensor]
    why: Callable[[Measured, int], Explanation]
    line: str
    below: int = 0  # the height of its first number
    power: bool = False  # its table holds logarithms: numbers of many sizes


def mean_length(found: Measured, j: int) -> Explanation:
    each = found.lengths[j].tolist()
    return Explanation(
        [Frac(few([[Num(v)] for v in each]), [Num(len(each))])], add_up(each) / len(each)
    )


def mean_cosine(found: Measured, j: int) -> Explanation:
    each = found.cosines[j].tolist()
    return Explanation(
        [Frac(few([[Num(v)] for v in each]), [Num(len(each))])], add_up(each) / len(each)
    )


def log_of_size(ends: Tensor, size: float) -> Explanation:
    """log₁₀ √(g₁² + g₂² + g₃² + … + g²), the numbers as powers of ten: they may be tiny."""
    squares = [[f"({scientific(g)})²"] for g in ends.tolist()]
    parts = ["log₁₀ √(", *total([*squares[:-1], ["…"], squares[-1]]), ")"]
    return Explanation(parts, math.log10(size) if size else -math.inf)


MEASURES = (
    Measure(
        "stream",
        "|x|",
        Words("the stream: mean length of a token's vector", "흐름: 토큰 벡터의 평균 길이"),
        same("|x|"),
        lambda found: found.length,
        mean_length,
        "x.norm(dim=-1).mean()",
    ),
    Measure(
        "gradient",
        "log₁₀ |∂x|",
        Words("the gradient of the stream; at the top it is 1", "흐름의 기울기: 맨 위에서 1"),
        same("|∂x|"),
        lambda found: found.gradient,
        lambda found, j: log_of_size(found.gradient_ends[j], float(found.gradient[j])),
        "torch.autograd.grad((r * out).sum(), x)[0].norm().log10()",
        power=True,
    ),
    Measure(
        "weight_gradient",
        "log₁₀ |∂W|",
        Words("the gradient of each block's weights", "블록마다 가중치의 기울기"),
        same("|∂W|"),
        lambda found: found.weights,
        lambda found, j: log_of_size(found.weight_ends[j], float(found.weights[j])),
        "torch.cat([g.flatten() for g in gradients]).norm().log10()  # all weights of the block",
        below=1,
        power=True,
    ),
    Measure(
        "alike",
        "cos",
        Words("how alike the tokens are: mean cosine", "토큰들이 얼마나 닮았는가: 평균 코사인"),
        Words("cosine", "코사인"),
        lambda found: found.alike,
        mean_cosine,
        "torch.cosine_similarity(x[a], x[b], dim=-1).mean()  # all pairs a < b",
    ),
)


def flow(state: BlockState, lang: str) -> Flow:
    """A table for each measure: a row a wiring, a column a height."""
    found = drawn(state)
    names = [words(lang) for words in CALLED.values()]
    tables = [table(m, found) for m in MEASURES] if found else []
    return Flow(tables, {"names": names})


def table(measure: Measure, found: dict[int, Measured]) -> Matrix:
    rows = list(found.values())
    values = torch.stack([measure.values(one) for one in rows])
    heights = range(measure.below, measure.below + values.size(1))
    return Matrix(
        measure.name,
        measure.symbol,
        values.log10() if measure.power else values,
        rows=list(found),
        headers=[same(str(h)) for h in heights],
        note=measure.title,
        why=lambda flow, m, i, j: measure.why(rows[i], j),
        line=measure.line,
    )


def top(state: BlockState, lang: str) -> Html:
    """What each wiring comes to, and the curves."""
    found = drawn(state)
    lines = "".join(
        f'<p class="sentence"><b class="tok t{n}">{esc(list(CALLED.values())[n](lang))}</b>: {outcome(one, lang)}</p>'
        for n, one in found.items()
    )
    charts = "".join(curves(m, found, lang) for m in MEASURES)
    return Html(
        f'{lines}<div class="charts">{charts}</div><p class="told">{esc(HOW(lang, n=len(WIRINGS)))}</p>'
    )


def outcome(found: Measured, lang: str) -> str:
    return esc(
        OUTCOME(
            lang,
            low=amount(found.length[0]),
            high=amount(found.length[-1]),
            gradient=amount(found.gradient[0]),
            apart=amount(found.alike[0]),
            alike=amount(found.alike[-1]),
        )
    )


OUTCOME = Words(
    "length |x| {low} → {high}; the gradient, 1 at the top, is {gradient} at the bottom; cosine {apart} → {alike}.",
    "길이 |x|는 {low} → {high}, 맨 위에서 1인 기울기는 맨 아래에서 {gradient}, 코사인은 {apart} → {alike}입니다.",
)
HOW = Words(
    "All {n} ways share the weights and the 8 tokens that the seed draws, under the causal mask. In place of a loss stands "
    "Σ r × out: the outputs, each times a number of r, a random direction of length 1. So the gradient at the top is r itself, "
    "of length 1 for all. On the axes, 0 is below the first block.",
    "{n}가지 모두 시드로 뽑은 같은 가중치와 같은 토큰 8개를 쓰고, 코잘 마스크를 씁니다. 손실 자리에는 Σ r × out을 놓았습니다. r은 길이가 1인 "
    "무작위 방향이고, 출력의 숫자마다 r의 숫자를 곱해 더합니다. 그래서 맨 위의 기울기는 r 자체이고 길이가 모두 1입니다. 축의 0은 첫 블록의 "
    "아래입니다.",
)


def curves(measure: Measure, found: dict[int, Measured], lang: str) -> Html:
    lines, seen = [], []
    for n, one in found.items():
        values = measure.values(one).tolist()
        points = list(enumerate(values, start=measure.below))
        lines.append(Line(list(CALLED.values())[n](lang), points, hue=n, dash=n, dots=True))
        seen += values
    if measure.name == "alike":
        y = Axis(measure.axis(lang), low=min(0.0, *seen, 0.0), high=1.0)
    else:
        far = bool(seen) and max(seen) > FAR * min(seen)
        y = Axis(measure.axis(lang), log=far, low=None if far else 0.0)
    return chart(lines, Axis(BLOCK(lang)), y, measure.title(lang), lang)


FAR = 30.0  # between the largest and the smallest: from there on only a logarithmic axis shows both
BLOCK = Words("after block", "블록 뒤")


def amount(value: Tensor | float) -> str:
    """A number of any size: two decimals, or a power of ten.

    >>> amount(1.234), amount(-0.5), amount(2.5e-15), amount(31234.0)
    ('1.23', '−0.50', '2.5 × 10⁻¹⁵', '3.1 × 10⁴')
    """
    number = float(value)
    if number == 0 or 0.01 <= abs(number) < 10_000:
        return f"{number:.2f}".replace("-", "−")
    return scientific(number)
