"""A tiny GPT trained step by step while someone watches: paused, gone on with, gone back.

    loss = next_token_loss(gpt(idx), targets)      forward, on the batch of this step
    g = ∂loss/∂w                                   backward
    w −= η · m̂ / (√v̂ + ε)                          Adam, for every weight

The learning rate η stays the same, nothing is clipped and no weight decays: what a rate
too high does can be seen, and a step of one weight can be written by hand. All that is
random comes from the seed, through generators of the run's own: the same settings give
the same curve, bit for bit, whoever else trains in the same process.

Source: Kingma & Ba 2015, "Adam", algorithm 1.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from model import errors
from model.gpt import GPT, GPTConfig, next_token_loss
from model.gradients import Difference, difference
from model.multihead import check_heads
from model.tasks import make_task

BETAS, EPS = (0.9, 0.999), 1e-8  # Adam's own
LIMITS = {
    "n_layer": (1, 4),
    "n_head": (1, 64),
    "n_embd": (4, 64),
    "batch_size": (1, 64),
    "seed": (0, 2**31 - 1),
}
HIGHEST_RATE = 10.0


@dataclass(frozen=True)
class LiveSettings:
    """All that a run follows from. The defaults learn copy, reverse and sort in a few hundred steps.

    Raises `RangeError` for a number outside its limits, `HeadsError` where n_head does not
    divide n_embd, and what `make_task` raises.
    """

    task: str = "copy"
    text: str = ""
    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 16
    causal: bool = True
    positions: bool = True
    learning_rate: float = 5e-3
    seed: int = 0
    batch_size: int = 16

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            found = getattr(self, name)
            if not (type(found) is int and low <= found <= high):
                raise errors.RangeError(name=name, found=found, wanted=f"{low} … {high}")
        if not 0 < self.learning_rate <= HIGHEST_RATE:
            wanted = f"0 < learning_rate ≤ {HIGHEST_RATE:g}"
            raise errors.RangeError(name="learning_rate", found=self.learning_rate, wanted=wanted)
        check_heads(self.n_embd, self.n_head)
        make_task(self.task, self.text)

    @property
    def config(self) -> GPTConfig:
        """The model of these settings, as large as the task needs it."""
        task = make_task(self.task, self.text)
        own = {f.name: getattr(self, f.name) for f in fields(GPTConfig) if hasattr(self, f.name)}
        return GPTConfig(len(task.alphabet), task.block_size, **own)


@dataclass(frozen=True)
class Snapshot:
    """A run at one step: its losses so far, its weights, and Adam's memory of each."""

    losses: tuple[float, ...]
    weights: dict[str, Tensor]
    memory: dict[str, dict[str, Tensor]]  # name -> step, exp_avg (m), exp_avg_sq (v)


