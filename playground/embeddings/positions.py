"""Two positions beside each other: their rows, their dot product, and what distance does to it."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from lessons.words import Words
from model.embeddings import by_distance, cosines, dots, position_table
from model.steps import BASE
from playground.arithmetic import Explanation, Num
from playground.embeddings.state import POSITIONS, SHOWN, EmbeddingsState, places
from playground.embeddings.sums import Vector, compared, numbered
from playground.embeddings.words import wpe
from playground.flow import Flow, Matrix
from playground.form.chart import Axis, Line, chart
from playground.gpt.parts import picture as canvas
from playground.html import Html, esc, number

ALIKE = 1e-9  # dot products closer than that are the same number but for rounding


def table_of(state: EmbeddingsState) -> Tensor:
    """The positions that are looked at, `(T, C)` in float64."""
    if state.table == "sinusoidal":
        return sinusoids(state.width)
    return wpe(state.model)[: places(state)].double()


@lru_cache(maxsize=32)
def sinusoids(width: int) -> Tensor:
    return position_table(POSITIONS, width)


@lru_cache(maxsize=32)
def pairs_of(table: str, width: int, model: str, measure: str) -> Tensor:
    """Each position with each other, `(T, T)`."""
    state = EmbeddingsState(table=table, width=width, model=model)
    return (dots if measure == "dots" else cosines)(table_of(state))


def pairs(state: EmbeddingsState) -> Tensor:
    return pairs_of(state.table, state.width, state.model, state.measure)


def flow(state: EmbeddingsState, lang: str) -> Flow:
    table, column = table_of(state), state.column
    chosen = [state.first, state.second]
    rows = [Vector(table[p], "rows", i, column) for i, p in enumerate(chosen)]
    learned = state.table == "learned"
    shown = table[chosen][:, column : column + SHOWN]
    matrices = [
        Matrix(
            "rows",
            "wpe" if learned else "P",
            shown,
            rows=[0, 1],
            headers=numbered(column, shown.size(1)),
            why=stored if learned else wave,
            digits=4,
            line="wpe.weight[position, column]" if learned else WAVE_LINE,
        ),
        compared("pair", "p · q", rows, rows[0], lang, rows=[0, 1], op=Words("compared", "견주기")),
    ]
    return Flow(matrices, {"state": state, "names": [str(p) for p in chosen]})


WAVE_LINE = "sin(position / 10_000 ** (2 * pair / C)) in even columns, cos(...) in odd ones"


def wave(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    """sin or cos of the position, over 10000^(2i/C). Source: Vaswani et al. 2017, section 3.5."""
    state = flow.facts["state"]
    position, column, C = [state.first, state.second][i], state.column + j, state.width
    even = column - column % 2  # 2i: both columns of a pair turn alike
    angle = position / BASE ** (even / C)
    name = "cos" if column % 2 else "sin"
    value = torch.tensor(angle, dtype=torch.float64)
    parts = [
        f"{name}(",
        Num(position),
        f"÷ {BASE}^(",
        Num(even),
        "/",
        Num(C),
        f")) = {name}(",
        Num(angle),
        ")",
    ]
    return Explanation(parts, getattr(value, name)().item())


def stored(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    """A learned number has no sum: where it stands is all there is to say."""
    state = flow.facts["state"]
    place = [Num([state.first, state.second][i]), ",", Num(state.column + j)]
    return Explanation(["wpe[", *place, "]"], float(m.values[i, j]))


# Above the matrices


def top(state: EmbeddingsState, lang: str) -> Html:
    return Html(f"{sentence(state, lang)}{distances(state, lang)}{pictures(state, lang)}")


def sentence(state: EmbeddingsState, lang: str) -> Html:
    found = pairs(state)
    value = found[state.first, state.second].item()
    apart = abs(state.first - state.second)
    low, high = by_distance(found)[apart, 1:].tolist()
    same = high - low < ALIKE
    words = (SAME if same else DIFFERENT)[state.measure]
    said = words(
        lang,
        first=state.first,
        second=state.second,
        value=f"<b>{number(value, 4)}</b>",
        apart=apart,
        low=number(low, 4),
        high=number(high, 4),
    )
    return Html(f'<p class="sentence">{said}</p>')


SAME = {
    "dots": Words(
        "The dot product of positions {first} and {second} is {value}; so it is for every two positions {apart} apart.",
        "두 위치 {first}, {second}의 점곱은 {value}입니다. {apart}칸 떨어진 어느 두 위치라도 같은 값입니다.",
    ),
    "cosines": Words(
        "The cosine of positions {first} and {second} is {value}; so it is for every two positions {apart} apart.",
        "두 위치 {first}, {second}의 코사인 유사도는 {value}입니다. {apart}칸 떨어진 어느 두 위치라도 같은 값입니다.",
    ),
}
DIFFERENT = {
    "dots": Words(
        "The dot product of positions {first} and {second} is {value}; other positions {apart} apart have {low} to {high}.",
        "두 위치 {first}, {second}의 점곱은 {value}입니다. {apart}칸 떨어진 다른 위치끼리는 {low}에서 {high}까지 다릅니다.",
    ),
    "cosines": Words(
        "The cosine of positions {first} and {second} is {value}; other positions {apart} apart have {low} to {high}.",
        "두 위치 {first}, {second}의 코사인 유사도는 {value}입니다. {apart}칸 떨어진 다른 위치끼리는 {low}에서 {high}까지 다릅니다.",
    ),
}


def distances(state: EmbeddingsState, lang: str) -> Html:
    """The measure against the distance: of all pairs, and of the first position."""
    found = pairs(state)
    means, lows, highs = by_distance(found).unbind(dim=1)

    def line(words: Words, values: Tensor, **options: int) -> Line:
        return Line(words(lang), list(enumerate(values.tolist())), **options)

    lines = [line(MEAN, means)]
    if (highs - lows).max() > ALIKE:
        mine = found[state.first, state.first :]
        lines = [
            line(MEAN, means),
            line(HIGH, highs, hue=2, dash=1),
            line(LOW, lows, hue=2, dash=2),
        ]
        lines.append(Line(FROM(lang, n=state.first), list(enumerate(mine.tolist())), hue=3, dash=3))
    title = CURVES[state.measure](lang)
    return chart(lines, Axis(DISTANCE(lang)), Axis(MEASURE[state.measure](lang)), title, lang)


MEAN = Words("mean of all", "전체 평균")
LOW = Words("lowest", "가장 작은 값")
HIGH = Words("highest", "가장 큰 값")
FROM = Words("from {n} on", "{n}에서 뒤로")
DISTANCE = Words("distance between two positions", "두 위치 사이의 거리")
MEASURE = {
    "dots": Words("dot product", "점곱"),
    "cosines": Words("cosine", "코사인 유사도"),
}
CURVES = {
    "dots": Words("Dot product by distance", "거리에 따른 점곱"),
    "cosines": Words("Cosine by distance", "거리에 따른 코사인 유사도"),
}


def pictures(state: EmbeddingsState, lang: str) -> Html:
    """The table, and every two positions of it, each as a picture."""
    table = table_of(state)
    T, C = table.shape
    drawn = [
        picture(table, TABLE(lang, T=T, C=C), lang),
        picture(pairs(state), PAIRS[state.measure](lang, T=T), lang),
    ]
    return Html(f'<div class="eq">{"".join(drawn)}</div>')


def picture(values: Tensor, label: str, lang: str) -> Html:
    """Numbers `(n, m)` as a picture with its ends named: the lowest pale, the highest full."""
    low, high = values.min().item(), values.max().item()
    ends = ENDS(lang, low=number(low), high=number(high))
    size = f"width:{SIZE}px;height:{SIZE}px"
    drawn = canvas(values, f"{label}. {ends}", low, high, style=size)
    return Html(
        f'<figure class="m"><figcaption><b>{esc(label)}</b> <span class="sh">{esc(ends)}</span></figcaption>'
        f"{drawn}</figure>"
    )


SIZE = 2 * POSITIONS  # pixels: two for each position
TABLE = Words("the table: {T} positions × {C} columns", "표: 위치 {T}개 × 열 {C}개")
PAIRS = {
    "dots": Words("dot products of {T} × {T} positions", "위치 {T} × {T}쌍의 점곱"),
    "cosines": Words("cosines of {T} × {T} positions", "위치 {T} × {T}쌍의 코사인 유사도"),
}
ENDS = Words("pale {low} … full {high}", "옅은 색 {low} … 짙은 색 {high}")
