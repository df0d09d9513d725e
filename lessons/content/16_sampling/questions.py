"""Generated questions about temperature, top-k, top-p and the KV cache."""

from __future__ import annotations

from random import Random

import torch
from torch import Tensor

from lessons.drawing import Drawn, compared, matrix, n, show
from lessons.worked import worked_attention, worked_softmax
from model import attend
from model.steps import kv_cache_bytes

MIB = 2**20
PROBABILITIES = (
    (0.4, 0.3, 0.2, 0.1),
    (0.4, 0.25, 0.2, 0.15),
    (0.35, 0.3, 0.2, 0.15),
    (0.45, 0.25, 0.15, 0.1, 0.05),
    (0.35, 0.25, 0.2, 0.15, 0.05),
    (0.3, 0.25, 0.2, 0.15, 0.1),
)
LIMITS = (0.52, 0.58, 0.62, 0.68, 0.72, 0.78, 0.82, 0.88)  # never the sum of some of them


def drawn_logits(draw: Random, count: int) -> Tensor:
    """`(count,)` logits, all different, so that their order is beyond doubt."""
    return torch.tensor(draw.sample([half / 2 for half in range(-4, 7)], count)).double()


def warm(draw: Random) -> Drawn:
    """A probability at some temperature."""
    logits, T = drawn_logits(draw, 3), draw.choice((0.5, 0.8, 1.25, 1.5, 2.0))
    i = draw.randrange(3)
    answer, wrong = compared("temperature", logits, T, pick=lambda probs: probs[i])
    divided = [f"{n(z)} / {n(T)} = {n(z / T)}" for z in logits]
    worked = (*divided, worked_softmax(f"p[{i}]", logits / T, i))
    return Drawn({"logits": show(logits), "T": show(T), "i": i}, answer, wrong, worked)


def of_the_k(draw: Random) -> Drawn:
    """The probability of a token that top-k keeps."""
    logits, k = drawn_logits(draw, 5), draw.choice((2, 3))
    i = int(logits.topk(k).indices[draw.randrange(k)])
    answer, wrong = compared("top_k", logits, k, pick=lambda probs: probs[i])
    kept = logits.masked_fill(logits < logits.topk(k).values[-1], -torch.inf)
    worked = (worked_softmax(f"p[{i}]", kept, i),)
    return Drawn({"logits": show(logits), "k": k, "i": i}, answer, wrong, worked)


def of_the_p(draw: Random) -> Drawn:
    """The probability of the first token after top-p, from probabilities in a shuffled order."""
    probs = list(draw.choice(PROBABILITIES))
    p = draw.choice(LIMITS)
    sums = torch.tensor(probs, dtype=torch.float64).cumsum(0)
    n_kept = int((sums < p).sum()) + 1
    worked = (
        " + ".join(map(show, probs[:n_kept])) + f" = {n(sums[n_kept - 1])} ≥ {show(p)}",
        f"{show(probs[0])} / {n(sums[n_kept - 1])} = {n(probs[0] / sums[n_kept - 1])}",
    )
    draw.shuffle(probs)
    logits = torch.tensor(probs, dtype=torch.float64).log()
    i = int(logits.argmax())
    answer, wrong = compared("top_p", logits, p, pick=lambda found: found[i])
    return Drawn({"probs": show(logits.exp()), "p": show(p), "i": i}, answer, wrong, worked)


def cache_size(draw: Random) -> Drawn:
    """MiB of a full KV cache."""
    sizes = {
        "n_layer": draw.choice((4, 6, 12, 24)),
        "n_embd": draw.choice((256, 512, 768, 1024)),
        "T": draw.choice((512, 1024, 2048)),
        "bytes": draw.choice((2, 4)),
    }
    answer, wrong = compared("kv_cache_bytes", *sizes.values(), pick=lambda found: found / MIB)
    found = kv_cache_bytes(*sizes.values())
    product = " × ".join(map(str, sizes.values()))
    worked = (f"2 × {product} = {found} B", f"{found} / 2²⁰ = {n(answer)} MiB")
    return Drawn(sizes, answer, wrong, worked)


def one_more(draw: Random) -> Drawn:
    """What a new token's query takes out of two cached tokens and its own."""
    q, k, v = matrix(draw, 1, 2), matrix(draw, 3, 2), matrix(draw, 3, 1, 0, 9, step=1)
    leave = ("scale_by_d_model", "queries_and_keys_swapped")  # 3 × 1 weights do not fit 3 values
    answer, wrong = compared("attend", q, k, v, pick=lambda t: t.output[0, 0], leave=leave)
    blanks = {
        "k_cache": show(k[:2]),
        "v_cache": show(v[:2, 0]),
        "q": show(q[0]),
        "k": show(k[2]),
        "v": show(v[2, 0]),
    }
    return Drawn(blanks, answer, wrong, worked_attention(attend(q, k, v), "output", 0, 0))
