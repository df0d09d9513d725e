"""Generated questions about the loss, its slopes and one step down."""

from __future__ import annotations

import math
from random import Random

import torch

from lessons.drawing import Drawn, compared, matrix, n, show, vector
from lessons.worked import worked_softmax
from model.steps import cross_entropy, softmax


def loss_before_training(draw: Random) -> Drawn:
    """The loss of a model to which all tokens are alike: ln V."""
    V = draw.randrange(20, 2000)
    alike, target = torch.zeros(1, V).double(), torch.tensor([0])
    answer, wrong = compared("cross_entropy", alike, target)
    return Drawn({"V": V}, answer, wrong, (f"−ln(1 / {V}) = ln {V} = {n(answer)}",))


def loss_of_a_text(draw: Random) -> Drawn:
    """The mean surprise at two tokens."""
    logits = matrix(draw, 2, 3, low=-1, high=3)
    targets = [draw.randrange(3) for _ in range(2)]
    answer, wrong = compared("cross_entropy", logits, torch.tensor(targets))
    p = [softmax(row)[target] for row, target in zip(logits, targets, strict=True)]
    lines = [worked_softmax(f"p[{t}]", logits[t], targets[t]) for t in range(2)]
    losses = [-math.log(chance) for chance in p]
    lines += [f"−ln {n(chance)} = {n(loss)}" for chance, loss in zip(p, losses, strict=True)]
    lines.append(f"({n(losses[0])} + {n(losses[1])}) / 2 = {n(answer)}")
    return Drawn({"logits": show(logits), "targets": targets}, answer, wrong, tuple(lines))


def one_step(draw: Random) -> Drawn:
    """w after one step, where y = w x and the loss is (y − target)²."""
    (w,), x = vector(draw, 1), draw.choice((-3, -2, -1, 1, 2, 3))
    target, rate = draw.randint(-5, 5), draw.choice((0.02, 0.05, 0.1))
    w.requires_grad_()
    (gradient,) = torch.autograd.grad((w * x - target) ** 2, w)
    w = w.detach()
    answer, wrong = compared("gradient_step", w, gradient, rate)
    y = w * x
    lines = (
        f"y = {n(w)} × {n(x)} = {n(y)}",
        f"∂L/∂y = 2 × ({n(y)} − {signed(target)}) = {n(2 * (y - target))}",
        f"∂L/∂w = {n(2 * (y - target))} × {n(x)} = {n(gradient)}",
        f"w = {n(w)} − {rate} × {signed(gradient)} = {n(answer)}",
    )
    blanks = {"w": show(w), "x": x, "target": target, "rate": rate}
    return Drawn(blanks, answer, wrong, lines)


def step_of_a_matrix(draw: Random) -> Drawn:
    """One weight of a matrix after a step; each weight has its own gradient."""
    w, gradient = matrix(draw, 2, 3), matrix(draw, 2, 3, low=-4, high=4, step=0.1)
    i, j, rate = draw.randrange(2), draw.randrange(3), draw.choice((0.1, 0.2, 0.5))
    answer, wrong = compared("gradient_step", w, gradient, rate, pick=lambda after: after[i, j])
    line = f"{n(w[i, j])} − {rate} × {signed(gradient[i, j])} = {n(answer)}"
    blanks = {"w": show(w), "gradient": show(gradient), "rate": rate, "i": i, "j": j}
    return Drawn(blanks, answer, wrong, (line,))


def logit_after_a_step(draw: Random) -> Drawn:
    """A logit after a step on the logits themselves: their gradient is p − 1 or p."""
    logits, target, k = vector(draw, 3, low=-1, high=2), draw.randrange(3), draw.randrange(3)
    rate = draw.choice((0.5, 2, 4))
    logits.requires_grad_()
    loss = cross_entropy(logits.unsqueeze(0), torch.tensor([target]))
    (gradient,) = torch.autograd.grad(loss, logits)
    z = logits.detach()
    answer, wrong = compared("gradient_step", z, gradient, rate, pick=lambda after: after[k])
    p = softmax(z)[k]
    slope = f"{n(p)} − 1 = {n(gradient[k])}" if k == target else n(gradient[k])
    lines = (
        worked_softmax(f"p[{k}]", z, k),
        f"∂L/∂logits[{k}] = {slope}",
        f"{n(z[k])} − {rate} × {signed(gradient[k])} = {n(answer)}",
    )
    blanks = {"logits": show(z), "target": target, "k": k, "rate": rate}
    return Drawn(blanks, answer, wrong, lines)


def signed(value: torch.Tensor | float) -> str:
    """A number after a sign of arithmetic: in parentheses where it is negative."""
    return f"({n(value)})" if value < 0 else n(value)
