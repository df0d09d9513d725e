"""What people type for a number, and what an answer says about how it came about."""

from __future__ import annotations

import math
import re
import string

import pytest
import torch

from lessons.grading import (
    NotANumberError,
    TwoReadingsError,
    Verdict,
    diagnose,
    parse_number,
    tolerance,
)
from model import PlaygroundError, attend
from model.mistakes import MISTAKES

READ = {
    "0.42": 0.42,
    "0,42": 0.42,
    "42 %": 0.42,
    "42%": 0.42,
    "-12,5%": -0.125,
    "1/3": 1 / 3,
    "−1 / 4": -0.25,
    "1⁄2": 0.5,
    "0,5/2": 0.25,
    "−0.2": -0.2,
    "–0.2": -0.2,
    "- 2": -2.0,
    "+1": 1.0,
    ".5": 0.5,
    ",5": 0.5,
    "5.": 5.0,
    "1e-3": 0.001,
    "2,5E+2": 250.0,
    "  0.4\t": 0.4,
    "\u00a0\u30000.4": 0.4,  # a no-break and an ideographic space
    "42\u202f%": 0.42,
    "０．４２": 0.42,
    "－１，５": -1.5,
    "４２％": 0.42,
    "１／３": 1 / 3,
    "007": 7.0,
    "0,123": 0.123,  # no thousand begins with 0
    "1234,567": 1234.567,  # nor has it four digits before its comma
    "1,23": 1.23,
    "1,2345": 1.2345,
    "1024": 1024.0,
    "1e-400": 0.0,
}

NOT_READ = [
    *("", " ", "nan", "NaN", "inf", "-inf", "∞", "−∞", "infinity", "1e999", "-1e999", "9" * 400),
    *("1,000,000", "1.000,5", "1,000.5", "1.000.000", "1 000", "1'000", "12,34,56"),
    *("1_000", "0x10", "0b1", "1e5_0", "1j", "1+1", "2*3", "True", "None", "__import__('os')"),
    *("1/0", "1/-3", "1/2/3", "/3", "1/", "%", "1%%", "%1", "1/3%", "5 % 3"),
    *(".", ",", "-", "+-1", "--1", "1,", "1e", "e5", "1e1.5", "1.2.3", "0.4 0.5", "0.4\n0.5"),
    *("½", "²", "10²", "٣", "三", "삼", "0.4점", "about 0.4", "{typed}", "{0}"),
]


@pytest.mark.parametrize(("text", "number"), READ.items())
def test_numbers_as_people_write_them(text, number):
    assert parse_number(text) == number


@pytest.mark.parametrize("text", NOT_READ)
def test_anything_else_is_refused_in_both_languages(text):
    with pytest.raises(NotANumberError) as caught:
        parse_number(text)
    assert not isinstance(caught.value, TwoReadingsError)
    typed = " ".join(text.split())
    for lang in ("en", "ko"):
        message = caught.value.text(lang)
        assert (typed in message) == (len(typed) <= 40)
        assert "0.42" in message


@pytest.mark.parametrize("text", ["1,024", "-12,345", "100,000 %", "１，０２４", "1,024/2"])
def test_a_comma_with_two_readings_asks_which(text):
    """A thousand or a decimal comma: a wrong guess would be graded, so neither is guessed."""
    with pytest.raises(TwoReadingsError):
        parse_number(text)


def test_both_readings_are_named_in_both_languages():
    with pytest.raises(TwoReadingsError) as caught:
        parse_number("1,024")
    for lang in ("en", "ko"):
        assert {"1,024", "1024", "1.024"} <= set(
            re.findall(r"[0-9.,]*[0-9]", caught.value.text(lang))
        )


@pytest.mark.parametrize("text", ["x" * 1_000_000, "1" * 5000 + "x", "1, " * 1000 + "5"])
def test_absurdly_long_text_is_shortened(text):
    with pytest.raises(NotANumberError) as caught:
        parse_number(text)
    for lang in ("en", "ko"):
        message = caught.value.text(lang)
        assert len(message) < 200
        assert text[:30] in message
        assert "…" in message


