"""A form's tab as HTML: a pure function of its state and the language."""

from __future__ import annotations

from typing import Any

from lessons.words import Words
from playground.controls import button, group, radios
from playground.flow import Flow
from playground.form.form import Form, Group
from playground.form.state import FormState
from playground.glass import glass_boxes
from playground.render import Hidden, Html, action, esc
from playground.state import State
from playground.toolbar import (
    LEGEND_D,
    LEGEND_M,
    LEGEND_O,
    LEGEND_S,
    LEGEND_W,
    short_toolbar,
)
from playground.view import EXAMPLES, TRY, equation, told

MARKS = {
    "weight": ("barw", "", LEGEND_W),
    "signed": ("bard", "", LEGEND_D),
    "masked": ("hat", "", LEGEND_M),
    "opened": ("ring", "", LEGEND_O),
    "sources": ("ring s", "", LEGEND_S),
}


def view(form: Form, state: Any, lang: str, notice: str = "") -> Html:
    """The whole tab. Raises a `PlaygroundError` where the state cannot be computed."""
    flow = form.flow(state, lang)
    shown = shown_state(flow, state)
    hidden = Hidden(shown, flow, revealed=True)
    matrices = key = ""
    if flow.matrices:
        key = legend(form, lang)
        matrices = f"{equation(flow, shown, lang, hidden)}{glass_boxes(flow, shown, lang, hidden)}"
    return Html(
        f'<div class="pg form" data-tab="{form.name}"><aside class="lesson">{lesson(form, state, lang)}</aside>'
        f'<section class="panel">{short_toolbar(lang)}{told(notice)}{sections(form, state, lang)}'
        f"{controls(form, form.groups_above, state, lang)}{form.top(state, lang)}{matrices}"
        f"{form.bottom(state, lang)}{controls(form, form.groups, state, lang)}{key}</section></div>"
    )


def shown_state(flow: Flow, state: FormState) -> State:
    """What the drawing of matrices wants to know: labels, and what is opened or wrongly typed."""
    names = flow.facts.get("names") or getattr(state, "tokens", None) or [""]
    return State(tokens=list(names), open=state.open, pins=state.pins, bad=state.bad)


def section_of(form: Form, state: FormState) -> str:
    return state.section or next(iter(form.sections), "")


def lesson(form: Form, state: FormState, lang: str) -> Html:
    """What the tab is about, its examples, and the one thing to try."""
    chosen = chosen_example(form, state)
    chips = "".join(
        f'<button type="button" class="chip" aria-pressed="{str(e.name == state.preset).lower()}" '
        f"{action('preset', name=e.name)}>{esc(e.title(lang))}</button>"
        for e in form.examples
    )
    return Html(
        f'<h2>{esc(form.heading(lang))}</h2><p>{form.intro(lang)}</p><div class="formula">{form.formula}</div>'
        f'<div class="presets" role="group" aria-label="{esc(EXAMPLES(lang))}">'
        f'<span class="kick">{esc(EXAMPLES(lang))}</span>{chips}</div>'
        f'<div class="try"><b>{esc(TRY(lang))}</b> {esc(chosen.try_this(lang))}</div>'
    )


def chosen_example(form: Form, state: FormState):
    """The state's own example while it shows the same section, else one that does."""
    section = section_of(form, state)
    own = [e for e in form.examples if e.name == state.preset]
    here = [e for e in form.examples if section_of(form, e.state) == section]
    return next((e for e in own if e in here), (here or own or list(form.examples))[0])


def sections(form: Form, state: FormState, lang: str) -> Html:
    if not form.sections:
        return Html("")
    names = [(name, words(lang)) for name, words in form.sections.items()]
    return Html(
        f'<fieldset class="sections"><legend>{esc(LOOK_AT(lang))}</legend>'
        f"{radios('section', form.name, names, section_of(form, state))}</fieldset>"
    )


LOOK_AT = Words("Look at", "무엇을 볼까요")


def controls(form: Form, groups: tuple[Group, ...], state: Any, lang: str) -> Html:
    shown = [
        group(
            g.legend(lang),
            *(
                form.fields[key].control(form.name, state, lang, key)
                for key in g.keys
                if form.fields[key].label is not None
            ),
            *(token_buttons(form, state, lang) if "vectors" in g.keys else ()),
        )
        for g in groups
        if g.when(state)
    ]
    return Html(f'<div class="controls">{"".join(shown)}</div>' if shown else "")


def legend(form: Form, lang: str) -> Html:
    if not form.legend:
        return Html("")
    marks = "".join(
        f'<span><i class="{mark}"{style}></i> {esc(words(lang))}</span>'
        for mark, style, words in form.legend
    )
    return Html(f'<div class="legend">{marks}</div>')


# Long work


def running(state: FormState, lang: str, label: str, *, pace: str = "") -> Html:
    """A button that starts or stops; while it runs, the page asks for more. `pace`: how far it is."""
    told = PLACE(lang, n=state.place) if state.place else pace
    note = f'<span class="kick" role="status">{esc(told)}</span>' if told else ""
    if not state.running:
        start = button(label, action("start"), "data-ticket", classes="pri")
        return Html(f'<span class="row">{start}{note}</span>')
    wait = f' data-wait="{WAIT}"' if state.place else ""
    more = f"<span data-more hidden{wait} {action('more')}></span>"
    return Html(
        f'<span class="row">{button(STOP(lang), action("stop"), classes="pri")}{note}{more}</span>'
    )


WAIT = 700  # milliseconds between two questions of one who waits in the queue
STOP = Words("Pause", "멈추기")
PLACE = Words(
    "Others are computing: number {n} in the queue. It goes on by itself.",
    "다른 사람들이 계산하고 있습니다. 대기 순서 {n}번이며, 차례가 되면 저절로 이어집니다.",
)


def token_buttons(form: Form, state: Any, lang: str) -> tuple[Html, ...]:
    """Another token, another dimension: for a form whose person types vectors."""
    most = form.fields["vectors"]
    T, d = len(state.vectors), len(state.vectors[0])
    return (
        button(Words("+ token", "+ 토큰")(lang), action("add"), disabled=most.most_rows <= T),
        button(Words("− dimension", "− 차원")(lang), action("width", by=-1), disabled=d == 1),
        button(
            Words("+ dimension", "+ 차원")(lang),
            action("width", by=1),
            disabled=most.most_cols <= d,
        ),
    )
