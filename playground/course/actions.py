"""What a learner can do in the lessons tab; all else is done to the panel beside the text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from lessons import progress
from lessons.answers import grade
from lessons.progress import Progress
from lessons.questions import Question
from model.errors import PlaygroundError
from playground import input_errors as errors
from playground.course.state import CourseState, checked, from_json
from playground.state import MAX_SEED

Action = dict[str, Any]


def apply(state: CourseState, action: Any) -> CourseState:
    """The state after an action. Raises a `PlaygroundError` when it is refused."""
    do = action.get("do") if isinstance(action, dict) else None
    if not isinstance(do, str) or do not in ACTIONS:
        return state.but(panel=state.beside.apply(state.shown, action))
    try:
        return ACTIONS[do](state, action)
    except PlaygroundError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError) as error:  # no button asks so
        raise errors.ActionError(found=errors.short(json.dumps(action, default=str))) from error


def go(state: CourseState, action: Action) -> CourseState:
    """To another station."""
    there = from_json({"station": action["station"]})
    return there.but(kept=state.kept, today=state.today)


def section(state: CourseState, action: Action) -> CourseState:
    """To the review, the glossary, the teacher's notes, or back to the question that was left."""
    left = state.section
    state = state.but(section=checked(state, "section", action["name"]))
    if state.section == "review":
        return next_review(state, action)
    return renewed(state, seed=1) if left == "review" else state


def try_(state: CourseState, action: Action) -> CourseState:
    return state.but(tried=checked(state, "tried", action["name"]), panel=None)


def ask_at(state: CourseState, action: Action) -> CourseState:
    """To another question, and the panel to what it is about where it says so."""
    state = renewed(state, at=checked(state, "at", action["index"]), seed=1)
    about = state.lesson.questions[state.at].beside
    return state.but(tried=about, panel=None) if about else state


def another(state: CourseState, action: Action) -> CourseState:
    """The same question with fresh numbers, or its choices in another order."""
    return renewed(state, seed=seeded(action))


def next_review(state: CourseState, action: Action) -> CourseState:
    """A fresh question about what has gone wrong most often and is due, its station beside it."""
    due = state.kept.due(state.today)
    if not due:
        return renewed(state, reviewing="", quiz="", seed=1)
    question = progress.fresh(due[0], state.kept.again[due[0]], seeded(action))
    if question.source.station != state.lesson.name:
        state = state.but(station=question.source.station, tried="", panel=None, at=0)
    return renewed(state, reviewing=due[0], quiz=question.quiz_id, seed=question.seed)


def seeded(action: Action) -> int:
    return abs(int(action.get("seed", 1))) % (MAX_SEED + 1)


def renewed(state: CourseState, **changes: Any) -> CourseState:
    """A question not yet answered; an order begins as it is shown."""
    state = state.but(**changes, answer=[], replied=False, tries=0)
    question = state.question
    if question is not None and question.kind == "order":
        state = state.but(answer=[choice.value for choice in question.choices])
    return state


def asked_now(state: CourseState) -> Question:
    """The question that is answered; `LookupError` where there is none, in an empty review."""
    question = state.question
    if question is None:
        raise LookupError("nothing is asked")
    return question


def move(state: CourseState, action: Action) -> CourseState:
    """A step of an order, one place up or down."""
    values = order_of(state, asked_now(state))
    at, to = action["index"], action["index"] + (1 if action["by"] > 0 else -1)
    if not 0 <= to < len(values):
        return state
    values[at], values[to] = values[to], values[at]
    return state.but(answer=values, replied=False)


def order_of(state: CourseState, question: Question) -> list[str]:
    """The steps as the learner has put them, or as they are shown at first."""
    values = [choice.value for choice in question.choices]
    return list(state.answer) if sorted(state.answer) == sorted(values) else values


def draft(state: CourseState, action: Action) -> CourseState:
    """An answer on the way, not yet sent. The page tells it once more after Enter sent it."""
    values = values_of(state, action)
    return state if values == state.answer else state.but(answer=values, replied=False)


def values_of(state: CourseState, action: Action) -> list[str]:
    """What was chosen or typed, checked."""
    return checked(state, "answer", [errors.readable(value) for value in action["values"]])


def reply(state: CourseState, action: Action) -> CourseState:
    """An answer: graded, and what it shows is kept. One that cannot be read costs nothing.

    Nor does the same one sent again. Of an order, the answer is as its steps stand now.
    """
    question = asked_now(state)
    in_order = question.kind == "order"
    values = order_of(state, question) if in_order else values_of(state, action)
    if state.replied and values == state.answer:
        return state
    state = state.but(answer=values, replied=True)
    if not any(value.strip() for value in values):
        return state  # the page asks for an answer
    try:
        graded = grade(question, given(question, values), "en", state.tries + 1)
    except PlaygroundError:
        return state  # the page says why beside the question
    kept = record(state, question, graded.correct, graded.mistake)
    return state.but(tries=min(state.tries + 1, 999), kept=kept)


def given(question: Question, values: list[str]) -> Any:
    return values if question.kind in ("choices", "order") else ", ".join(values)


def record(state: CourseState, question: Question, correct: bool, mistake: str | None) -> Progress:
    """Only the first answer to a question counts in a review: trying until it fits is not knowing."""
    if state.section != "review":
        return state.kept.answered(question.quiz_id, correct, mistake, state.today)
    if state.tries or state.reviewing not in state.kept.again:
        return state.kept
    return state.kept.reviewed(state.reviewing, correct, state.today)


def bring(state: CourseState, action: Action) -> CourseState:
    """A learner's progress from a file."""
    return state.but(kept=progress.from_json(action["kept"]))


def forget(state: CourseState, action: Action) -> CourseState:
    return state.but(kept=Progress())


def load(state: CourseState, action: Action) -> CourseState:
    """A state from a link, a file, or the undo list; what was learned stays."""
    return from_json(action["state"]).but(kept=state.kept, today=state.today)


ACTIONS: dict[str, Callable[[CourseState, Action], CourseState]] = {
    "go": go,
    "show": section,
    "try": try_,
    "ask_at": ask_at,
    "another": another,
    "next_review": next_review,
    "move": move,
    "draft": draft,
    "reply": reply,
    "bring": bring,
    "forget": forget,
    "load": load,
}
