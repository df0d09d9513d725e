"""What a model says to the claims of document 4, a notebook that builds attention up."""

from __future__ import annotations

import torch

from model import attend, causal_mask, draw_keep, masking, multi_head, multi_head_loop
from model.steps import softmax

from .said import drawing, fixed, largest, listed, plain, tiny

JOURNEY = torch.tensor(
    [
        [0.43, 0.15, 0.89],
        [0.55, 0.87, 0.66],
        [0.57, 0.85, 0.64],
        [0.22, 0.58, 0.33],
        [0.77, 0.25, 0.10],
        [0.05, 0.80, 0.55],
    ]
).double()
PRINTED = torch.tensor([0.4419, 0.6515, 0.5683]).double()


def second_context_vector() -> dict[str, str]:
    plain, scaled = (attend(JOURNEY, JOURNEY, JOURNEY, scale=s).output[1] for s in (False, True))
    return {
        "plain": listed(plain, 4),
        "off": fixed(largest(plain - PRINTED), 4),
        "scaled": listed(scaled, 4),
    }


def random_init() -> dict[str, str]:
    """Two heads of d_out = 2 side by side, and d_out = 2 shared among two heads."""
    generator = drawing()
    wide = [torch.rand(3, 4, generator=generator).double() for _ in range(3)]
    narrow = [w[:, :2] for w in wide]
    wrapper = multi_head_loop(JOURNEY, *wide, None, 2, causal_mask(6)).output
    same = multi_head(JOURNEY, *wide, None, 2, causal_mask(6)).output
    return {
        "wrapper": str(wrapper.size(-1)),
        "fused": str(multi_head(JOURNEY, *narrow, None, 2, causal_mask(6)).output.size(-1)),
        "difference": tiny(largest(wrapper - same)),
    }


def renormalised() -> dict[str, str]:
    """Zeros after softmax and rows divided by their sums, against −∞ before."""
    scaled, mask = attend(JOURNEY, JOURNEY, JOURNEY).scaled, causal_mask(6)
    extreme = torch.tensor([[0.0, 200.0], [0.0, 0.0]])  # the hidden score is far larger
    detour, straight = (
        way(extreme, causal_mask(2))[0] for way in (masking.renormalised, masking.before)
    )
    return {
        "difference": tiny(
            largest(masking.renormalised(scaled, mask) - masking.before(scaled, mask))
        ),
        "detour": ", ".join("NaN" if x.isnan() else fixed(x, 1) for x in detour),
        "straight": listed(straight, 1),
    }


def dropout_doubles() -> dict[str, str]:
    """By how much the kept weights grow, read off an attention with dropout."""
    factors, sums = {}, {}
    for name, p in (("half", 0.5), ("fifth", 0.2)):
        keep = draw_keep((6, 6), p, drawing())
        trace = attend(JOURNEY, JOURNEY, JOURNEY, dropout=p, keep=keep)
        factors[name] = plain([(trace.dropped / trace.weights)[keep].mean()])
        sums[name] = trace.dropped.sum(-1)
    return factors | {"least": fixed(sums["half"].min(), 2), "most": fixed(sums["half"].max(), 2)}


def naive_softmax() -> dict[str, str]:
    """e^s / Σ e^s word for word, in the precision that models use."""
    scores = torch.tensor([5.0, 95.0, 12.0])
    naive = scores.exp() / scores.exp().sum()
    return {
        "power": str(scores.exp()[1].item()).replace("inf", "∞"),
        "naive": ", ".join("NaN" if x.isnan() else fixed(x, 1) for x in naive),
        "safe": listed(softmax(scores), 1),
    }
