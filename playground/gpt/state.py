"""What a person has set in the GPT tab. Like `playground.state.State`, it is all there is."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from playground import input_errors as errors
from playground import models
from playground.state import MAX_PINS, MAX_SEED, is_cell, is_number, is_text

MAX_PROMPT = 1000  # characters
MAX_WRITTEN = 400  # tokens
SECTIONS = ("write", "heads", "layers", "without", "tokens", "cache")
MAX_TEMPERATURE = 5.0
MAX_TOP_K = 100_000  # more than any vocabulary


@dataclass(frozen=True)
class GptState:
    model: str = "shakespeare"
    prompt: str = "ROMEO:"
    written: list[int] = field(default_factory=list)  # ids of the tokens written after it
    left: int = 0  # tokens still to be written
    count: int = 40  # tokens that one press of the button writes
    temperature: float = 0.8
    top_k: int = 0  # 0: off
    top_p: float = 1.0  # 1: off
    seed: int = 1
    section: str = "write"
    at: int | None = None  # the written token whose candidates are shown
    layer: int = 0
    head: int = 0
    open: list | None = None
    pins: list[list] = field(default_factory=list)
    out_heads: list[list[int]] = field(default_factory=list)  # [layer, head] left out
    out_blocks: list[int] = field(default_factory=list)
    merges: int | None = None  # of the text, applied in the tokens section; None: all
    measured: list | None = None  # tokens a second with the cache and without, and their length
    preset: str = ""
    bad: dict[str, str] = field(default_factory=dict)

    def but(self, **changes: Any) -> GptState:
        return dataclasses.replace(self, **changes)

    def to_json(self) -> dict[str, Any]:
        """Only what differs from a fresh state, so that links stay short."""
        fresh = GptState()
        found = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {k: v for k, v in found.items() if k == "prompt" or v != getattr(fresh, k)}


RANGES: dict[str, tuple[int, int]] = {
    "left": (0, MAX_WRITTEN),
    "count": (1, MAX_WRITTEN),
    "top_k": (0, MAX_TOP_K),
    "seed": (0, MAX_SEED),
    "layer": (0, 999),
    "head": (0, 999),
    "merges": (0, 9999),
}
NUMBERS: dict[str, tuple[float, float]] = {
    "temperature": (0.0, MAX_TEMPERATURE),
    "top_p": (0.01, 1.0),
}


def from_json(found: Any) -> GptState:
    """A checked `GptState`; raises a `LinkError` that says what is wrong and where."""
    if not isinstance(found, dict) or "prompt" not in found:
        raise errors.LinkError(where="prompt", found=errors.short(found), wanted="{prompt: …}")
    names = {f.name for f in dataclasses.fields(GptState)}
    state = GptState(**{k: check_field(k, v) for k, v in found.items() if k in names})
    checkpoint = models.checkpoint(state.model)
    V = checkpoint.gpt.config.vocab_size
    if any(i >= V for i in state.written):
        raise errors.LinkError(where="written", found=max(state.written), wanted=f"0 … {V - 1}")
    L, nh = checkpoint.gpt.config.n_layer, checkpoint.gpt.config.n_head
    at = state.at if state.at is not None and state.at < len(state.written) else None
    return state.but(
        at=at,
        layer=min(state.layer, L - 1),
        head=min(state.head, nh - 1),
        out_heads=[[a, b] for a, b in state.out_heads if a < L and b < nh],
        out_blocks=[a for a in state.out_blocks if a < L],
    )


def check_field(name: str, value: Any) -> Any:
    """One field on its own: its type and range."""

    def need(ok: bool, wanted: str) -> None:
        if not ok:
            raise errors.LinkError(where=name, found=errors.short(value), wanted=wanted)

    def whole(n: Any, most: int) -> bool:
        return type(n) is int and 0 <= n <= most

    if name == "merges" and value is None:
        return None
    if name in RANGES:
        low, high = RANGES[name]
        need(type(value) is int and low <= value <= high, f"{low} … {high}")
    elif name in NUMBERS:
        low, high = NUMBERS[name]
        need(is_number(value) and low <= value <= high, f"{low} … {high}")
    elif name == "prompt":
        need(is_text(value, MAX_PROMPT), f"≤ {MAX_PROMPT}")
    elif name == "section":
        need(value in SECTIONS, " | ".join(SECTIONS))
    elif name in ("model", "preset"):
        need(is_text(value, 200), "≤ 200")
    elif name == "written":
        ok = isinstance(value, list) and len(value) <= MAX_WRITTEN
        need(ok and all(whole(i, 10**6) for i in value), f"≤ {MAX_WRITTEN}")
    elif name == "at":
        need(value is None or whole(value, MAX_WRITTEN), f"0 … {MAX_WRITTEN}")
    elif name == "open":
        need(value is None or is_cell(value), "[matrix, head, row, column]")
    elif name == "pins":
        ok = isinstance(value, list) and len(value) <= MAX_PINS
        need(ok and all(map(is_cell, value)), f"≤ {MAX_PINS}")
    elif name == "measured":
        ok = value is None or (isinstance(value, list) and len(value) == 3)
        rates = ok and all(is_number(n) and 0 < n < 1e9 for n in value or ())
        need(rates, "[with, without, length]")
    elif name == "out_heads":
        ok = isinstance(value, list) and len(value) <= 999
        pairs = ok and all(isinstance(p, list) and len(p) == 2 for p in value)
        need(pairs and all(whole(n, 999) for p in value for n in p), "[[layer, head], …]")
    elif name == "out_blocks":
        ok = isinstance(value, list) and len(value) <= 999
        need(ok and all(whole(n, 999) for n in value), "[layer, …]")
    elif name == "bad":
        ok = isinstance(value, dict) and len(value) <= 16
        texts = ok and all(is_text(k, 64) and is_text(v, 200) for k, v in value.items())
        need(texts, "{field: text}")
    return value
