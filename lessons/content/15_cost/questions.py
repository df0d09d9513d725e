"""Generated questions about what the scores of attention cost."""

from __future__ import annotations

from random import Random

import torch

from lessons.drawing import Drawn, compared, matrix, n, show
from lessons.worked import worked_attention
from model import attend
from model.steps import score_bytes, visible_pairs

MIB = 2**20
BYTES = (2, 4)  # of a number: bfloat16, float32
LENGTHS = (512, 768, 1024, 1536, 2048, 3072, 4096)


def one_head(draw: Random) -> Drawn:
    """MiB of the scores of one head in one layer."""
    T, size = draw.choice(LENGTHS), draw.choice(BYTES)
    answer, wrong = compared("score_bytes", T, size, pick=lambda found: found / MIB)
    worked = (
        f"{T} × {T} × {size} = {score_bytes(T, size)} B",
        f"{score_bytes(T, size)} / 2²⁰ = {n(answer)} MiB",
    )
    return Drawn({"T": T, "bytes": size}, answer, wrong, worked)


def whole_model(draw: Random) -> Drawn:
    """MiB of the scores of all heads in all layers, if they are kept."""
    T, size = draw.choice(LENGTHS), draw.choice(BYTES)
    n_layer, n_head = draw.choice((4, 6, 12, 24)), draw.choice((4, 6, 8, 12, 16))
    answer, wrong = compared(
        "score_bytes", T, size, pick=lambda found: found * n_layer * n_head / MIB
    )
    one = score_bytes(T, size) / MIB
    worked = (
        f"{T} × {T} × {size} / 2²⁰ = {n(one)} MiB",
        f"{n(one)} × {n_layer} × {n_head} = {n(answer)} MiB",
    )
    blanks = {"T": T, "bytes": size, "n_layer": n_layer, "n_head": n_head}
    return Drawn(blanks, answer, wrong, worked)


def visible(draw: Random) -> Drawn:
    """Pairs that a causal mask leaves among T tokens."""
    T = draw.randint(5, 60)
    answer, wrong = compared("visible_pairs", T)
    return Drawn({"T": T}, answer, wrong, (f"{T} × ({T} + 1) / 2 = {visible_pairs(T)}",))


def window(draw: Random) -> Drawn:
    """An output of a sparse attention: each token sees itself and the one before, no more."""
    q, k = matrix(draw, 4, 2), matrix(draw, 4, 2)
    v, i = matrix(draw, 4, 1, 0, 9, step=1), draw.choice((1, 2, 3))
    mask = torch.ones(4, 4).tril().triu(-1).bool()
    answer, wrong = compared("attend", q, k, v, mask, pick=lambda trace: trace.output[i, 0])
    worked = worked_attention(attend(q, k, v, mask), "output", i, 0)
    blanks = {"q": show(q), "k": show(k), "v": show(v[:, 0]), "i": i}
    return Drawn(blanks, answer, wrong, worked)
