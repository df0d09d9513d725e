"""What every head looks at: all of them as pictures, one enlarged and open."""

from __future__ import annotations

import json
from dataclasses import replace

import torch
from torch import Tensor

from lessons.words import Words
from model.attention import attend, causal_mask
from model.looking import LOCAL, PATTERNS, attention_weights, even_patterns, patterns
from playground.flow import Flow, attention_matrices, qkv_matrices
from playground.glass import glass_boxes, lit_cells
from playground.gpt.look import LOOK, labels, looked, trace
from playground.gpt.parts import EMPTY, head_name, percent, picture, tokens
from playground.gpt.state import GptState
from playground.gpt.text import checkpoint
from playground.html import number
from playground.render import Hidden, Html, action, esc, matrix
from playground.state import MAX_NAME, MAX_TOKENS, MAX_WIDTH, State

SHOWN_AS = (
    0.3  # a pattern names a head when it has that much more of its attention than chance gives
)


def section(state: GptState, lang: str) -> Html:
    ids, names = looked(state), labels(state)
    weights = attention_weights(trace(state))  # (n_layer, n_head, T, T)
    flow, shown = head_flow(state)
    hidden = Hidden(shown, flow, True)
    selected, lit = lit_cells(flow, shown, hidden)
    enlarged = matrix(flow.get("weights", state.head), shown, lang, selected=selected, sources=lit)
    title = head_name(lang, state.layer, state.head)
    return Html(
        f"{note(state, lang)}{grid(state, weights, ids, lang)}"
        f'<h3>{esc(title)} {send(state, lang)}</h3><div class="eq">{enlarged}</div>'
        f"{glass_boxes(flow, shown, lang, hidden)}"
        f'<div class="eq">{top_three(weights[state.layer, state.head], names, lang)}'
        f"{pattern_table(weights[state.layer, state.head], ids, lang)}</div>"
    )


def note(state: GptState, lang: str) -> Html:
    """What part of the text is looked at."""
    said = [NOTE(lang, tokens=tokens(lang, len(looked(state))), most=LOOK), ROWS(lang)]
    if not state.prompt:
        said.insert(0, EMPTY(lang))
    return Html(f'<p class="told">{esc(" ".join(said))}</p>')


NOTE = Words(
    "Looked at: {tokens} at the end of the text (at most {most}), as if it began there.",
    "글 끝의 {tokens}를 봅니다(최대 {most}개). 글이 거기서 시작하는 것처럼 읽습니다.",
)
ROWS = Words("Rows look, columns are looked at.", "행이 보는 쪽, 열이 보이는 쪽입니다.")


def grid(state: GptState, weights: Tensor, ids: list[int], lang: str) -> Html:
    """A picture of each head; choosing one enlarges it."""
    even, measured = even_patterns(ids), patterns(weights, ids)
    rows = []
    for layer in range(weights.size(0)):
        cells = []
        for head in range(weights.size(1)):
            scores = {name: float(measured[name][layer, head]) for name in PATTERNS}
            told = shown_pattern(scores, even, lang)
            label = head_name(lang, layer, head) + (f": {told}" if told else "")
            pressed = str((layer, head) == (state.layer, state.head)).lower()
            cells.append(
                f'<button type="button" class="head" {action("head", layer=layer, head=head)} '
                f'aria-pressed="{pressed}">{picture(weights[layer, head], label)}'
                f"<small>{layer + 1}.{head + 1} {esc(told)}</small></button>"
            )
        rows.append(f'<div class="heads">{"".join(cells)}</div>')
    return Html(
        f'<div class="grid" role="group" aria-label="{esc(ALL(lang))}">{"".join(rows)}</div>'
    )


ALL = Words("all heads: a row a layer", "모든 헤드: 한 줄이 한 층")


def shown_pattern(scores: dict[str, float], even: dict[str, float], lang: str) -> str:
    """The pattern that stands out most over chance, with its measure; "" where none does."""
    above = {name: scores[name] - even[name] for name in PATTERNS if scores[name] == scores[name]}
    if above.get("local", 0) - above.get("previous", 0) < SHOWN_AS:
        above.pop("local", None)  # it holds the token before: named only where it is more than that
    name = max(above, key=above.__getitem__, default="")
    return (
        f"{PATTERN[name](lang, n=LOCAL)} {scores[name]:.2f}"
        if above.get(name, 0) >= SHOWN_AS
        else ""
    )


PATTERN = {
    "previous": Words("token before", "앞 토큰"),
    "first": Words("first token", "첫 토큰"),
    "self": Words("itself", "자기 자신"),
    "same": Words("same token", "같은 토큰"),
    "local": Words("{n} before", "앞의 {n}개"),
}
assert set(PATTERN) == set(PATTERNS)


