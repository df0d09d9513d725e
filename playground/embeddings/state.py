"""What is set in the tab of embeddings and positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lessons.words import Words
from model.checkpoint import Checkpoint
from playground import models
from playground.controls import radios
from playground.form.fields import Choice, Field, Switch, Text, Whole, need
from playground.form.state import FormState
from playground.html import Html, esc

SHOWN = 8  # columns of a vector that are shown as numbers at a time
POSITIONS = 128  # places in a text that are looked at
MOST_WORD = 24  # characters of a word


@dataclass(frozen=True)
class EmbeddingsState(FormState):
    table: str = "sinusoidal"  # or "learned"
    width: int = 16  # of the sinusoidal table
    first: int = 5  # two positions to compare
    second: int = 9
    measure: str = "dots"  # or "cosines"
    model: str = "shakespeare"
    word: str = "king"
    minus: str = "man"
    plus: str = "wife"
    blank: bool = True  # words are read as they stand after a blank
    count: int = 8  # neighbours
    position: int = 3  # of the word in a text, for the sum
    column: int = 0  # the first that is shown


@dataclass(frozen=True)
class ModelName(Field):
    """One of the models on offer, a person's own among them."""

    def check(self, name: str, value: Any) -> Any:
        names = models.names()
        need(isinstance(value, str) and value in names, name, value, " | ".join(names))
        return value

    def control(self, form: str, state: FormState, lang: str, name: str) -> Html:
        label = esc(self.label(lang))
        found = radios(name, form, [(n, n) for n in models.names()], getattr(state, name))
        return Html(
            f'<span class="row" role="radiogroup" aria-label="{label}"><span class="kick">{label}</span>{found}</span>'
        )


FIELDS: dict[str, Field] = {
    "table": Choice(
        Words("table", "표"),
        {
            "sinusoidal": Words("sine and cosine", "사인과 코사인"),
            "learned": Words("learned (wpe)", "학습한 표(wpe)"),
        },
    ),
    "width": Whole(Words("columns", "열의 수"), 2, 64),
    "first": Whole(Words("position", "위치"), 0, POSITIONS - 1),
    "second": Whole(Words("and position", "견줄 위치"), 0, POSITIONS - 1),
    "measure": Choice(
        Words("compare by", "견주는 방법"),
        {"dots": Words("dot product", "점곱"), "cosines": Words("cosine", "코사인 유사도")},
    ),
    "model": ModelName(Words("model", "모델")),
    "word": Text(Words("word", "단어"), most=MOST_WORD),
    "minus": Text(Words("minus", "빼기"), most=MOST_WORD),
    "plus": Text(Words("plus", "더하기"), most=MOST_WORD),
    "blank": Switch(
        Words("with a blank before it, as in a sentence", "문장 안에서처럼 앞에 빈칸을 두고 읽기")
    ),
    "count": Whole(Words("neighbours", "이웃의 수"), 1, 20),
    "position": Whole(Words("position", "위치"), 0, POSITIONS - 1),
    "column": Whole(Words("first column shown", "보이는 첫 열"), 0, 4095),
}


def section_of(state: EmbeddingsState) -> str:
    return state.section or "positions"


def checkpoint(state: EmbeddingsState) -> Checkpoint:
    return models.checkpoint(state.model)


def is_learned(state: EmbeddingsState) -> bool:
    """Whether what is looked at comes out of a trained model."""
    return section_of(state) != "positions" or state.table == "learned"


def places(state: EmbeddingsState) -> int:
    """How many positions are looked at: a model's own, or as many for the sinusoids."""
    if not is_learned(state):
        return POSITIONS
    return min(POSITIONS, checkpoint(state).gpt.config.block_size)


def columns(state: EmbeddingsState) -> int:
    return checkpoint(state).gpt.config.n_embd if is_learned(state) else state.width


def settle(state: EmbeddingsState) -> EmbeddingsState:
    """Positions and columns that the table has."""
    last = places(state) - 1
    return state.but(
        first=min(state.first, last),
        second=min(state.second, last),
        position=min(state.position, last),
        column=max(0, min(state.column, columns(state) - SHOWN)),
    )
