"""Matrices and sums as HTML."""

from __future__ import annotations

import math

from lessons.words import Words
from playground.arithmetic import Exp, Explanation, Frac, Num, Source
from playground.explain_weights import DIGITS, Power
from playground.flow import Flow, Matrix, groups
from playground.html import Html, action, apart, esc, fine, join, number
from playground.state import State
from playground.table_cells import HUES, asked_cell, input_cell, read_cell


def token_label(state: State, index: int) -> Html:
    hue = f" t{index}" if index < HUES else ""
    return Html(f'<b class="tok{hue}">{esc(state.tokens[index])}</b>')


def name_of(m: Matrix) -> Html:
    """The symbol of a matrix, with its subscript: W_q becomes W with a small q."""
    base, _, sub = m.symbol.partition("_")
    return Html(f"{esc(base)}<sub>{esc(sub)}</sub>") if sub else esc(base)


class Hidden:
    """What may not be seen: the matrix that is asked about and all after it, later steps."""

    def __init__(self, state: State, flow: Flow, revealed: bool) -> None:
        self.ask = None if revealed else state.ask
        names = [m.name for m in flow.matrices]
        self.after = names.index(self.ask[0]) if self.ask and self.ask[0] in names else None
        self.names = names
        walked = groups(flow)[state.step + 1 :] if state.step else []
        self.later = {m.key for group in walked for m in group}

    def __contains__(self, m: Matrix) -> bool:
        return self.after is not None and self.names.index(m.name) >= self.after

    def not_yet(self, m: Matrix) -> bool:
        """Whether a matrix is hidden, or belongs to a step that has not been reached."""
        return m in self or m.key in self.later

    def asks(self, m: Matrix) -> list[int] | None:
        return self.ask[2:] if self.ask and self.ask[:2] == [m.name, m.head] else None


def matrix(
    m: Matrix,
    state: State,
    lang: str,
    *,
    selected: Source | None = None,
    sources: frozenset[Source] = frozenset(),
    hidden: Hidden | None = None,
    first_wrong: bool = False,
) -> Html:
    """One matrix as a figure: caption, shape, table."""
    veiled = hidden is not None and m in hidden
    n_rows, n_cols = m.values.shape
    shape = f"{n_rows} × {n_cols}"
    note = f" · {m.note(lang, seed=state.x_seed)}" if m.note else ""
    first_wrong = first_wrong and not veiled  # how far it is off would tell what is hidden
    badge = wrong_badge(m, lang, first_wrong)
    csv = Html(
        f'<button type="button" class="mini" data-client="csv" data-matrix-name="{m.name}" data-matrix-head="{m.head}" '
        f'title="{esc(CSV(lang))}" aria-label="{esc(CSV(lang))}: {esc(m.symbol)}">CSV</button>'
    )
    label = f"{m.symbol.replace('_', ' ')} {shape}"
    rows = [header_row(m, state, lang)] if m.cols is not None or m.headers else []
    rows += body_rows(m, state, lang, selected, sources, veiled, hidden.asks(m) if hidden else None)
    classes = "m wrong" if first_wrong else "m"
    return Html(
        f'<figure class="{classes}"><figcaption><b>{name_of(m)}</b>'
        f'<span class="sh">{shape}{esc(note)}</span>{badge}{"" if veiled else csv}</figcaption>'
        f'<div class="scroll"><table role="grid" data-matrix="{m.name}" data-head="{m.head}" '
        f'aria-label="{esc(label)}">{"".join(rows)}</table></div></figure>'
    )


CSV = Words("Download as CSV", "CSV로 내려받기")
FIRST_WRONG = Words("first difference: up to {d}", "여기서 처음 달라짐: 최대 {d}")


def wrong_badge(m: Matrix, lang: str, first_wrong: bool) -> Html:
    if not first_wrong:
        return Html("")
    return Html(f'<em class="badge">{esc(FIRST_WRONG(lang, d=apart(m.differs)))}</em>')


def header_row(m: Matrix, state: State, lang: str) -> str:
    cells = []
    if m.headers:
        cells = [
            f'<th scope="col" class="{head_hue(m, j)}">{esc(h(lang))}</th>'
            for j, h in enumerate(m.headers)
        ]
    elif m.cols is not None:
        cells = [f'<th scope="col" class="tok{hue(t)}">{esc(state.tokens[t])}</th>' for t in m.cols]
    corner = "<td></td>" if m.rows is not None else ""
    return f"<tr>{corner}{''.join(cells)}</tr>"


def head_hue(m: Matrix, j: int) -> str:
    """The hue of the head that owns column j, where columns belong to heads."""
    return f"tok{hue(j // m.heads_columns)}" if m.heads_columns else ""


def hue(index: int) -> str:
    return f" t{index}" if index < HUES else ""


