"""Masking: four ways to hide the future, side by side, with what leaks."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from lessons.words import Words, same
from model.attention import AttentionTrace, attend, causal_mask, resume
from model.masking import MASKINGS, future_weight, leak
from model.mistakes import MISTAKES, names
from playground import code
from playground.flow import (
    Flow,
    Matrix,
    distance,
    input_matrix,
    project,
    qkv_matrices,
    typed_weights,
    w_matrices,
    w_of,
    x_of,
)
from playground.render import Html, apart
from playground.state import State
from playground.tab import Preset, Tab
from playground.tabs.self_attention import (
    JOURNEY,
    JOURNEY_VECTORS,
    PROJECTION_LINES,
    projection_lines,
)

NAMES = {  # our masking -> the matrix's name on the page
    "before": "weights",
    "after": "weights_after",
    "renormalised": "weights_renormalised",
    "none": "weights_none",
}
TITLES = {
    "before": Words("−∞ before softmax", "소프트맥스 앞에서 −∞"),
    "after": Words("0 after softmax", "소프트맥스 뒤에서 0"),
    "renormalised": Words("0 after, then ÷ row sum", "뒤에서 0, 다시 ÷ 행의 합"),
    "none": Words("no mask", "마스크 없음"),
}
LINES = {
    "scores": "scores = q @ k.mT",
    "scaled": "scaled = scores / q.size(-1) ** 0.5",
    "masked": "masked = scaled.masked_fill(~mask, -torch.inf)",
    "weights": "weights = masked.softmax(dim=-1)",
    "weights_none": "none = scaled.softmax(dim=-1)",
    "weights_after": "after = none.masked_fill(~mask, 0.0)",
    "weights_renormalised": "renormalised = after / after.sum(dim=-1, keepdim=True)",
}
SUM_LINES = (
    "{w}.sum(dim=-1)",
    "{w}.masked_fill(mask, 0.0).sum(dim=-1)",
    "leak(attention, x)[t]  # x[t + 1:] = 0; how far does output[t] move?",
)
HEADERS = [
    Words("Σ row", "행의 합"),
    Words("future", "미래 몫"),
    Words("leak", "새는 양"),
]


def scaled_scores(state: State, x: Tensor) -> Tensor:
    """`(..., T, d)` -> scaled scores, with a mistake in them; log w where weights w are typed."""
    typed = typed_weights(state)
    if typed is not None:
        return typed[0].log().expand(*x.shape[:-1], x.size(-2))
    return broken(state, x, None).scaled


def broken(state: State, x: Tensor, mask: Tensor | None) -> AttentionTrace:
    """The attention of x `(..., T, d)` with the state's mistake in it."""
    q, k, v = (project(x, w) for w in w_of(state))
    if not state.mistake:
        return attend(q, k, v, mask, scale=state.scale)
    extra = {"d_model": state.width} if state.mistake == "scale_by_d_model" else {}
    return MISTAKES[state.mistake](q, k, v, mask, scale=state.scale, **extra)


def weigh(state: State, name: str, x: Tensor, mask: Tensor) -> Tensor:
    """The weights of one masking; a mistake in mask or softmax spoils only the first."""
    if name == "before" and state.mistake:
        return broken(state, x, mask).weights
    typed = typed_weights(state)
    if typed is None or name == "before":
        return MASKINGS[name](scaled_scores(state, x), mask)
    if name == "none":
        return typed[0]  # as typed, whatever its rows sum to
    after = typed[0].masked_fill(~mask, 0.0)
    return after if name == "after" else after / after.sum(dim=-1, keepdim=True)


