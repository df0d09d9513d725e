"""Encoder and decoder: one stack reads the source, another writes the target.

The encoder is made of blocks without a mask; what its last one wrote, normalised,
is the `memory`. A decoder block is a block with one part more: cross-attention,
whose queries come from the target and whose keys and values come from the memory.
The decoder's self-attention is causal, its cross-attention is not: the source is
given, nothing in it is to be guessed.

Left out: what turns words or numbers into vectors and back, and their positions
(plus_two.py does it for numbers), and a KV cache.

Axes: B batch, S tokens of the source, T tokens of the target, C = n_embd, H = hidden.
Source: Vaswani et al. 2017, "Attention Is All You Need", sections 3.1 to 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model import errors
from model.attention import draw_keep
from model.block import Block, BlockTrace
from model.multihead import MultiHeadAttention, MultiHeadTrace


@dataclass(frozen=True)
class DecoderBlockTrace:
    """One pass through a decoder block; tensors are `(B, T, C)` but those of the MLP's middle."""

    resid_pre: Tensor  # the stream as it came in
    normed_1: Tensor  # what self-attention reads
    attn: MultiHeadTrace  # (B, nh, T, T): causal
    attn_out: Tensor  # what self-attention adds
    resid_mid: Tensor
    normed_2: Tensor  # what the queries of cross-attention are made from
    cross: (
        MultiHeadTrace  # (B, nh, T, S): a row for each target token, a column for each source token
    )
    cross_out: Tensor  # what cross-attention adds
    resid_crossed: Tensor
    normed_3: Tensor  # what the MLP reads
    hidden_pre: Tensor  # (B, T, H): c_fc of it
    hidden: Tensor  # (B, T, H): after the activation
    mlp_out: Tensor  # what the MLP adds
    resid_post: Tensor


@dataclass(frozen=True)
class EncoderDecoderTrace:
    """One pass through both stacks, a block's trace for each layer."""

    encoder: tuple[BlockTrace, ...]
    memory: Tensor  # (B, S, C): the encoder's output
    decoder: tuple[DecoderBlockTrace, ...]
    output: Tensor  # (B, T, C): the decoder's


class DrawnDropout(nn.Module):
    """Dropout whose draws come from a generator of one's own: nobody else's are touched.

    Raises `DropoutError` for a rate outside [0, 1). Source: Srivastava et al. 2014.
    """

    def __init__(self, dropout: float, generator: torch.Generator | None = None) -> None:
        super().__init__()
        if not 0 <= dropout < 1:
            raise errors.DropoutError(dropout=dropout)
        self.dropout, self.generator = dropout, generator

    def forward(self, x: Tensor) -> Tensor:
        """Any shape -> the same: in training each number is kept with probability 1 - dropout."""
        if not self.training or self.dropout == 0:
            return x
        keep = draw_keep(tuple(x.shape), self.dropout, self.generator).to(x.device)
        return x * keep / (1 - self.dropout)  # divided by what is kept: the mean stays


