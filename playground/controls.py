"""The switches below the matrices, each a small function from state to HTML.

A tab names the ones it wants; adding one is one function and one entry here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lessons.mistakes import mistake_words
from lessons.words import Words, same
from playground import input_errors as errors
from playground import state as limits
from playground.render import Html, action, esc, join
from playground.state import State
from playground.tab import Tab

Control = Callable[[Tab, State, str], Html]


def group(legend: str, *parts: str) -> Html:
    return Html(f"<fieldset><legend>{esc(legend)}</legend>{join(*parts)}</fieldset>")


def check(key: str, label: str, on: bool) -> Html:
    mark = " checked" if on else ""
    return Html(f'<label><input type="checkbox" data-set="{key}"{mark}> {esc(label)}</label>')


def radios(key: str, name: str, options: list[tuple[str, str]], chosen: Any) -> Html:
    parts = []
    for value, label in options:
        mark = " checked" if value == chosen else ""
        parts.append(
            f'<label><input type="radio" name="{name}-{key}" data-set="{key}" '
            f'value="{esc(value)}"{mark}> {esc(label)}</label>'
        )
    return Html("".join(parts))


def whole_number(state: State, lang: str, key: str, label: str) -> Html:
    """A small text field for a seed or a size; what cannot be read stays, with its message."""
    wrong = state.bad.get(f"set:{key}")
    value = getattr(state, key) if wrong is None else wrong
    low, high = limits.RANGES[key]
    message = ""
    if wrong is not None:
        error = errors.WholeError(
            found=errors.short(wrong), low=low, high=high, kept=getattr(state, key)
        )
        message = f'<span class="msg" role="alert" id="bad-{key}">{esc(error.text(lang))}</span>'
    extra = f' aria-invalid="true" aria-describedby="bad-{key}"' if wrong is not None else ""
    return Html(
        f'<label class="num">{esc(label)} <input class="field" data-set="{key}" '
        f'value="{esc(value)}" autocomplete="off"{extra}>{message}</label>'
    )


def button(label: str, *attributes: str, disabled: bool = False, classes: str = "") -> Html:
    off = " disabled" if disabled else ""
    return Html(
        f'<button type="button" class="{classes}" {" ".join(attributes)}{off}>{esc(label)}</button>'
    )


def close_button(attribute: str, lang: str) -> Html:
    return Html(
        f'<button type="button" {attribute} aria-label="{esc(CLOSE(lang))}" title="{esc(CLOSE(lang))}">×</button>'
    )


CLOSE = Words("Close", "닫기")


def tokens(tab: Tab, state: State, lang: str) -> Html:
    T, d = len(state.tokens), state.width
    typed = state.x == "typed" and state.w != "given"
    most = limits.MAX_TYPED if typed else limits.MAX_WIDTH
    parts = [
        button(Words("+ token", "+ 토큰")(lang), action("add"), disabled=limits.MAX_TOKENS <= T),
        button(Words("− dimension", "− 차원")(lang), action("width", by=-1), disabled=d == 1),
        button(Words("+ dimension", "+ 차원")(lang), action("width", by=1), disabled=d >= most),
        *(
            []
            if state.w == "given"
            else [
                radios(
                    "x",
                    tab.name,
                    [
                        ("typed", Words("typed", "직접 입력")(lang)),
                        ("seeded", Words("drawn from a seed", "시드로 뽑기")(lang)),
                    ],
                    state.x,
                )
            ]
        ),
    ]
    if state.x == "seeded" and state.w != "given":
        parts.append(whole_number(state, lang, "x_seed", Words("seed", "시드")(lang)))
        parts.append(whole_number(state, lang, "x_width", Words("width", "너비")(lang)))
    return group(Words("Tokens and vectors X", "토큰과 벡터 X")(lang), *parts)


def query(tab: Tab, state: State, lang: str) -> Html:
    options = [(n, t) for n, t in enumerate(state.tokens)]
    return group(
        Words("Query: who is asking?", "쿼리: 누가 묻습니까?")(lang),
        radios("query", tab.name, options, state.query),
    )


def projections(tab: Tab, state: State, lang: str) -> Html:
    parts = [
        radios(
            "w",
            tab.name,
            [
                ("identity", Words("identity", "단위행렬")(lang)),
                ("seeded", Words("drawn from a seed", "시드로 뽑기")(lang)),
                ("typed", Words("typed", "직접 입력")(lang)),
                *(
                    [("given", Words("none: Q, K, V as given", "없음: 받은 Q, K, V")(lang))]
                    if state.q
                    else []
                ),
            ],
            state.w,
        )
    ]
    if state.w == "seeded":
        parts += [
            whole_number(state, lang, "w_seed", Words("seed", "시드")(lang)),
            whole_number(state, lang, "d_out", Words("columns", "열")(lang)),
            radios(
                "w_init",
                tab.name,
                [("linear", same("nn.Linear")(lang)), ("rand", same("torch.rand")(lang))],
                state.w_init,
            ),
        ]
    if state.w in ("typed", "seeded"):
        parts.append(check("show_w", Words("show the W", "W 보기")(lang), state.show_w))
    return group(Words("Projections W", "투영 행렬 W")(lang), *parts)


MECHANISM = Words("The mechanism", "메커니즘")


def scaling(tab: Tab, state: State, lang: str) -> Html:
    return group(MECHANISM(lang), check("scale", "÷ √d", state.scale))


def mechanism(tab: Tab, state: State, lang: str) -> Html:
    mask = check("causal", Words("causal mask", "코잘 마스크")(lang), state.causal)
    return group(MECHANISM(lang), check("scale", "÷ √d", state.scale), mask)


def dropout(tab: Tab, state: State, lang: str) -> Html:
    percent = f"{state.dropout * 100:.0f} %"
    name = Words("rate", "비율")(lang)
    slider = Html(
        f'<label>{esc(name)} <input type="range" data-set="dropout" min="0" '
        f'max="{limits.MAX_DROPOUT}" step="0.05" value="{state.dropout:g}" '
        f'aria-valuetext="{percent}"> <output>{percent}</output></label>'
    )
    seed = whole_number(state, lang, "dropout_seed", Words("seed", "시드")(lang))
    return group(Words("Dropout", "드롭아웃")(lang), slider, seed)


def typed_weights(tab: Tab, state: State, lang: str) -> Html:
    label = Words("type the weights by hand", "가중치를 직접 입력하기")(lang)
    return group(
        Words("Softmax bypassed", "소프트맥스 건너뛰기")(lang), check("typed", label, state.typed)
    )


def heads(tab: Tab, state: State, lang: str) -> Html:
    C = state.channels
    divisors = [n for n in range(1, C + 1) if C % n == 0]
    shown = min(state.head, state.n_head - 1)
    parts = [radios("n_head", tab.name, [(n, str(n)) for n in divisors], state.n_head)]
    if state.n_head > 1:
        options = "".join(
            f'<option value="{h}"{" selected" if h == shown else ""}>{h + 1}</option>'
            for h in range(state.n_head)
        )
        label = Words("head in detail", "자세히 볼 헤드")(lang)
        parts.append(
            Html(f'<label>{esc(label)} <select data-set="head">{options}</select></label>')
        )
    return group(same("n_head")(lang), *parts)


def break_it(tab: Tab, state: State, lang: str) -> Html:
    """The named mistakes, one at a time; off while the weights are typed."""
    options = [("", Words("nothing", "고장 없음")(lang))]
    words = mistake_words()
    options += [(name, words[name].name[lang]) for name in tab.mistakes]
    told = ""
    if state.mistake:
        told = Html(f'<p class="told">{esc(words[state.mistake].text[lang])}</p>')
    return group(
        Words("Break it", "망가뜨려 보기")(lang),
        radios("mistake", tab.name, options, state.mistake),
        told,
    )


CONTROLS: dict[str, Control] = {
    "tokens": tokens,
    "query": query,
    "projections": projections,
    "scaling": scaling,
    "mechanism": mechanism,
    "dropout": dropout,
    "typed": typed_weights,
    "n_head": heads,
    "break": break_it,
}


def controls(tab: Tab, state: State, lang: str) -> Html:
    parts = [CONTROLS[name](tab, state, lang) for name in tab.controls]
    return Html(f'<div class="controls">{join(*parts)}</div>')
