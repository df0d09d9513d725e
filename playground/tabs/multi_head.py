"""Multi-head attention: several heads side by side, laid together and mixed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from lessons.words import Words, same
from model.attention import resume
from model.mistakes import MISTAKES, in_every_head, names, rejoin
from model.multihead import MultiHeadTrace, multi_head, multi_head_fast, multi_head_loop
from playground import code
from playground.flow import (
    Flow,
    Matrix,
    attention_matrices,
    distance,
    input_matrix,
    keep_of,
    mask_of,
    options_of,
    qkv_matrices,
    typed_weights,
    w_matrices,
    w_of,
    x_of,
)
from playground.render import HUES, Html, action, apart, esc, token_label
from playground.state import State
from playground.tab import Preset, Tab
from playground.tabs.self_attention import (
    JOURNEY,
    JOURNEY_VECTORS,
    NOT_A_NUMBER,
    TYPED_LINE,
    share,
)

MOST_TABLES = 8  # heads shown as tables; more are pictures, and one of them a table


def matrices_of(state: State) -> list[Tensor | None]:
    """W_q, W_k, W_v as tensors (the identity written out), W_o or None."""
    *w, w_out = w_of(state, out=True)
    eye = torch.eye(state.width, dtype=torch.float64)
    return [*(eye if m is None else m for m in w), w_out]


def traces(state: State) -> tuple[MultiHeadTrace, MultiHeadTrace, dict[str, Any]]:
    """(as shown, as it should be, the options of attend)."""
    x, w, mask = x_of(state), matrices_of(state), mask_of(state)
    T = len(x)
    options = options_of(state, (state.n_head, T, T))
    right = multi_head(x, *w, state.n_head, mask, **options)
    typed = typed_weights(state, heads=state.n_head)
    if typed is not None:
        heads = resume(right.heads, mask, weights=typed, **options)
        shown = rejoin(right, heads, w[3])
        return shown, shown, options
    if not state.mistake:
        return right, right, options
    wrong = MISTAKES[state.mistake]
    if wrong.spoils == "multi_head":
        return wrong(x, *w, state.n_head, mask, **options), right, options
    extra = {"d_model": state.channels} if state.mistake == "scale_by_d_model" else {}
    shown = in_every_head(wrong, x, *w, state.n_head, mask, **options, **extra)
    return shown, right, options


def flow(state: State) -> Flow:
    shown, right, options = traces(state)
    w_query, w_key, w_value, w_out = matrices_of(state)
    nh, hs, T = state.n_head, state.channels // state.n_head, len(state.tokens)
    by_head = [head_matrices(state, shown, right, h) for h in range(nh)]
    matrices = [input_matrix(state), *w_matrices(state, out=True)]
    for step in zip(*by_head, strict=True):  # step by step, in each step head by head
        ordered = sorted(step, key=lambda m: m.head != state.head) if step[0].op else list(step)
        opened = [m for m in ordered if m.shown]
        # Only the first table of a step is introduced by its operation.
        matrices += [m if m is opened[0] else replace(m, op=None) for m in opened]
        matrices += [m for m in ordered if not m.shown]
    rows = list(range(T))
    matrices += [
        Matrix(
            "concat",
            "concat",
            shown.concat,
            rows,
            new_row=True,
            heads_columns=hs,
            headers=[same(f"h{j // hs + 1}") for j in range(nh * hs)],
            op=Words("side by side", "나란히 잇기"),
            op_note=same(f"{nh} × {hs} = {nh * hs}"),
            right=right.concat if state.mistake else None,
        ),
        Matrix(
            "output",
            "output",
            shown.output,
            rows,
            op=same("× W_out") if w_out is not None else Words("no W_out", "W_out 없음"),
            op_note=Words("mixes the heads", "헤드를 섞음") if w_out is not None else None,
            right=right.output if state.mistake else None,
        ),
    ]
    lines = lines_by_matrix(state)
    facts = {
        "w_query": w_query, "w_key": w_key, "w_value": w_value, "w_out": w_out, "n_head": nh,
        "head_size": hs, "d_model": state.channels, "keep": options["keep"],
        "dropout": state.dropout, "checks": checks(state),
    }  # fmt: skip
    return Flow([replace(m, line=lines.get(m.name, "")) for m in matrices], facts)


def head_matrices(
    state: State, shown: MultiHeadTrace, right: MultiHeadTrace, h: int
) -> list[Matrix]:
    """Everything of head h. The chosen head is shown whole, the others by their weights."""
    one, good = pick_head(shown, h), pick_head(right, h)
    good = one if shown is right else good
    T, chosen = len(state.tokens), h == min(state.head, state.n_head - 1)
    made = qkv_matrices(one, good, T, head=h)
    size = f"{state.width} × {state.channels // state.n_head}"
    made[0] = replace(made[0], op=Words("× W of the head", "× 헤드의 W"), op_note=same(size))
    made += attention_matrices(state, one, good, head=h)
    made[-1] = replace(made[-1], name="head_output", symbol="head", heads_columns=1)
    tables = state.n_head <= MOST_TABLES
    number = Words(f"head {h + 1}", f"헤드 {h + 1}")
    return [
        replace(
            m,
            shown=chosen or (tables and m.name in ("weights", "head_output")) or m.editable,
            note=number,
            of_head=True,
            heads_columns=0,
            new_row=m.name in ("scores", "masked", "weights", "head_output"),
        )
        for m in made
    ]


def pick_head(trace: MultiHeadTrace, h: int) -> Any:
    """Head h of a trace, as a trace of one attention."""
    heads = trace.heads
    return type(heads)(*(getattr(heads, name)[h] for name in heads.AXES))


def checks(state: State) -> dict[str, float]:
    """Largest differences between the three routes to the same numbers, computed now."""
    x, w, mask = x_of(state), matrices_of(state), mask_of(state)
    plain = multi_head(x, *w, state.n_head, mask, scale=state.scale)
    loop = multi_head_loop(x, *w, state.n_head, mask, scale=state.scale)
    fast = multi_head_fast(x, *w, state.n_head, mask, scale=state.scale)
    return {
        "loop_vs_fused": distance(loop.output, plain.output),
        "fused_vs_sdpa": distance(plain.output, fast),
    }


def lines_by_matrix(state: State) -> dict[str, str]:
    """The line of PyTorch behind each table; `output` of a head is named head_output here."""
    of_attend = dict(code.lines_of(code.attend, within(state, "attend")))
    of_heads = dict(code.lines_of(code.multi_head, within(state, "multi_head")))
    of_attend["head_output"] = of_attend.pop("output")
    if not state.dropout:  # no `dropped` on the page to multiply
        of_attend["head_output"] = of_attend["head_output"].replace("dropped @", "weights @")
    named = ("q", "k", "v", "concat", "output")
    lines = of_attend | {
        name: of_heads[name].replace("memory", "x").replace("heads.output", "output")
        for name in named
    }
    return lines | ({"weights": TYPED_LINE} if state.typed else {})


def within(state: State, spoils: str) -> str:
    """The state's mistake, if it is one of that function's."""
    name = code.active(state.mistake, state.causal, state.dropout > 0)
    return name if name and MISTAKES[name].spoils == spoils else ""


def sentence(flow: Flow, state: State, lang: str) -> Html:
    """What each head looks at most, from the opened row's token."""
    row = state.open[2] if state.open and state.open[2] < len(state.tokens) else 0
    row = len(state.tokens) - 1 if not state.open else row
    parts = []
    for h in range(min(state.n_head, HUES)):
        weights = flow.get("weights", h).values[row]
        if weights.isfinite().all():
            best = int(weights.argmax())
            parts.append(
                LOOKS(
                    lang,
                    head=f'<b class="tok t{h}">{h + 1}</b>',
                    best=token_label(state, best),
                    share=share(float(weights[best])),
                )
            )
    if not parts:
        return Html(NOT_A_NUMBER(lang, token=token_label(state, row)))
    more = ", …" if state.n_head > HUES else ""
    return Html(FROM(lang, token=token_label(state, row)) + " " + ", ".join(parts) + more + ".")


