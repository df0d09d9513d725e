"""What the model makes of a state: one block taken apart, or a stack climbed.

All in float64, a trained model too: then every sum in the glass box comes out to the
last digit shown.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cache, lru_cache

import torch
from torch import Tensor

from model.anatomy import Anatomy, anatomy, rewired
from model.block import Block
from model.gpt import GPT, ModelTrace
from model.looking import trace_of
from model.stack import alikeness, climb, cosines, fresh_block, length, size, stacked
from playground import models
from playground.block.state import MODEL, BlockState, ids_read, pieces

READ = 8  # numbers of a row that can be read, where it holds 64
HEADS = 4  # of a stack's blocks


@dataclass(frozen=True)
class Run:
    """One block, and which part of its numbers is shown."""

    block: Block
    found: Anatomy  # batch of one
    names: list[str]  # of the tokens
    rows: list[int]  # the tokens whose rows are shown
    columns: int | None  # how many numbers of a row are shown; None: all
    halves: tuple[Tensor, Tensor] | None = None  # (C,) each: what a trained token's x is the sum of

    def row(self, step: Tensor) -> Tensor:
        """The rows that are shown, whole: `(1, T, D)` -> `(rows, D)`."""
        return step[0, self.rows]


def run(state: BlockState) -> Run:
    return trained(state) if state.source == "trained" else typed(state)


def typed(state: BlockState) -> Run:
    """A fresh block on the vectors of the person."""
    x = torch.tensor(state.vectors, dtype=torch.float64)
    block = fresh_block(
        x.size(1),
        state.n_head,
        torch.Generator().manual_seed(state.seed),
        norm=state.norm,
        residual=state.residual,
        activation=state.activation,
    ).requires_grad_(False)
    found = anatomy(block, x[None], causal=state.causal)
    return Run(block, found, state.tokens, list(range(len(x))), None)


def trained(state: BlockState) -> Run:
    """A block of MODEL on its own stream, all layers below it as they were trained."""
    ids, layer = ids_read(state), int(state.layer) - 1
    gpt, trace = exact(), traced(tuple(ids))
    block = rewired(
        gpt.blocks[layer], norm=state.norm, residual=state.residual, activation=state.activation
    ).requires_grad_(False)
    last = len(ids) - 1
    if layer:
        below = trace.blocks[layer - 1]
        halves = (below.resid_mid[0, last], below.mlp_out[0, last])
    else:
        halves = (gpt.wte.weight[ids[last]].detach(), gpt.wpe.weight[last].detach())
    found = anatomy(block, trace.blocks[layer].resid_pre)
    return Run(block, found, pieces(ids), [last], READ, halves)


@cache
def exact() -> GPT:
    """MODEL in float64, a copy that nobody changes."""
    return copy.deepcopy(models.checkpoint(MODEL).gpt).double()


@lru_cache(maxsize=16)
def traced(ids: tuple[int, ...]) -> ModelTrace:
    return trace_of(exact(), list(ids))


# Many blocks

ENDS = 4  # numbers of a gradient that a sum writes out: the first three and the last


@dataclass(frozen=True)
class Measured:
    """What a climb gave, at every height from 0 below the first block to L above the last."""

    lengths: Tensor  # (L + 1, T): of each token's vector
    length: Tensor  # (L + 1,): their mean
    gradient_ends: Tensor  # (L + 1, ENDS): some of the gradient's numbers
    gradient: Tensor  # (L + 1,): its size
    weight_ends: Tensor  # (L, ENDS)
    weights: Tensor  # (L,): size of the gradient of all that a block learns
    cosines: Tensor  # (L + 1, pairs of tokens)
    alike: Tensor  # (L + 1,): their mean


@lru_cache(maxsize=64)
def measured(
    wiring: str, blocks: int, width: int, seed: int, gain: float, activation: str
) -> Measured:
    found = climb(
        stacked(blocks, width, HEADS, seed, wiring=wiring, gain=gain, activation=activation)
    )
    return Measured(
        found.streams.norm(dim=-1),
        length(found.streams),
        ends(found.gradients.flatten(1)),
        size(found.gradients),
        ends(found.weights),
        size(found.weights),
        cosines(found.streams),
        alikeness(found.streams),
    )


def ends(numbers: Tensor) -> Tensor:
    """`(n, many)` -> `(n, ENDS)`: the first ones and the last."""
    return torch.cat([numbers[:, : ENDS - 1], numbers[:, -1:]], dim=1)


def measured_of(state: BlockState, wiring: str) -> Measured:
    return measured(
        wiring, state.blocks, int(state.width), state.seed, float(state.gain), state.activation
    )
