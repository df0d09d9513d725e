"""What a person has set in a form's tab: small, checked, and the whole of it.

A tab's own state is a frozen dataclass that inherits from `FormState` and adds its
settings, each with a default. The same state always gives the same screen, but for
long work that has to be done anew first.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True)
class FormState:
    section: str = ""  # which part of the tab is looked at; "" : its first
    open: list | None = None  # [matrix, head, row, column]
    pins: list[list] = field(default_factory=list)
    preset: str = ""
    bad: dict[str, str] = field(default_factory=dict)  # what was typed and cannot be used
    running: bool = False  # the page asks for more until this is False
    place: int = 0  # in the queue of those who work; 0: at work
    ticket: str = ""  # by which the queue knows a run on a page

    def but(self, **changes: Any) -> Self:
        return dataclasses.replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """Only what differs from a fresh state, so that links stay short."""
        fresh = type(self)()
        found = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {name: value for name, value in found.items() if value != getattr(fresh, name)}
