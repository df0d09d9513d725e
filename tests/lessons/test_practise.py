"""A learner's code: right, each known mistake by its name, and whatever else can go wrong with it."""

from __future__ import annotations

import re

import pytest
import torch

from lessons import verdicts
from lessons.judge import judge
from lessons.learner import run_here
from lessons.mistakes import mistake_words
from lessons.practicals import practicals
from lessons.results import ALIKE, like
from lessons.subjects import SUBJECTS, cases_of, wrong_outcome
from tests.lessons.solutions import RIGHT, with_line, wrong_sources

HANGUL = re.compile("[가-힣]")
WRONG = wrong_sources()
# The same numbers by two names: where only a softmax is asked for, softmax's own is named.
TWO_NAMES = {(3, "divide_by_sum"): "softmax_by_sum"}


def showing(station):
    """Names of the mistakes that give other numbers than the right ones in some plain case."""
    subject = SUBJECTS[station]
    found = []
    for name, wrong in subject.wrong().items():
        for case in cases_of(station, 0):
            outcome = None if case.large else wrong_outcome(wrong, case.given)
            right = subject.steps(case.given)[subject.outputs[0]]
            if outcome is not None and not like((outcome,), (right,), 2 * ALIKE):
                found.append(name)
                break
    return found


SHOWING = [(station, name) for station in SUBJECTS for name in showing(station)]


def source_of(station, name):
    """Our own wrong line; for a mistake added since, a file that calls the mistake itself."""
    arguments = ", ".join(cases_of(station, 0)[0].given)
    return WRONG.get((station, name)) or (
        "from lessons.subjects import SUBJECTS\n"
        f"def {practicals()[station].function}({arguments}):\n"
        f"    return SUBJECTS[{station}].wrong()['{name}'](dict(locals()))\n"
    )


@pytest.fixture
def judged(tmp_path):
    """judged(station, source) -> the verdict, by the code that the learner's process runs."""

    def in_this_process(station, source, seed=0):
        path = tmp_path / f"practical_{station}.py"
        path.write_text(source, encoding="utf-8")
        return judge(practicals()[station], run_here(path, station, seed=seed), source, seed=seed)

    return in_this_process


def told(verdict, lang="en"):
    return "\n".join(said.text(lang) for said in verdict.said)


def both(verdict, *parts):
    """Not right, each part in the sentences of both languages, and Korean only in one of them."""
    assert not verdict.correct
    for lang in ("en", "ko"):
        for part in parts:
            assert part in told(verdict, lang), (part, told(verdict, lang))
        assert bool(HANGUL.search(told(verdict, lang))) == (lang == "ko")


# Right, and known mistakes


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("station", RIGHT)
def test_a_right_solution_passes(judged, station, seed):
    verdict = judged(station, RIGHT[station], seed)
    assert verdict.correct
    assert verdict.mistake is None
    for lang in ("en", "ko"):
        assert practicals()[station].function in told(verdict, lang)


def test_every_practical_has_a_solution_and_every_wrong_line_is_of_a_mistake_that_shows():
    assert list(practicals()) == list(SUBJECTS) == list(RIGHT)
    assert set(WRONG) <= set(SHOWING)


@pytest.mark.parametrize(("station", "name"), SHOWING)
def test_every_mistake_is_named_in_both_languages(judged, station, name):
    verdict = judged(station, source_of(station, name))
    named = TWO_NAMES.get((station, name), name)
    assert verdict.mistake == named
    for lang in ("en", "ko"):
        assert mistake_words()[named].name[lang] in told(verdict, lang)
        assert mistake_words()[named].text[lang] in told(verdict, lang)


def test_the_step_that_is_off_is_named(judged):
    both(judged(9, source_of(9, "scale_by_d_model")), "√d_model", ": scaled.")


def test_the_numbers_may_be_others(judged):
    assert (
        judged(9, source_of(9, "merge_without_transpose"), 7).mistake == "merge_without_transpose"
    )
    assert not torch.equal(*(cases_of(9, seed)[0].given["x"] for seed in (0, 7)))


def test_a_wrong_result_that_no_mistake_explains_is_told_with_both_numbers(judged):
    verdict = judged(6, with_line(RIGHT[6], "return ", "return weights @ v + 0.25"))
    case = cases_of(6, 0)[0].given
    right = torch.nn.functional.scaled_dot_product_attention(*case.values())[0, 0].item()
    both(verdict, "[0, 0]", f"{right:.5g}", f"{right + 0.25:.5g}", "q (3, 4), k (3, 4), v (3, 4)")
    assert verdict.mistake is None


def test_two_faults_at_once_are_not_called_one_mistake(judged):
    source = with_line(WRONG[7, "no_mask"], "scaled = ", "scaled = scores")
    assert judged(7, source).mistake is None


def test_a_mistake_in_one_case_only_is_not_named(judged):
    line = "masked = scaled if T == 5 else scaled.masked_fill(~seen, float('-inf'))"
    verdict = judged(7, with_line(RIGHT[7], "masked = ", line))
    assert verdict.mistake is None
    both(verdict, "q (5, 2)")
    assert verdict.said[0] == verdicts.Said(verdicts.SOME, {"right": 8, "count": 9})


# The future


def test_the_future_is_told_with_its_first_row(judged):
    source = with_line(RIGHT[7], "seen = ", "seen = torch.ones(T, T).tril() == 1; seen[2:] = True")
    verdict = judged(7, source)
    assert "from row 2 on" in told(verdict)
    assert "2번 행부터 미래가 보입니다" in told(verdict, "ko")
    assert "from row 0 on" in told(judged(9, WRONG[9, "no_mask"]))


