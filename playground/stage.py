"""The component that shows a tab: state in, HTML out, one request per edit.

The browser holds the state and sends it with the actions of a person; the
answer is the next state and its HTML. Nothing is kept on the server, so any
number of people share one process, and a link is just a state.
"""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path
from typing import Any

import gradio as gr

from lessons.words import LANGUAGES
from model.errors import PlaygroundError
from playground.panel import Panel, panels

STATIC = Path(__file__).parent / "static"
MOST_ACTIONS = 200  # in one request; a person makes a few between two answers
WORKING = ("start", "more", "once", "write")  # actions that compute for a while
SECONDS = 0.3  # in one request, after which no more of them is begun: the page asks again
REPLACING = (
    "bring",
    "forget",
)  # what takes the place of what is kept, also where that is unreadable


def act(request: dict[str, Any]) -> dict[str, Any]:
    """{tab, lang, state, actions, kept?} -> {html, state, notice, code?, text?, kept?}.

    Wrong input is a notice. `kept` is what the browser alone keeps of a learner; it is not
    in the answer where it could not be read, so that the browser's stays as it is.
    """
    request = request if isinstance(request, dict) else {}
    panel, lang = known(request)
    notice, unread = "", False
    try:
        state = panel.usable(request["state"]) if request.get("state") else panel.default
    except PlaygroundError as error:
        state, notice = panel.default, error.text(lang)
    if hasattr(panel, "with_kept"):
        try:
            state = panel.with_kept(state, request.get("kept"))
        except PlaygroundError as error:
            notice, unread = error.text(lang), True
    actions, worked, end = request.get("actions"), False, time.monotonic() + SECONDS
    for action in actions[:MOST_ACTIONS] if isinstance(actions, list) else []:
        working = isinstance(action, dict) and action.get("do") in WORKING
        if working and worked and time.monotonic() >= end:
            continue
        worked = worked or working
        try:
            state = panel.apply(state, action)
            unread = unread and not (isinstance(action, dict) and action.get("do") in REPLACING)
        except PlaygroundError as error:
            notice = error.text(lang)
    made = answer(panel, state, lang, notice)
    return {name: value for name, value in made.items() if not (unread and name == "kept")}


def answer(panel: Panel, state: Any, lang: str, notice: str = "") -> dict[str, Any]:
    try:
        html = panel.view(state, lang, notice)
    except PlaygroundError as error:
        state, notice = panel.default, error.text(lang)
        html = panel.view(state, lang, notice)
    made = {"html": html, "state": state.to_json(), "notice": notice}
    if hasattr(panel, "text"):
        made |= {"text": panel.text(state, lang), "kept": panel.kept(state)}
    code = panel.code(state)
    return made if code is None else made | {"code": code}


def known(request: dict[str, Any]) -> tuple[Panel, str]:
    """The tab and language asked for; the first ones where they are unknown."""
    request = request if isinstance(request, dict) else {}
    found = panels()
    panel = found.get(str(request.get("tab")), next(iter(found.values())))
    lang = request.get("lang")
    return panel, lang if lang in LANGUAGES else "en"


def table(request: dict[str, Any]) -> str:
    """{tab, lang, state, matrix, head} -> that matrix as CSV, numbers unrounded."""
    panel, lang = known(request)
    try:
        state = panel.usable(request["state"])
        rows = panel.csv(state, lang, str(request["matrix"]), int(request.get("head") or 0))
    except (LookupError, TypeError, ValueError, OverflowError):  # no button of the page asks so
        return ""
    out = io.StringIO()
    write = csv.writer(out)
    for row in rows:
        write.writerow([repr(v) if isinstance(v, float) else safe(str(v)) for v in row])
    return out.getvalue()


def safe(name: str) -> str:
    """A token as a spreadsheet cell: never a formula."""
    return f"'{name}" if name.lstrip()[:1] in tuple("=+-@") or name[:1].isspace() else name


class Stage(gr.HTML):
    """A tab in one language. `value` is {html, state}; edits go through `act`."""

    def __init__(self, panel: Panel, lang: str, filled: bool) -> None:
        value = answer(panel, panel.default, lang) if filled else {"html": "", "state": None}
        super().__init__(
            value=value,
            html_template="${value.html}",
            js_on_load=f"window.Playground.stage(element, props, server, {panel.name!r}, {lang!r}, trigger)",
            server_functions=[act, table],
            apply_default_css=False,
            elem_id=f"stage-{panel.name}",
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
