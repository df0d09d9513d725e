"""What a person has set in one tab: tokens, vectors, switches, the opened cell.

A `State` is the whole of it: the same state always gives the same screen. It
travels to the browser and back as JSON, in links, and in downloaded files, so
`from_json` trusts nothing: whatever is wrong is refused with a sentence.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from playground import input_errors as errors

MAX_TOKENS = 16
MAX_TYPED = 16  # widest vector that is typed
MAX_WIDTH = 64  # widest vector that is drawn from a seed
MAX_NAME = 24  # characters in a token's name
LARGEST = 1e6  # of a typed number: its products stay far from overflow
MAX_SEED = 2**31 - 1
MAX_DROPOUT = 0.9
MAX_PINS = 3
QKV = ("q", "k", "v")
W_NAMES = ("w_query", "w_key", "w_value", "w_out")
MAX_BAD = 64  # cells at once whose text is no number

Rows = list[list[float]]
Cell = list  # [matrix, head, row, column]


@dataclass(frozen=True)
class State:
    tokens: list[str] = field(default_factory=lambda: ["a", "b"])
    x: str = "typed"  # or "seeded"
    vectors: Rows = field(default_factory=lambda: [[1.0, 0.0], [0.0, 1.0]])
    x_seed: int = 1
    x_width: int = 64
    w: str = (
        "identity"  # "typed", "seeded"; "given": no X and no W, q, k and v themselves are typed
    )
    w_init: str = "linear"  # "linear" as nn.Linear draws it, "rand" uniform in [0, 1)
    w_seed: int = 123
    d_out: int = 2  # columns of W_q, W_k, W_v where seeded
    w_query: Rows | None = None  # where typed
    w_key: Rows | None = None
    w_value: Rows | None = None
    w_out: Rows | None = None
    q: Rows | None = None  # where given
    k: Rows | None = None
    v: Rows | None = None
    n_head: int = 1
    head: int = 0  # the head that is shown enlarged
    query: int = 0
    scale: bool = True
    causal: bool = False
    dropout: float = 0.0
    dropout_seed: int = 123
    mistake: str = ""
    typed: bool = False  # the weights are typed by hand, softmax is bypassed
    weights: list[Rows] | None = None  # one matrix a head
    show_w: bool = False
    show_code: bool = False
    step: int = 0  # 0: everything shown; k: up to the k-th operation
    open: Cell | None = None
    pins: list[Cell] = field(default_factory=list)
    ask: Cell | None = None  # the cell to predict; its matrix and what follows is hidden
    answer: str = ""
    preset: str = ""
    bad: dict[str, str] = field(default_factory=dict)  # what was typed and is no number

    @property
    def width(self) -> int:
        """Numbers in a token's vector; in its query where that is given."""
        if self.w == "given":
            return len(self.q[0])
        return self.x_width if self.x == "seeded" else len(self.vectors[0])

    @property
    def channels(self) -> int:
        """Columns of W_q: C. As wide as the vectors where W is the identity."""
        if self.w in ("identity", "given"):
            return self.width
        return len(self.w_query[0]) if self.w == "typed" else self.d_out

    def but(self, **changes: Any) -> State:
        return dataclasses.replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """Only what differs from a fresh `State`, so that links stay short."""
        fresh = State()
        found = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {
            name: value
            for name, value in found.items()
            if name in ("tokens", "vectors") or value != getattr(fresh, name)
        }


CHOICES = {
    "x": ("typed", "seeded"),
    "w": ("identity", "typed", "seeded", "given"),
    "w_init": ("linear", "rand"),
}
RANGES = {
    "x_seed": (0, MAX_SEED),
    "x_width": (1, MAX_WIDTH),
    "w_seed": (0, MAX_SEED),
    "d_out": (1, MAX_WIDTH),
    "n_head": (1, MAX_WIDTH),
    "head": (0, MAX_WIDTH - 1),
    "query": (0, MAX_TOKENS - 1),
    "dropout_seed": (0, MAX_SEED),
    "step": (0, 99),
}


def from_json(found: Any) -> State:
    """A checked `State`; raises a `LinkError` that says what is wrong and where."""
    if not isinstance(found, dict):
        raise errors.LinkError(where="state", found=errors.short(found), wanted="{...}")
    for name in ("tokens", "vectors"):
        if name not in found:
            raise errors.LinkError(where=name, found="null", wanted="[...]")  # some other file
    names = {f.name for f in dataclasses.fields(State)}
    values = {name: check_field(name, found[name]) for name in found if name in names}
    state = State(**values)
    check_shapes(state)
    return state


