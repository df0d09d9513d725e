"""Grading of an answer to a question: right, or which mistake, and what to say about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lessons.course import Choice
from lessons.grading import MOST_SHOWN, diagnose, parse_number, shortened
from lessons.mistakes import mistake_words, wrong_line
from lessons.questions import Question, verdict
from lessons.sizes import forms, readings
from lessons.words import Words
from model.errors import PlaygroundError

SHOW_AFTER = 2  # wrong answers that no mistake explains; then the solution is worked out
WITH_UNIT = re.compile(r"(?P<number>.*[0-9.])\s*(?P<unit>[A-Za-z]{2,}|[가-힣]+)")

RIGHT = Words("Right.", "맞습니다.")
WRONG = Words("Not yet.", "아직 아닙니다.")
MISTAKEN = Words("{answer} is what you get with “{name}”.", "{answer} 값은 ‘{name}’일 때 나옵니다.")
THE_STEP = Words("The step that went wrong: {line}", "잘못된 단계: {line}")
UNKNOWN = Words(
    "{answer} is not it, and none of the known slips gives it. Work it out once more; after another try the solution is shown.",
    "{answer} 값은 답이 아닙니다. 알려진 실수에서 나오는 값도 아닙니다. 한 번 더 계산해 보십시오. 다시 틀리면 풀이를 보여 드립니다.",
)
SOLUTION = Words(
    "{answer} is not it. Worked out:\n{worked}",
    "{answer} 값은 답이 아닙니다. 풀이는 다음과 같습니다.\n{worked}",
)
WORKED = Words("Worked out:\n{worked}", "풀이는 다음과 같습니다.\n{worked}")
MISSED = Words("“{text}” belongs to it. {why}", "‘{text}’ 항목도 골라야 합니다. {why}")
NOT_ONE = Words("“{text}” does not. {why}", "‘{text}’ 항목은 아닙니다. {why}")
NOT_FIRST = Words(
    "“{text}” does not come first. Of this step: {why}",
    "처음은 ‘{text}’ 차례가 아닙니다. 이 단계는 이렇습니다. {why}",
)
TOO_EARLY = Words(
    "Right up to step {right}. “{text}” is not what comes next. Of this step: {why}",
    "{right}단계까지 맞습니다. 그다음은 ‘{text}’ 차례가 아닙니다. 이 단계는 이렇습니다. {why}",
)


class AnswerError(PlaygroundError):
    en = "“{found}” is not among the answers: {wanted}."
    ko = "‘{found}’ 값은 답 가운데 없습니다. 고를 수 있는 답: {wanted}."


class OrderError(PlaygroundError):
    en = "An order names each of the {n} steps once: {wanted}. Found: “{found}”."
    ko = "순서에는 단계 {n}개를 한 번씩 적어야 합니다: {wanted}. 받은 것: ‘{found}’."


class ShapeAnswerError(PlaygroundError):
    en = "“{found}” is not a size. Write a whole number or a name, like 64 or T, or several with commas."
    ko = "‘{found}’ 값은 크기로 읽을 수 없습니다. 64나 T처럼 정수나 이름으로, 여러 개면 쉼표로 나누어 쓰십시오."


@dataclass(frozen=True)
class Graded:
    correct: bool
    feedback: str
    mistake: str | None = None


def grade(question: Question, answer: Any, lang: str, tries: int = 1) -> Graded:
    """`answer` is a value, a list of values, a number or text; `tries` counts this one too.

    A list of one stands for what is in it. Raises a `PlaygroundError` where the answer
    cannot be read.
    """
    if isinstance(answer, list | tuple) and len(answer) == 1:
        answer = answer[0]
    if question.kind in ("number", "cell"):
        return grade_number(question, answer, lang, tries)
    if question.kind == "shape":
        return grade_shape(question, answer, lang, tries)
    if question.kind == "order":
        return grade_order(question, listed(answer), lang)
    if question.kind == "choices":
        return grade_choices(question, listed(answer), lang)
    chosen = by_value(question, answer)
    said = f"{chosen.why(lang)}\n{verdict(question, lang)}".strip()
    return Graded(chosen.right, told(chosen.right, said, lang), chosen.mistake)


def grade_number(question: Question, answer: Any, lang: str, tries: int) -> Graded:
    typed = shortened(str(answer))
    number = parse_number(without_unit(str(answer), question))
    found = diagnose(number, question.answer, question.mistakes)
    if found.correct:
        return Graded(True, f"{RIGHT(lang)} {solution(question, lang)}".strip())
    if found.mistake:
        return Graded(False, named(found.mistake, typed, lang), found.mistake)
    return Graded(False, unknown(question, typed, lang, tries))


def without_unit(text: str, question: Question) -> str:
    """`16 tokens` -> `16` where the question itself speaks of tokens, in either language."""
    found = WITH_UNIT.fullmatch(text.strip()) if len(text) <= MOST_SHOWN else None
    if found is None:
        return text
    unit = found["unit"].lower().removesuffix("s")
    said = {word.removesuffix("s") for word in re.findall("[a-z]+", question.ask.en.lower())}
    return found["number"] if unit in said or found["unit"] in question.ask.ko else text


def grade_shape(question: Question, answer: Any, lang: str, tries: int) -> Graded:
    """Sizes are compared as text, in the ways people write them (`lessons.sizes`)."""
    parts = answer if isinstance(answer, list | tuple) else [answer]
    typed = ", ".join(str(part) for part in parts)
    found = readings(typed)
    if not found:
        raise ShapeAnswerError(found=shortened(typed))

    def is_size(size: str) -> bool:
        return not forms(size, question.ask.en).isdisjoint(found)

    if is_size(str(question.answer)):
        return Graded(True, f"{RIGHT(lang)} {solution(question, lang)}".strip())
    known = next((c for c in question.choices if is_size(c.value)), None)
    if known:
        return Graded(False, told(False, known.why(lang), lang), known.mistake)
    for name, wrong in question.mistakes.items():
        if is_size(str(wrong)):
            return Graded(False, named(name, shortened(typed), lang), name)
    return Graded(False, unknown(question, shortened(typed), lang, tries))


def grade_choices(question: Question, values: list[str], lang: str) -> Graded:
    """All that belong and no other; `AnswerError` for none, which would be told them all."""
    if not values:
        by_value(question, "")
    chosen = [by_value(question, value) for value in dict.fromkeys(values)]
    wrong = [NOT_ONE(lang, text=c.text(lang), why=c.why(lang)) for c in chosen if not c.right]
    missed = [c for c in question.choices if c.right and c not in chosen]
    said = wrong + [MISSED(lang, text=c.text(lang), why=c.why(lang)) for c in missed]
    if not said:
        return Graded(True, told(True, " ".join(c.why(lang) for c in chosen), lang))
    mistake = next((c.mistake for c in chosen if not c.right and c.mistake), None)
    return Graded(False, told(False, " ".join(said), lang), mistake)


def grade_order(question: Question, values: list[str], lang: str) -> Graded:
    assert isinstance(question.answer, tuple)
    if sorted(values) != sorted(question.answer):
        wanted = ", ".join(c.value for c in question.choices)
        raise OrderError(n=len(question.answer), wanted=wanted, found=shortened(", ".join(values)))
    pairs = zip(values, question.answer, strict=True)
    at = next((i for i, (given, right) in enumerate(pairs) if given != right), None)
    if at is None:
        steps = [by_value(question, value) for value in values]
        return Graded(True, told(True, " ".join(step.why(lang) for step in steps), lang))
    early = by_value(question, values[at])
    words = TOO_EARLY if at else NOT_FIRST
    said = words(lang, right=at, text=early.text(lang), why=early.why(lang))
    return Graded(False, told(False, said, lang), early.mistake)


def listed(answer: Any) -> list[str]:
    """Values given as a list or as text with commas."""
    found: Sequence[Any] = answer if isinstance(answer, list | tuple) else str(answer).split(",")
    return [str(value).strip() for value in found if str(value).strip()]


def by_value(question: Question, value: Any) -> Choice:
    """The choice of that value; `AnswerError` where there is none."""
    for choice in question.choices:
        if choice.value == str(value).strip():
            return choice
    wanted = ", ".join(choice.value for choice in question.choices)
    raise AnswerError(found=shortened(str(value)), wanted=wanted)


def told(correct: bool, why: str, lang: str) -> str:
    return f"{(RIGHT if correct else WRONG)(lang)} {why}".strip()


def named(mistake: str, typed: str, lang: str) -> str:
    """The mistake's name, what it is, and the line that goes wrong."""
    words = mistake_words()[mistake]
    line = THE_STEP(lang, line=wrong_line(mistake))
    return f"{MISTAKEN(lang, answer=typed, name=words.name[lang])} {words.text[lang]}\n{line}"


def unknown(question: Question, typed: str, lang: str, tries: int) -> str:
    if tries < SHOW_AFTER or question.worked is None:
        return UNKNOWN(lang, answer=typed)
    return SOLUTION(lang, answer=typed, worked=question.worked(lang))


def solution(question: Question, lang: str) -> str:
    return WORKED(lang, worked=question.worked(lang)) if question.worked else ""
