"""What the page needs of a tab, whatever is in it: states in, HTML out.

A tab of typed vectors is a `Tab` (tab.py) shown by `VectorPanel`; a tab of another
kind brings a panel of its own. Either way it is one file in `playground/tabs/`
that defines `TAB`.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any, Protocol

from lessons.words import Words
from playground.render import Html


class Panel(Protocol):
    """All pure. A state has `to_json()`; what is refused raises a `PlaygroundError`."""

    name: str
    order: int
    title: Words

    @property
    def default(self) -> Any:
        """The state a visitor finds."""

    def usable(self, found: Any) -> Any:
        """A state from outside (a link, a file, the browser), checked."""

    def apply(self, state: Any, action: Any) -> Any:
        """The state after what a person did."""

    def view(self, state: Any, lang: str, notice: str = "") -> Html:
        """The tab as HTML."""

    def code(self, state: Any) -> str | None:
        """The script that the state asks to be copied, if it does."""

    def csv(self, state: Any, lang: str, matrix: str, head: int) -> list[list[Any]]:
        """A matrix as the rows of a CSV file, numbers unrounded; no rows where there is none."""


@cache
def panels() -> dict[str, Panel]:
    """Every tab in `playground/tabs/`, in order."""
    from playground.tab import Tab
    from playground.vector_panel import VectorPanel

    package = importlib.import_module("playground.tabs")
    found = [
        importlib.import_module(f"playground.tabs.{m.name}").TAB
        for m in pkgutil.iter_modules(package.__path__)
    ]
    made = [VectorPanel(tab) if isinstance(tab, Tab) else tab for tab in found]
    return {panel.name: panel for panel in sorted(made, key=lambda panel: panel.order)}
