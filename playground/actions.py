"""What a person can do: each action takes a state to the next one, or is refused.

All are pure. A refusal is a `PlaygroundError` whose sentence the page shows;
the state stays as it was. What is typed into a cell and is no number is kept
as text in `state.bad`, beside the last number, which stays in use.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable
from typing import Any

from lessons.grading import TwoReadingsError, parse_number
from model.errors import PlaygroundError
from playground import input_errors as errors
from playground import state as limits
from playground.flow import Flow, Matrix, w_of, x_of
from playground.render import typed as as_typed
from playground.state import State, check_field, check_shapes, from_json
from playground.tab import Tab

W_NAMES = ("w_query", "w_key", "w_value", "w_out")
Action = dict[str, Any]


def apply(tab: Tab, state: State, action: Action) -> State:
    """The state after an action. Raises a `PlaygroundError` when it is refused."""
    do = action.get("do") if isinstance(action, dict) else None
    if not isinstance(do, str) or do not in ACTIONS:
        raise errors.ActionError(found=errors.short(action))
    try:
        after = ACTIONS[do](tab, state, action)
    except PlaygroundError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError) as error:  # no button asks so
        raise errors.ActionError(found=errors.short(json.dumps(action, default=str))) from error
    check_shapes(after)
    return settle(tab, after)


def settle(tab: Tab, state: State) -> State:
    """What must follow from a change: a head count that divides, weights and cells that exist.

    Raises a `PlaygroundError` where the state cannot be computed.
    """
    C, n_head = state.channels, state.n_head
    while C % n_head:
        n_head -= 1
    T = len(state.tokens)
    state = state.but(
        n_head=n_head, head=min(state.head, n_head - 1), query=min(state.query, T - 1)
    )
    state = fit_weights(tab, state)
    flow = tab.flow(state)
    return state.but(
        open=state.open if exists(flow, state.open) else None,
        pins=[cell for cell in state.pins if exists(flow, cell)],
        ask=state.ask if askable(tab, flow, state.ask) else None,
    )


def exists(flow: Flow, cell: limits.Cell | None) -> bool:
    """Whether a cell lies in one of the flow's matrices."""
    m = flow.get(cell[0], cell[1]) if cell else None
    return m is not None and cell[2] < m.values.size(0) and cell[3] < m.values.size(1)


def askable(tab: Tab, flow: Flow, cell: limits.Cell | None) -> bool:
    """Whether a cell can be predicted: of a matrix the tab asks about, and a finite number."""
    if cell is None or cell[0] not in tab.ask or not exists(flow, cell):
        return False
    return math.isfinite(flow.get(cell[0], cell[1]).values[cell[2], cell[3]])


def usable(tab: Tab, found: Any) -> State:
    """A state from outside (a link, a file, the browser) as this tab can show it.

    Raises a `PlaygroundError` that says why where it cannot.
    """
    state = from_json(found)
    if state.mistake and state.mistake not in tab.mistakes:
        wanted = errors.short(" | ".join(tab.mistakes), 80)
        raise errors.LinkError(where="mistake", found=state.mistake, wanted=wanted)
    return settle(tab, set_mistake(tab, state, state.mistake))


# Cells


def read_number(text: str, kept: float, weight: bool = False) -> float:
    """The number typed into a cell; a sentence of its own for each way to be wrong."""
    if not text.strip():
        raise errors.EmptyCellError(kept=as_typed(kept))
    try:
        value = parse_number(text)
    except TwoReadingsError:
        raise
    except PlaygroundError as error:
        raise errors.CellError(found=errors.short(text), kept=as_typed(kept)) from error
    if abs(value) > limits.LARGEST:
        big = f"{limits.LARGEST:,.0f}"
        raise errors.RangeError(
            found=errors.short(text), low=f"−{big}", high=big, kept=as_typed(kept)
        )
    if weight and value < 0:
        raise errors.SmallestWeightError(found=errors.short(text), kept=as_typed(kept))
    return value


