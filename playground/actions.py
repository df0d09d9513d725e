"""What a person can do: each action takes a state to the next one, or is refused.

All are pure. A refusal is a `PlaygroundError` whose sentence the page shows;
the state stays as it was. What is typed into a cell and is no number is kept
as text in `state.bad`, beside the last number, which stays in use.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any

from model.errors import PlaygroundError
from playground import input_errors as errors
from playground import state as limits
from playground.edits import Action, add, cell, limit, paste, remove, token, width
from playground.flow import Flow, Matrix
from playground.state import State, check_field, check_shapes, from_json
from playground.switches import fit_weights, set_, set_mistake
from playground.tab import Tab


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
    if state.w == "given" and not tab.takes_qkv:
        raise errors.LinkError(where="w", found=state.w, wanted="identity | typed | seeded")
    return settle(tab, set_mistake(tab, state, state.mistake))


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
    return state.but(ask=pick(m, int(action["seed"])), answer="", open=None, pins=[], step=0)


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
