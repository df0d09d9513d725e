"""The section of positions: the table of sines and cosines, and what the encoder reads with it."""

from __future__ import annotations

import math

from lessons.words import Words, same
from model.embeddings import dots, position_table
from model.plus_two import LENGTH, N_EMBD
from playground.arithmetic import Explanation, Num, cell, products, row_of
from playground.embeddings.positions import WAVE_LINE, distances, pictures, sentence, wave
from playground.embeddings.state import EmbeddingsState
from playground.encoder_decoder.look import look
from playground.encoder_decoder.state import EncoderDecoderState
from playground.flow import Flow, Matrix
from playground.html import Html


def table_state(state: EncoderDecoderState) -> EmbeddingsState:
    """The same table as the tab of positions shows it, as wide as this model."""
    return EmbeddingsState(width=N_EMBD, first=state.first, second=state.second)


def flow(state: EncoderDecoderState, lang: str) -> Flow:
    """The table of the five places, their dot products, and the encoder's first vectors."""
    found, places = look(state), list(range(LENGTH))
    table = position_table(LENGTH, N_EMBD)
    columns = [same(str(c)) for c in range(N_EMBD)]
    matrices = [
        Matrix("table", "P", table, rows=places, headers=columns, why=waved, line=WAVE_LINE),
        Matrix(
            "dots",
            "P Pᵀ",
            dots(table),
            rows=places,
            cols=places,
            op=same("P Pᵀ"),
            why=compared,
            line="dots = table @ table.mT",
        ),
        Matrix(
            "embedded",
            "x",
            found.by["right"].trace.encoder[0].resid_pre[0],
            rows=places,
            headers=columns,
            op=Words("+ your numbers", "+ 직접 쓴 수"),
            note=Words("what the encoder reads", "인코더가 읽는 것"),
            new_row=True,
            why=embedded,
            line="x = embed(src / scale) * C**0.5 + positions",
        ),
    ]
    return Flow(matrices, {"look": found, "names": [str(p) for p in places]})


def waved(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    """sin or cos, as in the tab of positions."""
    there = EmbeddingsState(width=N_EMBD, first=i)
    return wave(Flow([], {"state": there}), m, 0, j)


def compared(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    table = flow.get("table")
    return products(row_of(table, i), row_of(table, j))


def embedded(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
    """(n / scale × w + b) × √C + P. Source: Vaswani et al. 2017, sections 3.4 and 3.5."""
    found, place = flow.facts["look"], cell(flow.get("table"), i, j)
    n = float(found.src[0, i])
    w, b = float(found.model.embed.weight[j, 0]), float(found.model.embed.bias[j])
    scaled = [Num(n)] if found.scale == 1 else [Num(n), "÷", Num(found.scale)]
    parts = ["(", *scaled, "×", Num(w), "+", Num(b), ") × √", Num(N_EMBD), "+", place]
    return Explanation(parts, (n / found.scale * w + b) * math.sqrt(N_EMBD) + place.value)


def top(state: EncoderDecoderState, lang: str) -> Html:
    there = table_state(state)
    return Html(f"{sentence(there, lang)}{distances(there, lang)}{pictures(there, lang)}")
