"""Switches: what a person sets rather than types into a matrix.

Each function takes a state to the next one, or raises a `PlaygroundError`.
"""

from __future__ import annotations

from lessons.grading import parse_number
from model.errors import PlaygroundError
from playground import input_errors as errors
from playground import state as limits
from playground.edits import Action, limit, marked, padded, resize
from playground.flow import w_of
from playground.state import W_NAMES, State, check_field
from playground.tab import Tab


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
    """Drawn vectors stand in for the typed ones, which come back as they were."""
    check_field("x", value)
    if value == state.x:
        return state
    d = len(state.vectors[0]) if value == "typed" else state.x_width
    d = state.width if state.w == "typed" and value == "seeded" else d  # a typed W keeps its rows
    return resize(state.but(x=value), len(state.tokens), d)


def set_w(tab: Tab, state: State, value: str) -> State:
    """What was typed before comes back; else typing starts from what the seed drew."""
    check_field("w", value)
    if value == "given" and not (state.q and tab.takes_qkv):
        raise KeyError(value)  # there is nothing to come back to
    if state.w == "given" and value != "given":  # X, as wide as it was, takes over from Q, K, V
        vectors = padded(state.vectors, len(state.tokens), len(state.vectors[0]))
        state = state.but(vectors=vectors, w="identity")
    if value != "typed" or state.w == "typed":
        return state.but(w=value)
    if state.w_query is not None and len(state.w_query) == state.width:
        return state.but(w="typed", show_w=True)
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
