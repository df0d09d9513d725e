"""Pieces of HTML that several sections of the GPT tab share."""

from __future__ import annotations

import torch
from torch import Tensor

from playground.gpt.state import GptState
from playground.gpt.text import checkpoint, piece
from playground.render import Html, action, esc
from playground.words import Words


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

    >>> percent(0.1234), percent(0.00012), percent(1.0), percent(1e-9)
    ('12 %', '0.012 %', '100 %', '1e-07 %')
    """
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


def picture(weights: Tensor, label: str) -> Html:
    """Weights `(T, T)` from 0 to 1 as a picture: one character a number, drawn by the page."""
    levels = (weights.clamp(0, 1) * 63).round().to(torch.int64)
    text = "".join(LEVELS[n] for n in levels.flatten().tolist())
    return Html(
        f'<canvas data-picture="{text}" data-side="{weights.size(-1)}" role="img" '
        f'aria-label="{esc(label)}"></canvas>'
    )


LEVELS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"


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
