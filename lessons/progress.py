"""What a learner has done: which questions were answered, and what should come again.

A `Progress` is kept by the browser, never by the server, and travels as JSON. What went
wrong comes again: the same day, then another day, each time with fresh numbers; answered
rightly both times it has been learned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from random import Random
from types import MappingProxyType
from typing import Any

from lessons.course import Asked, asked
from lessons.questions import Question, made
from model.errors import PlaygroundError
from model.mistakes import MISTAKES

TIMES = 2  # right answers in a review, on different days, until something is learned
MOST_COUNTED = 999_999  # of one thing; it is counted no further
LOOKED_AT = 5  # seeds of each generated question, to see which mistakes it can show
MOST_SEEDS = 40  # tried until a fresh question shows a mistake


class ProgressError(PlaygroundError):
    en = "This is not a learner's progress as it is saved here. Yours was kept as it was. Found: {where} is “{found}”; it should be {wanted}."
    ko = "여기에서 저장한 학습 기록이 아닙니다. 지금 기록은 그대로 두었습니다. {where} 값이 ‘{found}’인데 {wanted} 꼴이어야 합니다."


@dataclass(frozen=True)
class Again:
    """What went wrong, and when it comes again."""

    quiz_id: str  # where it went wrong last
    count: int = 1
    right: int = 0  # times answered rightly since
    last: str = ""  # the day of the last answer, YYYY-MM-DD

    def due(self, today: str) -> bool:
        """Today after a wrong answer; after a right one on another day.

        Any other: a clock that was once ahead keeps nothing away.
        """
        return self.right == 0 or self.last != today


@dataclass(frozen=True)
class Progress:
    """`done`: right answers a question; `again`: by mistake, or by question where none was known."""

    done: Mapping[str, int] = field(default_factory=dict)
    again: Mapping[str, Again] = field(default_factory=dict)

    def answered(self, quiz_id: str, correct: bool, mistake: str | None, today: str) -> Progress:
        """After an answer in a station."""
        if correct:
            return replace(self, done={**self.done, quiz_id: more(self.done.get(quiz_id, 0))})
        key = mistake or quiz_id
        before = self.again.get(key)
        wrong = Again(quiz_id, more(before.count if before else 0), 0, today)
        return replace(self, again={**self.again, key: wrong})

    def reviewed(self, key: str, correct: bool, today: str) -> Progress:
        """After an answer to a fresh question about `key`."""
        found = self.again[key]
        if not correct:
            wrong = replace(found, count=more(found.count), right=0, last=today)
            return replace(self, again={**self.again, key: wrong})
        found = replace(found, right=found.right + 1, last=today)
        rest = {name: value for name, value in self.again.items() if name != key}
        return replace(self, again=rest if found.right >= TIMES else {**rest, key: found})

    def due(self, today: str) -> list[str]:
        """What comes again today, what went wrong most often first."""
        found = [key for key, again in self.again.items() if again.due(today)]
        return sorted(found, key=lambda key: -self.again[key].count)

    def to_json(self) -> dict[str, Any]:
        return {
            "done": dict(self.done),
            "again": {key: vars(again) for key, again in self.again.items()},
        }


def more(count: int) -> int:
    return min(count + 1, MOST_COUNTED)


def is_count(found: Any) -> bool:
    return type(found) is int and 0 <= found <= MOST_COUNTED


def from_json(found: Any) -> Progress:
    """A checked `Progress`; questions that no longer exist are left out. Raises `ProgressError`."""
    if not isinstance(found, dict):
        raise refused("{…}", found, "{done, again}")
    for name in ("done", "again"):
        if not isinstance(found.get(name), dict):
            raise refused(name, found.get(name), "{…}")
    for quiz_id, count in found["done"].items():
        if not is_count(count):
            raise refused(f"done.{quiz_id}", count, "0, 1, 2, …")
    again = {key: read_again(key, entry) for key, entry in found["again"].items()}
    known = asked()
    return Progress(
        {quiz_id: count for quiz_id, count in found["done"].items() if quiz_id in known},
        {k: a for k, a in again.items() if a.quiz_id in known and (k in MISTAKES or k in known)},
    )


def read_again(key: str, entry: Any) -> Again:
    if not isinstance(entry, dict) or not isinstance(entry.get("quiz_id"), str):
        raise refused(f"again.{key}", entry, "{quiz_id, count, right, last}")
    for name in ("count", "right"):
        if not is_count(entry.get(name)):
            raise refused(f"again.{key}.{name}", entry.get(name), "0, 1, 2, …")
    return Again(entry["quiz_id"], entry["count"], entry["right"], day(entry.get("last")))


def day(found: Any) -> str:
    """YYYY-MM-DD. Raises `ProgressError`."""
    try:
        return date.fromisoformat(found).isoformat()
    except (TypeError, ValueError) as error:
        raise refused("last", found, "YYYY-MM-DD") from error


def refused(where: str, found: Any, wanted: str) -> ProgressError:
    return ProgressError(where=where[:60], found=str(found)[:40], wanted=wanted)


@cache
def shown_by() -> Mapping[str, tuple[Asked, ...]]:
    """The generated questions in which a mistake can show, by its name. Looked up once."""
    found: dict[str, dict[str, Asked]] = {}
    for source in asked().values():
        for seed in range(LOOKED_AT if source.generated else 0):
            for mistake in made(source, seed).mistakes:
                found.setdefault(mistake, {})[source.quiz_id] = source
    return MappingProxyType({mistake: tuple(by.values()) for mistake, by in found.items()})


def fresh(key: str, again: Again, seed: int) -> Question:
    """A question about just that: one where the mistake `key` shows, with new numbers.

    The question where it went wrong last, if new numbers can be drawn for it; else also
    any other that shows the mistake.
    """
    before, others = asked()[again.quiz_id], shown_by().get(key, ())
    sources = (before,) if before in others else (before, *others)
    for n in range(MOST_SEEDS if others else 0):
        draw = Random(f"{key}:{seed}:{n}")
        question = made(draw.choice(sources), draw.randrange(2**31))
        if key in question.mistakes:
            return question
    return made(before, seed)
