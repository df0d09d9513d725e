"""The section of attention: all heads of all three kinds as pictures, one of them open step by step."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor, nn

from lessons.words import Words
from model.attention import AttentionTrace
from model.encoder_decoder import EncoderDecoderTrace
from model.multihead import MultiHeadTrace
from model.plus_two import LENGTH, N_EMBD, N_HEAD, N_LAYER
from playground.block.why import linear
from playground.encoder_decoder.look import look
from playground.encoder_decoder.state import FIELDS, WHERE, EncoderDecoderState
from playground.encoder_decoder.training import bar
from playground.flow import Flow, attention_matrices, qkv_matrices
from playground.form.form import Action
from playground.gpt.parts import head_name, percent, picture
from playground.html import Html, action, esc
from playground.render import token_label
from playground.state import State

SRC = list(range(LENGTH))  # labels of the source's numbers, then of the target's
TGT = list(range(LENGTH, 2 * LENGTH))


@dataclass(frozen=True)
class Enlarged:
    """One kind of attention in one layer, and what its queries and keys are made from."""

    heads: MultiHeadTrace
    queries_from: Tensor  # (T, C)
    keys_from: Tensor  # (T, C)
    c_attn: nn.Linear
    rows: list[int]
    cols: list[int]


def enlarged(state: EncoderDecoderState) -> Enlarged:
    found, layer = look(state), int(state.layer) - 1
    trace = found.by[state.fed].trace
    if state.where == "encoder":
        block, made = found.model.stacks.encoder[layer], trace.encoder[layer]
        x = made.normed_1[0]
        return Enlarged(made.attn, x, x, block.attn.c_attn, SRC, SRC)
    block, made = found.model.stacks.decoder[layer], trace.decoder[layer]
    if state.where == "decoder":
        x = made.normed_1[0]
        return Enlarged(made.attn, x, x, block.attn.c_attn, TGT, TGT)
    return Enlarged(made.cross, made.normed_2[0], trace.memory[0], block.cross.c_attn, TGT, SRC)


def enlarge(state: EncoderDecoderState, action: Action) -> EncoderDecoderState:
    """A picture was chosen."""
    which = {name: FIELDS[name].check(name, action[name]) for name in ("where", "layer", "head")}
    return state.but(**which, open=None, pins=[])


def names(state: EncoderDecoderState) -> list[str]:
    """What the tokens are called: the numbers that are read."""
    found = look(state)
    src, tgt = found.src[0].tolist(), found.by[state.fed].tgt[0].tolist()
    return [f"{n:.4g}".replace("-", "−") for n in [*src, *tgt]]


def flow(state: EncoderDecoderState, lang: str) -> Flow:
    """q, k, v → scores → scaled (→ masked) → weights → output of the head that is enlarged."""
    this, head = enlarged(state), int(state.head) - 1
    hs, causal = N_EMBD // N_HEAD, state.where == "decoder"
    steps = AttentionTrace(*(getattr(this.heads.heads, n)[0, head] for n in AttentionTrace.AXES))
    shown = State(tokens=[""] * LENGTH, causal=causal)
    firsts = {name: n * N_EMBD + head * hs for n, name in enumerate("qkv")}  # columns of c_attn
    made = []
    for m in [
        *qkv_matrices(steps, steps, LENGTH),
        *attention_matrices(shown, steps, steps),
    ]:
        own = {"rows": this.cols if m.name in "kv" else this.rows, "line": LINES.get(m.name, "")}
        if m.name in firsts:
            source = this.queries_from if m.name == "q" else this.keys_from
            own["why"] = linear(None, source, this.c_attn, firsts[m.name])
        if m.cols is not None:
            own["cols"] = this.cols
        if m.name == "masked":
            own["shown"] = causal
        made.append(replace(m, **own))
    return Flow(made, {"head_size": hs, "names": names(state)})


LINES = {
    "q": "q = (x @ w_query + b_query)[:, head * hs : (head + 1) * hs]",
    "k": "k = (memory @ w_key + b_key)[:, head * hs : (head + 1) * hs]  # self-attention: memory = x",
    "v": "v = (memory @ w_value + b_value)[:, head * hs : (head + 1) * hs]",
    "scores": "scores = q @ k.mT",
    "scaled": "scaled = scores / hs**0.5",
    "masked": "masked = scaled.masked_fill(~mask, -torch.inf)",
    "weights": "weights = masked.softmax(dim=-1)",
    "output": "output = weights @ v",
}


# Above the matrices


def top(state: EncoderDecoderState, lang: str) -> Html:
    return Html(f"{sentence(state, lang)}{bar(state, lang)}{grid(state, lang)}")


def sentence(state: EncoderDecoderState, lang: str) -> Html:
    """Where the row that is open, or else the last, looks most."""
    this, head = enlarged(state), int(state.head) - 1
    weights = this.heads.heads.weights[0, head]
    row = state.open[2] if state.open and state.open[0] == "weights" else LENGTH - 1
    row = min(row, LENGTH - 1)
    share, at = weights[row].max(dim=-1)
    labels = State(tokens=names(state))
    said = SENTENCES[state.where](
        lang,
        query=token_label(labels, this.rows[row]),
        key=token_label(labels, this.cols[int(at)]),
        share=percent(float(share)),
        name=esc(title(state, lang)),
    )
    return Html(f'<p class="sentence">{said}</p>')


SENTENCES = {
    "encoder": Words(
        "{name}: {query} of the source looks most at {key} of the source, with {share} of its attention.",
        "{name}: 입력의 {query} 토큰은 입력의 {key} 토큰을 가장 많이 보고, 어텐션의 {share}를 줍니다.",
    ),
    "decoder": Words(
        "{name}: {query} of the target looks most at {key} of the target, with {share} of its attention; later "
        "numbers are hidden from it.",
        "{name}: 출력의 {query} 토큰은 출력의 {key} 토큰을 가장 많이 보고, 어텐션의 {share}를 줍니다. 뒤에 오는 수는 보이지 않습니다.",
    ),
    "cross": Words(
        "{name}: {query} of the target looks most at {key} of the source, with {share} of its attention.",
        "{name}: 출력의 {query} 토큰은 입력의 {key} 토큰을 가장 많이 보고, 어텐션의 {share}를 줍니다.",
    ),
}


def title(state: EncoderDecoderState, lang: str) -> str:
    head = head_name(lang, int(state.layer) - 1, int(state.head) - 1)
    return f"{WHERE[state.where](lang)}, {head}"


def grid(state: EncoderDecoderState, lang: str) -> Html:
    """A picture of each head, a row for each kind; choosing one enlarges it."""
    trace = look(state).by[state.fed].trace
    rows = "".join(
        f'<div class="heads">{"".join(pictures(state, trace, where, lang))}</div>'
        for where in WHERE
    )
    label = esc(ALL(lang))
    return Html(f'<div class="grid" role="group" aria-label="{label}">{rows}</div>')


def pictures(
    state: EncoderDecoderState, trace: EncoderDecoderTrace, where: str, lang: str
) -> list[Html]:
    made = []
    for layer in range(N_LAYER):
        for head in range(N_HEAD):
            one = state.but(where=where, layer=str(layer + 1), head=str(head + 1))
            weights = kind(trace, where, layer).heads.weights[0, head]
            pressed = str((one.where, one.layer, one.head) == chosen(state)).lower()
            do = action("enlarge", where=where, layer=one.layer, head=one.head)
            drawn = picture(weights, title(one, lang))
            name = f"{WHERE[where](lang)} {layer + 1}.{head + 1}"
            made.append(
                Html(
                    f'<button type="button" class="head" {do} aria-pressed="{pressed}">{drawn}'
                    f"<small>{esc(name)}</small></button>"
                )
            )
    return made


def kind(trace: EncoderDecoderTrace, where: str, layer: int) -> MultiHeadTrace:
    if where == "encoder":
        return trace.encoder[layer].attn
    return trace.decoder[layer].attn if where == "decoder" else trace.decoder[layer].cross


def chosen(state: EncoderDecoderState) -> tuple[str, str, str]:
    return state.where, state.layer, state.head


ALL = Words(
    "all heads: a row for the encoder, for the decoder's self-attention, for cross-attention",
    "모든 헤드: 인코더, 디코더의 셀프 어텐션, 교차 어텐션이 한 줄씩",
)
