"""What a person can do wrong: the right class of error, with its numbers in both languages."""

from __future__ import annotations

import re
import string

import pytest
import torch

from model import (
    KVCache,
    MultiHeadAttention,
    PlaygroundError,
    attend,
    causal_mask,
    draw_keep,
    multi_head,
    multi_head_loop,
    split_heads,
)
from model import errors as e

NAN, INF = float("nan"), float("inf")


def zeros(*shape, fill=0.0):
    return torch.full(shape, fill, dtype=torch.float64)


def with_entry(value, row, column):
    tensor = zeros(3, 4)
    tensor[row, column] = value
    return tensor


def overfull():
    cache = KVCache(4)
    cache.append(zeros(1, 3, 2), zeros(1, 3, 2))
    cache.append(zeros(1, 2, 2), zeros(1, 2, 2))


def last_row_empty():
    mask = causal_mask(3)
    mask[2] = False
    return mask


x, square, huge = zeros(3, 4), zeros(4, 4), zeros(4, 4, fill=1e200)
nothing_seen = torch.zeros(3, 1, dtype=torch.bool)

OF_ATTEND = {  # arguments, keywords, class, what both texts say
    "no axes": ((zeros(4), x, x), {}, e.RankError, ["q", "1", "(4,)", "2"]),
    "widths": ((zeros(3, 2), x, x), {}, e.WidthError, ["2", "4"]),
    "lengths": ((x, x, zeros(5, 4)), {}, e.LengthError, ["3", "5"]),
    "batches": (
        (zeros(2, 3, 4), zeros(7, 3, 4), x),
        {},
        e.LeadingAxesError,
        ["(2,)", "(7,)", "()"],
    ),
    "NaN": ((with_entry(NAN, 2, 1), x, x), {}, e.NotFiniteError, ["q", "nan", "[2, 1]"]),
    "infinity": ((x, with_entry(INF, 0, 3), x), {}, e.NotFiniteError, ["k", "inf", "[0, 3]"]),
    "minus infinity": (
        (x, x, with_entry(-INF, 1, 1)),
        {},
        e.NotFiniteError,
        ["v", "-inf", "[1, 1]"],
    ),
    "overflow": ((huge[:3], -huge[:3], x), {}, e.OverflowsError, ["scores", "1e+200"]),
    "masked row": ((x, x, x, last_row_empty()), {}, e.FullyMaskedError, ["2", "0", "3"]),
    "all masked": ((x, x, x, nothing_seen), {}, e.FullyMaskedError, ["0", "3"]),
    "more queries than keys": (
        (x, x[:1], x[:1], causal_mask(3, 1)),
        {},
        e.FullyMaskedError,
        ["0", "1"],
    ),
    "mask of floats": ((x, x, x, zeros(3, 3)), {}, e.MaskTypeError, ["torch.float64"]),
    "mask of integers": ((x, x, x, causal_mask(3).int()), {}, e.MaskTypeError, ["torch.int32"]),
    "mask too small": ((x, x, x, causal_mask(2)), {}, e.MaskShapeError, ["(2, 2)", "(3, 3)"]),
    "mask transposed": (
        (x, zeros(5, 4), zeros(5, 4), causal_mask(5, 3)),
        {},
        e.MaskShapeError,
        ["(5, 3)", "(3, 5)"],
    ),
    "mask of other batch": (
        (zeros(2, 3, 4), x, x, causal_mask(3).expand(5, 3, 3)),
        {},
        e.MaskShapeError,
        ["(5, 3, 3)", "(2, 3, 3)"],
    ),
    "dropout 1": ((x, x, x), {"dropout": 1.0}, e.DropoutError, ["1.0"]),
    "dropout negative": ((x, x, x), {"dropout": -0.25}, e.DropoutError, ["-0.25"]),
    "dropout NaN": ((x, x, x), {"dropout": NAN}, e.DropoutError, ["nan"]),
}

