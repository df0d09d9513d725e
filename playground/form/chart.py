"""Curves as SVG: drawn from the numbers alone, readable without colour and without eyes.

A line has its own dash and its name at its end; under the drawing the same numbers can be
unfolded as a table. The axes are linear, or doubling (`log`) where numbers multiply.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lessons.words import Words
from playground.html import Html, esc, number

WIDTH, HEIGHT = 560, 250
LEFT, RIGHT, TOP, BOTTOM = 58, 118, 12, 38  # room for the axes, and for names at the right
DRAWN = 240  # points of a line; more are averaged, and the caption says so
LISTED = 12  # rows of the table
NAME_HEIGHT = 17  # names at the right stand at least so far apart: a phone draws them larger
DASHES = ("", "7 4", "2 3", "10 3 2 3")


@dataclass(frozen=True)
class Line:
    name: str
    points: Sequence[tuple[float, float]]  # (x, y), x rising; what is not finite is left out
    hue: int = 0  # of the eight, as tokens have them
    dash: int = 0
    dots: bool = False  # measured one by one: each point is marked


@dataclass(frozen=True)
class Level:
    """A horizontal line to measure by: chance, a floor, a goal."""

    name: str
    y: float


@dataclass(frozen=True)
class Axis:
    name: str
    log: bool = False
    low: float | None = None  # else from the numbers
    high: float | None = None

    def place(self, value: float, low: float, high: float) -> float:
        """Where `value` lies between the ends: 0 to 1."""
        if self.log:
            low, high, value = math.log2(low), math.log2(high), math.log2(value)
        return (value - low) / (high - low) if high > low else 0.5


def chart(
    lines: Sequence[Line],
    x: Axis,
    y: Axis,
    title: str,
    lang: str,
    levels: Sequence[Level] = (),
) -> Html:
    """A figure with the curves, or with a sentence where there is nothing to draw yet."""
    lines = [kept(line, x, y) for line in lines]
    lines = [line for line in lines if line.points]
    head = f"<figcaption><b>{esc(title)}</b></figcaption>"
    if not lines:
        return Html(
            f'<figure class="chart">{head}<p class="told nothing">{esc(NOTHING(lang))}</p></figure>'
        )
    few, per_point = zip(*(thinned(line) for line in lines), strict=True)
    box = Box(x, y, few, levels)
    drawn = "".join(box.curve(line) for line in few)
    drawn += "".join(box.level(level) for level in levels if box.shows(level))
    ends = "".join(box.names(few, levels))
    note = MEANS(lang, n=max(per_point)) if max(per_point) > 1 else ""
    note = f'<p class="told">{esc(note)}</p>' if note else ""
    return Html(
        f'<figure class="chart">{head}<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{esc(title)}">'
        f"{box.axes()}{drawn}{ends}</svg>{note}{table(lines, x, y, lang)}</figure>"
    )


NOTHING = Words("Nothing to draw yet.", "아직 그릴 것이 없습니다.")
MEANS = Words(
    "Each point drawn is the mean of up to {n} values.",
    "그린 점 하나는 최대 {n}개 값의 평균입니다.",
)


def kept(line: Line, x: Axis, y: Axis) -> Line:
    """The line without what no axis can hold."""

    def fits(p: tuple[float, float]) -> bool:
        finite = math.isfinite(p[0]) and math.isfinite(p[1])
        return finite and not (x.log and p[0] <= 0) and not (y.log and p[1] <= 0)

    points = [p for p in line.points if fits(p)]
    return Line(line.name, points, line.hue, line.dash, line.dots)


def thinned(line: Line) -> tuple[Line, int]:
    """At most `DRAWN` points, each the mean of as many as needed; the last is the last."""
    n = math.ceil(len(line.points) / DRAWN)
    if n <= 1:
        return line, 1
    parts = [line.points[i : i + n] for i in range(0, len(line.points), n)]
    means = [
        (sum(p[0] for p in part) / len(part), sum(p[1] for p in part) / len(part)) for part in parts
    ]
    return Line(line.name, means, line.hue, line.dash, line.dots), n


class Box:
    """The drawing's frame: from numbers to places in it."""

    def __init__(self, x: Axis, y: Axis, lines: Sequence[Line], levels: Sequence[Level]) -> None:
        self.x, self.y = x, y
        xs = [p[0] for line in lines for p in line.points]
        ys = [p[1] for line in lines for p in line.points]
        ys += [level.y for level in levels if not (y.log and level.y <= 0)]
        self.xs, self.ys = ends(x, xs), ends(y, ys)

    def at(self, px: float, py: float) -> tuple[float, float]:
        right = self.x.place(px, *self.xs)
        up = min(1.0, max(0.0, self.y.place(py, *self.ys)))
        return LEFT + right * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    def shows(self, level: Level) -> bool:
        return math.isfinite(level.y) and self.ys[0] <= level.y <= self.ys[1]

    def curve(self, line: Line) -> str:
        places = [self.at(*p) for p in line.points]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        dash = f' stroke-dasharray="{DASHES[line.dash % len(DASHES)]}"' if line.dash else ""
        marked = places if line.dots or len(places) == 1 else []
        dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3"/>' for a, b in marked)
        return f'<g class="curve t{line.hue % 8}"><polyline points="{path}"{dash}/>{dots}</g>'

    def level(self, level: Level) -> str:
        _, b = self.at(self.xs[0], level.y)
        return f'<line class="level" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{b:.1f}" y2="{b:.1f}"/>'

    def names(self, lines: Sequence[Line], levels: Sequence[Level]) -> list[str]:
        """Each name at the height of its line's end, moved apart where they would overlap."""
        found = [
            (self.at(*line.points[-1])[1], line.name, f"t{line.hue % 8}", line.dash)
            for line in lines
        ]
        found += [
            (self.at(self.xs[0], level.y)[1], level.name, "", 0)
            for level in levels
            if self.shows(level)
        ]
        out, last = [], -math.inf
        for place, name, hue, dash in sorted(found):
            last = max(place, last + NAME_HEIGHT)
            mark = (
                f'<line class="key {hue}" x1="{WIDTH - RIGHT + 4}" x2="{WIDTH - RIGHT + 22}" y1="{last:.1f}" '
                f'y2="{last:.1f}" stroke-dasharray="{DASHES[dash % len(DASHES)] if hue else "1 3"}"/>'
            )
            out.append(
                f'{mark}<text class="end {hue}" x="{WIDTH - RIGHT + 26}" y="{last + 4:.1f}">{esc(name)}</text>'
            )
        return out

    def axes(self) -> str:
        out = []
        for tick in ticks(self.x, *self.xs):
            a, _ = self.at(tick, self.ys[0])
            out.append(
                f'<text class="tick" x="{a:.1f}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">{label(tick)}</text>'
            )
        for tick in ticks(self.y, *self.ys):
            _, b = self.at(self.xs[0], tick)
            out.append(
                f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{b:.1f}" y2="{b:.1f}"/>'
                f'<text class="tick" x="{LEFT - 5}" y="{b + 4:.1f}" text-anchor="end">{label(tick)}</text>'
            )
        middle = (TOP + HEIGHT - BOTTOM) / 2
        return "".join(out) + (
            f'<text class="axis" x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{esc(self.x.name)}</text>'
            f'<text class="axis" x="12" y="{middle}" text-anchor="middle" transform="rotate(-90 12 {middle})">{esc(self.y.name)}</text>'
        )