def flow(state: State) -> Flow:
    x = x_of(state)
    T = len(x)
    mask = causal_mask(T)
    q, k, v = (project(x, w) for w in w_of(state))
    right = attend(q, k, v, mask, scale=state.scale)
    if state.typed:
        right = resume(right, mask, scaled=scaled_scores(state, x), scale=state.scale)
    shown = broken(state, x, mask) if state.mistake else right
    tokens = list(range(T))
    op = Words("X = Q = K = V", "X = Q = K = V") if state.w == "identity" else same("× Wq, Wk, Wv")
    matrices = [input_matrix(state), *w_matrices(state)]
    qkv = qkv_matrices(shown, right, T)
    matrices += [replace(qkv[0], op=op), *qkv[1:]]
    scaling = same(f"÷ √{q.size(-1)}") if state.scale else Words("no ÷ √d", "÷ √d 없음")
    steps = [
        Matrix("scores", "scores", shown.scores, op=same("Q Kᵀ"), new_row=True),
        Matrix(
            "scaled",
            "scaled",
            shown.scaled,
            op=same("log w") if state.typed else scaling,
        ),
        Matrix("masked", "masked", shown.masked, op=Words("mask", "마스크")),
    ]
    if state.mistake:
        steps = [replace(m, right=getattr(right, m.name)) for m in steps]
    matrices += [replace(m, rows=tokens, cols=tokens) for m in steps]
    for n, name in enumerate(MASKINGS):
        matrices += variant(state, name, x, right.weights, mask, first=n % 2 == 0)
    lines = LINES | projection_lines(state)
    if not state.scale:
        lines["scaled"] = "scaled = scores"
    lines |= code.spoiled_lines(state.mistake)
    if state.typed:
        lines["scaled"] = "scaled = typed.log()  # the scores that give the typed weights"
        lines["weights_none"] = "none = torch.tensor(...)  # typed by hand"
    placed = [replace(m, line=m.line or lines.get(m.name, "")) for m in matrices]
    w_query, w_key, w_value = w_of(state)
    return Flow(
        placed,
        {
            "w_query": w_query,
            "w_key": w_key,
            "w_value": w_value,
            "head_size": q.size(-1),
            "always_masked": True,
            "d_model": state.width,
        },
    )


def variant(
    state: State, name: str, x: Tensor, right: Tensor, mask: Tensor, first: bool
) -> list[Matrix]:
    """The weights of one masking and, beside them, row sum, future and leak."""
    tokens = list(range(len(x)))
    weights, w_value = weigh(state, name, x, mask), w_of(state)[2]

    def attention(x: Tensor) -> Tensor:
        return weigh(state, name, x, mask) @ project(x, w_value)

    sums = torch.stack(
        [weights.sum(dim=-1), future_weight(weights, mask), leak(attention, x)], dim=-1
    )
    matrix, variable = NAMES[name], "weights" if name == "before" else name
    table = Matrix(
        matrix,
        variable,
        weights,
        tokens,
        tokens,
        kind="weight",
        op=TITLES[name],
        above=True,
        causal=name != "none",
        new_row=first,
        right=right if name == "before" and state.mistake else None,
        editable=state.typed and name == "none",
    )
    beside = Matrix(
        f"sums_{matrix}",
        f"Σ {variable}",
        sums,
        tokens,
        headers=HEADERS,
        digits=3,
        column_lines=tuple(line.format(w=variable) for line in SUM_LINES),
    )
    return [table, beside]


def sentence(flow: Flow, state: State, lang: str) -> Html:
    renormalised = flow.get("weights_renormalised").values
    detour = distance(flow.get("weights").values, renormalised)
    sums = flow.get("sums_weights_after").values
    if state.mistake and not detour <= 1e-9:
        return Html(BROKEN(lang, d=apart(detour)))
    if not renormalised.isfinite().all():
        return Html((NOTHING_LEFT if state.typed else UNDERFLOW)(lang))
    text = SAME(lang, d=apart(detour) if detour else "0")
    low, most = float(sums[:, 0].min()), float(sums[:, 2].max())
    if low < 1 - 1e-9:
        text += " " + SHORT(lang, low=f"{low:.2f}")
    if most > 1e-12:
        text += " " + LEAKS(lang, leak=f"{most:.4f}")
    return Html(text)


