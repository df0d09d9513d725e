"""A question to answer: what is asked, the right answer, and what each mistake would answer.

`question(quiz_id, seed)` makes it; the same seed always makes the same one. Nothing of it
but `ask` and the choices' texts is for the learner's eyes (`grading.grade`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from random import Random
from types import MappingProxyType

from lessons.course import Asked, Choice, asked
from lessons.drawing import Answer, Drawn
from lessons.grading import tolerance
from lessons.words import LANGUAGES, Words
from model.errors import PlaygroundError

MOST_DRAWS = 2000  # a generator that is not sound by then never will be
REMEMBERED = 256  # questions; one is needed at every key that is typed into its answer
APART = 2  # tolerances, at least, between a mistake's answer, the right one and one another

CLAIM = Words("The notes say: “{claim}”", "노트의 주장: ‘{claim}’")


HOLDS = {
    "yes": Words("Verdict: true.", "판정: 맞습니다."),
    "no": Words("Verdict: the notes are wrong here.", "판정: 노트가 틀렸습니다."),
    "partly": Words("Verdict: true under a condition.", "판정: 조건이 붙어야 맞습니다."),
}


class QuizError(PlaygroundError):
    en = "There is no question “{found}”. /quizzes lists them; one is “{one}”."
    ko = "‘{found}’라는 문제는 없습니다. /quizzes에 목록이 있습니다. 예를 들면 ‘{one}’ 문제가 있습니다."


@dataclass(frozen=True)
class Question:
    quiz_id: str
    seed: int
    kind: str
    ask: Words
    choices: tuple[Choice, ...]  # as shown; of an order, its steps, shuffled
    answer: Answer | tuple[str, ...]  # a number, a shape, a value, or values
    mistakes: Mapping[str, Answer]
    worked: Words | None  # the solution, line by line
    source: Asked
    attempt: int = 0  # of a generated one: how often it was drawn again

    @property
    def chosen(self) -> bool:
        return self.kind in ("choice", "line")


@lru_cache(maxsize=REMEMBERED)
def question(quiz_id: str, seed: int) -> Question:
    """Raises `QuizError` for an unknown id. Read-only: whoever asks for the same shares it."""
    found = asked().get(quiz_id)
    if found is None:
        raise QuizError(found=str(quiz_id)[:60], one=next(iter(asked())))
    return made(found, seed)


def made(source: Asked, seed: int) -> Question:
    if source.draw is not None:
        return generated(source, seed)
    values = tuple(choice.value for choice in source.choices)
    right = tuple(choice.value for choice in source.choices if choice.right)
    answer: Answer | tuple[str, ...] = {
        "choice": right[0] if right else "",
        "line": right[0] if right else "",
        "choices": right,
        "order": values,
        "shape": source.answer,
    }[source.kind]
    mistakes = MappingProxyType({c.mistake: c.value for c in source.choices if c.mistake})
    shown = source.choices if source.kind == "shape" else shuffled(source, seed)
    ask = source.ask
    if source.claim:
        ask = Words(
            *(f"{CLAIM(lang, claim=source.claim(lang))}\n{ask(lang)}" for lang in LANGUAGES)
        )
    return Question(
        source.quiz_id, seed, source.kind, ask, shown, answer, mistakes, source.why, source
    )


def shuffled(source: Asked, seed: int) -> tuple[Choice, ...]:
    """The choices in an order of this seed; lines of code and of notes stay as they are."""
    if source.kind == "line":
        return source.choices
    draw = Random(f"{source.quiz_id}:{seed}:order")
    choices = list(source.choices)
    draw.shuffle(choices)
    if source.kind == "order" and tuple(choices) == source.choices:
        choices = choices[1:] + choices[:1]  # else it would be answered already
    return tuple(choices)


def verdict(question: Question, lang: str) -> str:
    """Of a claim: what is true of it, with the numbers computed now; else nothing."""
    source = question.source
    if source.verdict is None:
        return ""
    computed = source.compute() if source.compute else {}
    return f"{HOLDS[source.holds](lang)} {source.verdict(lang, **filled(computed, lang))}"


def generated(source: Asked, seed: int) -> Question:
    """Drawn again until it is sound: two mistakes at least, each of its own and not the answer."""
    drawn = None
    for attempt in range(MOST_DRAWS):
        drawn = sound(draw(source, seed, attempt))
        if drawn is not None:
            break
    assert drawn is not None, f"{source.quiz_id}: no sound question for seed {seed}"
    blanks = {lang: filled(drawn.blanks, lang) for lang in LANGUAGES}
    ask = Words(**{lang: getattr(source.ask, lang).format(**blanks[lang]) for lang in LANGUAGES})
    worked = Words(
        **{lang: "\n".join(in_language(line, lang) for line in drawn.worked) for lang in LANGUAGES}
    )
    return Question(
        source.quiz_id,
        seed,
        source.kind,
        ask,
        (),
        drawn.answer,
        drawn.mistakes,
        worked,
        source,
        attempt,
    )


def draw(source: Asked, seed: int, attempt: int) -> Drawn:
    assert source.draw is not None, "only a generated question is drawn"
    return source.draw(Random(f"{source.quiz_id}:{seed}:{attempt}"))


def filled(blanks: Mapping[str, object], lang: str) -> dict[str, object]:
    return {name: in_language(value, lang) for name, value in blanks.items()}


def in_language(value: object, lang: str) -> object:
    return value(lang) if isinstance(value, Words) else value


def sound(drawn: Drawn) -> Drawn | None:
    """The question without mistakes that nobody could tell from the right answer.

    None where fewer than two are left, or two of those give the same.
    """
    told = {k: v for k, v in drawn.mistakes.items() if apart(v, drawn.answer)}
    finite = isinstance(drawn.answer, str) or math.isfinite(drawn.answer)
    if (
        len(told) < 2
        or not finite
        or not all(apart(a, b) for a, b in combinations(told.values(), 2))
    ):
        return None
    return replace(drawn, mistakes=MappingProxyType(told))


def apart(a: Answer, b: Answer) -> bool:
    """Farther from one another than both could be off and still be taken for the same."""
    if isinstance(a, str) or isinstance(b, str):
        return a != b
    return abs(a - b) > APART * max(tolerance(a), tolerance(b)) + 1e-9
