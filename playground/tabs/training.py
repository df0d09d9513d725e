"""The Training tab: a tiny GPT learns a task live, alone or beside a second run."""

from __future__ import annotations

from lessons.words import Words
from playground.flow import Flow
from playground.form.form import Form, Group
from playground.form.panel import FormPanel
from playground.form.runs import begin
from playground.form.view import MARKS
from playground.html import Html
from playground.training import attention, learning, weight
from playground.training.examples import EXAMPLES
from playground.training.runs import more, once, settle
from playground.training.state import FIELDS, TrainingState, changed, refused, section_of

SECTIONS = {
    "learning": Words("learning", "학습"),
    "attention": Words("attention forming", "생겨나는 어텐션"),
    "weight": Words("one step opened", "한 걸음 열어 보기"),
}
SHOWN = {"learning": learning, "attention": attention, "weight": weight}


def flow(state: TrainingState, lang: str) -> Flow:
    return SHOWN[section_of(state)].flow(state, lang)


def top(state: TrainingState, lang: str) -> Html:
    return SHOWN[section_of(state)].top(state, lang)


def in_(section: str):
    return lambda state: section_of(state) == section


def of_weight(state: TrainingState) -> bool:
    """Whether there is a weight to choose."""
    return section_of(state) == "weight" and not refused(state)


def of_two(state: TrainingState) -> bool:
    """Whether it has to be said which run is looked into."""
    return section_of(state) != "learning" and state.compare != "nothing"


TAB = FormPanel(
    Form(
        name="training",
        order=8,
        title=Words("Training", "학습"),
        heading=Words("Training, live", "눈앞에서 학습하기"),
        intro=Words(
            "Here a tiny GPT learns while you watch. Each step it foretells every next character of 16 rows, the "
            "<b>loss</b> measures how surprised it was, <b>backpropagation</b> finds for every weight how the loss would "
            "grow with it, and the <b>optimizer</b> moves the weight the other way.",
            "여기서는 아주 작은 GPT가 눈앞에서 배웁니다. 한 걸음마다 16줄의 다음 글자를 자리마다 예측하고, 얼마나 놀랐는지를 <b>손실</b>로 잽니다. "
            "<b>역전파</b>는 가중치마다 그 값이 커질 때 손실이 얼마나 커지는지를 구하고, <b>옵티마이저</b>(optimizer)는 가중치를 그 반대쪽으로 옮깁니다.",
        ),
        formula=Html(
            "<span>loss = −mean ln p(next)</span> <span>g = ∂loss / ∂w</span> <span>w ← w − η m̂ / (√v̂ + ε)</span>"
        ),
        examples=EXAMPLES,
        state=TrainingState,
        fields=FIELDS,
        flow=flow,
        top=top,
        groups_above=(
            Group(Words("Task", "과제"), ("task",), in_("learning")),
            Group(
                Words("Text", "글"),
                ("text",),
                lambda state: in_("learning")(state) and state.task == "text",
            ),
            Group(Words("Two runs side by side", "두 실행 나란히"), ("compare",), in_("learning")),
            Group(Words("Which run", "어느 실행"), ("which",), of_two),
            Group(Words("Which weight", "어느 가중치"), ("weight", "row", "col"), of_weight),
        ),
        groups=(
            Group(
                Words("The model", "모델"),
                ("n_layer", "n_head", "n_embd", "causal", "positions"),
                in_("learning"),
            ),
            Group(Words("The training", "학습 방법"), ("rate", "seed"), in_("learning")),
        ),
        sections=SECTIONS,
        actions={"once": once, "begin": begin, "enlarge": attention.enlarge},
        changed=changed,
        settle=settle,
        more=more,
        legend=(
            MARKS["weight"],
            MARKS["signed"],
            MARKS["masked"],
            MARKS["opened"],
            MARKS["sources"],
        ),
    )
)
