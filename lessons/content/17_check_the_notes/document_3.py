"""What a model says to the claims of document 3, a lesson on Q, K, V and many heads."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from model import AttentionTrace, attend, causal_mask
from model.plus_two import BATCH, PRINTED, constant_loss, evenly_spaced, off
from model.steps import layer_norm, residual, sinusoid

from .plus_two import as_printed, mended
from .said import drawing, fixed, largest, listed, tiny

SCORES = torch.tensor([5.0, 95.0, 12.0]).double()  # it -> The, animal, street
WEIGHTS = torch.tensor([0.01, 0.88, 0.03]).double()  # as printed
UNTRAINED = 2000  # random heads


def scores_to_88() -> dict[str, str]:
    """Softmax of the scores, also ÷ 8; and what each pair of printed weights would need."""
    pairs = [(1, 0), (1, 2), (2, 0)]
    divisors = [(SCORES[i] - SCORES[j]) / math.log(WEIGHTS[i] / WEIGHTS[j]) for i, j in pairs]
    return {
        "weights": listed(SCORES.softmax(-1), 4),
        "scaled": listed((SCORES / 8).softmax(-1), 5),
        "divisors": listed(divisors, 1),
    }


def plus_two_learns() -> dict[str, object]:
    """The recipe as printed, trained now; beside it the best constant answer."""
    found = as_printed()
    return {
        "epochs": len(found.losses) - 1,
        "first": fixed(found.losses[0], 0),
        "loss": fixed(found.losses[-1], 0),
        "answer": listed(found.forced(PRINTED)[0], 1),
        "constant": fixed(constant_loss(), 0),
    }


def plus_two_listens() -> dict[str, object]:
    """The same recipe asked about other sequences."""
    found = as_printed()
    other, down = found.forced(PRINTED + 1), found.forced(PRINTED.flip(-1))
    return {
        "epochs": len(found.losses) - 1,
        "up": listed(found.forced(PRINTED)[0], 1),
        "other": listed(other[0], 1),
        "down": listed(down[0], 1),
    }


def plus_two_alone() -> dict[str, object]:
    """The mended recipe with the right answers handed in, and left to itself."""
    found = mended()
    src = evenly_spaced(500, drawing(2))
    return {
        "steps": len(found.losses),
        "batch": BATCH,
        "forced": fixed(off(found.forced(src), src), 1),
        "free": fixed(off(found.free(src), src), 1),
        "example_forced": listed(found.forced(PRINTED)[0], 1),
        "example_free": listed(found.free(PRINTED)[0], 1),
    }


def linear(
    d_in: int, d_out: int, generator: torch.Generator, many: int = 1
) -> tuple[Tensor, Tensor]:
    """Weights and bias as nn.Linear draws them: even between ±1/√d_in. `(many, d_in, d_out)`."""
    bound = d_in**-0.5
    return tuple(
        (torch.rand(many, rows, d_out, generator=generator).double() * 2 - 1) * bound
        for rows in (d_in, 1)
    )


def untrained_88() -> dict[str, object]:
    """Many heads fresh from nn.Linear(4, 4), each reading three random words."""
    generator = drawing()
    x = torch.rand(UNTRAINED, 3, 4, generator=generator).double()
    (wq, bq), (wk, bk) = (linear(4, 4, generator, UNTRAINED) for _ in range(2))
    most = attend(x @ wq + bq, x @ wk + bk, x).weights.amax(-1)  # (UNTRAINED, 3): of each row
    return {
        "heads": f"{UNTRAINED:,}",
        "median": fixed(most.median(), 2),
        "most": fixed(most.max(), 2),
        "reached": int((most >= 0.88).sum()),
    }


def six_blocks() -> dict[str, str]:
    """Two texts through six fresh blocks: how far apart they still are, of what they were."""
    C, generator = 64, drawing()
    x = torch.rand(2, 3, C, generator=generator).double()  # two texts of three tokens
    simple = whole = x
    for _ in range(6):
        q, k, v = (linear(C, C, generator) for _ in range(3))
        up, down = linear(C, 2 * C, generator), linear(2 * C, C, generator)

        def attention(x: Tensor, q=q, k=k, v=v) -> Tensor:
            return attend(*(x @ w + b for w, b in (q, k, v))).output

        def mlp(x: Tensor, up=up, down=down) -> Tensor:
            return F.relu(x @ up[0] + up[1]) @ down[0] + down[1]

        simple = mlp(attention(simple))
        whole = residual(whole, attention(layer_norm(whole)))
        whole = residual(whole, mlp(layer_norm(whole)))

    def left(after: Tensor) -> float:
        return float((after[0] - after[1]).norm() / (x[0] - x[1]).norm())

    return {"simple": f"1 / {round(1 / left(simple), -3):,.0f}", "whole": fixed(left(whole), 1)}


def order_blind() -> dict[str, str]:
    """ "I am a boy" and "boy am I a": does each word's output change with the order?"""
    words = torch.randn(4, 8, generator=drawing()).double()
    order = [3, 1, 0, 2]
    place = torch.stack([sinusoid(position, 8) for position in range(4)])

    def moved(attention, position: Tensor | float = 0.0) -> float:
        return largest(attention(words + position)[order] - attention(words[order] + position))

    def of(mask: Tensor | None):
        def output(x: Tensor) -> Tensor:
            trace: AttentionTrace = attend(x, x, x, mask)
            return trace.output

        return output

    return {
        "bare": tiny(moved(of(None))),
        "placed": fixed(moved(of(None), place), 2),
        "causal": fixed(moved(of(causal_mask(4))), 2),
    }
