"""What attention costs, counted: multiply–adds of a block, bytes of scores and of a KV cache.

Whole numbers only, exact for the code of this package; what a machine makes of them is
measured in measuring.py. A multiply–add is one multiplication whose result is added to a
sum; papers that count "FLOPs" count it as two.

Left out: LayerNorm, softmax, GELU and biases. They need work in proportion to the numbers
they touch, which is little beside the matrix products.

Axes: T tokens, C = n_embd, H = hidden, 4C unless told otherwise.
Source: Kaplan et al. 2020, "Scaling Laws for Neural Language Models", table 1, which counts
the same parts (as FLOPs, for one token).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache

from model.checkpoint import CONFIG, NAMES, SHIPPED, read_json
from model.errors import SizeError
from model.gpt import GPTConfig
from model.steps import kv_cache_bytes, score_bytes

# The four sizes of GPT-2, by their names on the hub. Source: Radford et al. 2019, table 2.
GPT2_SIZES: Mapping[str, GPTConfig] = {
    "gpt2": GPTConfig(n_layer=12, n_head=12, n_embd=768),
    "gpt2-medium": GPTConfig(n_layer=24, n_head=16, n_embd=1024),
    "gpt2-large": GPTConfig(n_layer=36, n_head=20, n_embd=1280),
    "gpt2-xl": GPTConfig(n_layer=48, n_head=25, n_embd=1600),
}


@dataclass(frozen=True)
class BlockWork:
    """Multiply–adds of one block over T tokens, part by part. The heads share each part:
    n_head × head_size = C, so their number changes nothing."""

    qkv: int  # x W for q, k and v: 3 T C²
    scores: int  # Q Kᵀ of all heads: T² C
    mixing: int  # weights × V of all heads: T² C
    out: int  # the projection after the heads: T C²
    feed_forward: int  # C -> H -> C: 2 T C H

    @property
    def per_token(self) -> int:
        """The parts that treat each token by itself: they grow with T."""
        return self.qkv + self.out + self.feed_forward

    @property
    def per_pair(self) -> int:
        """The parts in which every query meets every key: they grow with T²."""
        return self.scores + self.mixing

    @property
    def total(self) -> int:
        return self.per_token + self.per_pair


def block_work(T: int, n_embd: int, hidden: int | None = None) -> BlockWork:
    """The multiply–adds of a block as plain code does them: all T² scores, masked or not.

    Raises `SizeError` for a size below 1.

    >>> block_work(1024, 768).total / block_work(512, 768).total  # not 4
    2.2
    """
    C, H = n_embd, 4 * n_embd if hidden is None else hidden
    for name, size in (("T", T), ("n_embd", C), ("hidden", H)):
        if size < 1:
            raise SizeError(name=name, found=size)
    return BlockWork(
        qkv=3 * T * C * C,
        scores=T * T * C,
        mixing=T * T * C,
        out=T * C * C,
        feed_forward=2 * T * C * H,
    )


def even_length(n_embd: int, hidden: int | None = None) -> int:
    """The T at which both halves of a block weigh the same; longer, the square weighs more.

    4 T C² + 2 T C H = 2 T² C, so T = 2C + H.

    >>> even_length(768)
    4608
    """
    return 2 * n_embd + (4 * n_embd if hidden is None else hidden)


def all_score_bytes(config: GPTConfig, T: int, bytes_per_number: int = 4) -> int:
    """Bytes of the scores of every head in every layer, if all of them are kept.

    >>> all_score_bytes(GPTConfig(n_layer=12, n_head=12), 1024) // 2**20  # MiB
    576
    """
    return config.n_layer * config.n_head * score_bytes(T, bytes_per_number)


def cache_bytes(config: GPTConfig, T: int, bytes_per_number: int = 4) -> int:
    """Bytes of a full KV cache of T tokens: it grows with T, and holds no scores.

    >>> cache_bytes(GPTConfig(n_layer=12, n_embd=768), 1024) // 2**20  # MiB
    72
    """
    return kv_cache_bytes(config.n_layer, config.n_embd, T, bytes_per_number)


@cache
def known_sizes() -> dict[str, GPTConfig]:
    """Our shipped models by name, as their configurations say, then GPT-2's four sizes."""
    ours = {}
    for name in NAMES:
        found = read_json(SHIPPED / name, CONFIG)
        known = {field.name for field in fields(GPTConfig)} & set(found)
        ours[name] = GPTConfig(**{key: found[key] for key in known})
    return {**ours, **GPT2_SIZES}
