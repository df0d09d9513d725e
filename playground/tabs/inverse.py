"""Inverse attention: say which weight you want, and find the vectors that give it."""

from __future__ import annotations

from lessons.words import Words
from playground.form.form import Example, Form, Group
from playground.form.panel import FormPanel
from playground.form.view import MARKS
from playground.html import Html
from playground.inverse.flow import flow
from playground.inverse.state import FIELDS, InverseState, changed, more, once, settle
from playground.inverse.view import bottom, top
from playground.tabs.self_attention import JOURNEY, JOURNEY_VECTORS

FORMULA = Html(
    "<span>loss = t ln(t / w)</span> <span>+ (1 − t) ln((1 − t) / (1 − w))</span> "
    "<span>x ← x − rate × ∂loss/∂x</span>"
)

EXAMPLES = (
    Example(
        "three",
        Words("Three tokens", "토큰 셋"),
        Words(
            "Take one step and watch the share. Each number of ∂ X says how the loss would grow if that number of "
            "X grew; open one, and compare it with the slope found by trying. Then let gradient descent go on: how "
            "many steps does it need?",
            "‘한 걸음’을 누르고 비율을 보십시오. ∂ X의 숫자는 X의 그 숫자를 키우면 손실이 얼마나 커지는지를 말합니다. 하나를 열어, 직접 "
            "바꾸어 구한 기울기와 견주어 보십시오. 그런 다음 경사 하강법에 맡기십시오. 몇 걸음이 필요합니까?",
        ),
        InverseState(open=["gradient", 0, 2, 0]),
    ),
    Example(
        "your-turn",
        Words("Your turn", "직접 해 보기"),
        Words(
            "First try it yourself: change numbers in X until “journey” gives 80 % to “Your”. Which vector would you "
            "make longer? Careful, one of the two makes it worse. Then press Reset and let gradient descent do it.",
            "먼저 직접 해 보십시오. X의 숫자를 고쳐 journey가 Your에 80 %를 주게 만드십시오. 어느 벡터를 길게 하겠습니까? 둘 중 하나는 "
            "오히려 나빠집니다. 그런 다음 ‘처음으로’를 누르고 경사 하강법에 맡겨 보십시오.",
        ),
        InverseState(
            tokens=JOURNEY, vectors=JOURNEY_VECTORS, query=1, key=0, open=["weights", 0, 1, 0]
        ),
    ),
    Example(
        "saturated",
        Words("No gradient left", "사라진 기울기"),
        Words(
            "Two of the vectors are long and nothing is divided by √d: the softmax is saturated, the share w almost 0. "
            "The squared distance as loss multiplies the gradient by w (1 − w), and next to nothing is left, although "
            "the share should be 80 %. Switch the loss to cross-entropy: with the same numbers, the gradient of the "
            "score is −0.8.",
            "벡터 둘이 긴데 √d로 나누지도 않아 소프트맥스가 포화되었고, 비율 w는 거의 0입니다. 거리의 제곱을 손실로 쓰면 기울기에 "
            "w (1 − w)가 곱해져, 비율이 80 %여야 하는데도 기울기가 거의 없습니다. 손실을 교차 엔트로피로 바꿔 보십시오. 숫자는 그대로인데 "
            "점수의 기울기가 −0.8이 됩니다.",
        ),
        InverseState(
            vectors=[[1.0, 0.0], [4.0, 2.0], [4.0, 2.2]],
            loss="squares",
            scale=False,
            rate=0.1,
            open=["score_gradient", 0, 0, 0],
        ),
    ),
    Example(
        "too-long",
        Words("Too long a step", "너무 긴 걸음"),
        Words(
            "At the learning rate 5 the second step is so long that the share falls from 37 % to 1 %. Take the steps one "
            "by one, then press Reset and try 4 and 1: which of them arrives sooner?",
            "학습률이 5이면 두 번째 걸음이 너무 길어 비율이 37 %에서 1 %로 떨어집니다. 한 걸음씩 가 본 다음, ‘처음으로’를 누르고 4와 "
            "1로도 해 보십시오. 어느 쪽이 먼저 닿습니까?",
        ),
        InverseState(rate=5.0, open=["after", 0, 0, 0]),
    ),
    Example(
        "hidden",
        Words("Out of reach", "닿을 수 없는 목표"),
        Words(
            "Under the causal mask the first token cannot see the third. Change any number of X: does its weight "
            "move? Switch the mask off, and the goal comes within reach.",
            "코잘 마스크를 쓰면 첫 토큰은 셋째 토큰을 볼 수 없습니다. X의 숫자를 아무거나 바꿔 보십시오. 그 가중치가 움직입니까? 마스크를 "
            "끄면 목표에 닿을 수 있게 됩니다.",
        ),
        InverseState(query=0, key=2, causal=True, open=["weights", 0, 0, 2]),
    ),
)

TAB = FormPanel(
    Form(
        name="inverse",
        order=10,
        title=Words("Inverse attention", "거꾸로 어텐션"),
        heading=Words("Inverse attention", "거꾸로 어텐션"),
        intro=Words(
            "Until now vectors made weights. Here it goes the other way round: say which <b>weight</b> you want, and "
            "find <b>vectors</b> that give it. Q, K and V are the vectors X themselves. Change them by hand for points, "
            "or let <b>gradient descent</b> do it: it asks of each number how the loss would grow with it, and moves "
            "the number the other way. In the formulas w is the share now and t the goal.",
            "지금까지는 벡터에서 가중치가 나왔습니다. 여기서는 거꾸로 갑니다. 원하는 <b>가중치</b>를 먼저 말하고, 그렇게 되는 <b>벡터</b>를 "
            "찾습니다. Q, K, V는 모두 벡터 X 그대로입니다. 숫자를 직접 고쳐 달성도를 올려 보고, <b>경사 하강법</b>에도 맡겨 보십시오. 경사 "
            "하강법은 숫자마다 그 수가 커지면 손실이 얼마나 커지는지를 구해 그 반대쪽으로 옮깁니다. 식에서 w는 지금의 비율, t는 목표입니다.",
        ),
        formula=FORMULA,
        examples=EXAMPLES,
        state=InverseState,
        fields=FIELDS,
        flow=flow,
        top=top,
        bottom=bottom,
        groups=(
            Group(Words("Gradient descent", "경사 하강법"), ("rate", "loss")),
            Group(Words("Attention and vectors", "어텐션과 벡터"), ("scale", "causal", "vectors")),
        ),
        actions={"once": once},
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