def head_flow(state: GptState) -> tuple[Flow, State]:
    """The enlarged head as a flow of matrices, and the state that its tables read names from.

    Its q, k, v are computed again in float64 from what the block read, so that every
    sum in the glass box comes out to the last digit shown.
    """
    q, k, v, x, w = projections(state)
    T = q.size(0)
    right = attend(q, k, v, causal_mask(T))
    shown = State(tokens=labels(state), causal=True, open=state.open, pins=state.pins)
    h = state.head
    made = qkv_matrices(right, right, T, head=h) + attention_matrices(shown, right, right, head=h)
    matrices = [replace(m, shown=m.name == "weights", line=LINES.get(m.name, "")) for m in made]
    facts = {"head_size": q.size(1), "n_head": checkpoint(state).gpt.config.n_head} | w
    stream = replace(matrices[0], name="vectors", symbol="x", values=x, head=0)
    return Flow([stream, *matrices], facts), shown


LINES = {
    "q": "q = ln_1(x) @ w_query",
    "weights": "weights = masked.softmax(dim=-1)",
}


def projections(state: GptState) -> tuple[Tensor, Tensor, Tensor, Tensor, dict[str, Tensor]]:
    """q, k, v `(T, hs)` of the enlarged head, the stream it reads, and its W, in float64."""
    gpt = checkpoint(state).gpt
    block, found = gpt.blocks[state.layer], trace(state).blocks[state.layer]
    with torch.no_grad():
        x = block.ln_1(found.resid_pre)[0].double()  # (T, C)
    C, hs = gpt.config.n_embd, gpt.config.n_embd // gpt.config.n_head
    whole = block.attn.c_attn.weight.detach().double().T  # (C, 3C)
    w = dict(zip(("w_query", "w_key", "w_value"), whole.split(C, dim=1), strict=True))
    columns = slice(state.head * hs, (state.head + 1) * hs)
    bias = block.attn.c_attn.bias
    parts = (torch.zeros(3 * C) if bias is None else bias.detach()).double().split(C)
    q, k, v = (x @ m[:, columns] + b[columns] for m, b in zip(w.values(), parts, strict=True))
    return q, k, v, x, w


def top_three(weights: Tensor, names: list[str], lang: str) -> Html:
    """For each token the three it looks at most, as in document 2's `topk(3)`."""
    rows = []
    for i, name in enumerate(names):
        values, at = weights[i, : i + 1].topk(min(3, i + 1))
        looks = "".join(
            f"<td>{esc(names[j])} <small>{percent(p)}</small></td>"
            for j, p in zip(at.tolist(), values.tolist(), strict=True)
        )
        rows.append(f'<tr><th scope="row">{esc(name)}</th>{looks}</tr>')
    return Html(
        f'<figure class="m"><figcaption><b>{esc(TOP(lang))}</b></figcaption>'
        f'<div class="scroll tall" tabindex="0" role="region" aria-label="{esc(TOP(lang))}">'
        f'<table class="list">{"".join(rows)}</table></div></figure>'
    )


TOP = Words("the three tokens each looks at most", "토큰마다 가장 많이 보는 세 토큰")


def pattern_table(weights: Tensor, ids: list[int], lang: str) -> Html:
    """How much of its attention the head gives to certain places, beside an even head's."""
    even, measured = even_patterns(ids), patterns(weights, ids)
    rows = "".join(
        f'<tr><th scope="row">{esc(PATTERN[name](lang, n=LOCAL))}</th><td>{number(float(measured[name]), 2)}</td>'
        f"<td>{number(even[name], 2)}</td></tr>"
        for name in PATTERNS
    )
    heads = f'<tr><td></td><th scope="col">{esc(THIS(lang))}</th><th scope="col">{esc(EVEN(lang))}</th></tr>'
    return Html(
        f'<figure class="m"><figcaption><b>{esc(PATTERNS_TITLE(lang))}</b></figcaption>'
        f'<table class="list">{heads}{rows}</table></figure>'
    )


PATTERNS_TITLE = Words("where its attention goes, on average", "어텐션이 평균적으로 가는 곳")
THIS = Words("this head", "이 헤드")
EVEN = Words("an even head", "고르게 보는 헤드")


def send(state: GptState, lang: str) -> Html:
    """A button that opens this head's q, k and v in the self-attention tab, where they fit."""
    q, k, v, *_ = projections(state)
    if q.size(1) > MAX_WIDTH:
        return Html("")
    last = slice(max(0, q.size(0) - MAX_TOKENS), None)
    rows = {
        name: [[round(n, DIGITS) for n in row] for row in m[last].tolist()]
        for name, m in (("q", q), ("k", k), ("v", v))
    }
    short = [name[:MAX_NAME] for name in labels(state)[last]]
    toy = State(tokens=short, w="given", causal=True, x="seeded", x_width=2, **rows)
    file = json.dumps({"tab": "self-attention", "state": toy.to_json()})
    label = SEND(lang) if q.size(0) <= MAX_TOKENS else SEND_LAST(lang, n=MAX_TOKENS)
    return Html(
        f'<button type="button" data-client="send" data-file="{esc(file)}">{esc(label)}</button>'
    )


DIGITS = 6  # decimals that travel: enough for the four that are shown, and a short link
SEND = Words("Send to the self-attention tab", "셀프 어텐션 탭으로 보내기")
SEND_LAST = Words(
    "Send the last {n} tokens to the self-attention tab",
    "마지막 토큰 {n}개를 셀프 어텐션 탭으로 보내기",
)
