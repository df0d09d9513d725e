"""What the first block reads: a token's row of wte plus a position's row of wpe."""

from __future__ import annotations

import torch

from lessons.words import Words, same
from model.embeddings import lengths
from model.steps import embed
from playground.arithmetic import Explanation, Num, cell
from playground.embeddings.state import SHOWN, EmbeddingsState
from playground.embeddings.sums import Vector, length, numbered
from playground.embeddings.words import Reading, name_of, read, wpe, wte
from playground.flow import Flow, Matrix
from playground.html import Html, esc, number


def rows_of(state: EmbeddingsState) -> torch.Tensor:
    """The token's row, the position's row and their sum: `(3, C)` in float64."""
    token = wte(state.model)[read(state).ids[0]].double()
    position = wpe(state.model)[state.position].double()
    return torch.stack([token, position, embed(token, position)])


def flow(state: EmbeddingsState, lang: str) -> Flow:
    word = read(state)
    rows = rows_of(state)
    shown = rows[:, state.column : state.column + SHOWN]
    headers = numbered(state.column, shown.size(1))
    token, position, both = (
        Matrix(name, symbol, shown[i : i + 1], rows=[i], headers=headers, digits=4, **more)
        for i, (name, symbol, more) in enumerate(
            [
                ("token", "wte", stored("wte", word.ids[0], state)),
                ("place", "wpe", stored("wpe", state.position, state) | {"op": same("+")}),
                ("sum", "x", {"op": same("="), "why": added, "line": SUM_LINE}),
            ]
        )
    )
    vectors = [
        Vector(row, m.name, 0, state.column)
        for row, m in zip(rows, (token, position, both), strict=True)
    ]
    long = Matrix(
        "lengths",
        "| |",
        lengths(rows)[:, None],
        rows=[0, 1, 2],
        headers=[Words("length", "길이")],
        op=Words("length", "길이"),
        why=lambda flow, m, i, j: length(vectors[i], lang),
        digits=4,
        line="x.norm()",
        new_row=True,
    )
    name = name_of(state.model, word.ids[0])
    names = [name, POSITION(lang, n=state.position), f"{name} + {state.position}"]
    return Flow([token, position, both, long], {"names": names})


POSITION = Words("position {n}", "위치 {n}")
SUM_LINE = "x = wte(idx) + wpe(positions)"


def stored(table: str, row: int, state: EmbeddingsState) -> dict:
    """A learned number, by its place in its table."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        place = [f"{table}[", Num(row), ",", Num(state.column + j), "]"]
        return Explanation(place, float(m.values[i, j]))

    return {"why": why, "line": f"{table}.weight[{row}]"}


def added(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    token, position = cell(flow.get("token"), 0, j), cell(flow.get("place"), 0, j)
    return Explanation([token, "+", position], token.value + position.value)


def top(state: EmbeddingsState, lang: str) -> Html:
    word = read(state)
    token, position, _ = lengths(rows_of(state)).tolist()
    said = READS(
        lang,
        token=f"<b>{esc(name_of(state.model, word.ids[0]))}</b>",
        id=word.ids[0],
        n=state.position,
        long=number(token),
        far=number(position),
    )
    return Html(f'<p class="sentence">{said}</p>{several(word, state, lang)}')


def several(word: Reading, state: EmbeddingsState, lang: str) -> Html:
    """A word of several tokens takes several positions: the first is shown."""
    if len(word.ids) == 1:
        return Html("")
    pieces = " + ".join(esc(p) for p in word.pieces)
    return Html(f'<p class="told">{FIRST(lang, n=len(word.ids), pieces=pieces)}</p>')


READS = Words(
    "Token {token} (row {id} of wte, {long} long) at position {n} (row {n} of wpe, {far} long): the first block reads their sum.",
    "{token} 토큰(wte의 {id}번 행, 길이 {long})이 위치 {n}(wpe의 {n}번 행, 길이 {far})에 있을 때, 첫 블록은 두 행의 합을 읽습니다.",
)
FIRST = Words(
    "The word is {n} tokens ({pieces}), each at a position of its own; the first is shown here.",
    "이 단어는 토큰 {n}개({pieces})이고 저마다 다른 위치에 놓입니다. 여기서는 첫 토큰을 보입니다.",
)
