"""One more token, quickly: the same numbers as `GPT.forward` with a KV cache.

Writing asks a small model for one token at a time, and then most of the time
goes into calling modules, not into arithmetic. Here the same sums stand in one
loop over plain tensors. Tests hold both routes equal.

Axes: C = n_embd, nh = n_head, hs = head_size, V = vocab_size.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from model.block import Block
from model.cache import KVCache
from model.gpt import GPT


class Decoder:
    """Reads a prompt once, then one token after another; each gives the next token's logits `(V,)`."""

    def __init__(self, gpt: GPT) -> None:
        self.gpt = gpt
        self.blocks = [weights(block) for block in gpt.blocks]
        self.cache: list[KVCache] = []

    @torch.no_grad()
    def read(self, ids: list[int], *, keep: bool = True) -> Tensor:
        """Forget what was, and read these ids; without `keep` no cache is filled for `next`.

        Raises `TooLongError` beyond block_size.
        """
        self.cache = self.gpt.new_cache() if keep else []
        idx = torch.tensor([ids], device=self.gpt.wte.weight.device)
        return self.gpt(idx, cache=self.cache or None)[0, -1]

    @torch.no_grad()
    def next(self, token: int) -> Tensor:
        """Read one id more. The cache must have room for it."""
        gpt, C = self.gpt, self.gpt.config.n_embd
        nh, hs = gpt.config.n_head, C // gpt.config.n_head
        position = self.cache[0].length
        x = (gpt.wte.weight[token] + gpt.wpe.weight[position]).view(1, C)
        for (ln_1, c_attn, c_proj, ln_2, c_fc, mlp_proj), cache in zip(
            self.blocks, self.cache, strict=True
        ):
            q, k, v = F.linear(norm(x, *ln_1), *c_attn).view(3, 1, nh, 1, hs).unbind()
            k, v = cache.append(k, v)  # (1, nh, T, hs)
            # softmax(qkᵀ / √hs) v: for a single query two products are quicker than the fused kernel
            weights = torch.bmm(q[0] * hs**-0.5, k[0].mT).softmax(dim=-1)  # (nh, 1, T)
            x = x + F.linear(torch.bmm(weights, v[0]).view(1, C), *c_proj)
            hidden = F.gelu(F.linear(norm(x, *ln_2), *c_fc), approximate="tanh")  # (1, 4C)
            x = x + F.linear(hidden, *mlp_proj)
        last = gpt.ln_f
        return F.linear(norm(x, last.weight, last.bias, last.eps), gpt.wte.weight)[0]


def norm(x: Tensor, weight: Tensor, bias: Tensor | None, eps: float) -> Tensor:
    return torch.layer_norm(x, (x.size(-1),), weight, bias, eps)


def weights(block: Block) -> tuple[tuple[Tensor | float | None, ...], ...]:
    """A block's parameters in the order in which they are used."""
    layer_norms = [(ln.weight, ln.bias, ln.eps) for ln in (block.ln_1, block.ln_2)]
    linears = [
        (linear.weight, linear.bias)
        for linear in (block.attn.c_attn, block.attn.c_proj, block.mlp.c_fc, block.mlp.c_proj)
    ]
    return (layer_norms[0], *linears[:2], layer_norms[1], *linears[2:])