SAME = Words(
    "Masking <b>before</b> softmax and masking after it <b>with</b> renormalising are the same (largest "
    "difference {d}).",
    "소프트맥스 <b>앞</b>에서 가린 것과, 뒤에서 가리고 <b>다시 나눈</b> 것은 같습니다(최대 차이 {d}).",
)
SHORT = Words(
    "Without renormalising, a row sums to as little as {low}.",
    "다시 나누지 않으면 행의 합이 {low}까지 줄어듭니다.",
)
LEAKS = Words(
    "And through those sums the future still leaks: erase it, and an output moves by up to {leak}.",
    "게다가 그 합을 통해 미래가 새어 나옵니다. 미래를 지우면 출력이 최대 {leak}만큼 움직입니다.",
)
BROKEN = Words(
    "The first and the third table now differ (largest difference {d}): the mechanism is broken.",
    "첫째 표와 셋째 표가 서로 다릅니다(최대 차이 {d}). 메커니즘이 망가졌습니다.",
)
UNDERFLOW = Words(
    "In a row the hidden scores are so much larger that softmax leaves the visible ones exactly 0: dividing "
    "by their sum afterwards is 0 / 0, NaN. Masking <b>before</b> softmax has no such trouble.",
    "가려야 할 점수가 훨씬 큰 행이 있어, 소프트맥스에서 보이는 토큰의 가중치가 정확히 0이 되었습니다. 뒤에서 그 합으로 나누면 "
    "0 / 0, 곧 NaN입니다. 소프트맥스 <b>앞</b>에서 가리면 이런 일이 없습니다.",
)
NOTHING_LEFT = Words(
    "A row of the typed weights gives nothing to any visible token, so nothing is left to share out: NaN.",
    "직접 입력한 가중치 중에 볼 수 있는 토큰에 아무것도 주지 않는 행이 있습니다. 나눌 것이 없어 NaN이 됩니다.",
)


def script(state: State) -> str:
    x, w = x_of(state), w_of(state)
    made = flow(state)
    names = ["w_query", "w_key", "w_value"]
    typed = typed_weights(state)
    lines = {
        "scores": "scores = q @ k.mT  # (T, T)",
        "scaled": "scaled = scores / q.size(-1) ** 0.5" if state.scale else "scaled = scores",
        "masked": "masked = scaled.masked_fill(~mask, -torch.inf)  # hidden: −∞",
        "weights": "weights = masked.softmax(dim=-1)",
    }
    if typed is not None:
        lines["scaled"] = (
            f"typed = {code.literal(typed[0])}\nscaled = typed.log()  # the scores that give them"
        )
    wrong = code.spoiled(state.mistake)
    steps = {step: "\n".join(wrong.get(step, [line])) for step, line in lines.items()}
    others = [
        "none = scaled.softmax(dim=-1)" if typed is None else "none = typed",
        "after = none.masked_fill(~mask, 0.0)",
        "renormalised = after / after.sum(dim=-1, keepdim=True)",
    ]
    extra = [f"d_model = {state.width}"] if state.mistake == "scale_by_d_model" else []
    checks = [
        line
        for name, matrix in NAMES.items()
        for line in code.comparison(
            "weights" if name == "before" else name, made.get(matrix).values
        )
    ]
    return code.script(
        "Attention playground: masking",
        code.inputs(state.tokens, x=x, **dict(zip(names, w, strict=True))),
        ["mask = torch.ones(len(tokens), len(tokens), dtype=torch.bool).tril()", *extra],
        [f"{s} = x" if m is None else PROJECTION_LINES[s] for s, m in zip("qkv", w, strict=True)],
        [*steps.values(), *others],
        checks,
        ["print(weights)"],
    )


FOUR_WORDS = [
    [2.1, 1.5, 0.8, 1.2],
    [1.3, 2.5, 1.1, 0.9],
    [0.7, 1.8, 2.2, 1.4],
    [1.0, 1.6, 1.9, 2.3],
]
EYE = [[float(r == c) for c in range(4)] for r in range(4)]

