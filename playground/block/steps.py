"""What stands around the matrices of one block: the worked sentence, the curve between the Linears."""

from __future__ import annotations

import torch

from lessons.words import Words
from model.block import ACTIVATIONS
from playground.block.run import run
from playground.block.sheet import Sheet, lengths, matrices
from playground.block.state import MOST_READ, BlockState, all_ids
from playground.flow import Flow
from playground.form.chart import Axis, Line, chart
from playground.html import Html, esc, number
from playground.render import token_label
from playground.state import State


def flow(state: BlockState, lang: str) -> Flow:
    found = run(state)
    return Flow(matrices(Sheet(found, state, lang)), {"names": found.names})


def top(state: BlockState, lang: str) -> Html:
    """How long one token's vector is on its way: the opened row's, else the last one's."""
    found = run(state)
    t = found.found.trace
    steps = [("", found.row(step)) for step in (t.resid_pre, t.resid_mid, t.resid_post)]
    made = lengths(steps)
    row = state.open[2] if state.open and state.open[2] < len(made) else len(made) - 1
    token = token_label(State(tokens=found.names), found.rows[row])
    first, middle, last = (number(v) for v in made[row].tolist())
    said = SENTENCE(lang, token=token, first=first, middle=middle, last=last)
    lines = "<br>".join(esc(line) for line in written(state))
    return Html(
        f'<div class="ledger">{lines}</div><p class="sentence">{said}</p>{cut(state, lang)}'
    )


SENTENCE = Words(
    "The vector of {token} comes in {first} long, is {middle} long after attention, and {last} after the MLP.",
    "{token} 토큰의 벡터 길이는 들어올 때 {first}, 어텐션 뒤 {middle}, 피드포워드 뒤 {last}입니다.",
)


def written(state: BlockState) -> tuple[str, str]:
    """The block as two lines of code, wired as the state says.

    >>> written(BlockState(norm="post"))
    ('x = ln_1(x + attn(x))', 'x = ln_2(x + mlp(x))')
    """

    def half(part: str, ln: str) -> str:
        found = f"{part}({ln}(x))" if state.norm == "pre" else f"{part}(x)"
        after = f"x + {found}" if state.residual else found
        return f"x = {ln}({after})" if state.norm == "post" else f"x = {after}"

    return half("attn", "ln_1"), half("mlp", "ln_2")


def cut(state: BlockState, lang: str) -> Html:
    """What is said where a prompt is longer than what is read."""
    found = len(all_ids(state))
    if state.source != "trained" or found <= MOST_READ:
        return Html("")
    return Html(f'<p class="told">{esc(CUT(lang, found=found, most=MOST_READ))}</p>')


CUT = Words(
    "The prompt has {found} tokens; the first {most} are read here.",
    "프롬프트의 토큰 {found}개 가운데 앞의 {most}개만 읽습니다.",
)


def bottom(state: BlockState, lang: str) -> Html:
    """GELU and ReLU as curves, the chosen one drawn through."""
    x = torch.linspace(-4, 4, 81, dtype=torch.float64)
    names = {"gelu": "GELU", "relu": "ReLU"}
    lines = [
        Line(
            names[name],
            list(zip(x.tolist(), bend(x).tolist(), strict=True)),
            hue=n,
            dash=int(name != state.activation),
        )
        for n, (name, bend) in enumerate(ACTIVATIONS.items())
    ]
    return chart(lines, Axis("hidden_pre"), Axis("hidden"), CURVE(lang), lang)


CURVE = Words("What stands between the two Linears", "두 Linear 사이에 있는 함수")
