"""A GPT: token and position embeddings, blocks, a last LayerNorm, logits.

idx (B, T) -> wte + wpe (B, T, C) -> n_layer × Block (B, T, C) -> ln_f -> lm_head (B, T, V)

`lm_head` shares the weights of `wte` (Press & Wolf 2017), as GPT-2's does.
Axes: B batch, T time, C = n_embd, V = vocab_size.
Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners".
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from operator import index

import torch
from torch import Tensor, nn

from model import errors
from model.block import Block, BlockTrace
from model.cache import KVCache


@dataclass(frozen=True)
class GPTConfig:
    """The sizes of a GPT. The defaults are GPT-2's; the notes' own are 4 layers, 4 heads, 64 wide.

    Two switches are there for experiments: without `causal` every token sees all, also the
    future; without `positions` wpe is all zero and stays so. Raises `SizeError` for a size
    below 1, `TypeError` for one that is no whole number or a switch that is no bool,
    `HeadsError` where n_head does not divide n_embd, `DropoutError` for a rate outside [0, 1).
    """

    vocab_size: int = 50257
    block_size: int = 1024
    n_layer: int = 12
    n_head: int = 12
    n_embd: int = 768
    dropout: float = 0.0
    bias: bool = True
    causal: bool = True
    positions: bool = True

    def __post_init__(self) -> None:
        for name in ("vocab_size", "block_size", "n_layer", "n_head", "n_embd"):
            if index(getattr(self, name)) < 1:
                raise errors.SizeError(name=name, found=getattr(self, name))
        if self.n_embd % self.n_head:
            raise errors.HeadsError(width=self.n_embd, n_head=self.n_head)
        if not 0 <= self.dropout < 1:
            raise errors.DropoutError(dropout=self.dropout)
        for name in ("causal", "positions"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} is {getattr(self, name)!r}; it must be True or False.")


@dataclass(frozen=True)
class ModelTrace:
    """One pass through a GPT: the stream after the embeddings, every block, the end."""

    embedded: Tensor  # (B, T, C): wte + wpe
    blocks: list[BlockTrace]
    normed: Tensor  # (B, T, C): after ln_f
    logits: Tensor  # (B, T, V)


class GPT(nn.Module):
    """`GPT(config)(idx)` -> logits `(B, T, V)`, always.

    Its first weights are normal with deviation `std`, GPT-2's 0.02 unless told otherwise; drawn
    from `generator`, where there is one, and then the global one is not touched.
    """

    def __init__(
        self, config: GPTConfig, generator: torch.Generator | None = None, *, std: float = 0.02
    ) -> None:
        super().__init__()
        c = self.config = config
        # PyTorch's modules draw weights of their own; on "meta" they only note their shapes
        with nullcontext() if generator is None else torch.device("meta"):
            self.wte = nn.Embedding(c.vocab_size, c.n_embd)
            self.wpe = nn.Embedding(c.block_size, c.n_embd)
            self.drop = nn.Dropout(c.dropout)
            self.blocks = nn.ModuleList(
                Block(c.n_embd, c.n_head, bias=c.bias, dropout=c.dropout) for _ in range(c.n_layer)
            )
            self.ln_f = nn.LayerNorm(c.n_embd, bias=c.bias)
            self.lm_head = nn.Linear(c.n_embd, c.vocab_size, bias=False)
        if generator is not None:
            self.to_empty(device=generator.device)
        self.lm_head.weight = self.wte.weight
        self.apply(partial(initialise, std=std, generator=generator))
        for block in self.blocks:  # what adds to the stream begins smaller, the more of it there is
            for adds in (block.attn.c_proj, block.mlp.c_proj):
                deviation = std / (2 * c.n_layer) ** 0.5
                nn.init.normal_(adds.weight, std=deviation, generator=generator)
        if not c.positions:
            nn.init.zeros_(self.wpe.weight).requires_grad_(False)

    def forward(
        self,
        idx: Tensor,
        *,
        cache: list[KVCache] | None = None,
        keep_heads: Tensor | None = None,
        keep_blocks: Tensor | None = None,
        trace: list[ModelTrace] | None = None,
    ) -> Tensor:
        """idx `(B, T)` -> logits `(B, T, V)`.

        With a `cache` (from `new_cache`) idx holds only the new tokens. For experiments
        `keep_heads` `(n_layer, B or 1, n_head)` and `keep_blocks` `(n_layer, B or 1)` hold
        1, or 0 for a head or a block that adds nothing to the stream. Handed a `trace`,
        it records every step of every block into it. Raises `TooLongError` beyond
        block_size, `CacheMaskError` for a cache without the causal mask.
        """
        T = idx.size(-1)
        past = cache[0].length if cache else 0
        if cache and not self.config.causal:
            raise errors.CacheMaskError(length=past, more=T)
        if past + T > self.config.block_size:
            raise errors.TooLongError(length=past + T, block_size=self.config.block_size)
        embedded = self.wte(idx) + self.wpe.weight[past : past + T]  # (B, T, C) + (T, C)
        x = self.drop(embedded)
        blocks: list[BlockTrace] | None = None if trace is None else []
        for n, block in enumerate(self.blocks):
            heads = None if keep_heads is None else keep_heads[n]
            after = block(
                x,
                causal=self.config.causal,
                cache=cache[n] if cache else None,
                keep_heads=heads,
                trace=blocks,
            )
            x = after if keep_blocks is None else x + (after - x) * keep_blocks[n, :, None, None]
        normed = self.ln_f(x)
        logits = self.lm_head(normed)  # (B, T, C) -> (B, T, V)
        if trace is not None and blocks is not None:
            trace.append(ModelTrace(embedded, blocks, normed, logits))
        return logits

    def new_cache(self) -> list[KVCache]:
        """An empty KV cache for each block, with room for block_size tokens."""
        return [KVCache(self.config.block_size) for _ in self.blocks]

    @property
    def n_parameters(self) -> int:
        """Numbers that training can change; `lm_head` shares those of `wte`."""
        return sum(p.numel() for p in self.parameters() if p.requires_grad)


def initialise(
    module: nn.Module, *, std: float = 0.02, generator: torch.Generator | None = None
) -> None:
    """GPT-2's start: weights normal with deviation `std`, biases 0, LayerNorms 1.

    Source: Radford et al. 2019.
    """
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=std, generator=generator)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)
    if isinstance(module, nn.LayerNorm):
        module.reset_parameters()


def next_token_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean nats by which the model is surprised: logits `(B, T, V)`, targets `(B, T)` -> a scalar.

    −1/(BT) Σ ln softmax(logits)[target]. Targets of −100 are not counted. Targets
    `(B, T, V)` are chances, Σ target · −ln softmax(logits); where all are 0, not counted.
    """
    exact = logits.to(
        torch.promote_types(logits.dtype, torch.float32)
    )  # from bfloat16, not float64
    if targets.dim() == 3:
        return -(targets * exact.log_softmax(-1)).sum() / n_counted(targets)
    return torch.nn.functional.cross_entropy(exact.flatten(0, 1), targets.flatten())


def n_counted(targets: Tensor) -> int:
    """How many places of `(B, T)` or `(B, T, V)` targets a loss counts."""
    counted = targets.any(-1) if targets.dim() == 3 else targets != -100
    return int(counted.sum())
