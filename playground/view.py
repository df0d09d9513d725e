"""One tab as HTML: a pure function of its state and the language."""

from __future__ import annotations

from lessons.grading import Verdict, diagnose, parse_number
from lessons.mistakes import mistake_words
from model.errors import PlaygroundError
from model.mistakes import MISTAKES
from playground.controls import button, controls
from playground.explain import Source, explain
from playground.flow import Flow, Matrix
from playground.render import (
    Hidden,
    Html,
    action,
    apart,
    esc,
    explanation_html,
    join,
    matrix,
    name_of,
    number,
    token_label,
)
from playground.state import State
from playground.tab import Tab
from playground.words import Words


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
        f'<p class="sentence">{tab.sentence(flow, state, lang) if revealed else esc(THINK(lang))}</p>'
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


# Predict, then reveal


def judge(tab: Tab, state: State, flow: Flow) -> Verdict | None:
    """What the typed prediction amounts to; None while there is none to judge."""
    if state.ask is None or not state.answer.strip():
        return None
    name, head, i, j = state.ask
    m = flow.get(name, head)
    assert m is not None, "settled: only a cell that exists is asked"
    right = float(m.values[i, j])
    try:
        answer = parse_number(state.answer)
    except PlaygroundError:
        return None
    wrong = {}
    for mistake in tab.mistakes:
        if mistake == state.mistake:
            continue
        try:
            other = tab.flow(state.but(mistake=mistake, typed=False)).get(name, head)
        except PlaygroundError:
            continue  # this mistake cannot be made with these sizes
        if other is not None and other.values.shape == m.values.shape:
            wrong[mistake] = float(other.values[i, j])
    return diagnose(answer, right, wrong)


def predict(tab: Tab, state: State, flow: Flow, verdict: Verdict | None, lang: str) -> Html:
    """The box that hides a matrix and asks for one of its cells; always skippable."""
    if state.ask is None:
        buttons = "".join(
            button(
                ASK(lang, name=plain_name(flow, name)),
                action("ask", matrix=name, seed=0),
                'data-seed="1"',
            )
            for name in tab.ask
            if flow.get(name, state.head) or flow.get(name)
        )
        return Html(
            f'<section class="quiz"><span class="kick">{esc(PREDICT(lang))}</span>'
            f'<div class="row">{buttons}</div></section>'
        )
    name, head, i, j = state.ask
    m = flow.get(name, head)
    question = ASKED(lang, name=m.symbol, cell=cell_words(m, state, i, j))
    right = verdict is not None and verdict.correct
    again = button(
        AGAIN(lang),
        action("ask", matrix=name, seed=0),
        'data-seed="1"',
        classes="pri" if right else "",
    )
    skip = button(DONE(lang) if right else SKIP(lang), action("reveal"))
    send = "" if right else button(CHECK(lang), 'data-client="answer"', classes="pri")
    return Html(
        f'<section class="quiz"><span class="kick">{esc(PREDICT(lang))}</span>'
        f"<p>{esc(question)}</p>"
        f'<div class="row"><input class="field" data-answer value="{esc(state.answer)}" '
        f'aria-label="{esc(question)}" autocomplete="off">{send}{again}{skip}</div>'
        f"{feedback(state, m, verdict, lang)}</section>"
    )


def plain_name(flow: Flow, name: str) -> str:
    return next((m.symbol for m in flow.matrices if m.name == name), name)


def cell_words(m: Matrix, state: State, i: int, j: int) -> str:
    row = state.tokens[m.rows[i]] if m.rows is not None else str(i + 1)
    col = state.tokens[m.cols[j]] if m.cols is not None else str(j + 1)
    return f"{row}, {col}"


def feedback(state: State, m: Matrix, verdict: Verdict | None, lang: str) -> Html:
    if not state.answer.strip():
        return Html("")
    if verdict is None:
        try:
            parse_number(state.answer)
        except PlaygroundError as error:
            return Html(f'<div class="fb" role="status">{esc(error.text(lang))}</div>')
        return Html("")
    i, j = state.ask[2:]
    if verdict.correct:
        text = RIGHT(lang, value=number(float(m.values[i, j]), 4))
        return Html(f'<div class="fb ok" role="status"><b>{esc(text)}</b></div>')
    if verdict.mistake:
        words = mistake_words()[verdict.mistake]
        head = THAT_IS(lang, answer=state.answer, name=words.name[lang])
        return Html(
            f'<div class="fb" role="status"><b>{esc(head)}</b> {esc(words.text[lang])}</div>'
        )
    return Html(f'<div class="fb" role="status">{esc(NOT_YET(lang, answer=state.answer))}</div>')


