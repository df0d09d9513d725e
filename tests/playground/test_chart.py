"""Curves: where the points are drawn, what is averaged, what is said when there are none."""

from __future__ import annotations

import itertools
import math
import re

import pytest

from playground.form.chart import DRAWN, NAME_HEIGHT, Axis, Level, Line, chart, label, ticks
from tests.playground.html_tree import read


def figure(lines, x=None, y=None, levels=(), lang="en"):
    return read(chart(lines, x or Axis("steps"), y or Axis("loss"), "Loss", lang, levels))


def points(line):
    return [tuple(map(float, p.split(","))) for p in line.attributes["points"].split()]


def test_a_straight_line_is_drawn_straight_and_a_higher_number_higher():
    (line,) = figure([Line("a", [(n, 2 * n) for n in range(5)])]).all("polyline")
    places = points(line)
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in itertools.pairwise(places)]
    assert all(math.isclose(dx, steps[0][0], abs_tol=0.11) for dx, _ in steps)
    assert all(math.isclose(dy, steps[0][1], abs_tol=0.11) and dy < 0 for _, dy in steps)


def test_on_doubling_axes_a_square_is_a_straight_line():
    (line,) = figure(
        [Line("n²", [(2**n, 4**n) for n in range(1, 7)])], Axis("n", log=True), Axis("t", log=True)
    ).all("polyline")
    places = points(line)
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.pairwise(places)]
    assert max(slopes) - min(slopes) < 0.01


def test_every_line_and_level_is_named_once_and_told_apart_without_colour():
    found = figure(
        [Line("one", [(0, 1), (1, 0.5)]), Line("two", [(0, 1), (1, 0.5)], hue=1, dash=1)],
        levels=[Level("chance", 0.9), Level("far away", 99.0)],
    )
    names = [t.text for t in found.all("text", "end")]
    assert sorted(names) == ["chance", "far away", "one", "two"]
    heights = sorted(float(t.attributes["y"]) for t in found.all("text", "end"))
    assert min(b - a for a, b in itertools.pairwise(heights)) >= NAME_HEIGHT
    dashes = [line.attributes.get("stroke-dasharray") for line in found.all("polyline")]
    assert dashes[0] != dashes[1]


def test_many_points_become_means_and_the_page_says_so():
    losses = [(n, float(n % 2)) for n in range(1000)]
    found = figure([Line("loss", losses)])
    (line,) = found.all("polyline")
    assert len(points(line)) <= DRAWN
    assert "mean of up to 5" in found.text
    assert "최대 5개" in figure([Line("loss", losses)], lang="ko").text
    assert "mean" not in figure([Line("loss", losses[:DRAWN])]).text


def test_what_no_axis_can_hold_is_left_out():
    odd = [(0, 1.0), (1, math.nan), (2, math.inf), (3, 2.0)]
    (line,) = figure([Line("loss", odd)]).all("polyline")
    assert len(points(line)) == 2
    (line,) = figure([Line("loss", [(1, 0.0), (2, 1.0), (4, 2.0)])], y=Axis("t", log=True)).all(
        "polyline"
    )
    assert len(points(line)) == 2


@pytest.mark.parametrize("lines", [[], [Line("a", [])], [Line("a", [(0, math.nan)])]])
def test_without_numbers_there_is_a_sentence(lines):
    assert "Nothing to draw" in figure(lines).text
    assert "없습니다" in figure(lines, lang="ko").text


@pytest.mark.parametrize("values", [[(3, 5.0)], [(1, 5.0), (2, 5.0)]])
@pytest.mark.parametrize("log", [False, True])
def test_one_number_alone_has_a_place(values, log):
    found = figure([Line("a", values)], Axis("n", log=log), Axis("t", log=log))
    assert all(math.isfinite(n) for p in points(next(found.all("polyline"))) for n in p)


def test_the_table_holds_the_numbers_themselves():
    found = figure([Line("a", [(1, 0.12345), (2, 4.0)])])
    assert "0.1235" in found.first("table").text
    rows = list(figure([Line("a", [(n, n) for n in range(500)])]).first("table").all("tr"))
    assert 10 <= len(rows) - 1 <= 12
    assert rows[-1].text.startswith("499")


def test_names_are_text_and_never_html():
    assert "<img" not in chart([Line("<img src=x>", [(0, 1)])], Axis("<b>"), Axis("y"), "<i>", "en")


@pytest.mark.parametrize(
    ("axis", "low", "high", "expected"),
    [
        (Axis("x"), 0, 1000, [0, 200, 400, 600, 800, 1000]),
        (Axis("x"), 0.0, 2.4, [0, 0.5, 1.0, 1.5, 2.0]),
        (Axis("x"), -1, 1, [-1, -0.5, 0, 0.5, 1]),
        (Axis("x", log=True), 64, 4096, [64, 128, 256, 512, 1024, 2048, 4096]),
        (Axis("x", log=True), 3e-9, 1.0, [1e-8, 1e-6, 1e-4, 1e-2, 1]),
    ],
)
def test_the_axes_have_round_numbers(axis, low, high, expected):
    assert ticks(axis, low, high) == pytest.approx(expected)


def test_labels_are_short():
    assert [label(v) for v in (0, 0.5, -2, 4096, 65536, 123456, 0.00001)] == [
        "0",
        "0.5",
        "−2",
        "4096",
        "65536",
        "1e5",
        "1e−5",
    ]
    assert re.fullmatch(r"[0-9.]+", label(1 / 3))
