"""A softmax as the glass box prints it: the printed digits give the printed quotient."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import pytest

from playground.arithmetic import Num
from playground.explain_weights import softmax_of
from playground.render import explanation_html
from tests.playground.html_tree import Element, read

LAST_DIGIT = 1.01e-4  # one in the fourth decimal
ROMEO = [-36.4897, -37.1, -36.9, -29.9213, -38.25]  # what a head of the GPT tab gave


def printed(scores: list[float], chosen: int, lang: str = "en") -> Element:
    return read(explanation_html(softmax_of([Num(s) for s in scores], chosen), lang))


RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def number(text: str) -> float:
    """What a printed number, or one number less another, is worth; a power of ten among them."""
    plain = text.replace(" × 10", "e").translate(RAISED)
    return sum(
        float(part.replace("−", "-").replace("≈", "").strip("()"))
        for part in plain.replace(" − ", "|-").replace("-(−", "").split("|")
    )


def sides(root: Element) -> tuple[float, float, float]:
    """The quotient of the exponents, the quotient of the powers, and the result, as printed."""
    exponents, powers = [e.children for e in root.all("span", "frac")]
    top, bottom = ([math.exp(number(s.text)) for s in part.all("sup")] for part in exponents)
    over, under = ([number(i.text) for i in part.all("i")] for part in powers)
    result = number(root.first("b").text)
    return top[0] / math.fsum(bottom), over[0] / math.fsum(under), result


def test_a_printed_number_is_read():
    assert number("−2.5") == -2.5
    assert number("≈0") == 0
    assert number("−36.5 − (−29.25)") == -7.25
    assert number("36.5 − 29.25") == 7.25


def random_rows() -> Iterator[list[float]]:
    """Rows of 1 to 64 scores around any height: even and peaked, far below 0 and far above."""
    rng = random.Random(1)
    for n in range(400):
        middle = rng.choice([0.0, -1.0, -3.0, -8.0, -30.0, -300.0, -3000.0, 9.0, 12.0, 40.0, 900.0])
        spread = rng.choice([0.01, 0.3, 1.0, 2.0, 5.0, 30.0])
        length = rng.choice([1, 2, 3, 5, 6, 16, 32, 64]) if n else 64
        yield [rng.gauss(middle, spread) for _ in range(length)]
    yield ROMEO
    yield [0.0] + [-9.95] * 63  # each power all but rounds to 0.0000
    yield [0.0] + [-9.9] * 63  # to 0.0001


def test_the_printed_digits_give_the_printed_quotient():
    wrong = []
    for row in random_rows():
        for chosen in {0, len(row) // 2, row.index(max(row))}:
            first, second, result = sides(printed(row, chosen))
            if max(abs(first - result), abs(second - result)) > LAST_DIGIT:
                wrong.append((row[chosen], max(row), len(row), first, second, result))
    assert wrong == []


@pytest.mark.parametrize("high", [1e5, -1e5, 3e9])
def test_scores_too_large_for_decimals_still_give_their_powers(high):
    _, second, result = sides(printed([high, high - 1, high - 2.5], 1))
    assert abs(second - result) <= LAST_DIGIT


def test_what_is_moderate_stays_plain():
    for row in ([0.5, 1.25, 0.75], [-0.3], [9.0, 8.0], [0.0, 0.0], [-0.25, -0.5]):
        root = printed(row, 0)
        assert [s.text for s in root.all("sup")][1:] == [
            f"{s:.4f}".replace("-", "−") if s % 1 else f"{s:.0f}" for s in row
        ]
        assert not list(root.all(class_="why"))


@pytest.mark.parametrize(("row", "high"), [(ROMEO, "−29.9213"), ([40.0, 38.0], "40")])
def test_a_shift_is_written_and_explained(row, high):
    root = printed(row, 0)
    taken = f"({high})" if high.startswith("−") else high
    assert all(sup.text.endswith(f" − {taken}") for sup in root.all("sup"))
    for lang, told in (
        ("en", f"The largest of the scores ({high}) is subtracted"),
        ("ko", f"모든 지수에서 가장 큰 점수({high})를 뺐습니다."),
    ):
        assert told in printed(row, 0, lang).first("small", "why").text


def test_a_minus_in_an_exponent_has_brackets_only_after_another():
    assert "−36.4897 − (−29.9213)" in [s.text for s in printed(ROMEO, 0).all("sup")]


def test_what_is_masked_is_left_out_and_the_rest_shifted():
    row = [-math.inf, -40.0, -41.0]
    assert "e−∞" in printed(row, 0).text
    assert len(list(printed(row, 0).all("sup"))) == 3
    first, second, result = sides(printed(row, 2))
    assert abs(first - 1 / (1 + math.e)) < LAST_DIGIT
    assert abs(second - result) <= LAST_DIGIT


def test_a_row_has_one_form():
    """Whichever of its weights is opened, a row's powers are written alike."""
    for row in random_rows():
        tails = {
            tuple(i.text for i in list(printed(row, j).all("span", "frac"))[1].children[1].all("i"))
            for j in (0, len(row) - 1)
        }
        assert len(tails) == 1
