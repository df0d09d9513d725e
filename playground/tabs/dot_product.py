"""Dot product and softmax: one query asks all tokens, and mixes what they say."""

from __future__ import annotations

from dataclasses import replace

from lessons.words import Words, same
from model.attention import AttentionTrace, attend, resume, voices
from model.mistakes import MISTAKES
from playground import code
from playground.flow import Flow, Matrix, input_matrix, typed_weights, x_of
from playground.html import number
from playground.render import Html, token_label
from playground.state import State
from playground.tab import Preset, Tab
from playground.tabs.self_attention import JOURNEY, JOURNEY_VECTORS, TYPED_LINE, share

LINES = {
    "scores": "scores = q @ k.mT  # q = x[query], k = x: a dot product with every token",
    "divided": "divided = scores / scores.sum()  # the naive way",
    "weights": "weights = scores.softmax(dim=-1)",
    "voices": "voices = weights.unsqueeze(-1) * x  # each vector at its own volume",
    "running": "running = voices.cumsum(dim=-2)  # the sum so far, token by token",
    "output": "output = weights @ x",
}


def traces(state: State) -> tuple[AttentionTrace, AttentionTrace]:
    """(as shown, with scores divided by their sum): one query, no scaling, no mask."""
    x = x_of(state)
    q = x[state.query : state.query + 1]  # (1, d)
    by_sum = MISTAKES["divide_by_sum"](q, x, x, scale=False)
    if state.mistake:
        return MISTAKES[state.mistake](q, x, x, scale=False), by_sum
    shown = attend(q, x, x, scale=False)
    typed = typed_weights(state, rows=1)
    return (shown if typed is None else resume(shown, weights=typed[0], scale=False)), by_sum


def flow(state: State) -> Flow:
    shown, by_sum = traces(state)
    x = x_of(state)
    tokens, query = list(range(len(x))), [state.query]
    each = voices(shown.weights, x)[0]  # (T, d)
    matrices = [
        input_matrix(state),
        Matrix(
            "scores",
            "scores",
            shown.scores,
            query,
            tokens,
            op=Words("dot products", "점곱"),
            op_note=Words("with the query", "쿼리와 곱하기"),
        ),
        Matrix(
            "divided",
            "by sum",
            by_sum.weights,
            query,
            tokens,
            kind="weight",
            new_row=True,
            op=same("÷ Σ"),
            op_note=Words("naive", "단순한 방법"),
        ),
        Matrix(
            "weights",
            "weights",
            shown.weights,
            query,
            tokens,
            kind="weight",
            op=Words("typed", "직접 입력") if state.typed else same("softmax"),
            op_note=None if state.typed else Words("from the scores", "점수에서"),
            editable=state.typed,
        ),
        Matrix(
            "voices",
            "voices",
            each,
            tokens,
            new_row=True,
            op=Words("weight × vector", "가중치 × 벡터"),
        ),
        Matrix(
            "running",
            "running sum",
            each.cumsum(dim=-2),
            tokens,
            op=Words("add up", "차례로 더하기"),
            op_note=Words("token by token", "토큰마다"),
        ),
        Matrix("output", "output", shown.output, query, op=Words("= the sum", "= 합")),
    ]
    lines = LINES | ({"weights": TYPED_LINE} if state.typed else {})
    placed = [replace(m, line=lines.get(m.name, "")) for m in matrices]
    return Flow(placed, {"query": state.query})


def sentence(flow: Flow, state: State, lang: str) -> Html:
    """The worked sentence: who the query listens to, and what comes out."""
    weights, output = flow.get("weights").values[0], flow.get("output").values[0]
    best = int(weights.argmax())
    vector = ", ".join(number(v) for v in output.tolist()[:8])
    if len(output) > 8:
        vector += ", …"
    text = HEARD(
        lang,
        query=token_label(state, state.query),
        share=f"<b>{share(float(weights[best]))}</b>",
        best=token_label(state, best) if best != state.query else f"<b>{ITSELF(lang)}</b>",
        vector=f"<b>[{vector}]</b>",
    )
    total = float(weights.sum())
    if abs(total - 1) > 1e-9:
        text += " " + TOTAL(lang, total=number(total, 4))
    if float(flow.get("divided").values.min()) < 0:
        text += " " + NEGATIVE(lang)
    return Html(text)


HEARD = Words(
    "{query} hears {best} loudest, at {share}, and becomes {vector}.",
    "{query} 토큰은 {best}의 목소리를 가장 크게({share}) 듣고 {vector} 벡터가 됩니다.",
)
ITSELF = Words("itself", "자기 자신")
TOTAL = Words("These weights sum to {total}, not 1.", "이 가중치의 합은 1이 아니라 {total}입니다.")
NEGATIVE = Words(
    "Dividing by the sum makes a negative share here; softmax never does.",
    "여기서는 합으로 나누면 음수 몫이 생깁니다. 소프트맥스에는 음수가 없습니다.",
)


