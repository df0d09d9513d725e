"""What a person has set in the Training tab. A run is only its settings and a step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import torch

from lessons.words import Words, same
from model.errors import PlaygroundError
from model.gpt import GPT
from model.live import LiveSettings
from model.tasks import MAX_TEXT, TASKS
from playground.form.fields import Choice, Decimal, Field, Switch, Text, Whole, need
from playground.form.state import FormState
from playground.html import Html, esc
from playground.state import MAX_SEED, is_text

MOST = 2000  # training steps of a run
SHOWN = 8  # rows and columns of a tensor at once
TIMES = 30  # as large a learning rate, to see what too much does

TASK_NAMES = {
    "copy": Words("copy letters", "글자 베끼기"),
    "reverse": Words("reverse letters", "글자 뒤집기"),
    "sort": Words("sort letters", "글자 정렬하기"),
    "count": Words("count on", "이어서 세기"),
    "text": Words("your own text", "직접 넣은 글"),
}
assert tuple(TASK_NAMES) == TASKS

SECOND = {  # what is different in the second run: (words for the choice, name beside its curve)
    "nothing": (Words("no second run", "없음"), same("2")),
    "mask": (Words("the same without the mask", "마스크만 끈 실행"), Words("2: no mask", "2: 마스크 없음")),
    "positions": (
        Words("the same without positions", "위치만 뺀 실행"),
        Words("2: no positions", "2: 위치 없음"),
    ),
    "one_head": (Words("the same with 1 head", "헤드만 1개인 실행"), Words("2: 1 head", "2: 헤드 1개")),
    "rate": (
        Words("30 times the learning rate", "학습률만 30배인 실행"),
        Words("2: rate × 30", "2: 학습률 × 30"),
    ),
    "seed": (Words("the same from the next seed", "시드만 다음 것인 실행"), Words("2: next seed", "2: 다음 시드")),
}  # fmt: skip


@dataclass(frozen=True)
class TrainingState(FormState):
    task: str = "copy"
    text: str = ""
    n_layer: str = "2"
    n_head: str = "4"
    n_embd: str = "16"
    causal: bool = True
    positions: bool = True
    rate: float = 0.005
    seed: int = 0
    compare: str = "nothing"
    step: int = 0  # trained so far, both runs
    left: int = 0  # steps until training pauses
    which: str = "1"  # the run that is looked into
    layer: str = "1"
    head: str = "1"
    weight: str = "wte.weight"
    row: int = 0
    col: int = 0


@dataclass(frozen=True)
class Tensors(Field):
    """The name of a tensor that the run looked into trains."""

    def check(self, name: str, value: object) -> object:
        need(is_text(value, 64), name, value, "≤ 64")
        return value

    def control(self, form: str, state: FormState, lang: str, name: str) -> Html:
        options = "".join(
            f'<option value="{esc(tensor)}"{" selected" if tensor == state.weight else ""}>'
            f"{esc(tensor)} ({' × '.join(map(str, shape))})</option>"
            for tensor, shape in shapes(looked_into(state)).items()
        )
        label = esc(self.label(lang))
        return Html(f'<label>{label} <select data-set="{name}">{options}</select></label>')


NUMBERS = (same("1"), same("2"), same("3"), same("4"), same("5"), same("6"), same("7"), same("8"), same("16"), same("32"), same("64"))  # fmt: skip


def sizes(*choices: int) -> dict[str, Words]:
    return {words.en: words for words in NUMBERS if int(words.en) in choices}


FIELDS: dict[str, Field] = {
    "task": Choice(Words("task", "과제"), TASK_NAMES, as_list=True),
    "text": Text(Words("the text to learn", "학습할 글"), most=MAX_TEXT, rows=4),
    "n_layer": Choice(Words("layers", "층"), sizes(1, 2, 3, 4)),
    "n_head": Choice(Words("heads", "헤드"), sizes(1, 2, 4, 8)),
    "n_embd": Choice(Words("width", "너비"), sizes(4, 8, 16, 32, 64)),
    "causal": Switch(Words("causal mask", "코잘 마스크")),
    "positions": Switch(Words("positions", "위치 임베딩")),
    "rate": Decimal(Words("learning rate", "학습률"), 0.00001, 0.3),
    "seed": Whole(Words("seed", "시드"), 0, MAX_SEED - 1),
    "compare": Choice(
        Words("second run", "견줄 실행"),
        {name: words for name, (words, _) in SECOND.items()},
        as_list=True,
    ),
    "step": Whole(None, 0, MOST),
    "left": Whole(None, 0, MOST),
    "which": Choice(Words("run", "실행"), sizes(1, 2)),
    "layer": Choice(None, sizes(1, 2, 3, 4)),
    "head": Choice(None, sizes(*range(1, 9))),
    "weight": Tensors(Words("tensor", "텐서")),
    "row": Whole(Words("row", "행"), 0, 255),
    "col": Whole(Words("column", "열"), 0, 255),
}


# The runs


def first_of(state: TrainingState) -> LiveSettings:
    """Raises what a text can be refused with."""
    return LiveSettings(
        state.task,
        state.text if state.task == "text" else "",
        n_layer=int(state.n_layer),
        n_head=int(state.n_head),
        n_embd=int(state.n_embd),
        causal=state.causal,
        positions=state.positions,
        learning_rate=state.rate,
        seed=state.seed,
    )


def runs_of(state: TrainingState) -> tuple[LiveSettings, ...]:
    """One run, or two. Raises what a text can be refused with."""
    first = first_of(state)
    changes = {
        "nothing": {},
        "mask": {"causal": False},
        "positions": {"positions": False},
        "one_head": {"n_head": 1},
        "rate": {"learning_rate": TIMES * state.rate},
        "seed": {"seed": state.seed + 1},
    }[state.compare]
    return (first, replace(first, **changes)) if changes else (first,)


def looked_into(state: TrainingState) -> LiveSettings:
    return runs_of(state)[int(state.which) - 1]


def refused(state: TrainingState) -> PlaygroundError | None:
    """Why there is nothing to train: the text is kept, and says so."""
    try:
        runs_of(state)
    except PlaygroundError as error:
        return error
    return None


@lru_cache(maxsize=64)
def shapes(settings: LiveSettings) -> dict[str, tuple[int, ...]]:
    """Every tensor that a run trains, by name."""
    with torch.device("meta"):  # shapes alone
        gpt = GPT(settings.config)
    return {name: tuple(p.shape) for name, p in gpt.named_parameters() if p.requires_grad}


# What must agree


def section_of(state: TrainingState) -> str:
    return state.section or "learning"


def changed(before: TrainingState, after: TrainingState, keys: tuple[str, ...]) -> TrainingState:
    """Other settings are other runs: they begin anew."""
    unusable = refused(before) or refused(after)
    if not unusable and runs_of(before) == runs_of(after):
        return after
    return after.but(step=0, left=0, running=False, place=0, open=None, pins=[])


def agreed(state: TrainingState) -> TrainingState:
    """Heads that fit the width, and a layer, a head, a tensor and a place in it that are there."""
    state = state.but(n_head=str(min(int(state.n_head), int(state.n_embd))))
    if state.compare == "nothing":
        state = state.but(which="1")
    if refused(state):
        return state.but(step=0, left=0, running=False, place=0)
    run = looked_into(state)
    layer, head = min(int(state.layer), run.n_layer), min(int(state.head), run.n_head)
    state = state.but(layer=str(layer), head=str(head), left=min(state.left, MOST - state.step))
    return placed(state, shapes(run))


def placed(state: TrainingState, found: dict[str, tuple[int, ...]]) -> TrainingState:
    """A number chosen in the tables of a tensor is the weight that is opened."""
    name = state.weight if state.weight in found else next(iter(found))
    row, col = state.row, state.col
    if state.open and state.open[0] in ("tensor", "gradient"):
        row = row // SHOWN * SHOWN + state.open[2]
        col = col // SHOWN * SHOWN + state.open[3]
        state = state.but(open=["after", 0, 0, 4])
    rows, cols = (*found[name], 1)[:2]  # a bias is a column
    return state.but(weight=name, row=min(row, rows - 1), col=min(col, cols - 1))
