"""What a tab of this kind says about itself; the rest of the package makes a page of it.

    TAB = FormPanel(Form(name=…, state=MyState, fields={…}, flow=flow, top=top, …))

in a file of `playground/tabs/`. All functions are pure. `lang` is "en" or "ko".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lessons.words import Words
from playground.flow import Flow
from playground.form.fields import Field
from playground.form.state import FormState
from playground.html import Html

Action = dict[str, Any]  # {"do": name, …}, as a button or a cell of the page sends it


@dataclass(frozen=True)
class Example:
    """A state worth seeing, with one thing to try in it and what to look for."""

    name: str
    title: Words
    try_this: Words
    state: FormState


@dataclass(frozen=True)
class Group:
    """Settings that belong together, under one legend."""

    legend: Words
    keys: tuple[str, ...]  # of fields with a label
    when: Callable[[Any], bool] = lambda state: True  # e.g. only in one section


def nothing(state: Any, lang: str) -> Html:
    return Html("")


@dataclass(frozen=True)
class Form:
    name: str
    order: int
    title: Words  # on the tab
    heading: Words
    intro: Words  # may hold <b>; nothing typed
    formula: Html
    examples: tuple[Example, ...]  # the first is what a visitor finds
    state: type[FormState]
    fields: dict[str, Field]  # every setting that `state` adds to `FormState`
    flow: Callable[[Any, str], Flow]
    """The matrices below the top, in order, each opening in the glass box (`Matrix.why` writes
    its sum). `facts["names"]` are the labels that `Matrix.rows` and `cols` index; without it
    they index `state.tokens`."""
    top: Callable[[Any, str], Html] = nothing  # above the matrices: sentence, charts, buttons
    bottom: Callable[[Any, str], Html] = nothing  # below the glass box
    groups: tuple[Group, ...] = ()
    groups_above: tuple[Group, ...] = ()  # settings that are chosen before anything is looked at
    sections: dict[str, Words] = field(default_factory=dict)  # parts of the tab, one seen at a time
    actions: dict[str, Callable[[Any, Action], Any]] = field(default_factory=dict)  # own buttons
    changed: Callable[[Any, Any, tuple[str, ...]], Any] = lambda before, after, keys: after
    """(before, after, what changed) -> the state with what must follow, say a run begun anew."""
    settle: Callable[[Any], Any] = lambda state: state
    """Fields that must agree, mended where that is kind, else a `PlaygroundError`. Runs on
    every state, also on one from a link: quickly, and without beginning long work."""
    more: Callable[[Any], Any] | None = None
    """The next turn of long work while `state.running` (see `turns.work`, which gives `place`)."""
    legend: tuple[tuple[str, str, Words], ...] = ()
    """(class of the mark, its style, words): see `view.MARKS` for the usual ones."""

    @property
    def default(self) -> Any:
        return self.example(self.examples[0].name)

    def example(self, name: str) -> Any:
        found = next(e for e in self.examples if e.name == name)
        return found.state.but(preset=name)