FROM = Words("From {token},", "{token} 토큰이 가장 크게 듣는 것은")
LOOKS = Words("head {head} looks most at {best} ({share})", "헤드 {head}: {best} {share}")


def extra(flow: Flow, state: State, lang: str) -> Html:
    """The shape ledger, and how far the three routes are apart."""
    T, d, C, nh = len(state.tokens), state.width, state.channels, state.n_head
    hs, compared = C // nh, flow.facts["checks"]
    tail = f" → × W<sub>out</sub> → [1, {T}, {C}]" if flow.facts["w_out"] is not None else ""
    ledger = (
        f'<div class="ledger" aria-label="{esc(LEDGER(lang))}">[1, {T}, {d}] → {nh} × [1, {T}, {hs}] → '
        f"[1, {T}, {C}]{tail}</div>"
    )
    routes = (
        f'<div class="checks"><span>{esc(LOOP(lang))} <b>{small(compared["loop_vs_fused"])}</b></span>'
        f"<span>{esc(SDPA(lang))} <b>{small(compared['fused_vs_sdpa'])}</b></span></div>"
    )
    return Html(ledger + routes + (thumbnails(flow, state, lang) if nh > MOST_TABLES else ""))


def small(d: float) -> str:
    return "0" if d == 0 else apart(d)


