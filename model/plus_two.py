"""Document 3's "+2": an encoder–decoder that should turn 10, 20, 30, 40, 50 into 12, 22, 32, 42, 52.

Two recipes. "as_printed" has the document's own numbers: one sequence, not scaled,
dropout 0.1, 500 epochs. "mended" changes three things: many sequences, numbers ÷ 50,
no dropout (and the rate goes with it). `PlusTwoRun` trains either, a step at a time.

Every random number is a function of the seed and the step alone and comes from a
generator of the run's own: the same seed gives the same curve, whoever else draws.

Axes: B sequences, T = LENGTH numbers each, C = n_embd.
Sources: the task and the sizes are document 3's; the model is that of Vaswani et al.
2017, with a Linear from and to one number in place of the embeddings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

from model import errors
from model.attention import check_finite
from model.block import check_choice
from model.embeddings import position_table
from model.encoder_decoder import EncoderDecoder, EncoderDecoderTrace
from model.multihead import MultiHeadAttention

N_EMBD, N_HEAD, N_LAYER, HIDDEN = 16, 2, 2, 32
LENGTH, ADDED = 5, 2
PRINTED = torch.tensor([[10.0, 20.0, 30.0, 40.0, 50.0]])  # the document's only sequence
BATCH = 16  # of the mended recipe
MOMENTS = (
    "exp_avg",
    "exp_avg_sq",
)  # what Adam keeps of each weight: mean of the gradients, of their squares
APART = 100_000  # seeds of neighbouring runs: more than a run has steps


class NumberTranslator(nn.Module):
    """A number -> C channels + its position -> `EncoderDecoder` -> a number.

    Every weight is drawn from `generator`, and so is the dropout.
    """

    def __init__(self, dropout: float, generator: torch.Generator) -> None:
        super().__init__()
        with torch.device("meta"):  # sizes alone: nothing is drawn here
            self.embed = nn.Linear(1, N_EMBD)
            self.stacks = EncoderDecoder(
                N_EMBD, N_HEAD, N_LAYER, dropout=dropout, generator=generator, hidden=HIDDEN
            )
            self.head = nn.Linear(N_EMBD, 1)
        self.to_empty(device="cpu")
        self.register_buffer("positions", position_table(LENGTH, N_EMBD), persistent=False)
        self.draw(generator)

    @torch.no_grad()
    def draw(self, generator: torch.Generator) -> None:
        """Fresh weights, spread as nn.Linear, nn.LayerNorm and nn.Transformer spread theirs."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                bound = module.in_features**-0.5
                for p in module.parameters():
                    p.uniform_(-bound, bound, generator=generator)
            elif isinstance(module, nn.LayerNorm):
                module.reset_parameters()  # 1 and 0
        for p in self.stacks.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p, generator=generator)
        for module in self.modules():
            if isinstance(module, MultiHeadAttention):
                module.c_attn.bias.zero_()
                module.c_proj.bias.zero_()

    def forward(
        self, src: Tensor, tgt: Tensor, *, trace: list[EncoderDecoderTrace] | None = None
    ) -> Tensor:
        """src `(B, T)`, tgt `(B, n)` with n up to T -> an answer for each of the n, `(B, n)`."""
        src, tgt = (
            self.embed(x[..., None]) * math.sqrt(N_EMBD) + self.positions[: x.size(1)].to(x.dtype)
            for x in (src, tgt)
        )  # (B, T) -> (B, T, C)
        return self.head(self.stacks(src, tgt, trace=trace))[..., 0]  # (B, n, C) -> (B, n)


def printed(generator: torch.Generator) -> Tensor:
    """The document's sequence, `(1, T)`, every time."""
    return PRINTED


def evenly_spaced(count: int, generator: torch.Generator) -> Tensor:
    """`(count, T)`: a start from 0 to 60 and steps of -10 to 10, the same along a sequence."""
    start = 60 * torch.rand(count, 1, generator=generator)
    step = 20 * torch.rand(count, 1, generator=generator) - 10
    return start + step * torch.arange(LENGTH)


@dataclass(frozen=True)
class PlusTwoRecipe:
    """How to train, and for how long."""

    sequences: Callable[[torch.Generator], Tensor]  # what a step learns from: (B, T)
    scale: float  # numbers are divided by it on their way in, answers multiplied
    dropout: float
    learning_rate: float  # Adam's
    steps: int


RECIPES: dict[str, PlusTwoRecipe] = {
    "as_printed": PlusTwoRecipe(printed, 1.0, 0.1, 0.001, 501),  # epochs 0 to 500
    "mended": PlusTwoRecipe(lambda g: evenly_spaced(BATCH, g), 50.0, 0.0, 0.002, 800),
}


def with_answers(src: Tensor) -> tuple[Tensor, Tensor]:
    """src `(B, T)` -> what the decoder reads, the answers moved one place behind a 0; the answers.

    >>> with_answers(PRINTED)[0].tolist()
    [[0.0, 12.0, 22.0, 32.0, 42.0]]
    """
    target = src + ADDED
    return F.pad(target[:, :-1], (1, 0)), target


def off(answers: Tensor, src: Tensor) -> float:
    """How far answers `(B, T)` are from src + 2, in the numbers' units: root of the mean square."""
    return (answers - src - ADDED).square().mean().sqrt().item()  # √ mean (answer − right)²


def constant_loss() -> float:
    """What the best single number for all five places costs in the document's recipe: 200."""
    return PRINTED.var(correction=0).item()  # mean (x − mean)²


