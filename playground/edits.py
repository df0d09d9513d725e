"""Edits: a cell, a pasted block, the tokens and their sizes.

Each function takes a state to the next one, or raises a `PlaygroundError`.
"""

from __future__ import annotations

import re
from typing import Any

from lessons.grading import TwoReadingsError
from model.errors import PlaygroundError
from playground import input_errors as errors
from playground import state as limits
from playground.reading import read_number
from playground.state import QKV, W_NAMES, State
from playground.tab import Tab

Action = dict[str, Any]


def rows_of(tab: Tab, state: State, matrix: str, head: int) -> limits.Rows:
    """The rows behind a matrix that can be edited now; `KeyError` for any other."""
    if matrix == tab.typed_matrix and state.typed:
        return dict(enumerate(state.weights or []))[head]
    if (matrix == "vectors" and state.x == "typed") or (matrix in W_NAMES and state.w == "typed"):
        return {0: getattr(state, matrix)}[head]
    if matrix in QKV and state.w == "given":
        return {0: getattr(state, matrix)}[head]
    raise KeyError(matrix)


def place(rows: limits.Rows, action: Action) -> tuple[int, int]:
    """The row and column that an action speaks of; `KeyError` where there is no such cell."""
    i, j = action["row"], action["col"]
    if i not in range(len(rows)) or j not in range(len(rows[0])):
        raise KeyError((i, j))
    return int(i), int(j)


def marked(state: State, key: str, text: str) -> State:
    """The state with a text that is no number, beside the last number; the oldest make room."""
    others = [(k, v) for k, v in state.bad.items() if k != key][1 - limits.MAX_BAD :]
    return state.but(bad=dict([*others, (key, text[:200])]))


def with_rows(state: State, matrix: str, head: int, rows: limits.Rows) -> State:
    if not matrix.startswith("weights"):
        return state.but(**{matrix: rows})
    weights = list(state.weights or [])
    weights[head] = rows
    return state.but(weights=weights)


def replaced(rows: limits.Rows, i: int, j: int, value: float) -> limits.Rows:
    return [
        [value if (r, c) == (i, j) else old for c, old in enumerate(row)]
        for r, row in enumerate(rows)
    ]


def cell(tab: Tab, state: State, action: Action) -> State:
    name, head = action["matrix"], action.get("head", 0)
    rows = rows_of(tab, state, name, head)
    i, j = place(rows, action)
    text, key = errors.readable(action["text"]), f"{name}:{head}:{i}:{j}"
    bad = {k: v for k, v in state.bad.items() if k != key}
    try:
        value = read_number(text, rows[i][j], weight=name.startswith("weights"))
    except PlaygroundError:
        return marked(state, key, text)
    return with_rows(state, name, head, replaced(rows, i, j, value)).but(bad=bad)


def paste(tab: Tab, state: State, action: Action) -> State:
    """A block from a spreadsheet, from a cell on; the vectors grow to hold it."""
    name, head = action["matrix"], action.get("head", 0)
    rows = rows_of(tab, state, name, head)
    i, j = place(rows, action)
    block = [split_row(line) for line in str(action["text"]).strip("\r\n").splitlines()]
    if not any(any(line) for line in block):
        raise errors.PasteEmptyError()
    height, breadth = len(block), max(map(len, block))
    room = (len(rows) - i, len(rows[0]) - j)
    if name == "vectors":
        room = (limits.MAX_TOKENS - i, limits.MAX_TYPED - j)
    if height > room[0] or breadth > room[1]:
        raise errors.PasteError(rows=height, cols=breadth, room_rows=room[0], room_cols=room[1])
    if name == "vectors":
        T, d = len(state.tokens), state.width
        state = resize(state, max(T, i + height), max(d, j + breadth))
    rows = rows_of(tab, state, name, head)
    for r, line in enumerate(block):
        for c, text in enumerate(line):
            try:
                value = read_number(text, 0.0, weight=name.startswith("weights"))
            except TwoReadingsError:
                raise
            except PlaygroundError as error:
                raise errors.PasteCellError(
                    row=r + 1, col=c + 1, found=errors.short(text)
                ) from error
            rows = replaced(rows, i + r, j + c, value)
    bad = {k: v for k, v in state.bad.items() if not k.startswith(f"{name}:{head}:")}
    return with_rows(state, name, head, rows).but(bad=bad)


