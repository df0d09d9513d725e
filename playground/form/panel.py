"""The panel of a form: see `playground.panel.Panel`."""

from __future__ import annotations

from typing import Any

from playground.form import actions, view
from playground.form.form import Form
from playground.render import Html


class FormPanel:
    def __init__(self, form: Form) -> None:
        self.form = form
        self.name, self.order, self.title = form.name, form.order, form.title

    @property
    def default(self) -> Any:
        return self.form.default

    def usable(self, found: Any) -> Any:
        return actions.usable(self.form, found)

    def apply(self, state: Any, action: Any) -> Any:
        return actions.apply(self.form, state, action)

    def view(self, state: Any, lang: str, notice: str = "") -> Html:
        return view.view(self.form, state, lang, notice)

    def code(self, state: Any) -> str | None:
        return None

    def csv(self, state: Any, lang: str, matrix: str, head: int) -> list[list[Any]]:
        flow = self.form.flow(state, lang)
        m = flow.get(matrix, head)
        if m is None:
            return []
        names = view.shown_state(flow, state).tokens
        titles = [h(lang) for h in m.headers or []] or [names[t] for t in m.cols or []]
        rows = [[names[t]] for t in m.rows] if m.rows is not None else [[] for _ in m.values]
        found = [[*label, *row] for label, row in zip(rows, m.values.tolist(), strict=True)]
        corner = [""] if m.rows is not None else []
        return [[*corner, *titles], *found] if titles else found