def row_header(m: Matrix, state: State, i: int, lang: str) -> str:
    if m.rows is None:
        return ""
    t = m.rows[i]
    if m.name != "vectors":
        return f'<th scope="row" class="tok{hue(t)}">{esc(state.tokens[t])}</th>'
    return (
        f'<th scope="row" class="tok{hue(t)}"><input class="name" data-token="{t}" maxlength="60" '
        f'value="{esc(state.tokens[t])}" aria-label="{esc(TOKEN(lang, n=t + 1))}"></th>'
    )


TOKEN = Words("name of token {n}", "{n}번 토큰의 이름")
REMOVE = Words("remove {token}", "{token} 토큰 지우기")


def body_rows(
    m: Matrix,
    state: State,
    lang: str,
    selected: Source | None,
    sources: frozenset[Source],
    veiled: bool,
    asked: list[int] | None,
) -> list[str]:
    numbers = m.values.tolist()
    finite = [abs(v) for row in numbers for v in row if math.isfinite(v)]
    largest = max(finite, default=0.0) or 1.0
    lit = {(s[2], s[3]) for s in sources if s[:2] == m.key}
    chosen = selected[2:] if selected and selected[:2] == m.key else None
    rows = []
    for i, row in enumerate(numbers):
        cells = [row_header(m, state, i, lang)]
        for j, value in enumerate(row):
            mark = " sel" if chosen == (i, j) else " src" if (i, j) in lit else ""
            if veiled and asked == [i, j]:
                cells.append(asked_cell(i, j, state, lang))
            elif veiled:
                cells.append(f'<td data-row="{i}" data-col="{j}" class="veil">?</td>')
            elif m.editable:
                cells.append(input_cell(m, state, lang, i, j, value, mark))
            else:
                cells.append(read_cell(m, i, j, value, largest, mark))
        if m.name == "vectors" and len(state.tokens) > 1:
            label = esc(REMOVE(lang, token=state.tokens[i]))
            cells.append(
                f'<td class="rm"><button type="button" class="mini" {action("remove", index=i)} '
                f'aria-label="{label}" title="{label}">×</button></td>'
            )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return rows


def parts_html(parts: list) -> Html:
    """An explanation written out; numbers that stand in cells are underlined."""
    out = []
    for part in parts:
        if isinstance(part, Num):
            out.append(num_html(part))
        elif isinstance(part, Exp):
            shift = f" − {bracketed(part.shift)}" if part.shift else ""
            power = num_html(part.num, bare=True)  # raised, a minus needs no brackets
            out.append(f"<span>e<sup>{power}{shift}</sup></span>")
        elif isinstance(part, Frac):
            top, bottom = parts_html(part.top), parts_html(part.bottom)
            out.append(f'<span class="frac"><span>{top}</span><span>{bottom}</span></span>')
        else:
            out.append(f"<span>{esc(part)}</span>")
    return Html(" ".join(out))


def num_html(num: Num, bare: bool = False) -> str:
    if isinstance(num, Power):  # never negative; its decimals are what its quotient needs
        text = number(num.value, decimals(num.value, num.digits))
    else:
        text = figure(num.value) if bare else bracketed(num.value)
    return f'<i class="c">{text}</i>' if num.source else f"<i>{text}</i>"


def figure(value: float, digits: int = DIGITS) -> str:
    """A number as sums show it: a whole one without decimals."""
    return fine(value, decimals(value, digits))


def decimals(value: float, digits: int) -> int:
    return 0 if math.isfinite(value) and value == int(value) else digits


def bracketed(value: float, digits: int = DIGITS) -> str:
    """A number that may follow a sign: in brackets where it is negative, or has a power of ten."""
    text = figure(value, digits)
    return f"({text})" if "×" in text or (value < 0 and math.isfinite(value)) else text


def explanation_html(e: Explanation, lang: str, digits: int = DIGITS) -> Html:
    result = Html(f"<b>{fine(e.value, digits)}</b>")
    if not e.parts:
        return result
    if len(e.parts) == 1 and isinstance(e.parts[0], Num):
        return join(parts_html(e.parts), " → ", result)
    return join(parts_html(e.parts), Html(" <span>=</span> "), result, why_shifted(e.parts, lang))


def why_shifted(parts: list, lang: str) -> Html:
    """Why the exponents of a softmax are lessened, where they are."""
    shift = shift_of(parts)
    if not shift:
        return Html("")
    return Html(f'<small class="why">{esc(SHIFTED(lang, high=figure(shift)))}</small>')


def shift_of(parts: list) -> float:
    """What the exponents in a sum are lessened by; 0 where they are not."""
    for part in parts:
        if isinstance(part, Exp) and part.shift:
            return part.shift
        if isinstance(part, Frac) and (found := shift_of([*part.top, *part.bottom])):
            return found
    return 0.0


SHIFTED = Words(
    "The largest of the scores ({high}) is subtracted in every exponent: the quotient stays the same, "
    "and the powers come out at a readable size.",
    "모든 지수에서 가장 큰 점수({high})를 뺐습니다. 몫은 그대로이고, 거듭제곱이 읽기 좋은 크기가 됩니다.",
)