def check_field(name: str, value: Any) -> Any:
    """One field on its own: its type and range."""

    def refuse(wanted: str) -> None:
        raise errors.LinkError(where=name, found=errors.short(value), wanted=wanted)

    if name in CHOICES:
        if value not in CHOICES[name]:
            refuse(" | ".join(CHOICES[name]))
    elif name in RANGES:
        low, high = RANGES[name]
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            refuse(f"{low} … {high}")
    elif name in ("scale", "causal", "typed", "show_w", "show_code"):
        if not isinstance(value, bool):
            refuse("true | false")
    elif name == "dropout":
        if not is_number(value) or not 0 <= value <= MAX_DROPOUT:
            refuse(f"0 … {MAX_DROPOUT}")
    elif name in ("mistake", "answer", "preset"):
        if not is_text(value, 64):
            refuse("≤ 64")
    elif name == "tokens":
        if not isinstance(value, list) or not 1 <= len(value) <= MAX_TOKENS:
            refuse(f"1 … {MAX_TOKENS}")
        if not all(is_text(t, MAX_NAME) and t.strip() for t in value):
            refuse(f"1 … {MAX_NAME}")
    elif name in ("vectors", *W_NAMES, *QKV):
        if not (value is None and name != "vectors"):
            check_rows(name, value)
    elif name == "weights":
        if value is not None:
            if not isinstance(value, list) or not value:
                refuse("[[...], ...]")
            for rows in value:
                check_rows(name, rows)
                if any(number < 0 for row in rows for number in row):
                    refuse("≥ 0")
    elif name in ("open", "ask"):
        if value is not None and not is_cell(value):
            refuse("[matrix, head, row, column]")
    elif name == "pins":
        if not isinstance(value, list) or len(value) > MAX_PINS or not all(map(is_cell, value)):
            refuse(f"≤ {MAX_PINS}")
    elif name == "bad":
        ok = isinstance(value, dict) and len(value) <= MAX_BAD
        if not ok or not all(is_text(k, 64) and is_text(v, 200) for k, v in value.items()):
            refuse("{cell: text}")
    return value


def check_rows(name: str, rows: Any) -> None:
    """A matrix of typed numbers: not ragged, not too large, each number in range."""

    def refuse(where: str, found: Any, wanted: str) -> None:
        raise errors.LinkError(where=where, found=errors.short(found), wanted=wanted)

    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_WIDTH:
        refuse(name, rows, f"1 … {MAX_WIDTH}")
    for i, row in enumerate(rows):
        if not isinstance(row, list) or not 1 <= len(row) <= MAX_WIDTH:
            refuse(f"{name}[{i}]", row, f"1 … {MAX_WIDTH}")
        if len(row) != len(rows[0]):
            refuse(f"{name}[{i}]", len(row), f"{len(rows[0])}")
        for j, number in enumerate(row):
            if not is_number(number) or not abs(number) <= LARGEST:
                refuse(f"{name}[{i}][{j}]", number, f"−{LARGEST:g} … {LARGEST:g}")


def check_shapes(state: State) -> None:
    """The fields together: sizes that must agree."""

    def agree(where: str, found: object, wanted: object) -> None:
        if found != wanted:
            raise errors.LinkError(where=where, found=str(found), wanted=str(wanted))

    T = len(state.tokens)
    if state.x == "typed" and state.w != "given":
        agree("vectors", len(state.vectors), T)
        if state.width > MAX_TYPED:
            raise errors.LinkError(where="vectors", found=state.width, wanted=f"≤ {MAX_TYPED}")
    if state.w == "typed":
        for name in ("w_query", "w_key", "w_value"):
            rows = getattr(state, name)
            if rows is None:
                raise errors.LinkError(where=name, found="null", wanted="[[...]]")
            agree(f"{name} rows", len(rows), state.width)
            agree(f"{name} columns", len(rows[0]), state.channels)
        if max(state.width, state.channels) > MAX_TYPED:
            raise errors.LinkError(
                where="w_query",
                found=f"{state.width} × {state.channels}",
                wanted=f"≤ {MAX_TYPED} × {MAX_TYPED}",
            )
        if state.w_out is not None:
            size = f"{state.channels} × {state.channels}"
            agree("w_out", f"{len(state.w_out)} × {len(state.w_out[0])}", size)
    if state.w == "given":
        for name in QKV:
            rows = getattr(state, name)
            if rows is None:
                raise errors.LinkError(where=name, found="null", wanted="[[...]]")
            agree(f"{name} rows", len(rows), T)
        agree("k columns", len(state.k[0]), state.width)
    if state.query >= T:
        raise errors.LinkError(where="query", found=state.query, wanted=f"0 … {T - 1}")
    if state.typed:
        for rows in state.weights or []:
            agree("weights columns", len(rows[0]), T)


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def is_text(value: Any, most: int) -> bool:
    """Text of at most that many characters, none of them half a character."""
    return isinstance(value, str) and len(value) <= most and errors.readable(value) == value


def is_cell(value: Any) -> bool:
    """[matrix, head, row, column] with whole numbers that a matrix could have."""
    return (
        isinstance(value, list)
        and len(value) == 4
        and is_text(value[0], 32)
        and all(type(n) is int and 0 <= n < MAX_WIDTH for n in value[1:])
    )
