"""What a person can do: each action takes a state to the next one, or is refused.

All are pure. A refusal is a `PlaygroundError` whose sentence the page shows;
the state stays as it was. What is typed into a cell and is no number is kept
as text in `state.bad`, beside the last number, which stays in use.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any

from lessons.grading import TwoReadingsError, parse_number
from model.errors import PlaygroundError
from playground import input_errors as errors
from playground import state as limits
from playground.flow import Flow, w_of, x_of
from playground.render import typed as as_typed
from playground.state import State, check_field, check_shapes, from_json
from playground.tab import Tab

W_NAMES = ("w_query", "w_key", "w_value", "w_out")
Action = dict[str, Any]


def apply(tab: Tab, state: State, action: Action) -> State:
    """The state after an action. Raises a `PlaygroundError` when it is refused."""
    do = action.get("do") if isinstance(action, dict) else None
    if do not in ACTIONS:
        raise errors.ActionError(found=errors.short(action))
    try:
        after = settle(ACTIONS[do](tab, state, action))
    except (KeyError, IndexError, TypeError) as error:
        raise errors.ActionError(found=errors.short(json.dumps(action, default=str))) from error
    check_shapes(after)
    return after


def settle(state: State) -> State:
    """What must follow from a change: a head count that divides, cells that exist."""
    C, n_head = state.channels, state.n_head
    while C % n_head:
        n_head -= 1
    T = len(state.tokens)
    return state.but(n_head=n_head, head=min(state.head, n_head - 1), query=min(state.query, T - 1))


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


def rows_of(state: State, matrix: str, head: int) -> limits.Rows:
    """The rows behind an editable matrix."""
    if matrix.startswith("weights"):
        return (state.weights or [])[head]
    if matrix not in ("vectors", *W_NAMES):
        raise KeyError(matrix)
    return getattr(state, matrix)


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
    name, head, i, j = action["matrix"], action.get("head", 0), action["row"], action["col"]
    text, key = str(action["text"]), f"{name}:{head}:{i}:{j}"
    rows = rows_of(state, name, head)
    bad = {k: v for k, v in state.bad.items() if k != key}
    try:
        value = read_number(text, rows[i][j], weight=name.startswith("weights"))
    except PlaygroundError:
        return state.but(bad={**bad, key: text[:200]})
    return with_rows(state, name, head, replaced(rows, i, j, value)).but(bad=bad)


def paste(tab: Tab, state: State, action: Action) -> State:
    """A block from a spreadsheet, from a cell on; the vectors grow to hold it."""
    name, head, i, j = action["matrix"], action.get("head", 0), action["row"], action["col"]
    block = [split_row(line) for line in str(action["text"]).strip("\r\n").splitlines()]
    height, breadth = len(block), max(map(len, block))
    if name == "vectors":
        room = (limits.MAX_TOKENS - i, limits.MAX_TYPED - j)
    else:
        rows = rows_of(state, name, head)
        room = (len(rows) - i, len(rows[0]) - j)
    if height > room[0] or breadth > room[1]:
        raise errors.PasteError(rows=height, cols=breadth, room_rows=room[0], room_cols=room[1])
    if name == "vectors":
        T, d = len(state.tokens), state.width
        state = resize(state, max(T, i + height), max(d, j + breadth))
    rows = rows_of(state, name, head)
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
    i, text = action["index"], str(action["text"]).strip()
    kept = state.tokens[i]
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
        query=state.query - (state.query > gone),
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
        limit(d, limits.MAX_WIDTH)
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
        kept = getattr(state, key)
        try:
            number = parse_number(str(value))
            whole = key == "dropout" or number == int(number)
            if not whole or not low <= number <= high:
                raise errors.RangeError(found=value, low=low, high=high, kept=kept)
        except PlaygroundError:
            return state.but(bad={**bad, f"set:{key}": str(value)[:200]})
        value = number if key == "dropout" else int(number)
    if key == "n_head" and state.channels % value:
        raise errors.RangeError(found=value, low=1, high=state.channels, kept=state.n_head)
    changed = state.but(**{key: check_field(key, value)}, bad=bad)
    return fit_weights(tab, changed) if key == "n_head" else changed


SWITCHES = ("scale", "causal", "show_w", "show_code", "w_init", "dropout")


def set_x(tab: Tab, state: State, value: str) -> State:
    """Typed vectors keep the numbers that the seed had drawn, where they fit."""
    check_field("x", value)
    if value == "typed" and state.x == "seeded":
        limit(state.x_width, limits.MAX_TYPED)
        rows = [[round(v, 4) for v in row] for row in x_of(state).tolist()]
        return state.but(x="typed", vectors=rows)
    return resize(state.but(x=value), len(state.tokens), state.x_width)


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
    return fit_weights(tab, state.but(typed=True, mistake="", ask=None), fresh=not state.weights)


def fit_weights(tab: Tab, state: State, fresh: bool = False) -> State:
    """Weights to type, one matrix a head; computed anew where there are none that fit."""
    if not state.typed:
        return state
    made = tab.flow(state.but(typed=False, mistake=""))
    shown = [m.values.tolist() for m in made.matrices if m.name == tab.typed_matrix]
    same = state.weights and [len(w) for w in state.weights] == [len(w) for w in shown]
    return state if same and not fresh else state.but(weights=shown)


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
    return state.but(ask=pick(flow, m, int(action["seed"])), answer="", open=None, pins=[])


def pick(flow: Flow, m: Any, seed: int) -> list:
    """A cell that is worth a thought: not masked, not 0, not NaN."""
    places = [
        [i, j]
        for i, row in enumerate(m.values.tolist())
        for j, value in enumerate(row)
        if value == value and abs(value) not in (0.0, float("inf"))
    ]
    place = random.Random(seed).choice(places or [[0, 0]])
    return [m.name, m.head, *place]


def answer(tab: Tab, state: State, action: Action) -> State:
    return state.but(answer=str(action["text"])[:64])


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
    found = settle(from_json(action["state"]))
    return set_mistake(tab, found, found.mistake) if found.mistake else found


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
