"""Time and memory from 64 to 4,096 tokens, measured when a person asks for it.

The figures are part of the state: a press measures, nothing else does.
"""

from __future__ import annotations

import dataclasses

import torch

from lessons.words import Words, same
from model.measuring import LENGTHS, ROUTES, WINDOW, Measurement, measure, upcoming
from playground.arithmetic import Explanation, cell, divide, over, total
from playground.cost.parts import MIB, TO_MIB, TOKENS, names_of, product, thousands
from playground.cost.state import CostState
from playground.flow import Flow, Matrix
from playground.turns import work

N_HEAD, HEAD_SIZE = 1, 64  # as in GPT-2, one head of it
BYTES = 4  # of a number in float32
LABELS = {
    "traced": Words("step by step", "한 단계씩"),
    "fused": Words("fused (SDPA)", "융합(SDPA)"),
    "window": Words("window", "창"),
    "linear": Words("linear", "선형"),
}
LINES = {
    "traced": "attend(q, k, v)",
    "fused": "attend_fast(q, k, v)",
    "window": f"attend_window(q, k, v, {WINDOW}, causal=False)",
    "linear": "attend_linear(q, k, v)",
}


# Measuring


def routes(state: CostState) -> tuple[str, ...]:
    return tuple(ROUTES) if state.others else ("traced", "fused")


def measurements(state: CostState) -> list[Measurement]:
    return [Measurement(*one) for one in state.measured]


def upcoming_in(state: CostState) -> tuple[int, str] | None:
    return upcoming(measurements(state), routes(state), state.cap)


def more(state: CostState) -> CostState:
    """The next turn: one length by one route after another, for as long as a turn lasts."""
    if upcoming_in(state) is None:  # all was measured when it was started: measured anew
        state = state.but(measured=[])
    now = [state]

    def step() -> bool:
        following = upcoming_in(now[0])
        if following is None:
            return False
        T, route = following
        found = list(dataclasses.astuple(measure(T, N_HEAD, HEAD_SIZE, route)))
        now[0] = now[0].but(measured=[*now[0].measured, found])
        return upcoming_in(now[0]) is not None

    place = work(state.ticket, step)
    return now[0].but(place=place, running=upcoming_in(now[0]) is not None)


# The figures as tables


def by_length(state: CostState) -> dict[int, dict[str, Measurement]]:
    """Measurements by length and route; only lengths that every chosen route has done."""
    found: dict[int, dict[str, Measurement]] = {T: {} for T in LENGTHS}
    for m in measurements(state):
        found[m.T][m.route] = m
    return {T: of for T, of in found.items() if all(route in of for route in routes(state))}


FIGURES = {  # name -> what it is of a measurement, and its symbol
    "time": ("time_ms", lambda m: m.seconds * 1000),
    "kept": ("kept_MiB", lambda m: m.kept / MIB),
    "peak": ("peak_MiB", lambda m: m.peak / MIB),
}


MEASURED = Words("measured", "측정")
GROWTH_OF = {  # three tables are called growth: each says of what
    "time": Words("of the time", "시간의 비"),
    "kept": Words("of what is kept", "kept의 비"),
    "peak": Words("of the peak", "peak의 비"),
}


def flow(state: CostState, lang: str) -> Flow:
    """Time, bytes kept and bytes at most for each length, each with its growth beside it."""
    found, chosen = by_length(state), routes(state)
    names, rows = names_of([TOKENS(lang, n=thousands(T)) for T in found])
    headers = [LABELS[route] for route in chosen]
    made: list[Matrix] = []
    for name, (symbol, pick) in FIGURES.items() if found else ():
        values = torch.tensor([[pick(of[r]) for r in chosen] for of in found.values()]).double()
        made.append(
            Matrix(
                name,
                symbol,
                values,
                rows=rows,
                headers=headers,
                column_lines=tuple(LINES[route] for route in chosen),
                op=MEASURED,
                new_row=True,
                digits=3,
                why=counted(list(found), chosen) if name == "kept" else None,
            )
        )
        if len(rows) > 1:
            made.append(
                Matrix(
                    f"{name}_growth",
                    "growth",
                    values[1:] / values[:-1],
                    rows=rows[1:],
                    headers=headers,
                    op=same("2T ÷ T"),
                    note=GROWTH_OF[name],
                    line=f"{name}[1:] / {name}[:-1]",
                    why=growth(name),
                )
            )
    return Flow(made, {"names": names})


def growth(name: str):
    """The number of a length over that of half the length, which is the row before."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        before, here = cell(flow.get(name), i, j), cell(flow.get(name), i + 1, j)
        return over([here], [before], divide(here.value, before.value))

    return why


def counted(lengths: list[int], chosen: tuple[str, ...]):
    """The bytes that were found to be kept, from the sizes of the tensors. Where the two do not
    agree, the glass box shows no sum."""

    def why(flow: Flow, m: Matrix, i: int, j: int) -> Explanation:
        terms, numbers = [], 0
        for sizes in tensors(chosen[j], lengths[i]):
            parts, value = product(*sizes)
            terms.append(parts)
            numbers += value
        return Explanation(["(", *total(terms), ")", f"× {BYTES} {TO_MIB}"], numbers * BYTES / MIB)

    return why


def tensors(route: str, T: int) -> list[tuple[int, ...]]:
    """What a route keeps, as (how many, rows, columns) of numbers."""
    if route == "traced":  # q, k, v, output; scores, scaled, weights
        return [(4, T, HEAD_SIZE), (3, T, T)]
    if route == "linear":  # q, k, v, φ(q), φ(k), output; Σ φ(k) vᵀ; Σ φ(k); a total for each query
        return [(6, T, HEAD_SIZE), (HEAD_SIZE, HEAD_SIZE), (HEAD_SIZE,), (T,)]
    return [(4, T, HEAD_SIZE)]  # q, k, v, output
