"""The Block tab: one block in its parts, and what residual and LayerNorm do for twelve."""

from __future__ import annotations

from lessons.words import Words
from playground.block import stack, steps
from playground.block.examples import EXAMPLES
from playground.block.state import FIELDS, BlockState, changed, settle
from playground.flow import Flow
from playground.form.form import Form, Group
from playground.form.panel import FormPanel
from playground.form.view import MARKS
from playground.html import Html


def one(state: BlockState) -> bool:
    return state.section != "stack"


def many(state: BlockState) -> bool:
    return state.section == "stack"


def typed(state: BlockState) -> bool:
    return one(state) and state.source == "typed"


def trained(state: BlockState) -> bool:
    return one(state) and state.source == "trained"


def flow(state: BlockState, lang: str) -> Flow:
    return stack.flow(state, lang) if many(state) else steps.flow(state, lang)


def top(state: BlockState, lang: str) -> Html:
    return stack.top(state, lang) if many(state) else steps.top(state, lang)


def bottom(state: BlockState, lang: str) -> Html:
    return Html("") if many(state) else steps.bottom(state, lang)


FORM = Form(
    name="block",
    order=5,
    title=Words("Block", "블록"),
    heading=Words("A block, and blocks stacked", "블록 하나, 그리고 쌓은 블록"),
    intro=Words(
        "A block is attention, which fetches from other tokens, and then a <b>feed-forward</b> part (MLP), which works on each "
        "token alone. Two more things keep a tall stack of them alive: <b>LayerNorm</b> evens out what a part reads, and the "
        "<b>residual connection</b> adds what it found to what was there. The vector of a token that is carried on so, from sum "
        "to sum, is called the <b>stream</b>.",
        "블록은 다른 토큰에서 정보를 가져오는 어텐션과, 토큰마다 따로 계산하는 <b>피드포워드</b>(feed-forward, MLP)로 이루어집니다. 높이 쌓아도 "
        "무너지지 않게 하는 것이 둘 더 있습니다. <b>층 정규화</b>(LayerNorm)는 읽는 값을 고르게 하고, <b>잔차 연결</b>(residual "
        "connection)은 찾은 것을 원래 있던 것에 더합니다. 이렇게 더해지며 위로 전해지는 토큰의 벡터를 <b>흐름</b>(residual stream)이라고 "
        "합니다.",
    ),
    formula=Html(
        "<span>x ← x + attn(LN<sub>1</sub>(x))</span> <span>x ← x + mlp(LN<sub>2</sub>(x))</span>"
    ),
    examples=EXAMPLES,
    state=BlockState,
    fields=FIELDS,
    flow=flow,
    top=top,
    bottom=bottom,
    groups_above=(
        Group(Words("What goes in", "무엇을 넣을까요"), ("source",), one),
        Group(Words("The text", "글"), ("prompt", "layer", "at"), trained),
        Group(Words("The block", "블록"), ("norm", "residual", "activation"), one),
        Group(
            Words("Ways to build it", "만드는 방법"),
            ("pre", "post", "none", "no_residual", "neither"),
            many,
        ),
        Group(Words("The stack", "쌓기"), ("blocks", "width", "gain", "activation", "seed"), many),
    ),
    groups=(
        Group(Words("Tokens and vectors X", "토큰과 벡터 X"), ("vectors",), typed),
        Group(Words("Fresh weights", "갓 뽑은 가중치"), ("seed",), typed),
        Group(Words("Attention", "어텐션"), ("n_head", "causal", "inside"), typed),
        Group(Words("Attention", "어텐션"), ("inside",), trained),
    ),
    sections={
        "steps": Words("One block, step by step", "블록 하나, 한 단계씩"),
        "stack": Words("Up to twelve blocks", "블록을 열두 개까지"),
    },
    changed=changed,
    settle=settle,
    legend=(
        MARKS["weight"],
        MARKS["signed"],
        MARKS["masked"],
        MARKS["opened"],
        MARKS["sources"],
    ),
)
TAB = FormPanel(FORM)