class DecoderBlock(Block):
    """x + self-attention, then + cross-attention over a memory, then + MLP, each with its LayerNorm.

    The options and errors are those of `Block`. Source: Vaswani et al. 2017, section
    3.1 (decoder), with `norm="post"`.
    """

    def __init__(
        self,
        n_embd: int,
        n_head: int,
        *,
        bias: bool = True,
        dropout: float = 0.0,
        hidden: int | None = None,
        activation: str = "gelu",
        norm: str = "pre",
    ) -> None:
        super().__init__(
            n_embd,
            n_head,
            bias=bias,
            dropout=dropout,
            hidden=hidden,
            activation=activation,
            norm=norm,
        )
        self.cross = MultiHeadAttention(n_embd, n_head, bias=bias)  # read through ln_2
        self.ln_3 = nn.LayerNorm(n_embd, bias=bias)  # the MLP's

    def forward(
        self, x: Tensor, memory: Tensor, *, trace: list[DecoderBlockTrace] | None = None
    ) -> Tensor:
        """x `(B, T, C)`, memory `(B, S, C)` -> `(B, T, C)`. A `trace` records every step."""
        own: list[MultiHeadTrace] | None = None if trace is None else []
        crossed: list[MultiHeadTrace] | None = None if trace is None else []
        middles: list[tuple[Tensor, Tensor]] | None = None if trace is None else []
        normed_1 = self.read(self.ln_1, x)
        attn_out = self.drop(self.attn(normed_1, causal=True, trace=own))
        resid_mid = self.add(self.ln_1, x, attn_out)
        normed_2 = self.read(self.ln_2, resid_mid)
        cross_out = self.drop(self.cross(normed_2, memory, trace=crossed))  # no mask
        resid_crossed = self.add(self.ln_2, resid_mid, cross_out)
        normed_3 = self.read(self.ln_3, resid_crossed)
        mlp_out = self.drop(self.mlp(normed_3, trace=middles))
        resid_post = self.add(self.ln_3, resid_crossed, mlp_out)
        if trace is not None and own is not None and crossed is not None and middles is not None:
            steps = (x, normed_1, own[0], attn_out, resid_mid, normed_2, crossed[0], cross_out)
            steps += (resid_crossed, normed_3, *middles[0], mlp_out, resid_post)
            trace.append(DecoderBlockTrace(*steps))
        return resid_post


class EncoderDecoder(nn.Module):
    """Encoder blocks and a LayerNorm, decoder blocks and a LayerNorm; PyTorch's `nn.Transformer`.

    With `norm="post"`, as in 2017, the last LayerNorms follow LayerNorms; nn.Transformer
    has them too. Dropout falls on what is added to the stream and draws from `generator`.
    Raises `HeadsError`, `ChoiceError`, `DropoutError`.
    """

    def __init__(
        self,
        n_embd: int,
        n_head: int,
        n_layer: int,
        *,
        bias: bool = True,
        dropout: float = 0.0,
        generator: torch.Generator | None = None,
        hidden: int | None = None,
        activation: str = "relu",
        norm: str = "post",
    ) -> None:
        super().__init__()
        options = {"bias": bias, "hidden": hidden, "activation": activation, "norm": norm}
        self.encoder = nn.ModuleList(Block(n_embd, n_head, **options) for _ in range(n_layer))
        self.ln_memory = nn.LayerNorm(n_embd, bias=bias)
        self.decoder = nn.ModuleList(
            DecoderBlock(n_embd, n_head, **options) for _ in range(n_layer)
        )
        self.ln_f = nn.LayerNorm(n_embd, bias=bias)
        for block in (*self.encoder, *self.decoder):
            block.drop = DrawnDropout(dropout, generator)

    def encode(self, src: Tensor, *, trace: list[BlockTrace] | None = None) -> Tensor:
        """src `(B, S, C)` -> memory `(B, S, C)`: every token has read every other."""
        for block in self.encoder:
            src = block(src, causal=False, trace=trace)
        return self.ln_memory(src)

    def decode(
        self, tgt: Tensor, memory: Tensor, *, trace: list[DecoderBlockTrace] | None = None
    ) -> Tensor:
        """tgt `(B, T, C)`, memory `(B, S, C)` -> `(B, T, C)`; all layers read the same memory."""
        for block in self.decoder:
            tgt = block(tgt, memory, trace=trace)
        return self.ln_f(tgt)

    def forward(
        self, src: Tensor, tgt: Tensor, *, trace: list[EncoderDecoderTrace] | None = None
    ) -> Tensor:
        """src `(B, S, C)`, tgt `(B, T, C)` -> `(B, T, C)`."""
        encoder: list[BlockTrace] | None = None if trace is None else []
        decoder: list[DecoderBlockTrace] | None = None if trace is None else []
        memory = self.encode(src, trace=encoder)
        output = self.decode(tgt, memory, trace=decoder)
        if trace is not None and encoder is not None and decoder is not None:
            trace.append(EncoderDecoderTrace(tuple(encoder), memory, tuple(decoder), output))
        return output
