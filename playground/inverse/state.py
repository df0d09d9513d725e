"""What is set in the tab of inverse attention, and what `model.inverse` finds in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from lessons.words import Words
from model.attention import AttentionTrace, causal_mask
from model.errors import PlaygroundError
from model.inverse import MOST, Descent, Goal, How, check_next, step
from playground import input_errors as errors
from playground.form.fields import Checked, Choice, Decimal, Field, Names, Rows, Switch, Whole
from playground.form.form import Action
from playground.form.state import FormState
from playground.state import LARGEST, is_number
from playground.turns import work

LIMIT = 8  # tokens, and numbers of each


@dataclass(frozen=True)
class InverseState(FormState):
    tokens: list[str] = field(default_factory=lambda: ["cat", "sat", "mat"])
    vectors: list[list[float]] = field(default_factory=lambda: [[1.0, 0.2], [0.1, 1.0], [0.8, 0.6]])
    query: int = 2
    key: int = 0
    percent: int = 80
    rate: float = 1.0
    loss: str = "cross_entropy"
    scale: bool = True
    causal: bool = False
    track: list[float] = field(
        default_factory=list
    )  # the share before the first step and after each


def is_track(value: Any) -> bool:
    ok = isinstance(value, list) and len(value) <= MOST + 1
    return ok and all(is_number(share) and 0 <= share <= 1 for share in value)


FIELDS: dict[str, Field] = {
    "tokens": Names(most=LIMIT),
    "vectors": Rows(most_rows=LIMIT, most_cols=LIMIT),
    "query": Whole(Words("the query's token", "쿼리 토큰"), 0, LIMIT - 1),
    "key": Whole(Words("the key's token", "키 토큰"), 0, LIMIT - 1),
    "percent": Whole(Words("share in percent", "비율(%)"), 1, 99),
    "rate": Decimal(Words("learning rate", "학습률"), 0.001, 100.0),
    "loss": Choice(
        Words("loss", "손실"),
        {
            "cross_entropy": Words("cross-entropy", "교차 엔트로피"),
            "squares": Words("squared distance", "거리의 제곱"),
        },
    ),
    "scale": Switch(Words("divide by √d", "√d로 나누기")),
    "causal": Switch(Words("causal mask", "코잘 마스크")),
    "track": Checked(ok=is_track, wanted=f"[0 … 1], ≤ {MOST + 1}"),
}


def settle(state: InverseState) -> InverseState:
    """As many names as vectors, and a goal among the tokens that are there."""
    T = len(state.tokens)
    if len(state.vectors) != T:
        raise errors.LinkError(where="vectors", found=len(state.vectors), wanted=T)
    return state.but(query=min(state.query, T - 1), key=min(state.key, T - 1))


def changed(before: InverseState, after: InverseState, keys: tuple[str, ...]) -> InverseState:
    """What a person changes begins another curve."""
    return after.but(track=[])


# What the model makes of it


def x_of(state: InverseState) -> torch.Tensor:
    return torch.tensor(state.vectors, dtype=torch.float64)


def goal_of(state: InverseState) -> Goal:
    return Goal(state.query, state.key, state.percent / 100)


def how_of(state: InverseState) -> How:
    mask = causal_mask(len(state.tokens)) if state.causal else None
    return How(mask=mask, scale=state.scale, loss=state.loss)


@dataclass(frozen=True)
class Look:
    """An attention; the way down from it, or why there is none."""

    trace: AttentionTrace
    here: Descent | None  # None: the goal is out of reach
    refused: PlaygroundError | None  # out of reach, or the next step would be too long

    @property
    def moves(self) -> bool:
        """Whether another step leads anywhere."""
        return self.here is not None and self.here.state == "moving" and self.refused is None


def look(state: InverseState) -> Look:
    x, goal, how = x_of(state), goal_of(state), how_of(state)
    try:
        here = step(x, goal, state.rate, how)
    except PlaygroundError as refused:
        return Look(how.trace(x), None, refused)
    try:
        check_next(here.after, state.rate, how, LARGEST)
    except PlaygroundError as refused:
        return Look(here.trace, here, refused)
    return Look(here.trace, here, None)


# Going down


def stepped(state: InverseState) -> InverseState:
    """The state one step further down. Raises why not, where it cannot be."""
    found = look(state)
    if found.refused or found.here is None:
        raise found.refused
    after = state.but(vectors=found.here.after.tolist(), bad={})
    track = [
        *(state.track or [found.here.weight]),
        look(after).trace.weights[goal_at(state)].item(),
    ]
    return after.but(track=track if len(track) <= MOST + 1 else track[-2:])  # full: a new curve


def goal_at(state: InverseState) -> tuple[int, int]:
    return state.query, state.key


def once(state: InverseState, action: Action) -> InverseState:
    return stepped(state.but(running=False))


def more(state: InverseState) -> InverseState:
    """One step a turn, so that it can be watched, until the goal or where none helps."""
    now = [state]

    def one() -> bool:
        if look(now[0]).moves:
            now[0] = stepped(now[0])
        return goes_on(now[0])

    place = work(state.ticket, one, seconds=0.0)
    return now[0].but(place=place, running=bool(place) or goes_on(now[0]))


def goes_on(state: InverseState) -> bool:
    return look(state).moves and len(state.track) <= MOST