def ends(axis: Axis, values: list[float]) -> tuple[float, float]:
    """The lowest and highest number of an axis, a little apart where they are equal."""
    low = min(values) if axis.low is None else axis.low
    high = max(values) if axis.high is None else axis.high
    if low < high:
        return low, high
    return (low / 2, low * 2) if axis.log else (low - 0.5, low + 0.5)


def ticks(axis: Axis, low: float, high: float) -> list[float]:
    """Round numbers between the ends: steps of 1, 2 or 5; powers of two, or of ten over a long way."""
    if axis.log:
        base = 2.0 if high < low * 2**20 else 10.0
        first = math.ceil(math.log(low, base) - 1e-9)
        last = math.floor(math.log(high, base) + 1e-9)
        every = max(1, math.ceil((last - first) / 6))
        return [base**n for n in range(first, last + 1, every)]
    rough = (high - low) / 5
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * m for m in (1, 2, 5, 10) if size * m >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [n * step for n in range(first, math.floor(high / step + 1e-9) + 1)]


def label(value: float) -> str:
    """A number on an axis: short, with a true minus."""
    if value and not 1e-3 <= abs(value) < 1e5:
        return f"{value:.0e}".replace("-", "−").replace("e+0", "e").replace("e−0", "e−")
    figures = 5 if abs(value) >= 1e4 else 4  # 16384 is a whole number
    return f"{value:.{figures}g}".replace("-", "−")


def table(lines: Sequence[Line], x: Axis, y: Axis, lang: str) -> Html:
    """The numbers themselves, at most `LISTED` of each line, the first and the last among them."""
    columns = sorted({p[0] for line in lines for p in chosen(line.points)})
    found = [dict(line.points) for line in lines]
    heads = "".join(f'<th scope="col">{esc(line.name)}</th>' for line in lines)
    rows = "".join(
        f'<tr><th scope="row">{label(a)}</th>'
        + "".join(f"<td>{number(p[a], 4) if a in p else ''}</td>" for p in found)
        + "</tr>"
        for a in columns
    )
    return Html(
        f'<details><summary>{esc(NUMBERS(lang))}</summary><div class="scroll"><table class="list"><tr><th scope="col">'
        f"{esc(x.name)}</th>{heads}</tr>{rows}</table></div></details>"
    )


NUMBERS = Words("The numbers", "숫자로 보기")


def chosen(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    n = len(points)
    if n <= LISTED:
        return list(points)
    return [points[round(k * (n - 1) / (LISTED - 1))] for k in range(LISTED)]
