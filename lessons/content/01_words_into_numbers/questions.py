"""Generated questions about bytes, tokens and what a model reads."""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor

from lessons.drawing import Drawn, compared, matrix, n, show
from model.steps import utf8_bytes

KOREAN = ("학교", "고양이", "도서관", "바다", "자전거", "봄", "비행기", "친구", "나무", "우산")
ENGLISH = ("cat", "bus", "ocean", "spring", "tree", "school", "bicycle", "moon", "friend", "rain")


def bytes_of(draw: Random) -> Drawn:
    """How many tokens a text begins as: its bytes in UTF-8."""
    text = drawn_text(draw)
    answer, wrong = compared("utf8_bytes", text)
    return Drawn({"text": text}, answer, wrong, (worked_bytes(text),))


def after_joining(draw: Random) -> Drawn:
    """How many tokens are left when pairs have been joined: one less each time."""
    text = drawn_text(draw)
    joins = draw.randint(2, len(text) - 1)
    answer, wrong = compared("utf8_bytes", text, pick=lambda found: found - joins)
    worked = (worked_bytes(text), f"{utf8_bytes(text)} − {joins} = {n(answer)}")
    return Drawn({"text": text, "joins": joins}, answer, wrong, worked)


def embedded(draw: Random) -> Drawn:
    """One number of what a model reads: a row of wte and a row of wpe, added."""
    wte, wpe = tables(draw)
    ids = [draw.randrange(3) for _ in range(3)]
    t, c = draw.randrange(3), draw.randrange(4)
    answer, wrong = compared("embed", wte[ids], wpe, pick=lambda x: x[t, c])
    blanks = {"wte": show(wte), "wpe": show(wpe), "ids": ids, "t": t, "c": c}
    line = f"x[{t}, {c}] = wte[{ids[t]}, {c}] + wpe[{t}, {c}]"
    worked = f"{line} = {n(wte[ids[t], c])} + {n(wpe[t, c])} = {n(answer)}"
    return Drawn(blanks, answer, wrong, (worked,))


def two_places(draw: Random) -> Drawn:
    """The same token at two places: only the rows of wpe differ."""
    wte, wpe = tables(draw)
    one, other = draw.sample(range(3), 2)
    c = draw.randrange(4)
    answer, wrong = compared("embed", wte[[one, other, one]], wpe, pick=lambda x: x[2, c] - x[0, c])
    blanks = {"wte": show(wte), "wpe": show(wpe), "ids": [one, other, one], "c": c}
    places = [f"{n(wte[one, c])} + {n(wpe[t, c])} = {n(wte[one, c] + wpe[t, c])}" for t in (0, 2)]
    worked = (
        f"x[0, {c}] = {places[0]}",
        f"x[2, {c}] = {places[1]}",
        f"x[2, {c}] − x[0, {c}] = wpe[2, {c}] − wpe[0, {c}] = {n(answer)}",
    )
    return Drawn(blanks, answer, wrong, worked)


def drawn_text(draw: Random) -> str:
    """A Korean and an English word."""
    return f"{draw.choice(KOREAN)} {draw.choice(ENGLISH)}"


def tables(draw: Random) -> tuple[Tensor, Tensor]:
    """wte and wpe, `(3, 4)` each: √4 = 2 can be done by hand."""
    wte, wpe = matrix(draw, 3, 4, -2, 2, 0.5), matrix(draw, 3, 4, -1, 1, 0.2)
    return torch.where(wte == 0, 0.5, wte), wpe


def worked_bytes(text: str) -> str:
    """학 3 + 교 3 + ␣ 1 + …"""
    parts = [f"{'␣' if c == ' ' else c} {utf8_bytes(c)}" for c in text]
    return f"{' + '.join(parts)} = {utf8_bytes(text)}"