def rows_of(tab: Tab, state: State, matrix: str, head: int) -> limits.Rows:
    """The rows behind a matrix that can be edited now; `KeyError` for any other."""
    if matrix == tab.typed_matrix and state.typed:
        return dict(enumerate(state.weights or []))[head]
    if (matrix == "vectors" and state.x == "typed") or (matrix in W_NAMES and state.w == "typed"):
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
            except PlaygroundError as error:
                raise errors.PasteCellError(
                    row=r + 1, col=c + 1, found=errors.short(text)
                ) from error
            rows = replaced(rows, i + r, j + c, value)
    bad = {k: v for k, v in state.bad.items() if not k.startswith(f"{name}:{head}:")}
    return with_rows(state, name, head, rows).but(bad=bad)


def split_row(line: str) -> list[str]:
    """A pasted line as cells: by tabs, else semicolons, else spaces or ", "."""
    for separator in ("\t", ";"):
        if separator in line:
            return [part.strip() for part in line.split(separator)]
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
    return state.but(
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
    if state.x == "seeded":
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


# Switches


def set_(tab: Tab, state: State, action: Action) -> State:
    key, value = action["key"], action["value"]
    special = {"x": set_x, "w": set_w, "typed": set_typed, "mistake": set_mistake}
    if key in special:
        return special[key](tab, state, value)
    if key not in limits.RANGES and key not in SWITCHES:
        raise KeyError(key)
    bad = {k: v for k, v in state.bad.items() if k != f"set:{key}"}
    if key in limits.RANGES or key == "dropout":
        low, high = limits.RANGES.get(key, (0, limits.MAX_DROPOUT))
        high = len(state.tokens) - 1 if key == "query" else high
        kept = getattr(state, key)
        try:
            number = parse_number(str(value))
            whole = key == "dropout" or number == int(number)
            if not whole or not low <= number <= high:
                raise errors.RangeError(found=value, low=low, high=high, kept=kept)
        except PlaygroundError:
            if key not in FIELDS:
                raise
            return marked(state, f"set:{key}", errors.readable(value))
        value = number if key == "dropout" else int(number)
    if key == "n_head" and state.channels % value:
        raise errors.RangeError(found=value, low=1, high=state.channels, kept=state.n_head)
    if key == "x_width" and state.x == "seeded":
        return resize(state, len(state.tokens), value)
    return state.but(**{key: check_field(key, value)}, bad=bad)


FIELDS = ("x_seed", "x_width", "w_seed", "d_out", "dropout_seed")  # typed: a message beside each
SWITCHES = ("scale", "causal", "show_w", "show_code", "w_init", "dropout")


def set_x(tab: Tab, state: State, value: str) -> State:
    """Typed vectors keep the numbers that the seed had drawn, where they fit."""
    check_field("x", value)
    if value == state.x:
        return state
    if value == "typed":
        limit(state.x_width, limits.MAX_TYPED)
        rows = [[round(v, 4) for v in row] for row in x_of(state).tolist()]
        return state.but(x="typed", vectors=rows)
    d = state.width if state.w == "typed" else state.x_width  # a typed W keeps its rows
    return resize(state.but(x=value), len(state.tokens), d)


def set_w(tab: Tab, state: State, value: str) -> State:
    """Typed matrices start as what was there: the identity, or what the seed drew."""
    check_field("w", value)
    if value != "typed" or state.w == "typed":
        return state.but(w=value)
    limit(max(state.width, state.channels), limits.MAX_TYPED)
    names = W_NAMES if tab_has_out(tab) else W_NAMES[:3]
    drawn = w_of(state, out=tab_has_out(tab))
    n = state.width
    eye = [[float(r == c) for c in range(n)] for r in range(n)]
    rows = {
        name: eye if w is None else [[round(v, 4) for v in row] for row in w.tolist()]
        for name, w in zip(names, drawn, strict=True)
    }
    return state.but(w="typed", show_w=True, **rows)


def tab_has_out(tab: Tab) -> bool:
    return "n_head" in tab.controls


def set_typed(tab: Tab, state: State, value: bool) -> State:
    """Typed weights start as what softmax had made of the scores."""
    check_field("typed", value)
    if not value:
        return state.but(typed=False, ask=None)
    return fit_weights(tab, state.but(typed=True, mistake="", ask=None))


def fit_weights(tab: Tab, state: State) -> State:
    """Weights to type, one matrix a head; computed anew where there are none that fit."""
    if not state.typed:
        return state
    made = tab.flow(state.but(typed=False, mistake=""))
    heads = sorted((m for m in made.matrices if m.name == tab.typed_matrix), key=lambda m: m.head)
    shown = [m.values.tolist() for m in heads]
    fits = [shape(w) for w in state.weights or []] == [shape(w) for w in shown]
    return state if fits else state.but(weights=shown)


def shape(rows: limits.Rows) -> tuple[int, int]:
    return len(rows), len(rows[0])


def set_mistake(tab: Tab, state: State, value: str) -> State:
    if value and value not in tab.mistakes:
        raise KeyError(value)
    return state.but(mistake=value, typed=False if value else state.typed)


# Looking: the glass box, predictions, steps


def open_(tab: Tab, state: State, action: Action) -> State:
    found = check_field("open", action["cell"])
    return state.but(open=None if found == state.open else found)


def pin(tab: Tab, state: State, action: Action) -> State:
    """The open cell stays, and another can be opened beside it."""
    if state.open is None or state.open in state.pins:
        return state
    limit(len(state.pins) + 1, limits.MAX_PINS)
    return state.but(pins=[*state.pins, state.open], open=None)


def unpin(tab: Tab, state: State, action: Action) -> State:
    return state.but(pins=[p for n, p in enumerate(state.pins) if n != action["index"]])


def ask(tab: Tab, state: State, action: Action) -> State:
    """Hide a matrix and ask for one of its cells, picked by the action's seed."""
    name = action["matrix"]
    if name not in tab.ask:
        raise KeyError(name)
    flow = tab.flow(state)
    m = flow.get(name, state.head) or flow.get(name)
    return state.but(ask=pick(m, int(action["seed"])), answer="", open=None, pins=[])


def pick(m: Matrix, seed: int) -> limits.Cell:
    """A cell that is worth a thought: not masked, not 0, not NaN."""
    places = [
        [i, j]
        for i, row in enumerate(m.values.tolist())
        for j, value in enumerate(row)
        if value == value and abs(value) not in (0.0, float("inf"))
    ]
    if not places:
        raise errors.NothingToAskError(name=m.symbol)
    return [m.name, m.head, *random.Random(seed).choice(places)]


def answer(tab: Tab, state: State, action: Action) -> State:
    return state.but(answer=errors.readable(action["text"])[:64])


def reveal(tab: Tab, state: State, action: Action) -> State:
    return state.but(ask=None, answer="")


def step(tab: Tab, state: State, action: Action) -> State:
    return state.but(step=check_field("step", max(0, int(action["to"]))))


# Whole states


def preset(tab: Tab, state: State, action: Action) -> State:
    if action["name"] not in {p.name for p in tab.presets}:
        raise KeyError(action["name"])
    return tab.preset(action["name"]).but(show_code=state.show_code)


def reset(tab: Tab, state: State, action: Action) -> State:
    names = {p.name for p in tab.presets}
    return tab.preset(state.preset) if state.preset in names else tab.default


def load(tab: Tab, state: State, action: Action) -> State:
    """A state from a link, a file, or the undo list."""
    return usable(tab, action["state"])


ACTIONS: dict[str, Callable[[Tab, State, Action], State]] = {
    "cell": cell,
    "paste": paste,
    "token": token,
    "add": add,
    "remove": remove,
    "width": width,
    "set": set_,
    "open": open_,
    "pin": pin,
    "unpin": unpin,
    "ask": ask,
    "answer": answer,
    "reveal": reveal,
    "step": step,
    "preset": preset,
    "reset": reset,
    "load": load,
}