@dataclass(frozen=True)
class PlusTwoState:
    """All that a run needs to go on from a step, each kind of number in one row of N weights."""

    losses: tuple[float, ...]
    weights: Tensor  # (N,)
    moments: tuple[Tensor, ...]  # Adam's two, (N,) each; none before the first step


class PlusTwoRun:
    """One training, a step at a time, and what the model answers so far.

    `recipe` is one of `RECIPES`; without a `learning_rate` it is the recipe's. Raises
    `ChoiceError`, and `RangeError` for a rate outside (0, 1] or a seed that is none.
    Source: Kingma & Ba 2015 (Adam).
    """

    def __init__(self, recipe: str, seed: int, learning_rate: float | None = None) -> None:
        check_choice("recipe", recipe, tuple(RECIPES))
        self.recipe, self.seed = RECIPES[recipe], seed
        rate = self.recipe.learning_rate if learning_rate is None else learning_rate
        if not 0 < rate <= 1:
            raise errors.RangeError(name="learning_rate", found=rate, wanted="0 < η ≤ 1")
        if not 0 <= seed < 2**31:
            raise errors.RangeError(name="seed", found=seed, wanted=f"0 … {2**31 - 1}")
        self.generator = torch.Generator().manual_seed(seed * APART)
        self.model = NumberTranslator(self.recipe.dropout, self.generator)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=rate, fused=True)
        self.losses: list[float] = []  # mean squared errors, in the numbers' units squared

    @property
    def step(self) -> int:
        """How many steps have been trained."""
        return len(self.losses)

    def advance(self) -> float:
        """One training step under teacher forcing -> its loss. Raises `LiveDivergedError`."""
        self.generator.manual_seed(self.seed * APART + 1 + self.step)
        src = self.recipe.sequences(self.generator)
        tgt, target = with_answers(src)
        scale = self.recipe.scale
        answers = self.model.train()(src / scale, tgt / scale)
        loss = F.mse_loss(answers, target / scale)
        found = loss.item() * scale**2
        if not math.isfinite(found):
            rate = self.optimizer.param_groups[0]["lr"]
            raise errors.LiveDivergedError(step=self.step + 1, loss=found, rate=rate)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.losses.append(found)
        return found

    @torch.no_grad()
    def state(self) -> PlusTwoState:
        """A copy of the run as it stands."""
        params = list(self.model.parameters())
        kept = [self.optimizer.state[p] for p in params] if self.losses else []
        moments = [parameters_to_vector([one[m] for one in kept]) for m in MOMENTS if kept]
        return PlusTwoState(tuple(self.losses), parameters_to_vector(params), tuple(moments))

    @torch.no_grad()
    def restore(self, state: PlusTwoState) -> None:
        """Stand where a run of the same recipe, seed and rate stood."""
        params = list(self.model.parameters())
        sizes = [p.numel() for p in params]
        for p, weights in zip(params, state.weights.split(sizes), strict=True):
            p.copy_(weights.view_as(p))
        self.optimizer.state.clear()
        for name, moments in zip(MOMENTS, state.moments, strict=bool(state.moments)):
            for p, kept in zip(params, moments.split(sizes), strict=True):
                self.optimizer.state[p][name] = kept.view_as(p).clone()
                self.optimizer.state[p]["step"] = torch.tensor(float(len(state.losses)))
        self.losses = list(state.losses)

    @torch.no_grad()
    def answers(
        self, src: Tensor, tgt: Tensor, *, trace: list[EncoderDecoderTrace] | None = None
    ) -> Tensor:
        """src `(B, T)` and what the decoder reads, tgt `(B, n)` -> `(B, n)`, without dropout.

        Their dtype is that of the weights: float32, or float64 after `model.double()`. Handed a
        `trace`, it records every step. Raises `RankError`, `RangeError`, `NotFiniteError`.
        """
        check_numbers("src", src, LENGTH, LENGTH)
        check_numbers("tgt", tgt, 1, LENGTH)
        scale = self.recipe.scale
        return self.model.eval()(src / scale, tgt / scale, trace=trace) * scale

    def forced(self, src: Tensor) -> Tensor:
        """Teacher forcing: each answer is given the right ones before it. `(B, T)` -> `(B, T)`."""
        check_numbers("src", src, LENGTH, LENGTH)
        return self.answers(src, with_answers(src)[0])

    def free(self, src: Tensor) -> Tensor:
        """Free running: each answer is given the model's own before it. `(B, T)` -> `(B, T)`."""
        check_numbers("src", src, LENGTH, LENGTH)
        tgt = src.new_zeros(len(src), 1)
        for _ in range(LENGTH):
            tgt = torch.cat([tgt, self.answers(src, tgt)[:, -1:]], dim=1)
        return tgt[:, 1:]

    def trace(self, src: Tensor, tgt: Tensor) -> EncoderDecoderTrace:
        """All that happens inside: src `(B, T)`, tgt `(B, n)`, in the numbers' own units."""
        found: list[EncoderDecoderTrace] = []
        self.answers(src, tgt, trace=found)
        return found[0]


def check_numbers(name: str, x: Tensor, least: int, most: int) -> None:
    """`x` is `(B, n)`, all finite, n within its bounds."""
    if x.dim() != 2:
        raise errors.RankError(name=name, rank=x.dim(), shape=tuple(x.shape), needed=2)
    if not least <= x.size(1) <= most:
        wanted = str(most) if least == most else f"{least} … {most}"
        raise errors.RangeError(name=f"len({name}[0])", found=x.size(1), wanted=wanted)
    check_finite(name, x)
