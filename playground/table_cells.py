"""The cells of a table: a number to read, a number to type, a number to predict."""

from __future__ import annotations

import math

from lessons.words import Words
from model.errors import PlaygroundError
from playground.flow import Matrix
from playground.html import esc, number
from playground.reading import read_number, typed
from playground.state import State

FITS = 6  # characters that a field of the usual width holds
LONGEST = 12  # characters of the longest number that `typed` writes: -999999.1234
HUES = 8  # tokens and heads have eight hues, then labels alone


def read_cell(m: Matrix, i: int, j: int, value: float, largest: float, mark: str) -> str:
    """A number that the model computed: a button to its glass box, coloured by its size."""
    own = f" h{(j // m.heads_columns) % HUES}" if m.heads_columns else ""
    focus = "0" if (i, j) == (0, 0) or " sel" in mark else "-1"
    place = f'data-row="{i}" data-col="{j}" tabindex="{focus}"'
    future = m.causal and j > i
    if value == -math.inf or (value == 0 and (future or (m.hidden is not None and m.hidden[i, j]))):
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
    room = f' style="--chars:{min(len(shown), LONGEST)}"' if len(shown) > FITS else ""
    return (
        f'<td data-row="{i}" data-col="{j}" class="edit{mark}{bad}">'
        f'<input value="{esc(shown)}" title="{value!r}" aria-label="{esc(label)}"{extra}{room} autocomplete="off">{message}</td>'
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
