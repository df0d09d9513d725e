"""The GPT tab as HTML: a pure function of its state and the language."""

from __future__ import annotations

from collections.abc import Callable

from lessons.words import Words
from playground import models
from playground.controls import radios
from playground.gpt import heads, layers, timing, tokens, without, write
from playground.gpt.presets import PRESETS, example
from playground.gpt.state import MAX_PROMPT, GptState
from playground.gpt.text import checkpoint
from playground.render import Html, action, esc
from playground.toolbar import (
    LEGEND_M,
    LEGEND_O,
    LEGEND_S,
    LEGEND_W,
    short_toolbar,
)
from playground.view import EXAMPLES, TRY, told

SECTIONS: dict[str, tuple[Words, Callable[[GptState, str], Html]]] = {
    "write": (Words("Write", "쓰기"), write.section),
    "heads": (Words("Heads", "헤드"), heads.section),
    "layers": (Words("Layers", "층"), layers.section),
    "without": (Words("Leave out", "빼 보기"), without.section),
    "tokens": (Words("Tokens", "토큰"), tokens.section),
    "cache": (Words("KV cache", "KV 캐시"), timing.section),
}
TITLE = Words("A small GPT", "작은 GPT")
INTRO = Words(
    "A trained model reads your text and says, for every token of its vocabulary, how probable it is as the next one. "
    "One is drawn, put behind the text, and everything begins again. Inside is the same attention as in the other tabs.",
    "학습한 모델이 글을 읽고 어휘의 모든 토큰에 대해 다음에 올 확률을 말합니다. 하나를 뽑아 글 뒤에 붙이고 처음부터 되풀이합니다. "
    "안에는 다른 탭과 똑같은 어텐션이 들어 있습니다.",
)
FORMULA = Html(
    "<span>x = wte[token] + wpe[position]</span> <span>x → blocks → ln<sub>f</sub> → lm_head</span> "
    "<span>p = softmax(logits / T)</span>"
)


def view(state: GptState, lang: str, notice: str = "") -> Html:
    """The whole tab. Raises a `PlaygroundError` where the state cannot be computed."""
    show = SECTIONS[state.section][1]
    return Html(
        f'<div class="pg gpt" data-tab="gpt"><aside class="lesson">{lesson(state, lang)}</aside>'
        f'<section class="panel">{short_toolbar(lang)}{told(notice)}{prompt(state, lang)}{sections(state, lang)}'
        f"{show(state, lang)}{legend(state.section, lang)}</section></div>"
    )


def lesson(state: GptState, lang: str) -> Html:
    chosen = example(state)
    chips = "".join(
        f'<button type="button" class="chip" aria-pressed="{str(bool(state.preset) and p == chosen).lower()}" '
        f"{action('preset', name=p.name)}>{esc(p.title(lang))}</button>"
        for p in PRESETS
    )
    return Html(
        f'<h2>{esc(TITLE(lang))}</h2><p>{esc(INTRO(lang))}</p><div class="formula">{FORMULA}</div>'
        f'<div class="presets" role="group" aria-label="{esc(EXAMPLES(lang))}">'
        f'<span class="kick">{esc(EXAMPLES(lang))}</span>{chips}</div>'
        f'<div class="try"><b>{esc(TRY(lang))}</b> {esc(chosen.try_this(lang))}</div>{card(state, lang)}'
    )


def card(state: GptState, lang: str) -> Html:
    """What the chosen model is, from its configuration and its card."""
    found = checkpoint(state)
    c = found.gpt.config
    size = SIZE(
        lang, n=f"{found.gpt.n_parameters:,}", L=c.n_layer, nh=c.n_head, C=c.n_embd, V=c.vocab_size
    )
    held_out = found.card.get("held_out")  # a person's own card may hold anything
    nats = held_out.get("nats_per_character") if isinstance(held_out, dict) else None
    loss = f" {LOSS(lang, loss=nats)}" if nats else ""
    return Html(f'<p class="told"><b>{esc(state.model)}</b>: {esc(size)}{esc(loss)}</p>')


SIZE = Words(
    "{n} parameters; n_layer {L}, n_head {nh}, n_embd {C}, vocab_size {V}.",
    "매개변수 {n}개, n_layer {L}, n_head {nh}, n_embd {C}, vocab_size {V}.",
)
LOSS = Words(
    "On text it never saw: {loss} nats a character.", "본 적 없는 글에서 글자당 {loss}나트입니다."
)


def prompt(state: GptState, lang: str) -> Html:
    """The text to go on from, and the model that reads it."""
    options = "".join(
        f'<option value="{esc(name)}"{" selected" if name == state.model else ""}>{esc(name)}</option>'
        for name in models.names()
    )
    return Html(
        f'<div class="prompt"><label class="wide"><span>{esc(PROMPT(lang))}</span>'
        f'<textarea data-set="prompt" rows="3" spellcheck="false" maxlength="{MAX_PROMPT}">'
        f"\n{esc(state.prompt)}</textarea></label>"
        f'<label><span>{esc(MODEL(lang))}</span> <select data-set="model">{options}</select></label>'
        f"{full(state, lang)}</div>"
    )


def full(state: GptState, lang: str) -> Html:
    """Said once the field takes no more; a browser counts an emoji as two characters."""
    if len(state.prompt.encode("utf-16-le")) // 2 < MAX_PROMPT - 1:
        return Html("")
    return Html(f'<span class="full" role="status">{esc(FULL(lang, most=MAX_PROMPT))}</span>')


FULL = Words(
    "Full: there is room for {most} characters, and an emoji counts as two or more.",
    "가득 찼습니다. {most}자까지 적을 수 있고, 그림 문자는 두 자 이상으로 칩니다.",
)
PROMPT = Words("Your text", "글")
MODEL = Words("Model", "모델")


def sections(state: GptState, lang: str) -> Html:
    names = [(name, words(lang)) for name, (words, _) in SECTIONS.items()]
    return Html(
        f'<fieldset class="sections"><legend>{esc(LOOK_AT(lang))}</legend>'
        f"{radios('section', 'gpt', names, state.section)}</fieldset>"
    )


LOOK_AT = Words("Look at", "무엇을 볼까요")


def legend(section: str, lang: str) -> Html:
    """What the colours and frames of this section mean."""
    marks = "".join(
        f'<span><i class="{mark}"{style}></i> {esc(words(lang))}</span>'
        for mark, style, words in LEGEND[section]
    )
    return Html(f'<div class="legend">{marks}</div>')


PROBABILITY = Words("probability 0 – 1", "확률 0 – 1")
CHOSEN = Words("chosen", "고른 것")
JOINED = Words("joined by this merge", "이번에 합친 토큰")
FROM_0 = Words("0 – the largest of the table", "0 – 표에서 가장 큰 값")
FROM_0_COLOURS = Html(' style="background:linear-gradient(90deg,var(--paper),var(--pos))"')
NONE_BELOW_0 = ("barw", FROM_0_COLOURS, FROM_0)  # a length, or how far a prediction moves
LEGEND: dict[str, list[tuple[str, str, Words]]] = {
    "write": [("barw", "", PROBABILITY), ("ring", "", CHOSEN)],
    "heads": [
        ("barw", "", LEGEND_W),
        ("hat", "", LEGEND_M),
        ("ring", "", LEGEND_O),
        ("ring s", "", LEGEND_S),
    ],
    "layers": [NONE_BELOW_0, ("ring", "", LEGEND_O)],
    "without": [NONE_BELOW_0],
    "tokens": [("ring s", "", JOINED)],
    "cache": [],
}
