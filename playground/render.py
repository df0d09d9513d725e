"""Numbers and matrices as HTML.

Everything a person typed goes through `esc`; the result is marked as `Html`,
and only `Html` is ever joined into a page.
"""

from __future__ import annotations

import json
import math
from html import escape
from typing import Any

from model.errors import PlaygroundError
from playground.arithmetic import Exp, Explanation, Frac, Num, Source
from playground.flow import Flow, Matrix, groups
from playground.reading import read_number, typed
from playground.state import State
from playground.words import Words

HUES = 8  # tokens and heads have eight hues, then labels alone


class Html(str):
    """Text that is already HTML."""

    __slots__ = ()


def esc(text: object) -> Html:
    """Text made safe for HTML and for attributes; `Html` stays as it is."""
    return text if isinstance(text, Html) else Html(escape(str(text), quote=True))


def join(*parts: str) -> Html:
    return Html("".join(esc(part) for part in parts))


def action(do: str, **fields: Any) -> Html:
    """The attribute by which a button asks the server for something."""
    return Html(f'data-do="{escape(json.dumps({"do": do, **fields}))}"')


def number(value: float, digits: int = 2) -> str:
    """A number as the tables show it: two decimals, a true minus, −∞ and NaN written.

    >>> number(-0.2), number(0.0), number(float("-inf")), number(-0.0001), number(123456.0)
    ('−0.20', '0', '−∞', '−0.00', '1.235e+05')

    What is not 0 but too small to be anything but rounding is written "≈0".
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    if abs(value) < 1e-12:
        return "≈0"
    text = f"{value:.3e}" if abs(value) >= 1e5 else f"{value:.{digits}f}"
    return text.replace("-", "−")


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


def apart(d: float) -> str:
    """A distance between numbers: "NaN" where one of them is, "∞" beside ±∞."""
    if not math.isfinite(d):
        return number(d)
    return f"{d:.4f}" if d >= 5e-5 else f"{d:.1e}".replace("-", "−")


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


def read_cell(m: Matrix, i: int, j: int, value: float, largest: float, mark: str) -> str:
    """A number that the model computed: a button to its glass box, coloured by its size."""
    own = f" h{(j // m.heads_columns) % HUES}" if m.heads_columns else ""
    focus = "0" if (i, j) == (0, 0) or " sel" in mark else "-1"
    place = f'data-row="{i}" data-col="{j}" tabindex="{focus}"'
    if value == -math.inf or (m.causal and value == 0 and j > i):
        return f'<td {place} class="masked{mark}{own}">{number(value)}</td>'
    if not math.isfinite(value):
        return f'<td {place} class="nan{mark}{own}">{number(value)}</td>'
    if m.kind == "weight":
        p = min(abs(value), 1.0) * 88
        deep = p > 72  # there black and white read equally well, on either paper
        kind = "neg" if value < 0 else "w deep" if deep else "w"
        p = min(p, 62) if value < 0 else p
    else:
        p = abs(value) / largest * 62
        kind = "in" if m.kind == "input" else "neg" if value < 0 else "pos"
    return (
        f'<td {place} class="{kind}{mark}{own}" style="--p:{p:.0f}%">{number(value, m.digits)}</td>'
    )


def input_cell(m: Matrix, state: State, lang: str, i: int, j: int, value: float, mark: str) -> str:
    """A number that a person types; what cannot be read stays visible with its message."""
    key = f"{m.name}:{m.head}:{i}:{j}"
    wrong = state.bad.get(key)
    shown = wrong if wrong is not None else typed(value)
    extra, message = "", ""
    if wrong is not None:
        text = why_bad(m, wrong, value, lang)
        ident = f"bad-{m.name}-{m.head}-{i}-{j}"
        extra = f' aria-invalid="true" aria-describedby="{ident}"'
        message = f'<span class="msg" role="alert" id="{ident}">{esc(text)}</span>' if text else ""
    label = f"{m.symbol.replace('_', ' ')} [{i + 1}, {j + 1}]"
    bad = " bad" if message else ""
    return (
        f'<td data-row="{i}" data-col="{j}" class="edit{mark}{bad}">'
        f'<input value="{esc(shown)}" title="{value!r}" aria-label="{esc(label)}"{extra} autocomplete="off">{message}</td>'
    )


def why_bad(m: Matrix, text: str, value: float, lang: str) -> str:
    """The message beside a cell; none while a number is only half typed."""
    if text.strip() in ("-", "−", "+", ".", ",", "-.", "−."):
        return ""
    try:
        read_number(text, value, weight=m.name.startswith("weights"))
    except PlaygroundError as error:
        return error.text(lang)
    return ""


def asked_cell(i: int, j: int, state: State, lang: str) -> str:
    label = esc(YOUR_ANSWER(lang))
    return (
        f'<td data-row="{i}" data-col="{j}" class="pred"><input data-answer '
        f'value="{esc(state.answer)}" aria-label="{label}" placeholder="?" autocomplete="off"></td>'
    )


YOUR_ANSWER = Words("your prediction", "예측한 값")


def parts_html(parts: list, own: Source | None = None) -> str:
    """An explanation written out; numbers that stand in cells are underlined."""
    out = []
    for part in parts:
        if isinstance(part, Num):
            out.append(num_html(part))
        elif isinstance(part, Exp):
            shift = f" − {number(part.shift, 4)}" if part.shift else ""
            out.append(f"<span>e<sup>{num_html(part.num)}{shift}</sup></span>")
        elif isinstance(part, Frac):
            top, bottom = parts_html(part.top), parts_html(part.bottom)
            out.append(f'<span class="frac"><span>{top}</span><span>{bottom}</span></span>')
        else:
            out.append(f"<span>{esc(part)}</span>")
    return " ".join(out)


def num_html(num: Num) -> str:
    text = number(num.value, 4) if num.value != int_or_nan(num.value) else number(num.value, 0)
    text = f"({text})" if num.value < 0 and math.isfinite(num.value) else text
    return f'<i class="c">{text}</i>' if num.source else f"<i>{text}</i>"


def int_or_nan(value: float) -> float:
    return float(int(value)) if math.isfinite(value) else math.nan


def explanation_html(e: Explanation, digits: int = 4) -> Html:
    result = f"<b>{number(e.value, digits)}</b>"
    if not e.parts:
        return Html(result)
    if e.parts[-1:] and len(e.parts) == 1 and isinstance(e.parts[0], Num):
        return Html(f"{parts_html(e.parts)} → {result}")
    return Html(f"{parts_html(e.parts)} <span>=</span> {result}")
