"""What a model says to the claims of document 1, a learner's questions and answers."""

from __future__ import annotations

import torch

from model import attend, multi_head
from model.attention import voices
from model.looking import trace_of
from model.mistakes import MISTAKES
from model.steps import gradient_step, residual

from .said import drawing, fixed, largest, plain, shipped, tiny

# The three voices: each word's vector, and how much the first word is said to listen to each.
VECTORS = torch.tensor([[10, 10], [100, 100], [5, 5]]).double()
WEIGHTS = torch.tensor([[0.1, 0.8, 0.1]]).double()


def three_voices() -> dict[str, str]:
    """Dot products of those vectors -> softmax, for the first word."""
    bare, scaled = (attend(VECTORS, VECTORS, VECTORS, scale=scale) for scale in (False, True))
    return {
        "scores": plain(bare.scores[0]),
        "weights": plain(bare.weights[0]),
        "scaled": plain(scaled.weights[0]),
    }


def high_scores_raise() -> dict[str, object]:
    """Each value at its volume, and how many came out larger than they went in."""
    each = voices(WEIGHTS, VECTORS)[0, :, 0]
    return {
        "before": plain(VECTORS[:, 0]),
        "after": plain(each),
        "sum": fixed(each.sum(), 1),
        "grown": int((each > VECTORS[:, 0]).sum()),
    }


def original_gone() -> dict[str, str]:
    """What is left of the first word: its own voice, and the residual connection."""
    heard = WEIGHTS @ VECTORS
    return {
        "own": plain(voices(WEIGHTS, VECTORS)[0, 0, :1]),
        "heard": fixed(heard[0, 0], 1),
        "stream": fixed(residual(VECTORS[0], heard)[0, 0], 1),
    }


def four_sixteens() -> dict[str, object]:
    """Only the last 16 of 64 inputs change: how many of four heads notice?"""
    generator = drawing()
    x = torch.randn(3, 64, generator=generator)
    w = [torch.randn(64, 64, generator=generator) / 8 for _ in range(3)]
    other = x.clone()
    other[:, 48:] += 1
    noticed = {
        name: (run(x, *w, None, 4).heads.q != run(other, *w, None, 4).heads.q).any(-1).any(-1)
        for name, run in (
            ("heads", multi_head),
            ("sliced", MISTAKES["slice_instead_of_project"]),
        )
    }
    rows, columns = w[0].chunk(4, dim=-1)[0].shape
    return {name: int(which.sum()) for name, which in noticed.items()} | {
        "matrix": f"{rows} × {columns}"
    }


def backward_changes() -> dict[str, str]:
    """A layer of 64 → 256: what `backward()` changes of it, and what a step of descent does."""
    generator = drawing()
    weight = (torch.randn(64, 256, generator=generator) / 8).requires_grad_()
    x, target = (torch.randn(8, width, generator=generator) for width in (64, 256))
    before = weight.detach().clone()
    (x @ weight - target).square().mean().backward()
    after_backward = weight.detach().clone()
    after_step = gradient_step(after_backward, weight.grad, 0.1)  # what torch.optim.SGD does
    return {
        "backward": tiny(largest(after_backward - before)),
        "gradient": fixed(largest(weight.grad), 4),
        "step": fixed(largest(after_step - before), 4),
    }


def stream_shape() -> dict[str, object]:
    """Four texts of eight tokens through the blocks of the model that is 64 wide."""
    gpt = shipped("shakespeare-64").gpt
    ids = torch.arange(32).reshape(4, 8)
    with torch.no_grad():
        traces = []
        gpt(ids, trace=traces)
    shapes = {tuple(block.resid_post.shape) for block in traces[0].blocks}
    assert len(shapes) == 1, "every block hands on what it was handed"
    one = trace_of(gpt, ids[0].tolist()).blocks[-1].resid_post
    return {
        "blocks": len(traces[0].blocks),
        "shape": ", ".join(map(str, shapes.pop())),
        "one": ", ".join(map(str, one.shape)),
    }
