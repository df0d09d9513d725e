"""What a person can do in the GPT tab: each action takes a state to the next one, or is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from lessons.grading import parse_number
from model.errors import PlaygroundError
from playground import input_errors as errors
from playground import models
from playground.gpt import text, timing
from playground.gpt.presets import PRESETS, example, preset_state
from playground.gpt.state import (
    MAX_PROMPT,
    MAX_WRITTEN,
    NUMBERS,
    RANGES,
    GptState,
    check_field,
    from_json,
)
from playground.state import MAX_PINS

Action = dict[str, Any]
AT_ONCE = 3  # tokens written between two answers: the page is painted while the rest waits


def apply(state: GptState, action: Any) -> GptState:
    """The state after an action. Raises a `PlaygroundError` when it is refused."""
    do = action.get("do") if isinstance(action, dict) else None
    if not isinstance(do, str) or do not in ACTIONS:
        raise errors.ActionError(found=errors.short(action))
    try:
        return ACTIONS[do](state, action)
    except PlaygroundError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError) as error:  # no button asks so
        raise errors.ActionError(found=errors.short(json.dumps(action, default=str))) from error


# Setting


def set_(state: GptState, action: Action) -> GptState:
    key, value = action["key"], action["value"]
    if key == "prompt":
        return set_prompt(state, str(value))
    if key == "model":
        models.checkpoint(str(value))  # refused while the old one is still there
        fresh = {"written": [], "left": 0, "at": None, "open": None, "pins": []}
        return GptState().but(**{k: getattr(state, k) for k in KEPT}, model=str(value), **fresh)
    if key == "section":
        return state.but(section=check_field("section", value), open=None, pins=[], left=0)
    if key not in SETTABLE:
        raise KeyError(key)
    return set_number(state, key, value)


KEPT = ("prompt", "section", "count", *NUMBERS, "top_k", "seed", "preset")  # by another model
SETTABLE = ("count", "temperature", "top_k", "top_p", "seed", "merges")


def set_prompt(state: GptState, prompt: str) -> GptState:
    """Another text: what was written after the old one goes."""
    prompt = errors.readable(prompt).replace("\r\n", "\n")
    if len(prompt) > MAX_PROMPT:
        raise errors.TextLongError(found=len(prompt), most=MAX_PROMPT)
    if prompt == state.prompt:
        return state
    return cleared(state).but(prompt=prompt, open=None, pins=[], merges=None, measured=None)


def set_number(state: GptState, key: str, value: Any) -> GptState:
    """A number typed or slid to; what cannot be used stays, with its message."""
    low, high = NUMBERS.get(key) or RANGES[key]
    whole = key in RANGES
    try:
        number = parse_number(str(value))
        if not math.isfinite(number) or not low <= number <= high or (whole and number % 1):
            raise errors.RangeError(found=value, low=low, high=high, kept=getattr(state, key))
    except PlaygroundError:
        return state.but(bad=state.bad | {f"set:{key}": errors.readable(value)[:200]})
    bad = {k: v for k, v in state.bad.items() if k != f"set:{key}"}
    return state.but(**{key: int(number) if whole else float(number)}, bad=bad)


# Writing


def write(state: GptState, action: Action) -> GptState:
    """Begin to write, or go on, for `count` tokens; after a text that has ended, anew."""
    if text.ended(state):
        state = cleared(state)
    room = MAX_WRITTEN - len(state.written)
    if room <= 0:
        raise errors.TooManyError(most=MAX_WRITTEN, found=MAX_WRITTEN + state.count)
    return more(state.but(left=min(state.count, room), at=None), action)


def more(state: GptState, action: Action) -> GptState:
    """The next few tokens; the page asks for more as long as some are left."""
    for _ in range(min(AT_ONCE, state.left, MAX_WRITTEN - len(state.written))):
        if text.ended(state):
            return state.but(left=0)
        written = [*state.written, text.next_token(state)]
        state = state.but(written=written, left=state.left - 1)
    over = len(state.written) >= MAX_WRITTEN or text.ended(state)
    return state.but(left=0) if over else state


def stop(state: GptState, action: Action) -> GptState:
    return state.but(left=0)


def clear(state: GptState, action: Action) -> GptState:
    return cleared(state)


def cleared(state: GptState) -> GptState:
    return state.but(written=[], left=0, at=None)


def pick(state: GptState, action: Action) -> GptState:
    """Show the candidates of one written token."""
    at = int(action["at"])
    if not 0 <= at <= len(state.written):
        raise IndexError(at)
    return state.but(at=None if at in (state.at, len(state.written)) else at, open=None, left=0)


def choose(state: GptState, action: Action) -> GptState:
    """Another candidate at that place; what was written after it is written anew.

    As long as it was, or as long as `count` asks: where an answer had ended early,
    another one may be longer.
    """
    at, token = int(action["at"]), int(action["id"])
    V = text.checkpoint(state).gpt.config.vocab_size
    if not 0 <= at <= len(state.written) or not 0 <= token < V or at >= MAX_WRITTEN:
        raise IndexError(at, token)
    again = max(len(state.written), state.count) if at < len(state.written) else 0
    state = state.but(written=[*state.written[:at], token], at=None, open=None)
    left = 0 if text.ended(state) else min(again, MAX_WRITTEN) - len(state.written)
    return state.but(left=max(0, left))


# Looking


def head(state: GptState, action: Action) -> GptState:
    """Enlarge one head."""
    config = text.checkpoint(state).gpt.config
    layer, n = int(action["layer"]), int(action["head"])
    if not (0 <= layer < config.n_layer and 0 <= n < config.n_head):
        raise IndexError(layer, n)
    return state.but(layer=layer, head=n, open=None, pins=[])


def leave_head(state: GptState, action: Action) -> GptState:
    """Leave a head out, or take it in again."""
    place = [int(action["layer"]), int(action["head"])]
    chosen = head(state, action)
    out = [p for p in state.out_heads if p != place]
    return chosen.but(out_heads=out if place in state.out_heads else [*out, place])


def leave_block(state: GptState, action: Action) -> GptState:
    layer = int(action["layer"])
    if not 0 <= layer < text.checkpoint(state).gpt.config.n_layer:
        raise IndexError(layer)
    out = [n for n in state.out_blocks if n != layer]
    return state.but(out_blocks=out if layer in state.out_blocks else [*out, layer])


def restore(state: GptState, action: Action) -> GptState:
    return state.but(out_heads=[], out_blocks=[])


def measure(state: GptState, action: Action) -> GptState:
    """Time the cache anew."""
    return state.but(measured=timing.measured(state.model, state.prompt))


def open_(state: GptState, action: Action) -> GptState:
    found = check_field("open", action["cell"])
    return state.but(open=None if found == state.open else found)


def pin(state: GptState, action: Action) -> GptState:
    if state.open is None or state.open in state.pins:
        return state
    if len(state.pins) >= MAX_PINS:
        raise errors.TooManyError(most=MAX_PINS, found=MAX_PINS + 1)
    return state.but(pins=[*state.pins, state.open], open=None)


def unpin(state: GptState, action: Action) -> GptState:
    return state.but(pins=[p for n, p in enumerate(state.pins) if n != action["index"]])


# Whole states


def preset(state: GptState, action: Action) -> GptState:
    return preset_state({p.name: p for p in PRESETS}[action["name"]])


def reset(state: GptState, action: Action) -> GptState:
    """An example from its beginning, with the model that is chosen."""
    return preset_state(example(state)).but(model=state.model)


def load(state: GptState, action: Action) -> GptState:
    """A state from a file or the undo list; what was being written then is not written on."""
    return from_json(action["state"]).but(left=0)


ACTIONS: dict[str, Callable[[GptState, Action], GptState]] = {
    "set": set_,
    "write": write,
    "more": more,
    "stop": stop,
    "clear": clear,
    "pick": pick,
    "choose": choose,
    "head": head,
    "leave_head": leave_head,
    "leave_block": leave_block,
    "restore": restore,
    "measure": measure,
    "open": open_,
    "pin": pin,
    "unpin": unpin,
    "preset": preset,
    "reset": reset,
    "load": load,
}
