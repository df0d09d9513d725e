"""What attention costs: measured, counted, and made cheaper."""

from __future__ import annotations

from lessons.words import Words
from playground.cost import cheaper, measure, measure_view, sizes
from playground.cost.examples import EXAMPLES
from playground.cost.state import FIELDS, CostState, changed, settle
from playground.flow import Flow
from playground.form.form import Form, Group
from playground.form.panel import FormPanel
from playground.form.view import MARKS
from playground.html import Html

SECTIONS = {
    "measure": Words("measure it", "재 보기"),
    "sizes": Words("count it", "세어 보기"),
    "cheaper": Words("cheaper kinds", "더 값싼 어텐션"),
}
FLOWS = {"measure": measure.flow, "sizes": sizes.flow, "cheaper": cheaper.flow}
TOPS = {"measure": measure_view.top, "sizes": sizes.top, "cheaper": cheaper.top}


def section(state: CostState) -> str:
    return state.section or "measure"


def flow(state: CostState, lang: str) -> Flow:
    return FLOWS[section(state)](state, lang)


def top(state: CostState, lang: str) -> Html:
    return TOPS[section(state)](state, lang)


TAB = FormPanel(
    Form(
        name="cost",
        order=11,
        title=Words("Cost", "비용"),
        heading=Words("What attention costs", "어텐션의 비용"),
        intro=Words(
            "Every query meets every key: <b>twice the length, four times the scores</b>. Measure what that takes in time "
            "and memory, count it for whole models, and see what cheaper kinds of attention do to the numbers. In the formulas "
            "T is the number of tokens and C the width of a vector.",
            "모든 쿼리는 모든 키를 만납니다. 그래서 <b>길이가 두 배면 점수는 네 배</b>입니다. 시간과 메모리가 얼마나 드는지 직접 재고, "
            "모델 전체로는 얼마인지 세어 보고, 더 값싼 어텐션에서는 숫자가 어떻게 달라지는지 보십시오. 식에서 T는 토큰 수, C는 벡터의 "
            "너비입니다.",
        ),
        formula=Html("<span>QKᵀ : T × T</span><span>block : 12 C² T + 2 C T²</span>"),
        examples=EXAMPLES,
        state=CostState,
        fields=FIELDS,
        flow=flow,
        top=top,
        sections=SECTIONS,
        groups_above=(
            Group(Words("Measure", "잴 것"), ("others", "cap"), lambda s: section(s) == "measure"),
            Group(
                Words("Model", "모델"),
                ("model", "n_layer", "n_head", "n_embd"),
                lambda s: section(s) == "sizes",
            ),
            Group(
                Words("Text", "글"),
                ("length", "longer", "number"),
                lambda s: section(s) == "sizes",
            ),
            Group(
                Words("Kinds", "종류"),
                ("pattern", "window", "k", "causal"),
                lambda s: section(s) == "cheaper",
            ),
        ),
        groups=(Group(Words("Vectors", "벡터"), ("vectors",), lambda s: section(s) == "cheaper"),),
        changed=changed,
        settle=settle,
        more=measure.more,
        legend=tuple(MARKS.values()),
    )
)