def script(state: State) -> str:
    shown, by_sum = traces(state)
    weights = "weights = scores.softmax(dim=-1)  # (1, T)"
    typed = typed_weights(state, rows=1)
    if typed is not None:
        weights = f"weights = {code.literal(typed[0])}  # typed by hand"
    if state.mistake:
        weights = "\n".join(code.spoiled(state.mistake)["weights"])
    return code.script(
        "Attention playground: dot product and softmax",
        [*code.inputs(state.tokens, x=x_of(state)), f"query = {state.query}"],
        [
            "q = x[query : query + 1]  # (1, d)",
            "scores = q @ x.mT  # (1, d) @ (d, T) -> (1, T)",
            "masked = scores  # nothing is scaled or masked here",
            "divided = scores / scores.sum(dim=-1, keepdim=True)  # the naive way",
            weights,
            "voices = weights[0].unsqueeze(-1) * x  # (T, 1) * (T, d): each vector at its own volume",
            "running = voices.cumsum(dim=0)  # the sum so far, token by token",
            "output = weights @ x  # (1, T) @ (T, d) -> (1, d)",
        ],
        code.comparison("divided", by_sum.weights)
        + code.comparison("weights", shown.weights)
        + code.comparison("output", shown.output),
        ["print(output)"],
    )


TAB = Tab(
    name="dot-product",
    order=1,
    title=Words("Dot product and softmax", "점곱과 소프트맥스"),
    intro=Words(
        "A <b>dot product</b> multiplies two vectors number by number and adds up: large when they point the "
        "same way. One token, the <b>query</b>, takes it with every token. <b>Softmax</b> turns those scores "
        "into weights that sum to 1, and the weights set how loudly each vector speaks in the sum.",
        "<b>점곱(내적)</b>은 두 벡터를 자리마다 곱해 모두 더한 값입니다. 방향이 비슷할수록 커집니다. 한 토큰이 <b>쿼리</b>가 되어 모든 "
        "토큰과 점곱을 합니다. <b>소프트맥스</b>는 그 점수를 합이 1인 가중치로 바꾸고, 가중치는 각 벡터가 합에서 얼마나 큰 목소리를 "
        "낼지 정합니다.",
    ),
    formula=Html(
        "<span>s<sub>j</sub> = q · x<sub>j</sub></span> <span>w = softmax(s)</span> "
        "<span>z = Σ w<sub>j</sub> x<sub>j</sub></span>"
    ),
    presets=(
        Preset(
            "journey",
            same("Your journey"),
            Words(
                "The weight of “starts” is open. Make the last number of “step” 3: the vector of “starts” does not "
                "change. Does its weight?",
                "‘starts’의 가중치가 열려 있습니다. ‘step’의 마지막 숫자를 3으로 바꿔 보십시오. ‘starts’의 벡터는 그대로인데 가중치도 "
                "그대로이겠습니까?",
            ),
            State(tokens=JOURNEY, vectors=JOURNEY_VECTORS, query=1, open=["weights", 0, 0, 2]),
        ),
        Preset(
            "voices",
            Words("Three voices", "세 목소리"),
            Words(
                "These weights were typed: 0.1, 0.8, 0.1. Let softmax do it instead. From the dot products 200, "
                "2000 and 100, what will it make?",
                "가중치 0.1, 0.8, 0.1은 직접 입력한 값입니다. 소프트맥스에 맡기면 점곱 200, 2000, 100이 어떤 가중치가 되겠습니까?",
            ),
            State(
                tokens=["할머니", "만수무강", "하세요"],
                vectors=[[10.0, 10.0], [100.0, 100.0], [5.0, 5.0]],
                typed=True,
                weights=[[[0.1, 0.8, 0.1]]],
                query=0,
                open=["running", 0, 2, 0],
            ),
        ),
        Preset(
            "negative",
            Words("A negative score", "음수 점수"),
            Words(
                "One score is negative. Compare “by sum” with softmax. Now turn the last vector round until the "
                "scores almost sum to 0.",
                "점수 하나가 음수입니다. ‘by sum’과 소프트맥스를 비교해 보십시오. 마지막 벡터의 방향을 돌려 점수의 합을 0에 가깝게 "
                "만들어 보십시오.",
            ),
            State(
                tokens=["sun", "warm", "snow"],
                vectors=[[1.0, 0.5], [0.8, 0.6], [-1.0, 0.3]],
                query=0,
                open=["divided", 0, 0, 2],
            ),
        ),
        Preset(
            "big",
            Words("Big scores", "큰 점수"),
            Words(
                "Scores 5, 95 and 12 are sometimes said to give 0.01, 0.88, 0.03. Predict, then open the weights.",
                "점수 5, 95, 12에서 0.01, 0.88, 0.03이 나온다는 설명이 있습니다. 먼저 예측하고 가중치를 열어 보십시오.",
            ),
            State(
                tokens=["it", "street", "animal", "tired"],
                vectors=[[1.0, 0.0], [5.0, 1.0], [95.0, 1.0], [12.0, 1.0]],
                query=0,
                open=["weights", 0, 0, 1],
            ),
        ),
    ),
    flow=flow,
    sentence=sentence,
    script=script,
    controls=("tokens", "query", "typed"),
    mistakes=("divide_by_sum",),
    ask=("scores", "weights", "running"),
)
