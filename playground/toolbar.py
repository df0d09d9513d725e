"""What stands around the matrices of every tab: tools, the script, the legend."""

from __future__ import annotations

from lessons.words import Words
from playground.controls import button, close_button
from playground.flow import Flow, groups
from playground.render import Html, action, esc, join
from playground.state import State
from playground.tab import Tab


def toolbar(tab: Tab, state: State, flow: Flow, lang: str) -> Html:
    """Undo, redo, reset; the steps of the equation; code, link and files."""
    last = len(groups(flow)) - 1
    at = min(state.step, last)
    steps = join(
        button(
            "◀",
            action("step", to=max(at - 1, 0) if at else last),
            'data-step="previous"',
            f'aria-label="{esc(PREVIOUS(lang))}"',
            f'title="{esc(PREVIOUS(lang))}"',
        ),
        Html(
            f'<output class="at">{esc(STEP(lang, at=at, last=last) if at else ALL(lang))}</output>'
        ),
        button(
            "▶",
            action("step", to=(at + 1) if at < last else 0),
            'data-step="next"',
            f'aria-label="{esc(NEXT(lang))}"',
            f'title="{esc(NEXT(lang))}"',
        ),
    )
    line = ""
    if at:
        made = groups(flow)[at]
        lines = [m.line for m in made if m.line]
        line = f'<code class="stepline">{esc("; ".join(dict.fromkeys(lines)))}</code>'
    return Html(
        f'<div class="bar" role="toolbar" aria-label="{esc(TOOLS(lang))}">'
        f'<span class="row">{button(UNDO(lang), Html("data-client=undo"))}{button(REDO(lang), Html("data-client=redo"))}'
        f"{button(RESET(lang), action('reset'))}</span>"
        f'<span class="row steps">{steps}</span>'
        f'<span class="row">{button(CODE(lang), Html("data-client=code"), Html(f"aria-expanded={str(state.show_code).lower()}"))}'
        f"{button(SAVE(lang), Html('data-client=download'))}{button(OPEN(lang), Html('data-client=upload'))}</span>"
        f"{line}</div>"
    )


def short_toolbar(lang: str) -> Html:
    """Undo, redo, reset and files: for a tab without an equation to step through."""
    return Html(
        f'<div class="bar" role="toolbar" aria-label="{esc(TOOLS(lang))}"><span class="row">'
        f"{button(UNDO(lang), Html('data-client=undo'))}{button(REDO(lang), Html('data-client=redo'))}"
        f'{button(RESET(lang), action("reset"))}</span><span class="row">'
        f"{button(SAVE(lang), Html('data-client=download'))}{button(OPEN(lang), Html('data-client=upload'))}"
        "</span></div>"
    )


TOOLS = Words("Tools", "도구")
UNDO = Words("Undo", "실행 취소")
REDO = Words("Redo", "다시 실행")
RESET = Words("Reset", "처음으로")
PREVIOUS = Words("Previous step", "이전 단계")
NEXT = Words("Next step", "다음 단계")
STEP = Words("Step {at} of {last}", "{last}단계 중 {at}단계")
ALL = Words("All steps", "전체 보기")
CODE = Words("Copy as PyTorch", "PyTorch 코드로 복사")
SAVE = Words("Save file", "파일로 저장")
OPEN = Words("Open file", "파일 열기")


def code_box(tab: Tab, state: State, lang: str) -> Html:
    """The script, shown where it was asked for; the page copies it as well."""
    if not state.show_code:
        return Html("")
    return Html(
        f'<section class="code" aria-label="{esc(CODE(lang))}"><div class="gh"><b>{esc(CODE(lang))}</b>'
        f'<span class="row">{button(COPY(lang), Html("data-client=copy"))}'
        f"{close_button(action('set', key='show_code', value=False), lang)}</span></div>"
        f'<pre tabindex="0">{esc(tab.script(state))}</pre></section>'
    )


COPY = Words("Copy", "복사")


def legend(lang: str) -> Html:
    return Html(
        f'<div class="legend"><span><i class="barw"></i> {esc(LEGEND_W(lang))}</span>'
        f'<span><i class="bard"></i> {esc(LEGEND_D(lang))}</span>'
        f'<span><i class="hat"></i> {esc(LEGEND_M(lang))}</span>'
        f'<span><i class="ring"></i> {esc(LEGEND_O(lang))}</span>'
        f'<span><i class="ring s"></i> {esc(LEGEND_S(lang))}</span></div>'
    )


LEGEND_W = Words("weight 0 – 1", "가중치 0 – 1")
LEGEND_D = Words(
    "negative – positive (each table to its largest)", "음수 – 양수 (표마다 최댓값 기준)"
)
LEGEND_M = Words("masked", "마스크됨")
LEGEND_O = Words("opened cell", "열어 본 칸")
LEGEND_S = Words("where it comes from", "계산에 쓰인 칸")