OF_MULTI_HEAD = {  # x, W_q, W_k, W_v, W_out, n_head; class; what both texts say
    "no axes": ((zeros(4), square, square, square, None, 2), e.RankError, ["x", "1", "(4,)"]),
    "rows of W": (
        (x, square, zeros(5, 4), square, None, 2),
        e.ProjectionError,
        ["w_key", "5", "4"],
    ),
    "rows of W_out": (
        (x, square, square, square, zeros(6, 4), 2),
        e.ProjectionError,
        ["w_out", "6", "4"],
    ),
    "columns of W": ((x, square, zeros(4, 6), square, None, 2), e.WidthError, ["2", "3"]),
    "n_head": ((x, square, square, square, None, 3), e.HeadsError, ["4", "3"]),
    "n_head 0": ((x, square, square, square, None, 0), e.HeadsError, ["4", "0"]),
    "n_head negative": ((x, square, square, square, None, -2), e.HeadsError, ["4", "-2"]),
    "NaN in x": (
        (with_entry(NAN, 0, 0), square, square, square, None, 2),
        e.NotFiniteError,
        ["x", "nan"],
    ),
    "infinite W": (
        (x, square, square, square * INF, None, 2),
        e.NotFiniteError,
        ["w_value", "nan"],
    ),
    "masked row": (
        (x, square, square, square, None, 2, last_row_empty()),
        e.FullyMaskedError,
        ["2", "0", "3"],
    ),
    "overflow of k": ((huge[:3], square, huge, square, None, 2), e.OverflowsError, ["k", "1e+200"]),
    "overflow of scores": (
        (zeros(3, 4, fill=1.0), huge, huge, square, None, 2),
        e.OverflowsError,
        ["scores", "4e+200"],
    ),
    "overflow of output": (
        (zeros(3, 4, fill=1.0), square, square, huge, huge, 2),
        e.OverflowsError,
        ["output", "4e+200"],
    ),
}

OTHERS = {
    "split": (lambda: split_heads(zeros(3, 10), 4), e.HeadsError, ["10", "4"]),
    "module": (lambda: MultiHeadAttention(10, 4), e.HeadsError, ["10", "4"]),
    "module of no heads": (lambda: MultiHeadAttention(10, 0), e.HeadsError, ["10", "0"]),
    "overfull cache": (overfull, e.CacheError, ["4", "3", "2"]),
    "survivors of dropout 1": (lambda: draw_keep((2, 2), 1.0), e.DropoutError, ["1.0"]),
}


def refused(call, error, says):
    """`call` raises exactly that class; its English and its Korean text both say all of `says`."""
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    assert str(caught.value) == caught.value.text("en")
    for lang in ("en", "ko"):
        text = caught.value.text(lang)
        for wanted in says:
            alone = rf"(?<![\w.]){re.escape(wanted)}(?![0-9a-z])"
            assert re.search(alone, text), f"{wanted} is missing in: {text}"


@pytest.mark.parametrize(("given", "options", "error", "says"), OF_ATTEND.values(), ids=OF_ATTEND)
def test_attend_refuses(given, options, error, says):
    refused(lambda: attend(*given, **options), error, says)


@pytest.mark.parametrize("route", [multi_head, multi_head_loop])
@pytest.mark.parametrize(("given", "error", "says"), OF_MULTI_HEAD.values(), ids=OF_MULTI_HEAD)
def test_multi_head_refuses_by_either_route(route, given, error, says):
    refused(lambda: route(*given), error, says)


@pytest.mark.parametrize(("call", "error", "says"), OTHERS.values(), ids=OTHERS)
def test_others_refuse(call, error, says):
    refused(call, error, says)


def test_a_memory_is_checked_like_x():
    given = (x, square, square, square, None, 2)
    refused(lambda: multi_head(*given, memory=zeros(5, 3)), e.ProjectionError, ["w_key", "4", "3"])
    bad = with_entry(INF, 1, 2)
    refused(lambda: multi_head(*given, memory=bad), e.NotFiniteError, ["memory", "[1, 2]"])


def test_an_unhidden_row_is_all_it_takes():
    mask = last_row_empty()
    mask[2, 2] = True
    assert attend(x, x, x, mask).weights[2].tolist() == [0, 0, 1]


def test_large_numbers_that_do_not_overflow_are_computed():
    large = zeros(3, 4, fill=1e150)
    torch.testing.assert_close(attend(large, large, large).output, large)


# The classes themselves


def subclasses(of):
    """Those of model/errors.py, leaves and branches."""
    return [
        found
        for child in of.__subclasses__()
        if child.__module__ == e.__name__
        for found in (child, *subclasses(child))
    ]


LEAVES = [error for error in subclasses(PlaygroundError) if not subclasses(error)]


def blanks(sentence):
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


def test_all_leaves_are_found_and_drawn_in_the_tree():
    drawn = set(re.findall(r"\w+Error", e.__doc__))
    assert {error.__name__ for error in subclasses(PlaygroundError)} == drawn - {
        "PlaygroundError",
        "ValueError",
    }
    assert len(LEAVES) >= 14


@pytest.mark.parametrize("error", LEAVES)
def test_each_leaf_speaks_both_languages_with_the_same_blanks(error):
    assert issubclass(error, ValueError)
    assert error.en
    assert re.search("[가-힣]", error.ko)
    assert not re.search("[가-힣]", error.en)
    assert blanks(error.en) == blanks(error.ko) != set()


def test_a_message_can_be_sent_whatever_was_typed():
    """JSON allows half a character; UTF-8 does not."""
    error = e.ChoiceError(name="x", found="\ud800", choices="a")
    for lang in ("en", "ko"):
        assert "?" in error.text(lang)
        error.text(lang).encode()
    str(error).encode()