def test_what_does_not_look_ahead_is_not_accused_of_it(judged):
    for name in ("no_scale", "mask_diagonal"):
        assert "row" not in told(judged(7, WRONG[7, name])).replace("row is NaN", "")


# Shapes, types, NaN, steps


def test_a_shape_slip_is_told_as_shapes(judged):
    verdict = judged(9, with_line(RIGHT[9], "return ", "return heads @ heads.mT"))
    both(verdict, "output", "(2, 2, 3, 3)", "(2, 3, 6)")


def test_an_axis_lost_at_one_token_alone_is_told_with_the_case(judged):
    verdict = judged(2, with_line(RIGHT[2], "return ", "return (q @ k.mT).squeeze()"))
    both(verdict, "(1, 1, 1)", "()", "q (1, 1, 3)")
    assert verdict.said[0] == verdicts.Said(verdicts.SOME, {"right": 5, "count": 6})


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("return (weights @ v).tolist()", "list"),
        ("return (weights @ v).numpy()", "numpy.ndarray"),
        ("return weights @ v, weights", "(tensor, tensor)"),
        ("weights @ v", "None"),
        ("return (weights @ v).double()", "torch.float64"),
        ("return (weights @ v).long()", "torch.int64"),
        ("return (weights @ v).to(torch.complex64)", "torch.complex64"),
    ],
)
def test_a_wrong_type_is_named(judged, line, found):
    both(judged(6, with_line(RIGHT[6], "return ", line)), found)


def test_of_three_results_the_first_that_is_off_is_named(judged):
    source = "def project(x, w_query, w_key, w_value):\n    return x @ w_query, x @ w_key, {}\n"
    both(judged(5, source.format("x @ w_value + 1")), "q, k", "[0, 0]")
    both(judged(5, source.format("(x @ w_value).mT")), "q, k", "(2, 3)", "(3, 2)")
    expected = verdicts.Said(verdicts.OTHER_STEP, {"name": "v", "found": "k"})
    assert judged(5, source.format("x @ w_key")).said == (expected,)
    both(judged(5, source.format("None")), "q, k, v", "(tensor, tensor, NoneType)")
    both(judged(5, "def project(x, *w):\n    return x @ w[0]\n"), "q, k, v", "torch.Tensor")


@pytest.mark.parametrize(
    ("station", "line", "found", "wanted"),
    [
        (2, "return q @ k.mT / q.size(-1) ** 0.5", "scaled", "scores"),
        (3, "return scores", "scores", "weights"),
        (6, "return weights", "weights", "output"),
        (7, "return weights", "weights", "output"),
        (9, "return heads", "heads.output", "output"),
        (16, "return torch.softmax(hot, dim=-1)", "probs_temperature", "probs_top_k"),
    ],
)
def test_another_step_is_recognised(judged, station, line, found, wanted):
    verdict = judged(station, with_line(RIGHT[station], "return ", line))
    expected = {"found": found, "name": wanted}
    assert verdict.said[0] == verdicts.Said(verdicts.OTHER_STEP, expected)


def test_softmax_of_large_scores(judged):
    naive = with_line(RIGHT[3], "powers = ", "powers = torch.exp(scores)")
    verdict = judged(3, naive)
    both(verdict, "±1000", "NaN", "[0, 0]")
    for lang in ("en", "ko"):
        assert practicals()[3].nan(lang) in told(verdict, lang)


# What keeps the code from running


def test_an_exception_names_itself_and_the_learners_line(judged):
    source = with_line(RIGHT[7], "scores = ", "scores = q @ k")
    line = source.splitlines().index("    scores = q @ k") + 1
    verdict = judged(7, source)
    both(verdict, "RuntimeError", "(3x4 and 3x4)", "scores = q @ k", "q (3, 4)")
    assert f"line {line}:" in told(verdict)
    assert f"{line}번째 줄:" in told(verdict, "ko")


def test_leaving_the_process_is_an_exception_like_others(judged):
    both(
        judged(2, "def scores(q, k):\n    raise SystemExit(0)\n"),
        "SystemExit",
        "raise SystemExit(0)",
    )


def test_an_exception_while_the_file_is_loaded(judged):
    both(judged(2, "a = 1\nb = a / 0\n"), "ZeroDivisionError", "b = a / 0")


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("def scores(q, k)\n    return q\n", ["def scores(q, k)", "expected ':'"]),
        ("x = 1\n  y = 2\n", ["y = 2", "unexpected indent"]),
        ("x = 1\0", ["null byte"]),
    ],
)
def test_a_syntax_error_names_its_line(judged, source, parts):
    both(judged(2, source), *parts)


def test_a_missing_function_names_those_that_are_there(judged):
    source = "from math import sqrt\ndef score(q, k): ...\ndef helper(): ...\n"
    both(judged(2, source), "scores", "score, helper")
    assert "none" in told(judged(2, "scores = 3\n"))
    assert "없음" in told(judged(2, "scores = 3\n"), "ko")


def test_a_wrong_signature_is_told_with_both(judged):
    both(judged(7, "def causal_attention(q, k): ...\n"), "(q, k, v)", "(q, k)")


@pytest.mark.parametrize("station", RIGHT)
def test_a_task_not_begun_is_told_as_such(judged, station):
    verdict = judged(station, practicals()[station].starter.read_text(encoding="utf-8"))
    assert [said.words for said in verdict.said] == [verdicts.EMPTY]
    both(verdict, practicals()[station].function)


def test_inputs_changed_in_place_spoil_no_other_case(judged):
    source = "def scores(q, k):\n    found = q @ k.mT\n    q.zero_()\n    return found\n"
    assert judged(2, source).correct
