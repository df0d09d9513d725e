"""What the model would say after each layer, and how long the vectors grow."""

from __future__ import annotations

from dataclasses import replace

from lessons.words import Words
from model.looking import logit_lens, stream_norms
from playground.arithmetic import Explanation, total
from playground.flow import Flow, Matrix
from playground.gpt.look import LOOK, read, trace_of_read, window
from playground.gpt.parts import EMBEDDING, LAYER, best_list, reading
from playground.gpt.state import GptState
from playground.gpt.text import checkpoint, pieces_of
from playground.html import number
from playground.render import Html, esc, explanation_html, matrix
from playground.state import State


def section(state: GptState, lang: str) -> Html:
    flow, shown = norms(state, lang)
    cut = f" {LAST(lang, n=LOOK)}" if len(read(state)) > LOOK else ""
    return Html(
        f"{reading(state, lang)}{lens(state, lang)}"
        f'<div class="eq">{matrix(flow.matrices[0], shown, lang, selected=chosen(state))}</div>'
        f'{opened(state, flow.matrices[0], shown, lang)}<p class="told">{esc(NORMS(lang) + cut)}</p>'
    )


LAST = Words("The table shows the last {n} tokens.", "표에는 마지막 토큰 {n}개만 보입니다.")


def chosen(state: GptState) -> tuple[str, int, int, int] | None:
    """The opened cell, where it is one of the lengths."""
    cell = state.open
    return tuple(cell) if cell and cell[0] == "norms" else None


def opened(state: GptState, norms: Matrix, shown: State, lang: str) -> Html:
    """The sum behind an opened length: √(x₁² + … + x_C²)."""
    cell = chosen(state)
    if cell is None or cell[2] >= norms.values.size(0) or cell[3] >= norms.values.size(1):
        return Html("")
    _, _, layer, token = cell
    found = trace_of_read(state)
    stream = found.embedded if layer == 0 else found.blocks[layer - 1].resid_post
    x = stream[0, -LOOK:][token].double()
    terms = [[squared(n)] for n in x[:SHOWN].tolist()] + [["…"], [squared(float(x[-1]))]]
    made = Explanation(["√(", *total(terms), ")"], float(x.pow(2).sum().sqrt()))
    name = f"|x|[{shown.tokens[norms.rows[layer]]}, {shown.tokens[token]}]"
    return Html(
        f'<div class="glass" role="region" aria-live="polite"><div class="gh"><b>{esc(name)} = '
        f"{number(made.value, 4)}</b></div>"
        f'<div class="sum">{explanation_html(made, lang)}</div><code>x.norm(dim=-1)  # {len(x)}</code></div>'
    )


SHOWN = 4  # of the stream's numbers, written out


def squared(value: float) -> str:
    return f"({number(value, 4)})²" if value < 0 else f"{number(value, 4)}²"


def lens(state: GptState, lang: str) -> Html:
    """A row a layer: the five tokens the model would put next if it ended there."""
    found = logit_lens(checkpoint(state).gpt, trace_of_read(state), slice(-1, None))[:, 0]
    rows = "".join(
        f'<tr><th scope="row">{esc(LAYER(lang, n=n + 1))}</th><td>{best_list(state, probs)}</td></tr>'
        for n, probs in enumerate(found)  # (n_layer, V)
    )
    (last,) = pieces_of(state, read(state)[-1:])
    title = LENS(lang, token=last)
    says = SAYS if len(read(state)) == len(window(state)) else SAYS_OF_THESE
    return Html(
        f'<figure class="m"><figcaption><b>{esc(title)}</b></figcaption>'
        f'<div class="scroll"><table class="list lens">{rows}</table></div></figure>'
        f'<p class="told">{esc(f"{HOW(lang)} {says(lang)}")}</p>'
    )


LENS = Words(
    "after {token}: what would come next if the model ended at this layer",
    "{token} 다음: 모델이 이 층에서 끝난다면 무엇이 오는가",
)
HOW = Words(
    "softmax(lm_head(ln_f(stream after the layer))).",
    "softmax(lm_head(ln_f(그 층을 지난 흐름)))입니다.",
)
SAYS = Words("The last row is what the model really says.", "마지막 행이 모델의 실제 예측입니다.")
SAYS_OF_THESE = Words(
    "The last row is what the model says after these tokens alone.",
    "마지막 행은 이 토큰들만 읽었을 때의 예측입니다.",
)
NORMS = Words(
    "The length of each token's vector on its way up. Each block adds to it; the LayerNorm before the next part evens it out.",
    "위층으로 올라가며 각 토큰의 벡터가 얼마나 길어지는지 보여 줍니다. 블록마다 더해지고, 다음 단계 앞의 층 정규화가 다시 고르게 합니다.",
)


def norms(state: GptState, lang: str) -> tuple[Flow, State]:
    """|stream| before the first block and after each: a row a layer, a column a token."""
    values = stream_norms(trace_of_read(state)).double()[:, -LOOK:]
    names = pieces_of(state, read(state)[-LOOK:])
    rows = [EMBEDDING(lang), *(LAYER(lang, n=n + 1) for n in range(len(values) - 1))]
    shown = State(tokens=[*names, *rows])
    made = Matrix("norms", "|x|", values, cols=list(range(len(names))))
    return Flow([replace(made, rows=list(range(len(names), len(names) + len(rows))))]), shown
