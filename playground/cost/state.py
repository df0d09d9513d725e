"""What a person has set in the Cost tab, and what each setting may hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lessons.words import Words
from model.cost import known_sizes
from model.measuring import LENGTHS, ROUTES
from playground.form.fields import Checked, Choice, Field, Names, Rows, Switch, Whole
from playground.form.state import FormState
from playground.state import is_number

LONGEST = 65_536  # tokens that are counted for
OWN = "own"  # the model whose sizes a person chose
SIZES = ("n_layer", "n_head", "n_embd")
MOST_TYPED = 10  # tokens and dimensions: a dozen matrices of that size fit a page


@dataclass(frozen=True)
class CostState(FormState):
    # measured
    measured: list[list] = field(default_factory=list)  # the fields of each `Measurement`
    others: bool = False  # window and linear as well
    cap: int = 6  # seconds
    # counted
    model: str = "gpt2"
    n_layer: int = 12
    n_head: int = 12
    n_embd: int = 768
    length: int = 1024
    longer: int = 2048
    number: str = "4"  # bytes of one
    # cheaper
    tokens: list[str] = field(default_factory=lambda: ["the", "cat", "sat", "on", "it"])
    vectors: list[list[float]] = field(
        default_factory=lambda: [[1.0, 0.2], [0.4, 1.6], [-0.6, 1.0], [-1.2, -0.4], [0.8, 1.2]]
    )
    pattern: str = "window"
    window: int = 2
    k: int = 2
    causal: bool = True


def is_measured(value: Any) -> bool:
    """A list of measurements, each length and route at most once."""
    if not isinstance(value, list) or len(value) > len(LENGTHS) * len(ROUTES):
        return False
    if not all(isinstance(one, list) and len(one) == 6 for one in value):
        return False
    places = [(one[0], one[1]) for one in value if is_measurement(*one)]
    return len(places) == len(value) == len(set(places))


def is_measurement(T: Any, route: Any, seconds: Any, kept: Any, peak: Any, spent: Any) -> bool:
    known = type(T) is int and T in LENGTHS and isinstance(route, str) and route in ROUTES
    times = all(is_number(n) and 0 < n < 1e6 for n in (seconds, spent))
    return known and times and all(type(n) is int and 0 < n < 2**50 for n in (kept, peak))


MODELS = {
    "shakespeare": Words("shakespeare (of this app)", "shakespeare(이 앱의 모델)"),
    "shakespeare-64": Words("shakespeare-64 (of this app)", "shakespeare-64(이 앱의 모델)"),
    "korean": Words("korean (of this app)", "korean(이 앱의 모델)"),
    "gpt2": Words("GPT-2 small", "GPT-2 소형(small)"),
    "gpt2-medium": Words("GPT-2 medium", "GPT-2 중형(medium)"),
    "gpt2-large": Words("GPT-2 large", "GPT-2 대형(large)"),
    "gpt2-xl": Words("GPT-2 XL", "GPT-2 초대형(XL)"),
    OWN: Words("sizes of my own", "직접 정한 크기"),
}

FIELDS: dict[str, Field] = {
    "measured": Checked(ok=is_measured, wanted="[[T, route, seconds, kept, peak, spent], …]"),
    "others": Switch(Words("window and linear attention as well", "창과 선형 어텐션도 재기")),
    "cap": Whole(
        Words("seconds allowed", "잴 시간(초)"),
        1,
        20,
    ),
    "model": Choice(Words("model", "모델"), MODELS, as_list=True),
    "n_layer": Whole(Words("layers (n_layer)", "층 수(n_layer)"), 1, 200),
    "n_head": Whole(Words("heads (n_head)", "헤드 수(n_head)"), 1, 256),
    "n_embd": Whole(Words("width (n_embd)", "너비(n_embd)"), 1, 24_576),
    "length": Whole(Words("tokens", "토큰 수"), 1, LONGEST),
    "longer": Whole(Words("tokens to compare with", "견줄 토큰 수"), 1, LONGEST),
    "number": Choice(
        Words("a number takes", "숫자 하나의 크기"),
        {
            "4": Words("4 bytes (float32)", "4바이트(float32)"),
            "2": Words("2 bytes (bfloat16)", "2바이트(bfloat16)"),
        },
    ),
    "tokens": Names(most=MOST_TYPED),
    "vectors": Rows(most_rows=MOST_TYPED, most_cols=MOST_TYPED),
    "pattern": Choice(
        Words("sparse", "희소"),
        {"window": Words("window", "창"), "strided": Words("strided", "띄엄띄엄(strided)")},
    ),
    "window": Whole(Words("its size (w)", "창의 크기(w)"), 1, MOST_TYPED),
    "k": Whole(Words("top-k keeps (k)", "top-k가 남기는 키(k)"), 1, MOST_TYPED),
    "causal": Switch(Words("causal mask", "코잘(인과) 마스크")),
}


def changed(before: CostState, after: CostState, keys: tuple[str, ...]) -> CostState:
    """A known model brings its sizes; who changes one of them has a model of their own."""
    if "model" in keys and after.model != OWN:
        found = known_sizes()[after.model]
        bad = {k: v for k, v in after.bad.items() if k.removeprefix("set:") not in SIZES}
        return after.but(**{name: getattr(found, name) for name in SIZES}, bad=bad)
    if any(name in keys for name in SIZES):
        return after.but(model=OWN)
    return after


def settle(state: CostState) -> CostState:
    """As many names as vectors; a model's name only beside its own sizes."""
    T = len(state.vectors)
    if len(state.tokens) != T:
        names = state.tokens[:T] + [f"t{n + 1}" for n in range(len(state.tokens), T)]
        state = state.but(tokens=names)
    found = known_sizes().get(state.model)
    if found and any(getattr(state, name) != getattr(found, name) for name in SIZES):
        return state.but(model=OWN)
    return state
