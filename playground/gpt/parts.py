"""Pieces of HTML that several sections of the GPT tab share."""

from __future__ import annotations

import torch
from torch import Tensor

from lessons.words import Words
from playground.gpt.look import read, window
from playground.gpt.state import GptState
from playground.gpt.text import checkpoint, piece
from playground.render import Html, action, esc


def chip(text: str, p: float | None = None, attributes: str = "", classes: str = "") -> Html:
    """A token; coloured by its probability where it has one."""
    if p is None:
        return Html(f'<span class="piece {classes}" {attributes}>{broken(text)}</span>')
    deep = " deep" if p > 0.82 else ""
    return Html(
        f'<button type="button" class="piece p{deep} {classes}" style="--p:{p * 88:.0f}%" '
        f"{attributes}>{broken(text)}</button>"
    )


def broken(text: str) -> Html:
    """A piece, with a real line break after one that is written."""
    return Html(esc(text).replace("↵", "↵<wbr>"))


def percent(p: float) -> str:
    """A probability as a percentage with two figures that count.

    >>> percent(0.1234), percent(0.00012), percent(1.0), percent(1e-9), percent(0.0)
    ('12 %', '0.012 %', '100 %', '< 0.01 %', '0 %')
    """
    if 0 < p < 1e-4:
        return "< 0.01 %"
    return f"{p * 100:.2g} %" if p < 0.0995 else f"{p * 100:.0f} %"


def best(state: GptState, probs: Tensor, k: int = 5) -> list[tuple[int, str, float]]:
    """The k most probable tokens: (id, piece, probability)."""
    tokenizer = checkpoint(state).tokenizer
    values, ids = probs.topk(min(k, probs.numel()))
    return [
        (i, piece(tokenizer.token_bytes(i)), p)
        for i, p in zip(ids.tolist(), values.tolist(), strict=True)
    ]


def best_list(state: GptState, probs: Tensor, k: int = 5) -> Html:
    """The most probable tokens in a row, with their probabilities."""
    return Html(
        "".join(
            f'<span class="guess">{chip(text)} {percent(p)}</span>'
            for _, text, p in best(state, probs, k)
        )
    )


def picture(
    values: Tensor, label: str, low: float = 0.0, high: float = 1.0, *, style: str = ""
) -> Html:
    """Numbers `(n, m)` as a picture, pale at `low` and full at `high`: one character a number,
    drawn by the page."""
    share = ((values - low) / ((high - low) or 1)).clamp(0, 1)
    levels = (share * (len(LEVELS) - 1)).round().to(torch.int64)
    text = "".join(LEVELS[n] for n in levels.flatten().tolist())
    styled = f' style="{style}"' if style else ""
    return Html(
        f'<canvas data-picture="{text}" data-side="{values.size(-1)}" role="img" '
        f'aria-label="{esc(label)}"{styled}></canvas>'
    )


LEVELS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"


def tokens(lang: str, n: int) -> str:
    return (ONE_TOKEN if n == 1 else TOKENS)(lang, n=n)


ONE_TOKEN = Words("{n} token", "토큰 {n}개")
TOKENS = Words("{n} tokens", "토큰 {n}개")
EMPTY = Words("An empty text is read as one line break.", "빈 글은 줄바꿈 하나로 읽습니다.")


def reading(state: GptState, lang: str) -> Html:
    """What the prediction is made from: all that the model reads, or as much as is traced."""
    n, whole = len(read(state)), len(window(state))
    said = READ(lang, tokens=tokens(lang, n)) if n == whole else PART(lang, n=n, whole=whole)
    empty = "" if state.prompt else f"{EMPTY(lang)} "
    return Html(f'<p class="told">{esc(empty + said)}</p>')


READ = Words(
    "Read: {tokens} at the end of the text, all that the model reads to predict the next one.",
    "글 끝의 {tokens}를 읽습니다. 모델이 다음 토큰을 예측할 때 읽는 전부입니다.",
)
PART = Words(
    "Read: {n} tokens at the end of the text, as if it began there. The model itself reads {whole}.",
    "글 끝의 토큰 {n}개를 글이 거기서 시작하는 것처럼 읽습니다. 모델은 토큰 {whole}개를 읽습니다.",
)


def head_name(lang: str, layer: int, head: int) -> str:
    return HEAD(lang, layer=layer + 1, head=head + 1)


HEAD = Words("layer {layer}, head {head}", "{layer}층 헤드 {head}")
LAYER = Words("layer {n}", "{n}층")
EMBEDDING = Words("embedding", "임베딩")


def do(label: str, name: str, classes: str = "", **fields: object) -> Html:
    """A button that asks the server for something."""
    return Html(
        f'<button type="button" class="{classes}" {action(name, **fields)}>{esc(label)}</button>'
    )