def split_row(line: str) -> list[str]:
    """A pasted line as cells: by tabs, else semicolons, else spaces or ", ", else commas.

    A lone comma between digits is a decimal comma; two of them, or a point beside
    one, can only separate ("0.1,0.2", "1,2,3").
    """
    line = line.strip("\r\n")
    for separator in ("\t", ";"):
        if separator in line:
            return [part.strip() for part in line.split(separator)]
    if " " not in line.strip() and (line.count(",") > 1 or ("," in line and "." in line)):
        return line.strip().split(",")
    return [part for part in re.split(r",\s+|\s+", line.strip()) if part] or [""]


# Tokens and sizes


def token(tab: Tab, state: State, action: Action) -> State:
    i, text = action["index"], errors.readable(action["text"]).strip()
    kept = dict(enumerate(state.tokens))[i]
    if not text:
        raise errors.NameEmptyError(kept=kept)
    if len(text) > limits.MAX_NAME:
        raise errors.NameLongError(most=limits.MAX_NAME, found=len(text), kept=kept)
    return state.but(tokens=[text if n == i else old for n, old in enumerate(state.tokens)])


def add(tab: Tab, state: State, action: Action) -> State:
    return resize(state, len(state.tokens) + 1, None)


def remove(tab: Tab, state: State, action: Action) -> State:
    gone = action["index"]
    T = len(state.tokens)
    if T == 1:
        raise errors.TooFewError(least=1, found=0)
    if not 0 <= gone < T:
        raise IndexError(gone)
    stay = [n for n in range(T) if n != gone]
    weights = state.weights
    if weights:
        picked = [[w[r] for r in stay] if len(w) == T else w for w in weights]
        weights = [[[row[c] for c in stay] for row in w] for w in picked]
    given = {name: getattr(state, name) for name in QKV}
    return state.but(
        **{name: [rows[n] for n in stay] for name, rows in given.items() if rows},
        tokens=[state.tokens[n] for n in stay],
        vectors=[state.vectors[n] for n in stay] if len(state.vectors) == T else state.vectors,
        weights=weights,
        query=min(state.query - (state.query > gone), T - 2),
        open=None,
        pins=[],
        ask=None,
        bad={},
    )


def width(tab: Tab, state: State, action: Action) -> State:
    return resize(state, len(state.tokens), state.width + int(action["by"]))


def resize(state: State, T: int, d: int | None) -> State:
    """T tokens of d numbers each (d None: as they are); new places hold 0."""
    old = len(state.tokens)
    if T > limits.MAX_TOKENS:
        raise errors.TooManyError(most=limits.MAX_TOKENS, found=T)
    tokens = state.tokens + [f"t{n + 1}" for n in range(old, T)]
    changes: dict[str, Any] = {"tokens": tokens, "bad": {}}
    if state.w == "given":
        d = state.width if d is None else d
        limit(d, limits.MAX_WIDTH)
        changes["vectors"] = padded(state.vectors, T, len(state.vectors[0]))
    elif state.x == "seeded":
        d = state.width if d is None else d
        limit(d, limits.MAX_TYPED if state.w == "typed" else limits.MAX_WIDTH)
        changes["x_width"] = d
        changes["vectors"] = padded(state.vectors, T, len(state.vectors[0]))
    else:
        d = state.width if d is None else d
        limit(d, limits.MAX_TYPED)
        changes["vectors"] = padded(state.vectors, T, d)
    if state.w == "typed":
        for name in W_NAMES[:3]:
            w = getattr(state, name)
            changes[name] = padded(w, d, len(w[0]))
    for name in QKV:
        rows = getattr(state, name)
        if rows:
            wide = d if state.w == "given" and name != "v" else len(rows[0])
            changes[name] = padded(rows, T, wide)
    if state.weights:
        changes["weights"] = [padded(w, T if len(w) == old else len(w), T) for w in state.weights]
    return state.but(**changes)


def limit(found: int, most: int) -> None:
    if found > most:
        raise errors.TooManyError(most=most, found=found)
    if found < 1:
        raise errors.TooFewError(least=1, found=found)


def padded(rows: limits.Rows, height: int, breadth: int) -> limits.Rows:
    """Cut or filled with zeros to height × breadth."""
    kept = [(row + [0.0] * breadth)[:breadth] for row in rows[:height]]
    return kept + [[0.0] * breadth for _ in range(height - len(kept))]
