"""What a person has set in the encoder–decoder tab. A training is only its recipe, seed, rate and step."""

from __future__ import annotations

from dataclasses import dataclass, field

from lessons.words import Words, same
from model.plus_two import LENGTH, N_HEAD, N_LAYER, PRINTED, RECIPES
from playground import input_errors as errors
from playground.embeddings.state import POSITIONS
from playground.form.fields import Choice, Decimal, Field, Rows, Whole
from playground.form.state import FormState
from playground.state import MAX_SEED

MOST = 2000  # training steps of a run

RECIPE_NAMES = {
    "as_printed": Words(
        "as printed: one sequence, not scaled, dropout",
        "노트 그대로: 수열 하나, 나누지 않은 수, 드롭아웃",
    ),
    "mended": Words(
        "mended: many sequences, numbers ÷ 50, no dropout",
        "고친 방법: 수열 여럿, 50으로 나눈 수, 드롭아웃 없음",
    ),
}
assert set(RECIPE_NAMES) == set(RECIPES)

WHERE = {
    "encoder": Words("encoder", "인코더"),
    "decoder": Words("decoder, masked", "디코더(마스크)"),
    "cross": Words("cross", "교차"),
}


@dataclass(frozen=True)
class EncoderDecoderState(FormState):
    numbers: list[list[float]] = field(default_factory=PRINTED.tolist)  # the person's sequence
    recipe: str = "as_printed"
    seed: int = 1
    rate: float = RECIPES["as_printed"].learning_rate
    step: int = 0  # trained so far
    left: int = 0  # steps until training pauses
    where: str = "cross"  # whose attention is enlarged
    layer: str = "1"
    head: str = "1"
    fed: str = "right"  # what the decoder reads: the right answers, or its own
    first: int = 0  # two positions to compare
    second: int = 2


FIELDS: dict[str, Field] = {
    "numbers": Rows(most_rows=1, most_cols=LENGTH),
    "recipe": Choice(Words("recipe", "방법"), RECIPE_NAMES),
    "seed": Whole(Words("seed", "시드"), 0, MAX_SEED),
    "rate": Decimal(Words("learning rate", "학습률"), 0.00001, 0.1),
    "step": Whole(None, 0, MOST),
    "left": Whole(None, 0, MOST),
    "where": Choice(options=WHERE),  # these three are chosen by a picture
    "layer": Choice(options={str(n + 1): same(str(n + 1)) for n in range(N_LAYER)}),
    "head": Choice(options={str(n + 1): same(str(n + 1)) for n in range(N_HEAD)}),
    "fed": Choice(
        Words("the decoder reads", "디코더가 읽는 것"),
        {
            "right": Words("the right answers (teacher forcing)", "정답(교사 강요)"),
            "own": Words("its own answers (free running)", "자기가 낸 답(자유 실행)"),
        },
    ),
    "first": Whole(Words("position", "위치"), 0, POSITIONS - 1),
    "second": Whole(Words("and position", "견줄 위치"), 0, POSITIONS - 1),
}


def section_of(state: EncoderDecoderState) -> str:
    return state.section or "training"


def checked(state: EncoderDecoderState) -> EncoderDecoderState:
    """Five numbers, and no more steps ahead than a run may have."""
    if len(state.numbers[0]) != LENGTH:
        raise errors.LinkError(where="numbers", found=len(state.numbers[0]), wanted=LENGTH)
    return state.but(left=min(state.left, MOST - state.step))


def changed(
    before: EncoderDecoderState, after: EncoderDecoderState, keys: tuple[str, ...]
) -> EncoderDecoderState:
    """Another recipe, seed or rate is another training; another recipe brings its own rate."""
    if not {"recipe", "seed", "rate"} & set(keys):
        return after
    if "recipe" in keys:
        after = after.but(rate=RECIPES[after.recipe].learning_rate)
    return after.but(step=0, left=0, running=False, place=0)
