"""The glass box on the page: the opened number, the pinned ones, the cells they came from."""

from __future__ import annotations

from lessons.words import Words
from playground.arithmetic import Source
from playground.controls import button, close_button
from playground.explain import explain
from playground.explain_weights import DIGITS
from playground.flow import Flow, Matrix
from playground.html import fine
from playground.render import (
    Hidden,
    Html,
    action,
    esc,
    explanation_html,
    join,
    name_of,
    token_label,
)
from playground.state import State


def valid(flow: Flow, cell: list | None, hidden: Hidden) -> Matrix | None:
    """The matrix of a cell that exists, is computed, and is not hidden."""
    m = flow.get(cell[0], cell[1]) if cell else None
    if m is None or hidden.not_yet(m) or m.editable or m.kind == "input":
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
    made, digits = explain(flow, m, i, j), max(DIGITS, m.digits)
    row = token_label(state, m.rows[i]) if m.rows is not None else str(i)
    col = token_label(state, m.cols[j]) if m.cols is not None else str(j)
    head = f" ({esc(m.note(lang))})" if m.of_head and m.note else ""
    if pinned is None:
        tools = button(PIN(lang), action("pin")) + close_button(action("open", cell=cell), lang)
    else:
        tools = close_button(action("unpin", index=pinned), lang)
    right = ""
    if m.right is not None and not same_number(float(m.right[i, j]), made.value):
        right = f'<p class="instead">{esc(INSTEAD(lang, value=fine(float(m.right[i, j]))))}</p>'
    return Html(
        f'<div class="glass" role="region" aria-live="polite" aria-label="{esc(WHENCE(lang))}">'
        f'<div class="gh"><b>{name_of(m)}{head}[{row}, {col}] = {fine(made.value, digits)}</b>'
        f'<span class="row">{tools}</span></div>'
        f'<div class="sum">{explanation_html(made, lang, digits)}</div>{right}'
        f"<code>{esc(m.column_lines[j] if m.column_lines else m.line)}</code></div>"
    )


def same_number(a: float, b: float) -> bool:
    return a == b or (a != a and b != b) or abs(a - b) < 1e-12


OPEN_ME = Words(
    "Choose any computed number (click, or arrow keys and Enter) to see the sum that made it.",
    "계산된 숫자를 고르면(클릭, 또는 방향키와 Enter) 그 값이 나온 계산을 보여 줍니다.",
)
WHENCE = Words("Where this number comes from", "이 숫자가 나온 계산")
PIN = Words("Pin", "고정")
INSTEAD = Words("Without the mistake: {value}", "실수가 없을 때: {value}")
