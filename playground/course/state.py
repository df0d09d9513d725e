"""What a learner has before them in the lessons tab, and what they have done so far."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from lessons.course import Station, Try, asked, stations
from lessons.progress import Progress
from lessons.questions import Question, question
from playground import input_errors as errors
from playground.panel import Panel, panels
from playground.state import MAX_SEED, is_text

SECTIONS = ("station", "review", "words", "teacher")
MOST_ANSWER = 400  # characters, and values, of an answer
HERE = "lessons"  # the tab's own name; a station's panel is any other


@dataclass(frozen=True)
class CourseState:
    station: str = ""  # "" is the first
    section: str = "station"
    tried: str = ""  # the "try this" that set the panel; "" is the first
    panel: Any = None  # the state of the panel beside the text; None: as the try has it
    at: int = 0  # which question
    seed: int = 1
    answer: list[str] = field(default_factory=list)
    replied: bool = False  # it has been sent, and says whether it is right
    tries: int = 0  # answers sent to this very question
    reviewing: str = ""  # what is being reviewed: a mistake or a question
    quiz: str = ""  # the question about it
    # Kept by the browser alone, and not in a link:
    kept: Progress = field(default_factory=Progress)
    today: str = field(default_factory=lambda: date.today().isoformat())

    def but(self, **changes: Any) -> CourseState:
        return dataclasses.replace(self, **changes)

    @property
    def lesson(self) -> Station:
        found = stations()
        return found[self.station] if self.station else next(iter(found.values()))

    @property
    def chosen(self) -> Try:
        tries = self.lesson.tries
        return next((t for t in tries if t.name == self.tried), tries[0])

    @property
    def beside(self) -> Panel:
        """The panel beside the text."""
        return panels()[self.chosen.tab]

    @property
    def shown(self) -> Any:
        """The state of the panel beside the text."""
        return set_up(self.chosen) if self.panel is None else self.panel

    @property
    def question(self) -> Question | None:
        """What is asked now; None where there is nothing to review."""
        if self.section == "review":
            return question(self.quiz, self.seed) if self.quiz else None
        return question(self.lesson.questions[self.at].quiz_id, self.seed)

    def to_json(self) -> dict[str, Any]:
        """Only what differs from a fresh state; what a learner has done so far is not in it."""
        plain = CourseState()
        names = [f.name for f in dataclasses.fields(self) if f.name not in ("kept", "today")]
        found = {n: getattr(self, n) for n in names if getattr(self, n) != getattr(plain, n)}
        if self.panel is not None:
            found["panel"] = self.panel.to_json()
        return found | {"station": self.lesson.name}


def set_up(chosen: Try) -> Any:
    """The state that a "try this" puts the panel beside the text in."""
    panel = panels()[chosen.tab]
    state = panel.default
    if chosen.preset:
        state = panel.apply(state, {"do": "preset", "name": chosen.preset})
    return panel.usable(state.to_json() | dict(chosen.changes)) if chosen.changes else state


def from_json(found: Any) -> CourseState:
    """A checked `CourseState`. Raises a `LinkError` that says what is wrong and where."""
    if not isinstance(found, dict):
        raise errors.LinkError(where="state", found=errors.short(found), wanted="{…}")
    if found.get("station") not in list(stations()):  # a list: what comes may be unhashable
        wanted = errors.short(" | ".join(stations()), 80)
        raise errors.LinkError(
            where="station", found=errors.short(found.get("station")), wanted=wanted
        )
    state = CourseState(station=found["station"])
    values = {
        name: checked(state, name, found[name]) for name in CHECKED if found.get(name) is not None
    }
    state = state.but(**values)
    if found.get("panel") is not None:
        state = state.but(panel=state.beside.usable(found["panel"]))
    return state


def checked(state: CourseState, name: str, value: Any) -> Any:
    """One field, right in itself."""
    ok, wanted = CHECKED[name](state, value)
    if not ok:
        raise errors.LinkError(where=name, found=errors.short(value), wanted=wanted)
    return value


def whole(low: int, high: int, value: Any) -> tuple[bool, str]:
    return type(value) is int and low <= value <= high, f"{low} … {high}"


def one_of(names: list[str], value: Any) -> tuple[bool, str]:
    return value in names, errors.short(" | ".join(names), 80)


def is_answer(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= MOST_ANSWER
        and all(is_text(part, MOST_ANSWER) for part in value)
    )


CHECKED = {
    "section": lambda state, value: one_of(list(SECTIONS), value),
    "tried": lambda state, value: one_of([t.name for t in state.lesson.tries], value),
    "at": lambda state, value: whole(0, len(state.lesson.questions) - 1, value),
    "seed": lambda state, value: whole(0, MAX_SEED, value),
    "tries": lambda state, value: whole(0, 999, value),
    "answer": lambda state, value: (is_answer(value), f"[…] ≤ {MOST_ANSWER}"),
    "replied": lambda state, value: (isinstance(value, bool), "true | false"),
    "quiz": lambda state, value: one_of(["", *asked()], value),
    "reviewing": lambda state, value: (is_text(value, 80), "≤ 80"),
}