TAB = Tab(
    name="masking",
    order=3,
    title=Words("Masking", "마스킹"),
    intro=Words(
        "A GPT writes from left to right, so a token may look at itself and at what came before, never ahead: "
        "the <b>causal mask</b>. Where the mask goes decides what comes out. <b>future</b> is the weight given to "
        "hidden tokens; <b>leak</b> is how far an output moves when everything after its token is erased.",
        "GPT는 왼쪽에서 오른쪽으로 씁니다. 그래서 토큰은 자신과 앞의 토큰만 볼 수 있고 뒤는 볼 수 없습니다. 이것이 <b>코잘(인과) "
        "마스크</b>입니다. 마스크를 어디에 두는지에 따라 결과가 달라집니다. <b>미래 몫</b>은 가려야 할 토큰에 준 가중치이고, <b>새는 "
        "양</b>은 그 토큰 뒤를 모두 지웠을 때 출력이 움직이는 크기입니다.",
    ),
    formula=Html("<span>softmax( s + mask ),</span> <span>mask = 0 or −∞</span>"),
    presets=(
        Preset(
            "journey",
            same("Your journey"),
            Words(
                "Look at the row sums of “0 after softmax”. Why is the last row the only one that sums to 1?",
                "‘소프트맥스 뒤에서 0’의 행의 합을 보십시오. 왜 마지막 행만 합이 1이겠습니까?",
            ),
            State(
                tokens=JOURNEY,
                vectors=JOURNEY_VECTORS,
                w="seeded",
                w_init="linear",
                w_seed=789,
                d_out=2,
                open=["weights_after", 0, 1, 0],
            ),
        ),
        Preset(
            "four-words",
            Words("Four words", "네 단어"),
            Words(
                "The third row of these weights is sometimes printed as 0.1, 0.3, 0.6. Predict it, then open it.",
                "이 예의 셋째 행이 0.1, 0.3, 0.6으로 적힌 글이 있습니다. 먼저 예측하고 열어 보십시오.",
            ),
            State(
                tokens=["나는", "오늘", "학교에", "간다"],
                vectors=EYE,
                w="typed",
                w_query=FOUR_WORDS,
                w_key=EYE,
                w_value=EYE,
                scale=False,
                open=["weights", 0, 2, 2],
            ),
        ),
        Preset(
            "two-way",
            Words("A ↔ B?", "A ↔ B?"),
            Words(
                "Pictures often draw “bank ↔ guarantee”. Under the mask, which of the two directions is exactly 0?",
                "‘bank ↔ guarantee’처럼 양쪽 화살표로 그린 그림이 많습니다. 마스크 아래에서는 둘 중 어느 쪽이 정확히 0입니까?",
            ),
            State(
                tokens=["The", "bank", "can", "guarantee"],
                vectors=[[0.1, 0.2, 0.0], [0.9, 0.1, 0.8], [0.2, 0.3, 0.1], [0.8, 0.3, 0.9]],
                open=["weights", 0, 3, 1],
            ),
        ),
        Preset(
            "zero-mask",
            Words("A mask of zeros", "0으로 만든 마스크"),
            Words(
                "The hidden scores were set to 0 instead of −∞. Open a cell of the future: where does its weight "
                "come from?",
                "가릴 점수를 −∞ 대신 0으로 바꾸었습니다. 미래 칸을 열어 보십시오. 이 가중치는 어디에서 왔습니까?",
            ),
            State(
                tokens=JOURNEY,
                vectors=JOURNEY_VECTORS,
                w="seeded",
                w_init="linear",
                w_seed=789,
                d_out=2,
                mistake="mask_with_zero",
                open=["weights", 0, 0, 3],
            ),
        ),
    ),
    flow=flow,
    sentence=sentence,
    script=script,
    controls=("tokens", "projections", "scaling", "typed", "break"),
    mistakes=names(spoils="attend", without="keep"),
    ask=("weights", "weights_after"),
    typed_matrix="weights_none",
)
