"""The component that shows a tab: state in, HTML out, one request per edit.

The browser holds the state and sends it with the actions of a person; the
answer is the next state and its HTML. Nothing is kept on the server, so any
number of people share one process, and a link is just a state.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import gradio as gr

from model.errors import PlaygroundError
from playground.actions import apply, usable
from playground.quiz import revealed
from playground.render import Hidden
from playground.state import State
from playground.tab import Tab, tabs
from playground.view import view
from playground.words import LANGUAGES

STATIC = Path(__file__).parent / "static"
MOST_ACTIONS = 200  # in one request; a person makes a few between two answers


def act(request: dict[str, Any]) -> dict[str, Any]:
    """{tab, lang, state, actions} -> {html, state, code?, notice?}; wrong input is a notice."""
    request = request if isinstance(request, dict) else {}
    tab, lang = known(request)
    notice = ""
    try:
        state = usable(tab, request["state"]) if request.get("state") else tab.default
    except PlaygroundError as error:
        state, notice = tab.default, error.text(lang)
    actions = request.get("actions")
    for action in actions[:MOST_ACTIONS] if isinstance(actions, list) else []:
        try:
            state = apply(tab, state, action)
        except PlaygroundError as error:
            notice = error.text(lang)
    return answer(tab, state, lang, notice)


def answer(tab: Tab, state: State, lang: str, notice: str = "") -> dict[str, Any]:
    try:
        html = view(tab, state, lang, notice)
    except PlaygroundError as error:
        state, notice = tab.default, error.text(lang)
        html = view(tab, state, lang, notice)
    made = {"html": html, "state": state.to_json(), "notice": notice}
    if state.show_code and revealed(tab, state):
        made["code"] = tab.script(state)
    return made


def known(request: dict[str, Any]) -> tuple[Tab, str]:
    """The tab and language asked for; the first ones where they are unknown."""
    request = request if isinstance(request, dict) else {}
    found = tabs()
    tab = found.get(str(request.get("tab")), next(iter(found.values())))
    lang = request.get("lang")
    return tab, lang if lang in LANGUAGES else "en"


def table(request: dict[str, Any]) -> str:
    """{tab, lang, state, matrix, head} -> that matrix as CSV, numbers unrounded."""
    tab, lang = known(request)
    try:
        state = usable(tab, request["state"])
        flow = tab.flow(state)
        m = flow.get(request["matrix"], int(request.get("head") or 0))
        m = None if m in Hidden(state, flow, revealed(tab, state)) else m
    except (LookupError, TypeError, ValueError, OverflowError):  # no button of the page asks so
        return ""
    if m is None:
        return ""
    out = io.StringIO()
    write = csv.writer(out)
    names = [safe(t) for t in state.tokens]
    if m.headers or m.cols is not None:
        titles = [h(lang) for h in m.headers or []] or [names[t] for t in m.cols or []]
        write.writerow(["", *titles])
    for i, row in enumerate(m.values.tolist()):
        label = [names[m.rows[i]]] if m.rows is not None else []
        write.writerow(label + [repr(v) for v in row])
    return out.getvalue()


def safe(name: str) -> str:
    """A token as a spreadsheet cell: never a formula."""
    return f"'{name}" if name.lstrip()[:1] in tuple("=+-@") or name[:1].isspace() else name


class Stage(gr.HTML):
    """A tab in one language. `value` is {html, state}; edits go through `act`."""

    def __init__(self, tab: Tab, lang: str, filled: bool) -> None:
        value = answer(tab, tab.default, lang) if filled else {"html": "", "state": None}
        super().__init__(
            value=value,
            html_template="${value.html}",
            js_on_load=f"window.Playground.stage(element, props, server, {tab.name!r}, {lang!r})",
            server_functions=[act, table],
            apply_default_css=False,
            elem_id=f"stage-{tab.name}",
            elem_classes="stage",
        )

    def api_info(self) -> dict[str, Any]:
        return {"type": "object"}

    def example_payload(self) -> Any:
        return {}

    def example_value(self) -> Any:
        return {}

    def preprocess(self, payload: Any) -> Any:
        return payload

    def postprocess(self, value: Any) -> Any:
        return value