LEDGER = Words("shapes on the way", "모양의 변화")
LOOP = Words(
    "heads in a loop against all at once, largest difference:",
    "헤드를 하나씩 계산한 것과 한꺼번에 계산한 것의 최대 차이:",
)
SDPA = Words(
    "all at once against PyTorch's own attention (SDPA):",
    "한꺼번에 계산한 것과 PyTorch 내장 어텐션(SDPA)의 최대 차이:",
)


def thumbnails(flow: Flow, state: State, lang: str) -> Html:
    """Every head's weights as a small picture; choosing one shows it as a table."""
    parts = []
    for h in range(state.n_head):
        weights = flow.get("weights", h).values.nan_to_num(0).clamp(0, 1)
        heat = ";".join(",".join(str(round(v * 99)) for v in row) for row in weights.tolist())
        label = esc(Words("weights of head {n}", "헤드 {n}의 가중치")(lang, n=h + 1))
        parts.append(
            f'<button type="button" class="thumb" {action("set", key="head", value=h)} '
            f'aria-pressed="{str(h == state.head).lower()}" aria-label="{label}" title="{label}">'
            f'<canvas data-heat="{heat}"></canvas></button>'
        )
    return Html(f'<div class="row thumbs">{"".join(parts)}</div>')


def script(state: State) -> str:
    shown, _, _ = traces(state)
    mistake = code.active(state.mistake, state.causal, state.dropout > 0)
    x, w = x_of(state), matrices_of(state)
    T = len(x)
    given = {}
    typed = typed_weights(state, heads=state.n_head)
    if typed is not None:
        given["weights"] = f"weights = {code.literal(typed)}  # typed by hand"
    names = ["w_query", "w_key", "w_value", "w_out"]
    extra = ["w_out = None"] if w[3] is None else []
    extra += [f"d_model = {state.channels}"] if state.mistake == "scale_by_d_model" else []
    keep = keep_of(state, (state.n_head, T, T))
    return code.script(
        "Attention playground: multi-head attention",
        code.head_helpers(mistake),
        code.inputs(state.tokens, x=x, **dict(zip(names, w, strict=True))),
        [
            f"n_head = {state.n_head}",
            *code.settings(state, keep, mask_of(state) is not None),
            *extra,
        ],
        code.multi_head_lines(mistake, given),
        code.comparison("concat", shown.concat) + code.comparison("output", shown.output),
        ["print(output)"],
    )


# The six words with a fourth number each: an even width can be cut among two heads.
FOUR_WIDE = [
    [*row, extra]
    for row, extra in zip(JOURNEY_VECTORS, (0.2, 0.7, 0.6, 0.1, 0.9, 0.4), strict=True)
]