@pytest.mark.parametrize("error", [NotANumberError, TwoReadingsError])
def test_errors_speak_both_languages_with_the_same_blanks(error):
    def blanks(sentence):
        return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}

    assert issubclass(error, PlaygroundError)
    assert blanks(error.en) == blanks(error.ko) != set()
    assert re.search("[가-힣]", error.ko)
    assert not re.search("[가-힣]", error.en)


# diagnose

RIGHT = Verdict(correct=True, mistake=None)
UNKNOWN = Verdict(correct=False, mistake=None)


def named(mistake):
    return Verdict(correct=False, mistake=mistake)


@pytest.mark.parametrize("right", [0.42, -0.42, 0.0, 4.65, 0.3749])
def test_two_decimals_rightly_rounded_are_right(right):
    assert diagnose(right, right, {}) == RIGHT
    assert diagnose(round(right, 2), right, {}) == RIGHT
    assert diagnose(right + 0.005, right, {}) == RIGHT  # 0.425 - 0.42 is a hair over 0.005
    assert diagnose(right - 0.005, right, {}) == RIGHT
    assert diagnose(right + 0.0051, right, {}) == UNKNOWN
    assert diagnose(right - 0.0051, right, {}) == UNKNOWN


def test_one_decimal_is_not_enough():
    assert diagnose(parse_number("0.4"), 0.42, {}) == UNKNOWN


def test_large_numbers_may_be_off_by_a_thousandth():
    assert diagnose(1025, 1024, {}) == RIGHT
    assert diagnose(-2002, -2000, {}) == RIGHT
    assert diagnose(1025.1, 1024, {}) == UNKNOWN
    assert tolerance(1024) == pytest.approx(1.024, abs=1e-5)


def test_the_sign_matters():
    assert diagnose(-0.42, 0.42, {}) == UNKNOWN


def test_the_nearest_mistake_is_named():
    wrong = {"no_mask": 0.600, "no_scale": 0.604, "mask_diagonal": 0.9}
    assert diagnose(0.601, 0.42, wrong) == named("no_mask")
    assert diagnose(0.603, 0.42, wrong) == named("no_scale")
    assert diagnose(0.905, 0.42, wrong) == named("mask_diagonal")
    assert diagnose(0.75, 0.42, wrong) == UNKNOWN


def test_right_is_right_whatever_a_mistake_gives():
    assert diagnose(0.42, 0.42, {"no_scale": 0.42}) == RIGHT


def test_a_mistake_too_near_the_right_number_is_not_named():
    """Within twice the tolerance: the answer may as well be the right one badly rounded."""
    assert diagnose(0.43, 0.42, {"no_scale": 0.43}) == UNKNOWN
    assert diagnose(0.431, 0.42, {"no_scale": 0.431}) == named("no_scale")
    assert diagnose(0.43, 0.42, {"no_scale": 0.43, "no_mask": 0.4345}) == named("no_mask")
    assert diagnose(1002, 1000, {"no_scale": 1002}) == UNKNOWN
    assert diagnose(1003, 1000, {"no_scale": 1003}) == named("no_scale")


def test_nan_and_infinity_match_nothing():
    wrong = {"mask_diagonal": math.nan, "no_mask": math.inf, "no_scale": 0.6}
    assert diagnose(0.6, 0.42, wrong) == named("no_scale")
    assert diagnose(0.7, 0.42, wrong) == UNKNOWN


def test_an_answer_computed_with_a_mistake_is_recognised():
    q, k, v = torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(0)).double().unbind(0)
    wrong = {
        name: MISTAKES[name](q, k, v).output[0, 0].item()
        for name in ("no_scale", "scale_without_root", "softmax_over_queries", "divide_by_sum")
    }
    right = attend(q, k, v).output[0, 0].item()
    for name, value in wrong.items():
        assert diagnose(parse_number(f"{value:.2f}"), right, wrong) == named(name)
    assert diagnose(parse_number(f"{right:.2f}"), right, wrong) == RIGHT
