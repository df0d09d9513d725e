"""One number of an attention worked out, line by line, with its own digits."""

from __future__ import annotations

from torch import Tensor

from lessons.drawing import n
from model import AttentionTrace

ORDER = ("scores", "scaled", "masked", "weights", "output")


def worked_attention(trace: AttentionTrace, step: str, i: int, j: int) -> tuple[str, ...]:
    """The lines from q and k to `step`[i, j] of an attention of one head, without dropout."""
    columns = range(trace.k.size(0)) if step in ("weights", "output") else [j]
    lines = [worked_dot(f"scores[{i}, {c}]", trace.q[i], trace.k[c]) for c in columns]
    if step == "scores":
        return tuple(lines)
    root = f"√{trace.q.size(-1)}"
    unscaled = bool((trace.scaled == trace.scores).all())
    if not unscaled:
        lines += [
            f"scaled[{i}, {c}] = {n(trace.scores[i, c])} / {root} = {n(trace.scaled[i, c])}"
            for c in columns
        ]
    hidden = [c for c in columns if trace.masked[i, c] == -float("inf")]
    lines += [f"masked[{i}, {c}] = −∞" for c in hidden]
    if step in ("scaled", "masked"):
        return tuple(lines)
    wanted = [j] if step == "weights" else [c for c in columns if c not in hidden]
    lines += [worked_softmax(f"weights[{i}, {c}]", trace.masked[i], c) for c in wanted]
    if step == "output":
        pairs = [(trace.weights[i, c], trace.v[c, j]) for c in wanted]
        lines.append(f"output[{i}, {j}] = {products(pairs)} = {n(trace.output[i, j])}")
    return tuple(lines)


def worked_dot(name: str, a: Tensor, b: Tensor) -> str:
    """name = a₀ × b₀ + a₁ × b₁ + … = their dot product"""
    return f"{name} = {products(list(zip(a, b, strict=True)))} = {n(a @ b)}"


def products(pairs: list[tuple[Tensor, Tensor]]) -> str:
    """a × b + …, brackets around what is negative: "−1 × 2 + (−3) × (−4)"."""
    text = " + ".join(f"{bracketed(a)} × {bracketed(b)}" for a, b in pairs)
    return text if pairs[0][0] >= 0 else text.replace(bracketed(pairs[0][0]), n(pairs[0][0]), 1)


def bracketed(number: Tensor) -> str:
    return f"({n(number)})" if number < 0 else n(number)


def worked_softmax(name: str, scores: Tensor, j: int) -> str:
    """name = e^sⱼ / Σ e^s = softmax(scores)[j]; a score of −∞ is left out, its e^s is 0."""
    seen = " + ".join(f"e^{n(s)}" for s in scores if s != -float("inf"))
    if scores[j] == -float("inf"):
        return f"{name} = e^−∞ / ({seen}) = 0"
    return f"{name} = e^{n(scores[j])} / ({seen}) = {n(scores.softmax(-1)[j])}"