PREDICT = Words("Predict first", "먼저 예측해 보기")
ASK = Words("Hide {name} and ask me", "{name} 가리고 묻기")
ASKED = Words("What is {name}[{cell}]?", "{name}[{cell}] 값은 얼마입니까?")
CHECK = Words("Check", "확인")
AGAIN = Words("Another cell", "다른 칸")
SKIP = Words("Show it", "바로 보기")
DONE = Words("Done", "마치기")
RIGHT = Words("Right: {value}.", "맞습니다. {value}입니다.")
THAT_IS = Words("{answer} is what you get with “{name}”.", "{answer} 값은 ‘{name}’일 때 나옵니다.")
NOT_YET = Words(
    "{answer} is not it, and none of the known slips gives it. Work it out from the matrices still in view, or show it.",
    "{answer} 값은 아닙니다. 알려진 실수에서 나오는 값도 아닙니다. 보이는 행렬로 다시 계산하거나 바로 확인해 보십시오.",
)


# The equation


def groups(flow: Flow) -> list[list[Matrix]]:
    """Matrices by operation: one with an `op` opens a group, those after it join."""
    out: list[list[Matrix]] = []
    for m in flow.matrices:
        if not m.shown:
            continue
        if m.op is not None or not out:
            out.append([m])
        else:
            out[-1].append(m)
    return out


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


def valid(flow: Flow, cell: list | None, hidden: Hidden) -> Matrix | None:
    """The matrix of a cell that exists, is computed, and is not hidden."""
    m = flow.get(cell[0], cell[1]) if cell else None
    if m is None or m in hidden or m.editable or m.kind == "input":
        return None
    inside = cell[2] < m.values.size(0) and cell[3] < m.values.size(1)
    return m if inside else None


def lit_cells(flow: Flow, state: State, hidden: Hidden) -> tuple[Source | None, frozenset[Source]]:
    """The opened cell (the last pinned one if none is open) and the cells it came from."""
    cell = state.open or (state.pins[-1] if state.pins else None)
    m = valid(flow, cell, hidden)
    if m is None or cell is None:
        return None, frozenset()
    return tuple(cell), frozenset(explain(flow, m, cell[2], cell[3]).sources)


# The glass box


def glass_boxes(flow: Flow, state: State, lang: str, hidden: Hidden) -> Html:
    boxes = [glass(flow, state, lang, hidden, p, n) for n, p in enumerate(state.pins)]
    boxes.append(glass(flow, state, lang, hidden, state.open, None))
    found = join(*boxes)
    if not found:
        return Html(f'<div class="glass empty"><p>{esc(OPEN_ME(lang))}</p></div>')
    return Html(f'<div class="boxes">{found}</div>')


def glass(
    flow: Flow, state: State, lang: str, hidden: Hidden, cell: list | None, pinned: int | None
) -> Html:
    """One opened number: the sum that made it, and the line of PyTorch."""
    m = valid(flow, cell, hidden)
    if m is None or cell is None:
        return Html("")
    i, j = cell[2:]
    made = explain(flow, m, i, j)
    row = token_label(state, m.rows[i]) if m.rows is not None else str(i + 1)
    col = token_label(state, m.cols[j]) if m.cols is not None else str(j + 1)
    if pinned is None:
        tools = button(PIN(lang), action("pin")) + close_button(action("open", cell=cell), lang)
    else:
        tools = close_button(action("unpin", index=pinned), lang)
    right = ""
    if m.right is not None and not same_number(float(m.right[i, j]), made.value):
        right = (
            f'<p class="instead">{esc(INSTEAD(lang, value=number(float(m.right[i, j]), 4)))}</p>'
        )
    return Html(
        f'<div class="glass" role="region" aria-live="polite" aria-label="{esc(WHENCE(lang))}">'
        f'<div class="gh"><b>{name_of(m)}[{row}, {col}] = {number(made.value, 4)}</b>'
        f'<span class="row">{tools}</span></div>'
        f'<div class="sum">{explanation_html(made)}</div>{right}'
        f"<code>{esc(m.line)}</code></div>"
    )


def same_number(a: float, b: float) -> bool:
    return a == b or (a != a and b != b) or abs(a - b) < 1e-12


def close_button(attribute: str, lang: str) -> Html:
    return Html(
        f'<button type="button" {attribute} aria-label="{esc(CLOSE(lang))}" title="{esc(CLOSE(lang))}">×</button>'
    )


OPEN_ME = Words(
    "Choose any computed number (click, or arrow keys and Enter) to see the sum that made it.",
    "계산된 숫자를 고르면(클릭, 또는 방향키와 Enter) 그 값이 나온 계산을 보여 줍니다.",
)
WHENCE = Words("Where this number comes from", "이 숫자가 나온 계산")
PIN = Words("Pin", "고정")
CLOSE = Words("Close", "닫기")
INSTEAD = Words("Without the mistake: {value}", "실수가 없을 때: {value}")


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
    text = BROKEN(
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
