"""The panel of a tab where vectors are typed: `Tab` with its actions, view and matrices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from playground import actions, view
from playground.quiz import revealed
from playground.render import Hidden, Html
from playground.state import State
from playground.tab import Tab, remembered


class VectorPanel:
    """See `Panel`."""

    def __init__(self, tab: Tab) -> None:
        self.tab = replace(tab, flow=remembered(tab.flow))
        self.name, self.order, self.title = tab.name, tab.order, tab.title

    @property
    def default(self) -> State:
        return self.tab.default

    def usable(self, found: Any) -> State:
        return actions.usable(self.tab, found)

    def apply(self, state: State, action: Any) -> State:
        return actions.apply(self.tab, state, action)

    def view(self, state: State, lang: str, notice: str = "") -> Html:
        return view.view(self.tab, state, lang, notice)

    def code(self, state: State) -> str | None:
        asked = state.show_code and revealed(self.tab, state)
        return self.tab.script(state) if asked else None

    def csv(self, state: State, lang: str, matrix: str, head: int) -> list[list[Any]]:
        flow = self.tab.flow(state)
        m = flow.get(matrix, head)
        if m is None or m in Hidden(state, flow, revealed(self.tab, state)):
            return []
        rows: list[list[Any]] = []
        if m.headers or m.cols is not None:
            titles = [h(lang) for h in m.headers or []] or [state.tokens[t] for t in m.cols or []]
            rows.append(["", *titles])
        for i, row in enumerate(m.values.tolist()):
            label = [state.tokens[m.rows[i]]] if m.rows is not None else []
            rows.append([*label, *row])
        return rows