class LiveRun:
    """A model, its task and its optimizer. `advance()` takes one step."""

    def __init__(self, settings: LiveSettings) -> None:
        s = self.settings = settings
        self.task = make_task(s.task, s.text)
        # 0.02 suits the width of GPT-2; narrow vectors begin as long only with larger numbers
        std = 0.4 / s.n_embd**0.5
        self.gpt = GPT(s.config, torch.Generator().manual_seed(s.seed), std=std)
        self.weights = {n: p for n, p in self.gpt.named_parameters() if p.requires_grad}
        self.optimizer = torch.optim.Adam(
            self.weights.values(), lr=s.learning_rate, betas=BETAS, eps=EPS, fused=True
        )
        self.losses: list[float] = []

    @property
    def step(self) -> int:
        """How many steps were taken."""
        return len(self.losses)

    def loss(self, gpt: GPT | None = None) -> Tensor:
        """The loss, a scalar, on the batch of the step that comes next."""
        idx, targets = self.task.batch(self.step, self.settings.seed, self.settings.batch_size)
        return next_token_loss((gpt or self.gpt)(idx), targets)

    def advance(self) -> float:
        """One step; the loss before it.

        Raises `LiveDivergedError`, with all weights left as they were, where the loss or a
        gradient is no longer finite.
        """
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss()
        loss.backward()
        length = torch.nn.utils.get_total_norm(p.grad for p in self.weights.values())
        for number in (loss.item(), length.item()):
            if not math.isfinite(number):
                raise errors.LiveDivergedError(
                    loss=number, step=self.step + 1, rate=self.settings.learning_rate
                )
        self.optimizer.step()
        self.losses.append(loss.item())
        return self.losses[-1]

    def snapshot(self) -> Snapshot:
        """The run as it is now, in tensors of its own."""
        memory = {
            name: {key: value.clone() for key, value in self.optimizer.state[p].items()}
            for name, p in self.weights.items()
            if p in self.optimizer.state
        }
        weights = {name: p.detach().clone() for name, p in self.weights.items()}
        return Snapshot(tuple(self.losses), weights, memory)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back, or on, to where a run of the same settings was."""
        self.losses = list(snapshot.losses)
        self.optimizer.state.clear()
        with torch.no_grad():
            for name, p in self.weights.items():
                p.copy_(snapshot.weights[name])
                if name in snapshot.memory:
                    kept = snapshot.memory[name]
                    self.optimizer.state[p] = {key: value.clone() for key, value in kept.items()}


@dataclass(frozen=True)
class WeightStep:
    """One step of one weight w, every number of it; t counts from 1."""

    t: int
    value: float
    gradient: float  # g
    m_before: float
    v_before: float
    m: float  # β₁m + (1 − β₁)g
    v: float  # β₂v + (1 − β₂)g²
    m_hat: float  # m / (1 − β₁ᵗ)
    v_hat: float  # v / (1 − β₂ᵗ)
    learning_rate: float  # η
    new_value: float  # w − η m̂ / (√v̂ + ε)


def gradient(run: LiveRun, name: str) -> Tensor:
    """∂loss/∂w of a whole tensor, on the batch of the next step; the run is not changed.

    Raises `ChoiceError` for no such tensor.
    """
    return torch.autograd.grad(run.loss(), weight(run, name))[0]


def one_step(run: LiveRun, name: str, index: tuple[int, ...]) -> WeightStep:
    """What the next `advance()` will do to one weight; the run is not changed.

    Raises `ChoiceError` for no such tensor, `RangeError` for no such place in it.
    """
    p = weight(run, name, index)
    gradients = gradient(run, name)
    w, g, t = p[index].item(), gradients[index].item(), run.step + 1
    kept = run.optimizer.state.get(p, {})
    m_before, v_before = (
        kept[key][index].item() if kept else 0.0 for key in ("exp_avg", "exp_avg_sq")
    )
    beta_1, beta_2 = BETAS
    m = beta_1 * m_before + (1 - beta_1) * g
    v = beta_2 * v_before + (1 - beta_2) * g**2
    m_hat, v_hat = m / (1 - beta_1**t), v / (1 - beta_2**t)
    rate = run.settings.learning_rate
    new = w - rate * m_hat / (v_hat**0.5 + EPS)
    return WeightStep(t, w, g, m_before, v_before, m, v, m_hat, v_hat, rate, new)


def two_gradients(
    run: LiveRun, name: str, index: tuple[int, ...], h: float = 1e-5
) -> tuple[float, Difference]:
    """∂loss/∂w of one weight by autograd and by finite difference, in float64 on a copy.

    Raises what `one_step` raises, and `RangeError` for an h not above 0.
    """
    weight(run, name, index)
    gpt = copy.deepcopy(run.gpt).double()
    p = gpt.get_parameter(name)
    (gradients,) = torch.autograd.grad(run.loss(gpt), p)
    return gradients[index].item(), difference(lambda: run.loss(gpt), p, index, h)


def weight(run: LiveRun, name: str, index: tuple[int, ...] | None = None) -> Tensor:
    """The tensor of that name, where it has such a place."""
    if name not in run.weights:
        raise errors.ChoiceError(name="weight", found=name, choices=" | ".join(run.weights))
    p = run.weights[name]
    if index is None:
        return p
    if len(index) != p.dim() or not all(
        0 <= i < size for i, size in zip(index, p.shape, strict=True)
    ):
        wanted = " × ".join(f"0 … {size - 1}" for size in p.shape)
        raise errors.RangeError(name=name, found=list(index), wanted=wanted)
    return p
