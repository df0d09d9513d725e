"""One tab as HTML: a pure function of its state and the language."""

from __future__ import annotations

import math

from lessons.words import Words
from model.mistakes import MISTAKES
from playground.controls import controls
from playground.flow import Flow, Matrix, groups
from playground.glass import glass_boxes, lit_cells
from playground.quiz import judge, predict
from playground.render import (
    Hidden,
    Html,
    action,
    apart,
    esc,
    matrix,
    name_of,
)
from playground.state import State
from playground.tab import Tab
from playground.toolbar import code_box, legend, toolbar


def view(tab: Tab, state: State, lang: str, notice: str = "") -> Html:
    """The whole tab. Raises a `PlaygroundError` where the state cannot be computed."""
    flow = tab.flow(state)
    verdict = judge(tab, state, flow)
    revealed = state.ask is None or (verdict is not None and verdict.correct)
    hidden = Hidden(state, flow, revealed)
    return Html(
        f'<div class="pg" data-tab="{tab.name}"><aside class="lesson">{lesson(tab, state, lang)}'
        f"{predict(tab, state, flow, verdict, lang)}</aside>"
        f'<section class="panel">{toolbar(tab, state, flow, lang)}{told(notice)}'
        f'<p class="sentence">{spoken(tab, flow, state, lang) if revealed else esc(THINK(lang))}</p>'
        f"{tab.extra(flow, state, lang) if tab.extra and revealed else ''}"
        f"{equation(flow, state, lang, hidden)}"
        f"{glass_boxes(flow, state, lang, hidden)}"
        f"{breakage(flow, state, lang) if revealed else ''}{controls(tab, state, lang)}"
        f"{code_box(tab, state, lang) if revealed else ''}"
        f"{legend(lang)}</section></div>"
    )


THINK = Words(
    "Think first: which number belongs in the open cell?",
    "먼저 생각해 보십시오. 빈칸에 들어갈 값은 얼마입니까?",
)


def spoken(tab: Tab, flow: Flow, state: State, lang: str) -> Html:
    """The worked sentence; on the way through the steps, the step that has been reached."""
    steps = groups(flow)
    if not 0 < state.step < len(steps) - 1:
        return tab.sentence(flow, state, lang)
    made = steps[state.step]
    symbols = Html(", ".join(f"<b>{name_of(m)}</b>" for m in made))
    return Html(AT_STEP(lang, at=state.step, op=esc(made[0].op(lang)), names=symbols))


AT_STEP = Words("Step {at}: {op} gives {names}.", "{at}단계: {op} → {names}")


def told(notice: str) -> Html:
    return Html(f'<p class="notice" role="alert">{esc(notice)}</p>') if notice else Html("")


def lesson(tab: Tab, state: State, lang: str) -> Html:
    """What the tab is about, its presets, and the one thing to try."""
    chips = "".join(
        f'<button type="button" class="chip" aria-pressed="{str(p.name == state.preset).lower()}" '
        f"{action('preset', name=p.name)}>{esc(p.title(lang))}</button>"
        for p in tab.presets
    )
    chosen = next((p for p in tab.presets if p.name == state.preset), tab.presets[0])
    return Html(
        f"<h2>{esc(tab.title(lang))}</h2><p>{tab.intro(lang)}</p>"
        f'<div class="formula">{tab.formula}</div>'
        f'<div class="presets" role="group" aria-label="{esc(EXAMPLES(lang))}">'
        f'<span class="kick">{esc(EXAMPLES(lang))}</span>{chips}</div>'
        f'<div class="try"><b>{esc(TRY(lang))}</b> {esc(chosen.try_this(lang))}</div>'
    )


EXAMPLES = Words("Examples", "예제")
TRY = Words("Try this", "해 보기")


# The equation


def equation(flow: Flow, state: State, lang: str, hidden: Hidden) -> Html:
    """The matrices in the order they are computed, the operation between them."""
    selected, lit = lit_cells(flow, state, hidden)
    first = flow.first_wrong
    steps = groups(flow)
    lines: list[list[str]] = [[]]
    for n, group in enumerate(steps):
        if group[0].new_row and lines[-1]:
            lines.append([])
        later = " later" if state.step and n > state.step else ""
        now = " now" if state.step and n == state.step else ""
        figures = "".join(
            matrix(
                m,
                state,
                lang,
                selected=selected,
                sources=lit,
                hidden=hidden,
                first_wrong=first is not None and m.key == first.key,
            )
            for m in group
        )
        lines[-1].append(
            f'<div class="op-group{later}{now}{" above" if group[0].above else ""}">{operation(group[0], lang)}'
            f'<div class="stack">{figures}</div></div>'
        )
    return Html("".join(f'<div class="eq">{"".join(line)}</div>' for line in lines))


def operation(m: Matrix, lang: str) -> Html:
    if m.op is None:
        return Html("")
    note = f"<small>{esc(m.op_note(lang))}</small>" if m.op_note else ""
    return Html(f'<div class="op"><span>{esc(m.op(lang))}</span>{note}</div>')


# What a mistake does, and the tools


def breakage(flow: Flow, state: State, lang: str) -> Html:
    """How far a mistake spreads: the first step that differs, and the end."""
    if not state.mistake:
        return Html("")
    first = flow.first_wrong
    if first is None:
        needs = MISTAKES[state.mistake].needs
        mask = state.causal or flow.facts.get("always_masked", False)
        off = not {"mask": mask, "keep": state.dropout, "": True}[needs]
        text = NEEDS[needs](lang) if off else NO_DIFFERENCE(lang)
        return Html(f'<p class="breakage" role="status">{esc(text)}</p>')
    end = next(m for m in reversed(flow.matrices) if m.right is not None)
    words = BROKEN if math.isfinite(end.differs) else BROKEN_TO_NAN
    text = words(
        lang,
        first=first.symbol,
        by=apart(first.differs),
        end=end.symbol,
        far=apart(end.differs),
    )
    return Html(f'<p class="breakage" role="status">{esc(text)}</p>')


NO_DIFFERENCE = Words(
    "With these numbers the mistake changes nothing. Change a switch and look again.",
    "지금 숫자로는 이 실수를 해도 달라지는 것이 없습니다. 스위치를 바꿔 다시 보십시오.",
)
NEEDS = {
    "mask": Words(
        "There is no mask to get wrong: switch the causal mask on first.",
        "틀릴 마스크가 없습니다. 먼저 코잘 마스크를 켜십시오.",
    ),
    "keep": Words(
        "There is no dropout to get wrong: raise its rate first.",
        "틀릴 드롭아웃이 없습니다. 먼저 비율을 올리십시오.",
    ),
}
BROKEN = Words(
    "The numbers first differ at {first} (up to {by}); at {end} they end up {far} apart.",
    "{first} 단계에서 처음 달라지고(최대 {by}), {end}에서는 최대 {far}만큼 벌어집니다.",
)
BROKEN_TO_NAN = Words(
    "The numbers first differ at {first} (largest difference {by}); at {end} the difference is {far}.",
    "{first} 단계에서 처음 달라집니다(최대 차이 {by}). {end}에서는 최대 차이가 {far}입니다.",
)
