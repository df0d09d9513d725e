"""The section of attention: every head of a run at the present step, one of them open step by step."""

from __future__ import annotations

from dataclasses import replace

from lessons.words import Words
from model.attention import AttentionTrace
from model.looking import attention_weights
from playground.block.why import linear
from playground.flow import Flow, attention_matrices, qkv_matrices
from playground.form.form import Action
from playground.gpt.parts import head_name, percent, picture
from playground.html import Html, action, esc
from playground.render import token_label
from playground.state import State
from playground.training.learning import bar, name_of
from playground.training.look import Attended, attended
from playground.training.state import FIELDS, TrainingState, looked_into, refused

DRAWN = {" ": "␣", "\n": "↵", "\t": "⇥"}


def seen(state: TrainingState) -> Attended:
    return attended(looked_into(state), state.step)


def enlarge(state: TrainingState, action: Action) -> TrainingState:
    """A picture was chosen."""
    which = {name: FIELDS[name].check(name, action[name]) for name in ("layer", "head")}
    return state.but(**which, open=None, pins=[])


def names(found: Attended) -> list[str]:
    return [DRAWN.get(character, character) for character in found.characters]


def flow(state: TrainingState, lang: str) -> Flow:
    """q, k, v → scores → scaled (→ masked) → weights → output of the head that is enlarged."""
    if refused(state):
        return Flow([])
    found, run = seen(state), looked_into(state)
    layer, head = int(state.layer) - 1, int(state.head) - 1
    block, part = found.gpt.blocks[layer], found.trace.blocks[layer]
    hs, T = run.n_embd // run.n_head, len(found.characters)
    steps = AttentionTrace(*(getattr(part.attn.heads, n)[0, head] for n in AttentionTrace.AXES))
    shown = State(tokens=[""] * T, causal=run.causal)
    firsts = {name: n * run.n_embd + head * hs for n, name in enumerate("qkv")}  # of c_attn
    made = []
    for m in (*qkv_matrices(steps, steps, T), *attention_matrices(shown, steps, steps)):
        own = {"line": LINES[m.name]}
        if m.name in firsts:
            own["why"] = linear(None, part.normed_1[0], block.attn.c_attn, firsts[m.name])
        if m.name == "masked":
            own["shown"] = run.causal
        made.append(replace(m, **own))
    return Flow(made, {"head_size": hs, "names": names(found)})


LINES = {
    "q": "q = (ln_1(x) @ w_query + b_query)[:, head * hs : (head + 1) * hs]",
    "k": "k = (ln_1(x) @ w_key + b_key)[:, head * hs : (head + 1) * hs]",
    "v": "v = (ln_1(x) @ w_value + b_value)[:, head * hs : (head + 1) * hs]",
    "scores": "scores = q @ k.mT",
    "scaled": "scaled = scores / hs**0.5",
    "masked": "masked = scaled.masked_fill(~mask, -torch.inf)",
    "weights": "weights = masked.softmax(dim=-1)",
    "output": "output = weights @ v",
}


# Above the matrices


def top(state: TrainingState, lang: str) -> Html:
    error = refused(state)
    if error:
        return Html(f'<p class="notice" role="status">{esc(error.text(lang))}</p>')
    return Html(f"{sentence(state, lang)}{bar(state, lang)}{grid(state, lang)}")


def sentence(state: TrainingState, lang: str) -> Html:
    """Where the row that is open, or else the last, looks most."""
    found = seen(state)
    layer, head, T = int(state.layer) - 1, int(state.head) - 1, len(found.characters)
    weights = found.trace.blocks[layer].attn.heads.weights[0, head]
    row = state.open[2] if state.open and state.open[0] == "weights" else T - 1
    row = min(row, T - 1)
    share, at = weights[row].max(dim=-1)
    labels = State(tokens=names(found))
    who = name_of(state, int(state.which) - 1, lang) if state.compare != "nothing" else ""
    said = MOST_SEEN(
        lang,
        name=esc(f"{who} {head_name(lang, layer, head)}".strip()),
        n=f"{state.step:,}",
        query=token_label(labels, row),
        i=row + 1,
        key=token_label(labels, int(at)),
        j=int(at) + 1,
        share=percent(float(share)),
    )
    return Html(f'<p class="sentence">{said}</p>')


MOST_SEEN = Words(
    "Step {n}, {name}: character {i}, {query}, looks most at character {j}, {key}, with {share} of its attention.",
    "{n}걸음, {name}: {i}번째 글자 {query}에서는 {j}번째 글자 {key}에 어텐션을 가장 많이, {share} 줍니다.",
)


def grid(state: TrainingState, lang: str) -> Html:
    """A picture of each head, a row for each layer; choosing one enlarges it."""
    weights = attention_weights(seen(state).trace)  # (n_layer, n_head, T, T)
    rows = []
    for layer in range(weights.size(0)):
        cells = []
        for head in range(weights.size(1)):
            drawn = picture(weights[layer, head], head_name(lang, layer, head))
            pressed = (str(layer + 1), str(head + 1)) == (state.layer, state.head)
            do = action("enlarge", layer=str(layer + 1), head=str(head + 1))
            cells.append(
                f'<button type="button" class="head" {do} aria-pressed="{str(pressed).lower()}">{drawn}'
                f"<small>{layer + 1}.{head + 1}</small></button>"
            )
        rows.append(f'<div class="heads">{"".join(cells)}</div>')
    return Html(
        f'<div class="grid" role="group" aria-label="{esc(ALL(lang))}">{"".join(rows)}</div>'
    )


ALL = Words("all heads, a row for each layer", "모든 헤드, 한 줄이 한 층")
