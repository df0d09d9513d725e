"""The lessons tab for the stage: see `playground.panel.Panel`."""

from __future__ import annotations

from typing import Any

from lessons import progress
from lessons.words import Words
from playground.course import actions, view
from playground.course.state import CourseState, from_json
from playground.render import Html


class CoursePanel:
    name = "lessons"
    order = 12
    title = Words("Lessons", "수업")

    @property
    def default(self) -> CourseState:
        return CourseState()

    def usable(self, found: Any) -> CourseState:
        return from_json(found)

    def apply(self, state: CourseState, action: Any) -> CourseState:
        return actions.apply(state, action)

    def view(self, state: CourseState, lang: str, notice: str = "") -> Html:
        return view.view(state, lang, notice)

    def code(self, state: CourseState) -> str | None:
        return state.beside.code(state.shown)

    def csv(self, state: CourseState, lang: str, matrix: str, head: int) -> list[list[Any]]:
        return state.beside.csv(state.shown, lang, matrix, head)

    def text(self, state: CourseState, lang: str) -> str:
        """What the page shows beside the panel, in Markdown."""
        return view.text(state, lang)

    def with_kept(self, state: CourseState, kept: Any) -> CourseState:
        """The state with what the browser keeps of a learner. Raises a `ProgressError`."""
        kept = kept if isinstance(kept, dict) else {}
        if "today" in kept:
            state = state.but(today=progress.day(kept["today"]))
        return (
            state.but(kept=progress.from_json(kept["progress"])) if kept.get("progress") else state
        )

    def kept(self, state: CourseState) -> dict[str, Any]:
        return state.kept.to_json()
