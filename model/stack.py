"""Fresh blocks stacked like bricks: the stream on its way up, the gradient on its way down.

`stacked` builds a stack from a seed, wired in one of five ways with the same weights;
`climb` sends tokens up through it and a gradient back down, and keeps both at every
height. `length`, `size` and `alikeness` say what became of them.

What comes down is the gradient of Σ rᵢ outᵢ, where r is a random direction of length 1:
at the top it is r itself, the same for every wiring, so that what arrives at the bottom
can be compared. (The sum or the mean square of the output would not do: behind a
LayerNorm they are always 0 and 1, and their gradient is nothing.)

Left out: training, and GPT-2's own start, smaller than a plain nn.Linear's (gpt.py).

Axes: L blocks, T tokens, C = n_embd, P = all weights and biases of a block.
Sources: He et al. 2016 (residual connections); Xiong et al. 2020, "On Layer Normalization
in the Transformer Architecture" (norm before or after); Dong et al. 2021, "Attention is
not all you need" (without residual connections all tokens become alike).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model import errors
from model.block import Block, check_choice

WIRINGS: Mapping[str, Mapping[str, str | bool]] = {
    "pre": {"norm": "pre", "residual": True},  # GPT-2
    "post": {"norm": "post", "residual": True},  # Vaswani et al. 2017
    "none": {"norm": "none", "residual": True},
    "no_residual": {"norm": "pre", "residual": False},
    "neither": {"norm": "none", "residual": False},
}


@torch.no_grad()
def fresh_block(
    n_embd: int,
    n_head: int,
    generator: torch.Generator,
    *,
    gain: float = 1.0,
    norm: str = "pre",
    residual: bool = True,
    activation: str = "gelu",
) -> Block:
    """A new block in float64, every number as nn.Linear and nn.LayerNorm begin, from `generator`.

    Weights and biases are uniform between ±1/√d_in, the weights then times `gain`. The
    draws do not depend on how the block is wired. Raises `HeadsError`, `ChoiceError`,
    and `RangeError` for a gain that is not above 0.
    """
    if not 0 < gain < float("inf"):
        raise errors.RangeError(name="gain", found=gain, wanted="0 < gain")
    with torch.device("meta"):  # sizes alone: nothing is drawn here
        block = Block(n_embd, n_head, norm=norm, residual=residual, activation=activation)
    block = block.double().to_empty(device="cpu")
    for module in block.modules():
        if isinstance(module, nn.Linear):
            bound = module.in_features**-0.5  # 1/√d_in: Kaiming uniform with a = √5
            module.weight.uniform_(-bound, bound, generator=generator).mul_(gain)
            module.bias.uniform_(-bound, bound, generator=generator)
        elif isinstance(module, nn.LayerNorm):
            module.reset_parameters()  # 1 and 0
    return block


@dataclass(frozen=True)
class Stack:
    """Blocks, and what is sent through them: all from one seed."""

    blocks: Sequence[Block]
    x: Tensor  # (T, C): the tokens
    direction: Tensor  # (T, C): of length 1, the gradient at the top


def stacked(
    n_layer: int,
    n_embd: int,
    n_head: int,
    seed: int,
    *,
    wiring: str = "pre",
    n_token: int = 8,
    gain: float = 1.0,
    activation: str = "gelu",
) -> Stack:
    """A stack in float64. More blocks, or another wiring, leave tokens and lower weights as they are.

    `wiring` is one of `WIRINGS`; tokens are standard normal. Raises `SizeError`,
    `ChoiceError`, and what `fresh_block` raises.
    """
    for name, size in (("n_layer", n_layer), ("n_token", n_token), ("n_embd", n_embd)):
        if size < 1:
            raise errors.SizeError(name=name, found=size)
    check_choice("wiring", wiring, tuple(WIRINGS))
    generator = torch.Generator().manual_seed(seed)
    x, r = torch.randn(2, n_token, n_embd, generator=generator, dtype=torch.float64)
    options = {"gain": gain, "activation": activation, **WIRINGS[wiring]}
    blocks = [fresh_block(n_embd, n_head, generator, **options) for _ in range(n_layer)]
    return Stack(blocks, x, r / r.norm())


@dataclass(frozen=True)
class Climb:
    """What was found at every height: 0 is below the first block, L above the last."""

    streams: Tensor  # (L + 1, T, C)
    gradients: Tensor  # (L + 1, T, C): of Σ rᵢ outᵢ with respect to each of the streams
    weights: Tensor  # (L, P): and with respect to each block's `parameters`; 0 where unused


def climb(stack: Stack) -> Climb:
    """Up through all blocks, under the causal mask, and back down by autograd.

    Blocks share nothing but the stream: the gradient below one is the gradient above it
    times that block's Jacobian (chain rule), so what shrinks once shrinks at every block.
    """
    with torch.enable_grad():
        streams = [stack.x[None].clone().requires_grad_()]  # (1, T, C): a batch of one
        for block in stack.blocks:
            streams.append(block(streams[-1]))
        answer = (stack.direction * streams[-1]).sum()  # Σ rᵢ outᵢ
        learned = [parameters(block) for block in stack.blocks]
        asked = [*streams, *(p for block in learned for p in block)]
        found = torch.autograd.grad(answer, asked, materialize_grads=True)  # 0 where not used
    below, rest = found[: len(streams)], iter(found[len(streams) :])
    weights = [torch.cat([next(rest).flatten() for _ in block]) for block in learned]
    return Climb(torch.cat(streams).detach(), torch.cat(below), torch.stack(weights))


def parameters(block: Block) -> list[nn.Parameter]:
    """All that a block learns, by name: attention, the norms, the MLP."""
    return [p for _, p in sorted(block.named_parameters())]


def length(streams: Tensor) -> Tensor:
    """Mean length of a token's vector, (1/T) Σ |xₜ|: `(..., T, C)` -> `(...)`."""
    return streams.norm(dim=-1).mean(dim=-1)


def size(gradient: Tensor) -> Tensor:
    """How large a gradient is as a whole, √Σ g²: `(L, ...)` -> `(L,)`."""
    return gradient.flatten(1).norm(dim=-1)


def alikeness(streams: Tensor) -> Tensor:
    """Mean cosine between two different tokens: `(..., T, C)` -> `(...)`, NaN for a single one.

    1 where all point the same way: nothing but their lengths tells them apart.

    >>> alikeness(torch.tensor([[1.0, 0.0], [2.0, 0.0]])).item()
    1.0
    """
    return cosines(streams).mean(dim=-1)


def cosines(streams: Tensor) -> Tensor:
    """a·b / (|a| |b|) of every pair of tokens: `(..., T, C)` -> `(..., T (T − 1) / 2)`."""
    T = streams.size(-2)
    first, second = torch.triu_indices(T, T, offset=1)
    unit = F.normalize(streams, dim=-1)
    return (unit[..., first, :] * unit[..., second, :]).sum(dim=-1)
