"""Self-attention: X → Q, K, V → scores → scaled → masked → weights → output."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from lessons.words import Words, same
from model.attention import attend
from model.mistakes import names
from playground import code
from playground.arithmetic import equal
from playground.flow import (
    Flow,
    attention_matrices,
    input_matrix,
    keep_of,
    mask_of,
    qkv_matrices,
    qkv_of,
    single_head,
    typed_weights,
    w_matrices,
    w_of,
    x_of,
)
from playground.html import number
from playground.render import Html, token_label
from playground.state import State
from playground.tab import Preset, Tab

JOURNEY = ["Your", "journey", "starts", "with", "one", "step"]
JOURNEY_VECTORS = [
    [0.43, 0.15, 0.89],
    [0.55, 0.87, 0.66],
    [0.57, 0.85, 0.64],
    [0.22, 0.58, 0.33],
    [0.77, 0.25, 0.10],
    [0.05, 0.80, 0.55],
]
PROJECTION_LINES = {"q": "q = x @ w_query", "k": "k = x @ w_key", "v": "v = x @ w_value"}


def flow(state: State) -> Flow:
    shown, right, options = single_head(state)
    T = len(state.tokens)
    given = state.w == "given"
    qkv = qkv_matrices(shown, right, T, editable=given)
    op = Words("no W: Q = K = V = X", "W 없음: Q = K = V = X")
    note = None
    if state.w in ("typed", "seeded"):
        op = same("× Wq, Wk, Wv")
        size = f"{state.width} × {state.channels}"
        note = Words(f"{size} each", f"각 {size}")
    qkv[0] = replace(qkv[0], op=None if given else op, op_note=note)
    matrices = qkv if given else [input_matrix(state), *w_matrices(state), *qkv]
    matrices += attention_matrices(state, shown, right)
    mistake = code.active(state.mistake, state.causal, state.dropout > 0)
    lines = dict(code.lines_of(attend, mistake)) | projection_lines(state)
    if state.typed:
        lines["weights"] = TYPED_LINE
    if not state.dropout:  # no `dropped` on the page to multiply
        lines["output"] = lines["output"].replace("dropped @", "weights @")
    w_query, w_key, w_value = w_of(state)
    return Flow(
        [replace(m, line=lines.get(m.name, "")) for m in matrices],
        {
            "w_query": w_query,
            "w_key": w_key,
            "w_value": w_value,
            "head_size": shown.q.size(-1),
            "d_model": state.width,
            "keep": options["keep"],
            "dropout": state.dropout,
        },
    )


def projection_lines(state: State) -> dict[str, str]:
    """How q, k and v come from x; without W they are x itself."""
    if state.w == "given":
        return {}
    return {s: f"{s} = x" for s in "qkv"} if state.w == "identity" else PROJECTION_LINES


TYPED_LINE = "weights = torch.tensor(...)  # typed by hand"


def sentence(flow: Flow, state: State, lang: str) -> Html:
    """Who a token attends to most: the opened row, else the second token."""
    weights = flow.get("weights").values
    row = state.open[2] if state.open and state.open[2] < len(weights) else min(1, len(weights) - 1)
    found = weights[row]
    if not found.isfinite().all():
        return Html(NOT_A_NUMBER(lang, token=token_label(state, row)))
    if not found.any():
        return Html(NOBODY(lang, token=token_label(state, row)))
    text = MOST(
        lang,
        token=token_label(state, row),
        share=f"<b>{share(float(found.max()))}</b>",
        best=listeners(found, row, state, lang),
    )
    if state.dropout and not state.typed:
        text += " " + DROPPED(lang)
    total = float(found.sum())
    if not equal(total, 1.0):
        text += " " + ROW_SUM(lang, total=number(total, 4))
    if state.causal and row + 1 < len(found):
        future = float(found[row + 1 :].sum())
        text += " " + (NO_FUTURE(lang) if future == 0 else FUTURE(lang, p=share(future)))
    return Html(text)


def share(weight: float) -> str:
    """A weight as a percentage, as long as it can be one."""
    return f"{weight * 100:.0f} %" if 0 <= weight <= 1 else number(weight)


def listeners(weights: Tensor, row: int, state: State, lang: str) -> Html:
    """Who gets the largest weight of a row, as the object of "gives ... to"; ties are all named."""
    most = float(weights.max())
    best = [i for i, w in enumerate(weights.tolist()) if equal(w, most)]
    names = [
        Html(f"<b>{SELF(lang)}</b>") if i == row else TO(lang, token=token_label(state, i))
        for i in best[:3]
    ]
    return Html(AND(lang).join(names) + (" …" if len(best) > 3 else ""))


MOST = Words(
    "{token} gives {share} of its attention to {best}.",
    "{token} 토큰은 어텐션의 {share}만큼을 {best} 줍니다.",
)
SELF = Words("itself", "자기 자신에게")
TO = Words("{token}", "{token} 토큰에")
AND = Words(" and as much to ", ", 같은 만큼을 ")
NOBODY = Words(
    "{token} listens to nobody: its row is all 0.",
    "{token} 토큰은 아무것도 듣지 않습니다. 행이 모두 0입니다.",
)
DROPPED = Words("That is before dropout.", "드롭아웃을 하기 전의 값입니다.")
ROW_SUM = Words("Its row sums to {total}, not 1.", "이 행의 합은 1이 아니라 {total}입니다.")
NO_FUTURE = Words("The future gets exactly 0.", "미래에는 정확히 0을 줍니다.")
FUTURE = Words("The future still gets {p}!", "미래에도 {p}만큼을 줍니다!")
NOT_A_NUMBER = Words(
    "{token} has no weights: its row is NaN, because softmax had nothing left to choose from.",
    "{token} 토큰에는 가중치가 없습니다. 소프트맥스가 고를 것이 없어 행이 NaN이 되었습니다.",
)


def script(state: State) -> str:
    """The present numbers as a script for torch alone."""
    shown, _, _ = single_head(state)
    q, k, v = qkv_of(state)
    given = state.w == "given"
    x, w = None if given else x_of(state), w_of(state)
    mistake = code.active(state.mistake, state.causal, state.dropout > 0)
    names = ["w_query", "w_key", "w_value"]
    matrices = code.inputs(state.tokens, x=x, **dict(zip(names, w, strict=True)))
    if given:
        matrices = code.inputs(state.tokens, q=q, k=k, v=v)
    project = (
        []
        if given
        else [
            f"{s} = x" if m is None else PROJECTION_LINES[s] for s, m in zip("qkv", w, strict=True)
        ]
    )
    replaced = {}
    typed = typed_weights(state)
    if typed is not None:
        replaced["weights"] = f"weights = {code.literal(typed[0])}  # typed by hand"
    lines = [line for _, line in code.lines_of(attend, mistake, replaced)]
    keep = keep_of(state, (len(q), len(q)))
    extra = [f"d_model = {state.width}"] if state.mistake == "scale_by_d_model" else []
    return code.script(
        "Attention playground: self-attention",
        matrices,
        [*code.settings(state, keep, mask_of(state) is not None), *extra],
        project,
        lines,
        code.comparison("weights", shown.weights) + code.comparison("output", shown.output),
        ["print(output)"],
    )


TAB = Tab(
    name="self-attention",
    order=2,
    title=Words("Self-attention", "셀프 어텐션"),
    intro=Words(
        "Each token makes three vectors: a <b>query</b> (what am I looking for?), a <b>key</b> (what do I "
        "offer?) and a <b>value</b> (what do I hand over?). Every query meets every key in a dot product; "
        "divided by √d, softmax turns a row of scores into weights that sum to 1; the weights mix the values.",
        "토큰마다 벡터를 셋 만듭니다. <b>쿼리</b>(무엇을 찾는가), <b>키</b>(무엇을 내세우는가), <b>값</b>(무엇을 건네는가)입니다. "
        "쿼리는 모든 키와 점곱을 하고, 그 점수를 √d로 나눕니다. 소프트맥스는 점수 한 행을 합이 1인 가중치로 바꾸고, "
        "그 가중치로 값 벡터를 섞습니다.",
    ),
    formula=Html(
        "<span>weights = softmax(QKᵀ / √d<sub>k</sub> + mask)</span> "
        "<span>output = weights V</span>"
    ),
    presets=(
        Preset(
            "journey",
            Words("Your journey", "Your journey"),
            Words(
                "Open any weight, then switch on “no ÷ √d” under Break it. Do the weights become more even or "
                "less? Say it first.",
                "가중치 하나를 열어 본 다음 아래 ‘망가뜨려 보기’에서 ‘√d로 나누지 않음’을 켜 보십시오. 가중치가 더 고르게 될지, "
                "더 쏠릴지 먼저 말해 보십시오.",
            ),
            State(
                tokens=JOURNEY,
                vectors=JOURNEY_VECTORS,
                w="seeded",
                w_init="rand",
                w_seed=123,
                d_out=2,
                show_w=True,
                open=["weights", 0, 1, 1],
            ),
        ),
        Preset(
            "no-peeking",
            Words("No peeking", "미래 가리기"),
            Words(
                "The causal mask is on. Switch on “mask after softmax”: what will the rows sum to?",
                "코잘 마스크를 켠 상태입니다. ‘소프트맥스 뒤에 가림’을 켜면 각 행의 합은 얼마가 되겠습니까?",
            ),
            State(
                tokens=JOURNEY,
                vectors=JOURNEY_VECTORS,
                w="seeded",
                w_init="linear",
                w_seed=789,
                d_out=2,
                causal=True,
                open=["weights", 0, 1, 0],
            ),
        ),
        Preset(
            "school",
            Words("Three words", "나는 학교에 간다"),
            Words(
                "These weights are typed: the last word listens 10 %, 70 %, 20 %. Raise one voice and watch the "
                "output follow; then let softmax take over again.",
                "가중치를 직접 입력한 예입니다. ‘간다’는 10 %, 70 %, 20 %씩 듣습니다. 한 목소리를 키워 출력이 어떻게 따라가는지 "
                "보고, 다시 소프트맥스에 맡겨 보십시오.",
            ),
            State(
                tokens=["나는", "학교에", "간다"],
                vectors=[[1.0, 0.0, 0.2], [0.1, 1.0, 0.3], [0.3, 0.6, 1.0]],
                causal=True,
                typed=True,
                weights=[[[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.1, 0.7, 0.2]]],
                open=["output", 0, 2, 1],
            ),
        ),
        Preset(
            "saturated",
            Words("64 numbers a token", "토큰마다 숫자 64개"),
            Words(
                "With 64 numbers a token, dot products grow large. Look at the largest weight of each row, then "
                "switch ÷ √d off: softmax all but stops mixing.",
                "토큰마다 숫자가 64개이면 점곱이 커집니다. 행마다 가장 큰 가중치를 본 다음 ÷ √d를 꺼 보십시오. 소프트맥스가 거의 섞지 않게 됩니다.",
            ),
            State(
                tokens=["The", "bank", "can", "guarantee", "deposits"],
                vectors=JOURNEY_VECTORS[:5],
                x="seeded",
                x_seed=13,
                x_width=64,
                w="seeded",
                w_init="linear",
                w_seed=35,
                d_out=64,
                open=["scaled", 0, 1, 1],
            ),
        ),
        Preset(
            "dropout",
            Words("Dropout", "드롭아웃"),
            Words(
                "Half of the weights are dropped and the rest doubled. Do the rows still sum to 1? Compare "
                "with “rows made to sum to 1 after dropout”.",
                "가중치의 절반을 버리고 나머지는 두 배로 키웠습니다. 각 행의 합이 여전히 1입니까? ‘드롭아웃 뒤에 행의 합을 1로 맞춤’과 견주어 보십시오.",
            ),
            State(
                tokens=JOURNEY,
                vectors=JOURNEY_VECTORS,
                w="seeded",
                w_init="linear",
                w_seed=789,
                d_out=2,
                causal=True,
                dropout=0.5,
                dropout_seed=123,
                open=["dropped", 0, 2, 0],
            ),
        ),
    ),
    flow=flow,
    sentence=sentence,
    script=script,
    controls=("tokens", "projections", "mechanism", "dropout", "typed", "break"),
    mistakes=names(spoils="attend"),
    takes_qkv=True,
    ask=("scores", "weights", "output"),
)
