"""What a person can do in every tab of this kind; a tab adds actions of its own.

An action takes a state to the next one, or is refused with a `PlaygroundError` whose
sentence the page shows; the state then stays as it was.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

from model.errors import PlaygroundError
from playground import input_errors as errors
from playground.edits import padded, place, replaced, split_row
from playground.form.fields import Rows, need
from playground.form.form import Action, Form
from playground.form.state import FormState
from playground.reading import read_number
from playground.state import MAX_BAD, MAX_NAME, MAX_PINS, is_cell, is_text


def apply(form: Form, state: FormState, action: Any) -> FormState:
    """The state after an action. Raises a `PlaygroundError` when it is refused."""
    do = action.get("do") if isinstance(action, dict) else None
    try:
        if do in ("token", "add", "remove", "width") and "tokens" not in form.fields:
            raise KeyError(do)
        if isinstance(do, str) and do in form.actions:
            return form.settle(form.actions[do](state, action))
        if not isinstance(do, str) or do not in ACTIONS:
            raise errors.ActionError(found=errors.short(action))
        return form.settle(ACTIONS[do](form, state, action))
    except PlaygroundError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError) as error:  # no button asks so
        raise errors.ActionError(found=errors.short(json.dumps(action, default=str))) from error


def usable(form: Form, found: Any) -> FormState:
    """A state from a link, a file or the browser, checked; a `LinkError` says what is wrong."""
    if not isinstance(found, dict):
        raise errors.LinkError(where="state", found=errors.short(found), wanted="{...}")
    strange = [
        name for name in found if name not in {f.name for f in dataclasses.fields(form.state)}
    ]
    if strange:  # the file of another tab, or of a later version
        raise errors.LinkError(where=errors.short(strange[0]), found="?", wanted=form.name)
    checked = {name: check(form, name, value) for name, value in found.items()}
    return form.settle(form.state(**checked))


def check(form: Form, name: str, value: Any) -> Any:
    if name in form.fields:
        return form.fields[name].check(name, value)
    if name == "section":
        known = isinstance(value, str) and value in ("", *form.sections)
        need(known, name, value, " | ".join(form.sections))
    elif name == "open":
        need(value is None or is_cell(value), name, value, "[matrix, head, row, column]")
    elif name == "pins":
        ok = isinstance(value, list) and len(value) <= MAX_PINS and all(map(is_cell, value))
        need(ok, name, value, f"≤ {MAX_PINS}")
    elif name == "bad":
        ok = isinstance(value, dict) and len(value) <= MAX_BAD
        texts = ok and all(is_text(k, 64) and is_text(v, 200) for k, v in value.items())
        need(texts, name, value, "{field: text}")
    elif name == "running":
        need(isinstance(value, bool), name, value, "true | false")
    elif name == "place":
        need(type(value) is int and 0 <= value < 10_000, name, value, "0 … 9999")
    else:  # preset, ticket
        need(is_text(value, 64), name, value, "≤ 64")
    return value


# Settings


def set_(form: Form, state: FormState, action: Action) -> FormState:
    key, value = action["key"], action["value"]
    if key == "section":
        return state.but(section=check(form, key, value), open=None, pins=[], running=False)
    field = form.fields[key]
    if field.label is None:
        raise KeyError(key)
    bad = {k: v for k, v in state.bad.items() if k != f"set:{key}"}
    try:
        found = field.read(key, value, getattr(state, key))
    except errors.LinkError:
        raise
    except (errors.FieldError, errors.WholeError):  # stays in the field, with its message
        return marked(state, f"set:{key}", str(value))
    return form.changed(state, state.but(**{key: found}, bad=bad), (key,))


def marked(state: FormState, key: str, text: str) -> FormState:
    """The state with a text that cannot be used, beside what stays in use."""
    others = [(k, v) for k, v in state.bad.items() if k != key][1 - MAX_BAD :]
    return state.but(bad=dict([*others, (key, errors.readable(text)[:200])]))


# Typed matrices


def cell(form: Form, state: FormState, action: Action) -> FormState:
    name = action["matrix"]
    rows = rows_of(form, state, name)
    i, j = place(rows, action)
    text, key = errors.readable(action["text"]), f"{name}:0:{i}:{j}"
    try:
        value = read_number(text, rows[i][j])
    except PlaygroundError:
        return marked(state, key, text)
    bad = {k: v for k, v in state.bad.items() if k != key}
    after = state.but(**{name: replaced(rows, i, j, value)}, bad=bad)
    return form.changed(state, after, (name,))


def rows_of(form: Form, state: FormState, name: str) -> list[list[float]]:
    if not isinstance(form.fields[name], Rows):
        raise KeyError(name)
    return getattr(state, name)


def paste(form: Form, state: FormState, action: Action) -> FormState:
    """A block from a spreadsheet, from a cell on, within the matrix as it is."""
    name = action["matrix"]
    rows = rows_of(form, state, name)
    i, j = place(rows, action)
    block = [split_row(line) for line in str(action["text"]).strip("\r\n").splitlines()]
    if not any(any(line) for line in block):
        raise errors.PasteEmptyError()
    high, wide = len(block), max(map(len, block))
    room = (len(rows) - i, len(rows[0]) - j)
    if high > room[0] or wide > room[1]:
        raise errors.PasteError(rows=high, cols=wide, room_rows=room[0], room_cols=room[1])
    for r, line in enumerate(block):
        for c, text in enumerate(line):
            try:
                rows = replaced(rows, i + r, j + c, read_number(text, 0.0))
            except PlaygroundError as error:
                raise errors.PasteCellError(
                    row=r + 1, col=c + 1, found=errors.short(text)
                ) from error
    bad = {k: v for k, v in state.bad.items() if not k.startswith(f"{name}:")}
    return form.changed(state, state.but(**{name: rows}, bad=bad), (name,))


# Tokens: for a state that has `tokens` (Names) and `vectors` (Rows)


def token(form: Form, state: Any, action: Action) -> Any:
    i, text = action["index"], errors.readable(action["text"]).strip()
    kept = dict(enumerate(state.tokens))[i]
    if not text:
        raise errors.NameEmptyError(kept=kept)
    if len(text) > MAX_NAME:
        raise errors.NameLongError(most=MAX_NAME, found=len(text), kept=kept)
    return state.but(tokens=[text if n == i else old for n, old in enumerate(state.tokens)])


def add(form: Form, state: Any, action: Action) -> Any:
    return resized(form, state, len(state.tokens) + 1, len(state.vectors[0]))


def width(form: Form, state: Any, action: Action) -> Any:
    return resized(form, state, len(state.tokens), len(state.vectors[0]) + int(action["by"]))


def remove(form: Form, state: Any, action: Action) -> Any:
    gone, T = action["index"], len(state.tokens)
    if T == 1:
        raise errors.TooFewError(least=1, found=0)
    if not 0 <= gone < T:
        raise IndexError(gone)
    kept = {
        name: [row for n, row in enumerate(getattr(state, name)) if n != gone]
        for name in ("tokens", "vectors")
    }
    after = state.but(**kept, open=None, pins=[], bad={})
    return form.changed(state, after, ("tokens", "vectors"))


def resized(form: Form, state: Any, T: int, d: int) -> Any:
    field = form.fields["vectors"]
    assert isinstance(field, Rows)
    for found, most in ((T, field.most_rows), (d, field.most_cols)):
        if found > most:
            raise errors.TooManyError(most=most, found=found)
        if found < 1:
            raise errors.TooFewError(least=1, found=found)
    tokens = state.tokens + [f"t{n + 1}" for n in range(len(state.tokens), T)]
    after = state.but(tokens=tokens, vectors=padded(state.vectors, T, d), bad={})
    return form.changed(state, after, ("tokens", "vectors"))


# Looking


def open_(form: Form, state: FormState, action: Action) -> FormState:
    found = check(form, "open", action["cell"])
    return state.but(open=None if found == state.open else found)


def pin(form: Form, state: FormState, action: Action) -> FormState:
    if state.open is None or state.open in state.pins:
        return state
    if len(state.pins) == MAX_PINS:
        raise errors.TooManyError(most=MAX_PINS, found=MAX_PINS + 1)
    return state.but(pins=[*state.pins, state.open], open=None)


def unpin(form: Form, state: FormState, action: Action) -> FormState:
    return state.but(pins=[p for n, p in enumerate(state.pins) if n != action["index"]])


# Long work: the page asks for more as long as a state is running


def start(form: Form, state: FormState, action: Action) -> FormState:
    return more(form, state.but(running=True, ticket=ticket(form, action)), action)


def ticket(form: Form, action: Action) -> str:
    """`seed` is the page's own number, drawn when it was opened: two pages are two in the queue,
    also where both came from one link."""
    return check(form, "ticket", str(int(action["seed"])))


def stop(form: Form, state: FormState, action: Action) -> FormState:
    return state.but(running=False, place=0)


def more(form: Form, state: FormState, action: Action) -> FormState:
    if form.more is None:
        raise KeyError("more")
    if "seed" in action:
        state = state.but(ticket=ticket(form, action))
    return form.more(state) if state.running else state


# Whole states


def example(form: Form, state: FormState, action: Action) -> FormState:
    if action["name"] not in {e.name for e in form.examples}:
        raise KeyError(action["name"])
    return form.example(action["name"])


def reset(form: Form, state: FormState, action: Action) -> FormState:
    names = {e.name for e in form.examples}
    return form.example(state.preset) if state.preset in names else form.default


def load(form: Form, state: FormState, action: Action) -> FormState:
    """A file or an undone state: what was under way in it does not begin anew."""
    found = action["state"]
    if isinstance(found, dict):
        found = {name: value for name, value in found.items() if name not in UNDER_WAY}
    return usable(form, found)


UNDER_WAY = ("running", "place", "ticket")

ACTIONS: dict[str, Callable[[Form, Any, Action], Any]] = {
    "set": set_,
    "cell": cell,
    "paste": paste,
    "token": token,
    "add": add,
    "remove": remove,
    "width": width,
    "open": open_,
    "pin": pin,
    "unpin": unpin,
    "start": start,
    "stop": stop,
    "more": more,
    "preset": example,
    "reset": reset,
    "load": load,
}