TAB = Tab(
    name="multi-head",
    order=4,
    title=Words("Multi-head", "멀티 헤드"),
    intro=Words(
        "One attention has one point of view. <b>Multi-head attention</b> runs several at once: each head projects "
        "<b>all</b> the inputs to its own few numbers, attends, and the heads' outputs are laid side by side "
        "(concatenated). Only the last projection mixes what the heads found.",
        "어텐션 하나는 한 가지 관점만 봅니다. <b>멀티 헤드 어텐션</b>은 여러 어텐션을 한꺼번에 합니다. 헤드마다 입력 <b>전체</b>를 자기 "
        "크기로 투영해 어텐션을 하고, 그 출력들을 나란히 잇습니다(concat). 헤드들이 찾은 것은 마지막 투영에서 비로소 섞입니다.",
    ),
    formula=Html("concat( head<sub>1</sub>, …, head<sub>h</sub> ) W<sub>out</sub>"),
    presets=(
        Preset(
            "two-heads",
            Words("Two heads", "두 헤드"),
            Words(
                "Two heads read the same six words. Find a row where they disagree. Then open a cell of concat: "
                "which head does it belong to?",
                "두 헤드가 같은 여섯 단어를 읽습니다. 둘이 서로 다르게 보는 행을 찾아보십시오. concat의 칸을 열면 어느 헤드의 값이겠습니까?",
            ),
            State(
                tokens=JOURNEY,
                vectors=FOUR_WIDE,
                w="seeded",
                w_init="linear",
                w_seed=123,
                d_out=4,
                n_head=2,
                causal=True,
                open=["concat", 0, 2, 3],
            ),
        ),
        Preset(
            "four-of-sixteen",
            same("64 → 4 × 16 → 64"),
            Words(
                "Read the shapes: 64 numbers a token become four heads of 16. Does a head see 16 of the 64 inputs, "
                "or all? Break it with “each head gets a slice of the inputs”.",
                "모양을 읽어 보십시오. 토큰마다 숫자 64개가 16개짜리 헤드 넷이 됩니다. 헤드는 입력 64개 중 16개만 볼까요, 전부 볼까요? "
                "‘망가뜨려 보기’에서 ‘헤드마다 입력의 일부만 받음’을 켜 보십시오.",
            ),
            State(
                tokens=["할머니", "만수무강", "하세요"],
                vectors=JOURNEY_VECTORS[:3],
                x="seeded",
                x_seed=1,
                x_width=64,
                w="seeded",
                w_init="linear",
                w_seed=42,
                d_out=64,
                n_head=4,
                open=["weights", 0, 0, 1],
            ),
        ),
        Preset(
            "twins",
            Words("Same numbers, more heads", "같은 숫자, 더 많은 헤드"),
            Words(
                "No projections here, so heads really are slices. Change n_head from 1 to 4: what stays, what changes?",
                "여기에는 투영이 없으므로 헤드가 정말로 조각입니다. n_head를 1에서 4로 바꾸면 무엇이 그대로이고 무엇이 달라집니까?",
            ),
            State(
                tokens=["red", "blue", "green"],
                vectors=[[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0]],
                n_head=2,
                open=["weights", 1, 0, 1],
            ),
        ),
        Preset(
            "torn-apart",
            Words("A view too few", "transpose를 빼먹으면"),
            Words(
                "view(nh, T, hs) without transpose runs, and the shapes are right. Open a number of Q: whose row is it?",
                "transpose 없이 view(nh, T, hs)만 써도 모양은 맞고 오류도 나지 않습니다. Q의 숫자를 열어 보십시오. 누구의 행입니까?",
            ),
            State(
                tokens=JOURNEY,
                vectors=JOURNEY_VECTORS,
                w="seeded",
                w_init="linear",
                w_seed=123,
                d_out=4,
                n_head=2,
                mistake="view_without_transpose",
                open=["q", 0, 1, 0],
            ),
        ),
    ),
    flow=flow,
    sentence=sentence,
    script=script,
    controls=("n_head", "tokens", "projections", "mechanism", "dropout", "typed", "break"),
    mistakes=(*names(spoils="multi_head"), *names(spoils="attend")),
    ask=("weights", "concat", "output"),
    extra=extra,
)
